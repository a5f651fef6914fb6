package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/klagtop/klagtop/collect"
)

// openTransactions has a line for each transaction that the group's readers of
// committed records wait for.
func (o Options) openTransactions(g *collect.Group) string {
	var b strings.Builder
	for _, gt := range g.Topics {
		for i := range gt.Rows() {
			if gt.Topic.Open == nil {
				break
			}
			if r := gt.Row(i); r.Open != nil {
				fmt.Fprintf(&b, "open transaction on %s-%d: %s\n", Printable(r.Topic), r.Partition, o.transaction(r.Open))
			}
		}
	}
	return b.String()
}

// transaction says whose transaction holds a last stable offset back, since
// when, and when it will end.
func (o Options) transaction(t *collect.OpenTransaction) string {
	parts := []string{"from offset " + strconv.FormatInt(t.Start, 10), "for " + o.age(t.Age)}
	if t.TransactionalID != "" {
		parts = append(parts, "transactional id "+Printable(t.TransactionalID))
	}
	if t.ProducerID >= 0 {
		parts = append(parts, fmt.Sprintf("producer %d epoch %d", t.ProducerID, t.ProducerEpoch))
	} else {
		parts = append(parts, "unknown producer: it may not be seen")
	}
	if t.State != "" {
		parts = append(parts, "state "+Printable(t.State))
	}
	switch {
	case t.Hanging:
		parts = append(parts, "HANGING: its coordinator has forgotten it, it will not end by itself")
	case t.Timeout > 0:
		parts = append(parts, "times out after "+span(t.Timeout.Seconds()))
	}
	return strings.Join(parts, ", ")
}
