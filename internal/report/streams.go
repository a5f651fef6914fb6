package report

import (
	"strconv"
	"strings"

	"github.com/klagtop/klagtop/collect"
)

// missingTopics says, a line each, which topics a streams group cannot work
// without and does not find.
func missingTopics(g *collect.Group) string {
	var b strings.Builder
	for _, name := range g.MissingTopics {
		b.WriteString("  source topic " + Printable(name) + " does not exist: the application cannot work without it\n")
	}
	return b.String()
}

// streamsColumns are those of members that are threads of Kafka Streams: how
// many partitions they keep a copy of the state for, and wide, which.
func streamsColumns(wide bool) []column {
	if wide {
		return []column{text("STANDBY"), text("WARMUP"), text("PROCESS")}
	}
	return []column{number("#STANDBY"), number("#WARMUP")}
}

func streamsCells(m *collect.StreamsMember, wide bool) []string {
	if m == nil {
		m = new(collect.StreamsMember)
	}
	if wide {
		return []string{assigned(m.Standby), assigned(m.Warmup), orDash(m.ProcessID)}
	}
	return []string{partitionCount(m.Standby), partitionCount(m.Warmup)}
}

func partitionCount(tps []collect.TopicPartitions) string {
	n := 0
	for _, tp := range tps {
		n += len(tp.Partitions)
	}
	return strconv.Itoa(n)
}
