// Package tui draws the newest update on a terminal.
//
// It opens on Groups, worst first; a group opens into its topics, partitions
// and members. [Run] owns the terminal from its start to its end and gives it
// back as it was, after a panic and a signal too.
//
// # What it refuses
//
// It knows no Kafka client and no Prometheus: updates come from a
// [collect.Hub], wishes (which group is on screen, another interval, a poll at
// once) go back through [Wishes]. The screen never waits for the network and
// never ends because a cluster is lost: it shows how old its numbers are, what
// went wrong, and when the next try is due. Text that comes from a cluster is
// drawn with its control bytes spelled out, never sent to the terminal. Run
// asks the terminal nothing, since one that does not answer would hold up the
// first picture; the toolkit asks for its background once, before main.
//
// # Words on the screen
//
// "?" is a number that is not known and "0" a true zero; "-" in the committed
// column is a partition without a commit. A sum with unknown parts is "≥ N",
// one with kept parts "~ N". Colour repeats what a mark or a word says already.
//
// # Layout of the package
//
// model.go routes messages: keys go to an open overlay first, then to the one
// key table (keys.go), which also writes the hints and the help. Each view is a
// table with its columns, rows and words in a file of its own (groups.go,
// topics.go, partitions.go, members.go) behind the small interface in pane.go.
//
// Only cmd may import it. Run's goroutine owns the model; nothing here is safe
// for concurrent use, and everything read from an update is left unchanged.
package tui
