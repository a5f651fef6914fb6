package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/klagtop/klagtop/collect"
	"github.com/klagtop/klagtop/internal/config"
)

func TestTroublesAreToldWhenTheyBeginAndWhenTheyAreOver(t *testing.T) {
	pattern, err := collect.ParsePattern("ticker")
	if err != nil {
		t.Fatal(err)
	}
	cfg := config.Config{Filter: collect.Filter{Groups: []collect.Pattern{pattern}}}
	cfg.Kafka.Brokers = []string{"broker:9092"}
	fine := &collect.Snapshot{Reached: true, Complete: true}
	lost := &collect.Snapshot{Problems: []collect.Problem{{Stage: collect.StageConnect, Broker: -1, Partition: -1, Reason: collect.ReasonBrokerDown, Error: "connection refused"}}}
	partial := &collect.Snapshot{Reached: true, Problems: []collect.Problem{
		{Stage: collect.StageLogEnd, Broker: 2, Topic: "market\x1b", Partition: 3, Reason: collect.ReasonNoLeader},
		{Stage: collect.StageDescribe, Broker: 2, Group: "g", Partition: -1, Reason: collect.ReasonDenied, Error: "GROUP_AUTHORIZATION_FAILED"},
	}}
	var out bytes.Buffer
	tr := &troubles{program: newProgram(io.Discard, &out, nil), cfg: cfg}
	for _, s := range []*collect.Snapshot{lost, lost, fine, fine, partial, partial, fine} {
		tr.tell(&collect.Update{Snapshot: s})
		out.WriteString(".\n")
	}
	want := `klagtop: error: cannot reach the cluster: connection refused
klagtop: hint: check --brokers, the TLS and login settings, and --timeout (0s)
.
.
klagtop: hint: all can be read again
klagtop: hint: waiting for "ticker": no such group yet
.
.
klagtop: error: cannot read log ends (broker 2, topic market\x1b/3): no leader
klagtop: error: cannot describe groups (broker 2, group g): GROUP_AUTHORIZATION_FAILED
.
.
klagtop: hint: all can be read again
.
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// A cluster of fifty brokers that is down is one thing to say, not fifty; what
// is wrong in another way is said, too.
func TestBrokersThatAreDownForTheSameReasonAreOneLine(t *testing.T) {
	down := func(broker int32, err, hint string) collect.Problem {
		return collect.Problem{Stage: collect.StageConnect, Broker: broker, Partition: -1, Reason: collect.ReasonBrokerDown, Error: err, Hint: hint}
	}
	refused := func(broker int32, address string) collect.Problem {
		return down(broker, "nothing listens on "+address+" (connection refused)", "is it running?")
	}
	for name, c := range map[string]struct {
		problems []collect.Problem
		want     string
	}{
		"one": {[]collect.Problem{refused(-1, "[::1]:1")}, `klagtop: error: cannot reach the cluster: nothing listens on [::1]:1 (connection refused)
klagtop: hint: is it running?
`},
		"two": {[]collect.Problem{refused(-1, "a:1"), refused(-1, "a:2")}, `klagtop: error: cannot reach the cluster: nothing listens on a:1 (connection refused), and 1 more broker likewise
klagtop: hint: is it running?
`},
		"three, and one in another way": {
			[]collect.Problem{refused(1, "a:1"), down(-1, "b:2: no such host: b", "check the name"), refused(2, "a:3"), refused(3, "a:4")},
			`klagtop: error: cannot reach the cluster (broker 1): nothing listens on a:1 (connection refused), and 2 more brokers likewise
klagtop: error: cannot reach the cluster: b:2: no such host: b
klagtop: hint: is it running?
klagtop: hint: check the name
`,
		},
		"no words": {[]collect.Problem{down(4, "", "wait"), down(5, "", "wait")}, `klagtop: error: cannot reach the cluster (broker 4): broker down, and 1 more broker likewise
klagtop: hint: wait
`},
	} {
		var out bytes.Buffer
		newProgram(io.Discard, &out, nil).unreachable(config.Config{}, &collect.Snapshot{Problems: c.problems})
		if out.String() != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, out.String(), c.want)
		}
	}
}

func TestOneIsNotMany(t *testing.T) {
	for incomplete, want := range map[int]string{1: "the numbers of 1 group are not complete", 2: "the numbers of 2 groups are not complete"} {
		var out bytes.Buffer
		s := &collect.Snapshot{Reached: true, Groups: []*collect.Group{{Lag: collect.Totals{Complete: true}}}}
		for range incomplete {
			s.Groups = append(s.Groups, &collect.Group{})
		}
		newProgram(io.Discard, &out, nil).partial(s)
		if got := out.String(); got != "klagtop: error: "+want+"\n" {
			t.Errorf("%d: %s", incomplete, got)
		}
	}
}

func TestManyProblemsAreNotToldOneByOne(t *testing.T) {
	var out bytes.Buffer
	s := &collect.Snapshot{Reached: true}
	for range 500 {
		s.Problems = append(s.Problems, collect.Problem{Stage: collect.StageCommits, Broker: 1, Partition: -1, Reason: collect.ReasonTimeout})
	}
	newProgram(io.Discard, &out, nil).partial(s)
	if n := strings.Count(out.String(), "\n"); n != problemsShown+1 || !strings.Contains(out.String(), "and 490 more problems") {
		t.Errorf("%d lines: %s", n, out.String())
	}
}
