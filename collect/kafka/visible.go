package kafka

import (
	"crypto/rand"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

// sees is what the last test of visibility said.
type sees struct {
	groups, topics collect.Tri
	at             time.Time

	transactions   bool // sees all transactional ids
	transactionsAt time.Time
}

const seesFor = time.Hour

// lookForHidden asks for a topic and a group that nobody has. A principal that
// may describe all of them is told that they do not exist, another one that it
// may not know.
func (p *poll) lookForHidden() {
	now := p.o.Now()
	if !p.sees.at.IsZero() && now.Sub(p.sees.at) < seesFor || len(p.nodes) == 0 {
		return
	}
	name := "klagtop-" + rand.Text()
	seen, missed := p.sees, false
	seen.at = now
	resp, _ := p.anyBroker(func() kmsg.Request { return metadataOf([]string{name}) })
	if m, ok := resp.(*kmsg.MetadataResponse); !ok || len(m.Brokers) == 0 { // one that knows of no broker knows of no topic
		missed = true
	} else {
		for _, t := range m.Topics {
			seen.topics = mayTell(t.ErrorCode, kerr.UnknownTopicOrPartition.Code)
		}
	}
	if _, all := p.o.Filter.ExactGroups(); !all { // else only the groups named are anybody's business
		resp, _ := p.anyBroker(func() kmsg.Request {
			req := kmsg.NewPtrDescribeGroupsRequest()
			req.Groups = []string{name}
			return req
		})
		if resp == nil {
			missed = true
		} else {
			for _, g := range resp.(*kmsg.DescribeGroupsResponse).Groups {
				seen.groups = mayTellGroup(g.ErrorCode)
			}
		}
	}
	if missed || seen.topics == collect.Maybe { // what was known stands: ask again soon
		seen.at = now.Add(time.Minute - seesFor)
	}
	p.sees = seen
}

// mayTellGroup reads what any broker, coordinator or not, says of a group.
func mayTellGroup(code int16) collect.Tri {
	return mayTell(code, 0, kerr.GroupIDNotFound.Code, kerr.NotCoordinator.Code, kerr.CoordinatorNotAvailable.Code, kerr.CoordinatorLoadInProgress.Code)
}

func mayTell(code int16, yes ...int16) collect.Tri {
	switch {
	case slices.Contains(yes, code):
		return collect.Yes
	case reasonOfCode(code) == collect.ReasonDenied:
		return collect.No
	}
	return collect.Maybe
}
