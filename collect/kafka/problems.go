package kafka

import (
	"fmt"

	"github.com/klagtop/klagtop/collect"
)

// problems gathers what a poll could not do, so that one cause makes one
// problem however many groups or partitions it touches.
type problems struct {
	list  []collect.Problem
	about map[problemKey][]int // indexes into list
	told  map[collect.Problem]bool
}

type problemKey struct {
	stage  collect.Stage
	broker int32
	reason collect.Reason
	topic  string
}

// manyAlike is how many problems of one kind are told one by one.
const manyAlike = 100

func (ps *problems) add(key problemKey, p collect.Problem) {
	if ps.about == nil {
		ps.about, ps.told = map[problemKey][]int{}, map[collect.Problem]bool{}
	}
	if ps.told[p] { // some things are asked twice in a poll
		return
	}
	ps.told[p] = true
	ps.list = append(ps.list, p)
	ps.about[key] = append(ps.about[key], len(ps.list)-1)
}

func (ps *problems) broker(stage collect.Stage, id int32, why collect.Reason, err error) {
	text, hint := Explain(err)
	ps.add(problemKey{stage: stage, broker: id, reason: why},
		collect.Problem{Stage: stage, Broker: id, Partition: -1, Reason: why, Error: text, Hint: hint})
}

func (ps *problems) group(stage collect.Stage, broker int32, group string, why collect.Reason, text string) {
	ps.add(problemKey{stage: stage, broker: broker, reason: why, topic: "\x00group"},
		collect.Problem{Stage: stage, Broker: broker, Group: group, Partition: -1, Reason: why, Error: text})
}

func (ps *problems) partition(stage collect.Stage, broker int32, topic string, partition int32, why collect.Reason, text string) {
	ps.add(problemKey{stage: stage, broker: broker, reason: why, topic: topic},
		collect.Problem{Stage: stage, Broker: broker, Topic: topic, Partition: partition, Reason: why, Error: text})
}

// commit is about one partition of a group; a cause that touches many of a
// topic's makes one problem, whosever they are.
func (ps *problems) commit(broker int32, group, topic string, partition int32, why collect.Reason, text string) {
	ps.add(problemKey{stage: collect.StageCommits, broker: broker, reason: why, topic: topic},
		collect.Problem{Stage: collect.StageCommits, Broker: broker, Group: group, Topic: topic, Partition: partition, Reason: why, Error: text})
}

// flush hands the problems over: those of one topic, or too many of one kind,
// as one.
func (ps *problems) flush(b *collect.Builder) {
	drop := map[int]bool{}
	for key, at := range ps.about {
		limit := manyAlike
		if key.topic != "" && key.topic != "\x00group" {
			limit = 1
		}
		if len(at) <= limit {
			continue
		}
		first := &ps.list[at[0]]
		what := "groups"
		switch {
		case first.Topic != "" && first.Stage == collect.StageCommits:
			what = "commits" // on one partition there are several groups'
		case first.Topic != "":
			what = "partitions"
		}
		first.Error = fmt.Sprintf("%d %s: %s", len(at), what, first.Error)
		first.Partition = -1
		for _, i := range at[1:] {
			drop[i] = true
			if ps.list[i].Group != first.Group {
				first.Group = ""
			}
		}
	}
	for i, p := range ps.list {
		if !drop[i] {
			b.Problem(p)
		}
	}
}
