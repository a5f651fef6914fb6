// Command klagtop shows how far behind Kafka consumer groups are, who owns
// what, and what changed: live in a terminal, over HTTP, or once for scripts.
//
// This package turns flags into a configuration and exit codes, and wires the
// rooms: a collect/kafka source, its collector, and the exporter, terminal
// view, tables or documents that read the collector's hub. What is lag, stale
// or complete is decided elsewhere. Nothing imports it.
//
// Exit codes: 0 fine, 1 an error or partial data, 2 usage, 3 a limit of check
// is exceeded, 129 after SIGHUP.
package main
