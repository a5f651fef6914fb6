package kafka

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// readOperation is READ's bit in a set of authorised operations.
	readOperation int32 = 1 << kmsg.ACLOperationRead
	// operationsFor is how long a broker's word on them holds.
	operationsFor = 10 * time.Minute
)

// readable is whether this principal may read a topic's records.
type readable struct {
	yes bool
	at  time.Time
}

// readableOf tells which topics this principal may READ. Brokers tell that in
// Metadata without a line in their authorizer's log, which a request that they
// deny would leave.
func (p *poll) readableOf(topics []string) map[string]bool {
	now := p.o.Now()
	for name, r := range p.readable {
		if now.Sub(r.at) >= operationsFor {
			delete(p.readable, name)
		}
	}
	var ask []string
	listed := map[string]bool{}
	for _, name := range topics {
		if _, known := p.readable[name]; !known && !listed[name] {
			listed[name] = true
			ask = append(ask, name)
		}
	}
	if len(ask) > 0 {
		resp, _ := p.anyBroker(func() kmsg.Request {
			req := metadataOf(ask)
			req.IncludeTopicAuthorizedOperations = true
			return req
		})
		if m, ok := resp.(*kmsg.MetadataResponse); ok && m.Version >= 8 { // older ones do not tell
			for i := range m.Topics {
				if t := &m.Topics[i]; t.Topic != nil {
					may := t.AuthorizedOperations > 0 && t.AuthorizedOperations&readOperation != 0
					p.readable[*t.Topic] = readable{may, now}
				}
			}
		}
	}
	out := make(map[string]bool, len(topics))
	for _, name := range topics {
		out[name] = p.readable[name].yes
	}
	return out
}
