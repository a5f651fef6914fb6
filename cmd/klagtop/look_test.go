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
