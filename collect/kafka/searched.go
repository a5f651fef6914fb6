package kafka

import (
	"fmt"

	"github.com/klagtop/klagtop/collect"
)

// keepSearched keeps the problems of a search for times, which makes no
// snapshot, for the next one. What is no single broker's is left out: it is
// among those of log ends. Left out, too, are answers, like that of a broker
// too old to search, and a timeout where there was too little time to blame
// a broker.
func (p *poll) keepSearched() {
	for _, pr := range p.problems.list {
		late := pr.Reason == collect.ReasonTimeout && p.patience < searchFloor
		if pr.Stage == collect.StageTimeSearch && pr.Broker >= 0 && !pr.Reason.Answers() && !late {
			p.searched.add(problemKey{stage: pr.Stage, broker: pr.Broker, reason: pr.Reason}, pr)
		}
	}
}

// tellSearched adds what went wrong in searches since the poll before, once for
// each broker and reason. A broker that this poll found no better is among its
// problems already.
func (p *poll) tellSearched() {
	told := map[problemKey]bool{}
	for _, pr := range p.searched.list {
		key := problemKey{stage: pr.Stage, broker: pr.Broker, reason: pr.Reason}
		if told[key] || p.down[pr.Broker] != collect.ReasonNone {
			continue
		}
		told[key] = true
		if n := len(p.searched.about[key]); n > 1 && pr.Partition >= 0 {
			pr.Topic, pr.Partition, pr.Error = "", -1, fmt.Sprintf("%d partitions: %s", n, pr.Error)
		}
		p.problems.add(key, pr)
	}
	p.searched = problems{}
}
