// Package exporter serves what collect knows over HTTP: a Prometheus page, the
// JSON API, health, and one page to read.
//
// A request costs Kafka nothing: each takes the newest update of a hub once and
// answers from it. The series of groups, topics, partitions and members are
// written straight to the compressed stream, because a million of them cost
// fifty times as much through metric objects; the page's compressed form is
// kept until the numbers change. Everything about klagtop itself goes through
// client_golang and is gathered anew at each scrape, into the same page.
//
// It refuses to guess: a number that is not known has no sample. It refuses to
// fail: a hostile or repeated name never costs the page, and a page above its
// limit loses whole levels, and says so. It contacts no Kafka and draws no
// terminal.
//
// Imported by cmd only. An Exporter's methods are safe for concurrent use. New
// starts no goroutine; those of Serve and Run end before they return.
package exporter
