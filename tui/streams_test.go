package tui

import (
	"strings"
	"testing"

	"github.com/klagtop/klagtop/collect"
)

func TestThreadsOfKafkaStreams(t *testing.T) {
	on := func(topic string, p ...int32) []collect.TopicPartitions {
		return []collect.TopicPartitions{{Topic: topic, Partitions: p}}
	}
	facts := classic("shop", collect.StateStable)
	facts.Type, facts.ProtocolType = collect.TypeStreams, "streams"
	facts.Topology = &collect.Topology{Subtopologies: []collect.Subtopology{{ID: "0", Sources: []string{"orders"}}}}
	thread := member("pod-1")
	thread.Streams = &collect.StreamsMember{ProcessID: "p-1", Standby: on("orders", 1, 2), Warmup: on("orders", 0)}
	owner := member("pod-2")
	owner.Streams = &collect.StreamsMember{ProcessID: "p-2"}
	s := snapshot(nil, epoch, groupSpec{facts: facts, members: []collect.Member{thread, owner}, rows: map[string][]row{"orders": {{p: 0, end: 10, owner: "pod-2"}, {p: 1, end: 10, owner: "pod-2"}, {p: 2, end: 10, owner: "pod-2"}}}})
	g, _ := s.Group("shop")
	l := newLook([]string{"LANG=C.UTF-8"}, groundDark, 0)
	rows := memberRows(l, g)
	if rows[0].note != "standby for 2, warms up 1" || rows[1].note != "" {
		t.Errorf("notes %q, %q", rows[0].note, rows[1].note)
	}
	got := strings.Join(explainMember(&scene{look: l}, g, rows[0]), "\n")
	for _, want := range []string{"owns 0 partitions", "read orders:1,2, and could take them over", "warms up for the tasks that read orders:0:", "process p-1."} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if strings.Contains(got, "more members than partitions") {
		t.Errorf("a thread with standby tasks is called idle:\n%s", got)
	}
	g.MissingTopics = []string{"rates"}
	if got := strings.Join(explainGroup(&scene{look: l}, &groupRow{Group: g, label: "shop"}), "\n"); !strings.Contains(got, "source topic rates, which does not exist") {
		t.Errorf("the missing topic is not in\n%s", got)
	}
}
