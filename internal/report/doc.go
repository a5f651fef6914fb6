// Package report is what commands print for people and spreadsheets: tables in
// the columns of Kafka's own tool, CSV, a text line per group and poll, a text
// line per event, and the verdict of check.
//
// It turns a collect.Snapshot or Event into text and decides nothing about
// lag: what is stale, unknown or complete is collect's to say. Tables and text
// never carry a control byte of the cluster's names to a terminal, and never
// colour anything; CSV carries names as they are, but for a terminal. Unknown is "?", no commit and
// no owner are "-", a true zero is 0.
//
// Only cmd imports it. Functions are safe for concurrent use, keep no state,
// read no clock, and fail only as their writer does.
package report
