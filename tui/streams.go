package tui

import (
	"strconv"

	"github.com/klagtop/klagtop/collect"
)

// copiesNote says for how many partitions a thread of Kafka Streams keeps a
// copy of their tasks' state; m is nil for other members.
func copiesNote(m *collect.StreamsMember) string {
	if m == nil {
		return ""
	}
	note := ""
	if n := partitionsOf(m.Standby); n > 0 {
		note = "standby for " + strconv.Itoa(n)
	}
	if n := partitionsOf(m.Warmup); n > 0 {
		if note != "" {
			note += ", "
		}
		note += "warms up " + strconv.Itoa(n)
	}
	return note
}

func partitionsOf(tps []collect.TopicPartitions) (n int) {
	for _, tp := range tps {
		n += len(tp.Partitions)
	}
	return n
}

func explainCopies(l *look, m *collect.StreamsMember) (out []string) {
	if m == nil {
		return nil
	}
	if len(m.Standby) > 0 {
		out = append(out, "Its standby tasks keep a copy of the state of the tasks that read "+spans(l, m.Standby)+", and could take them over.")
	}
	if len(m.Warmup) > 0 {
		out = append(out, "It warms up for the tasks that read "+spans(l, m.Warmup)+": it gets them once it has their state.")
	}
	return append(out, "It is a thread of the process "+orElse(l.text(m.ProcessID), "that it does not name")+".")
}
