// Package document is the klagtop/v1 JSON documents: what `describe -o json`,
// each line of `watch -o json`, `/api/v1/groups` and recordings are made of.
//
// It turns a collect.Update into a document, streaming (a document of a million
// rows is never built in memory), and reads one back. A number that is not
// known is null, and its key is there; an owner that is not there is "".
//
// It decides nothing: what is stale, unknown or complete is collect's to say.
// Imported by exporter, tui, internal/report, internal/recording and cmd.
// Functions are safe for concurrent use; they keep no state.
package document
