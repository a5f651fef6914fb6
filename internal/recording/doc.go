// Package recording keeps a stream of updates: the file of `record`, the body
// of `/api/v1/stream`, the input of `replay` and `--from`.
//
// It carries finished updates, fed straight to a collect.Hub when read back:
// there is no second tracker and there are no second rules. The room is
// reserved: nothing is recorded yet. It may import collect and
// internal/document.
package recording
