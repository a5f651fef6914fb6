package kafka

import (
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

// eachOf asks brokers, those that answers has, one question each, side by side,
// and fills the answers in; nil stays where a broker gave none. It is for
// questions beside the poll, of which nothing but their own answer depends.
func eachOf[R kmsg.Response](p *poll, stage collect.Stage, answers map[int32]R, request func(id int32) kmsg.Request) (failed map[int32]collect.Reason) {
	ids := slices.Sorted(maps.Keys(answers))
	got := make([]R, len(ids))
	failed = p.each(stage, ids, func(c *call) error {
		resp, _, err := c.ask(request(c.n.id))
		if err == nil {
			got[slices.Index(ids, c.n.id)] = resp.(R)
		}
		return err
	})
	for i, id := range ids {
		answers[id] = got[i]
	}
	return failed
}
