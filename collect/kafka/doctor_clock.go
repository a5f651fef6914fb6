package kafka

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

// ClockCheck bounds how far a broker's clock is ahead of this machine's, as
// far as that can be known without a write: commits in __consumer_offsets carry
// the time of the broker that wrote them, and were written before they were
// seen. So the clock is ahead by at least the newest one's time minus now; and
// at most by its time minus the moment at which it was not there yet, where one
// came while we looked.
type ClockCheck struct {
	AheadAtLeastSeconds *float64 `json:"ahead_at_least_seconds"` // often far below zero: then it says nothing
	AheadAtMostSeconds  *float64 `json:"ahead_at_most_seconds"`
}

// skewed is how far a clock may be off before times from it mislead.
const skewed = 5.0

// newestCommit is the youngest record of a partition of __consumer_offsets.
type newestCommit struct{ offset, timestamp int64 }

// clocks is what the first look saw.
type clocks struct {
	parts map[string][]int32 // by the leader's address
	seen  map[int32]newestCommit
	at    map[string]time.Time // before the question was sent
}

// beginClocks looks a first time.
func (dr *doctor) beginClocks(ctx context.Context, m *kmsg.MetadataResponse) *clocks {
	guide := dr.reached()
	if m == nil || guide == nil {
		return nil
	}
	resp, err := guide.request(ctx, metadataOf([]string{offsetsTopicName}))
	if err != nil {
		return nil
	}
	leaders := map[int32]string{}
	for _, b := range m.Brokers {
		leaders[b.NodeID] = addressOf(b)
	}
	k := &clocks{parts: map[string][]int32{}, seen: map[int32]newestCommit{}, at: map[string]time.Time{}}
	for _, t := range resp.(*kmsg.MetadataResponse).Topics {
		for _, p := range t.Partitions {
			if addr, ok := leaders[p.Leader]; ok {
				k.parts[addr] = append(k.parts[addr], p.Partition)
			}
		}
	}
	dr.lookAtClocks(ctx, k, func(c *checkup, before, after time.Time, p int32, n newestCommit) {
		k.seen[p], k.at[c.Address] = n, before
		c.clockAtLeast(n, after)
	})
	return k
}

// endClocks looks a second time.
func (dr *doctor) endClocks(ctx context.Context, k *clocks) {
	if k == nil {
		return
	}
	dr.lookAtClocks(ctx, k, func(c *checkup, _, after time.Time, p int32, n newestCommit) {
		c.clockAtLeast(n, after)
		if old, ok := k.seen[p]; ok && n.offset > old.offset && n.timestamp > old.timestamp {
			most := n.after(k.at[c.Address])
			if c.Clock.AheadAtMostSeconds == nil || most < *c.Clock.AheadAtMostSeconds {
				c.Clock.AheadAtMostSeconds = &most
			}
		}
	})
}

// after is how many seconds later than t the record says it was written.
func (n newestCommit) after(t time.Time) float64 { return float64(n.timestamp-t.UnixMilli()) / 1000 }

func (c *checkup) clockAtLeast(n newestCommit, seen time.Time) {
	least := n.after(seen)
	if c.Clock == nil {
		c.Clock = &ClockCheck{}
	}
	if c.Clock.AheadAtLeastSeconds == nil || least > *c.Clock.AheadAtLeastSeconds {
		c.Clock.AheadAtLeastSeconds = &least
	}
}

// newestVersion of ListOffsets is the first that knows TimestampNewest.
const newestVersion = 7

// lookAtClocks asks each broker for the newest records it leads.
func (dr *doctor) lookAtClocks(ctx context.Context, k *clocks, see func(c *checkup, before, after time.Time, p int32, n newestCommit)) {
	ctx, cancel := shareOf(ctx, silenceOfOne)
	defer cancel()
	type look struct {
		before, after time.Time
		resp          *kmsg.ListOffsetsResponse
	}
	looks := make([]look, len(dr.checked))
	var crew crew
	for i, c := range dr.checked {
		parts := k.parts[c.Address]
		if c.err != nil || len(parts) == 0 || c.atMost(kmsg.ListOffsets, newestVersion-1) {
			continue
		}
		crew.Go(func() {
			looks[i].before = dr.o.Now()
			if resp, err := c.request(ctx, newestOf(parts)); err == nil {
				looks[i].resp, looks[i].after = resp.(*kmsg.ListOffsetsResponse), dr.o.Now()
			}
		})
	}
	crew.Wait()
	for i, l := range looks {
		if l.resp == nil {
			continue
		}
		for _, t := range l.resp.Topics {
			for _, p := range t.Partitions {
				if p.ErrorCode == 0 && p.Timestamp > 0 {
					see(dr.checked[i], l.before, l.after, p.Partition, newestCommit{p.Offset, p.Timestamp})
				}
			}
		}
	}
}

func newestOf(parts []int32) *kmsg.ListOffsetsRequest {
	req := kmsg.NewPtrListOffsetsRequest()
	req.TimeoutMillis = remoteWait
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic = offsetsTopicName
	for _, p := range slices.Sorted(slices.Values(parts)) {
		q := kmsg.NewListOffsetsRequestTopicPartition()
		q.Partition, q.Timestamp = p, collect.TimestampNewest
		t.Partitions = append(t.Partitions, q)
	}
	req.Topics = append(req.Topics, t)
	return req
}

// tellClocks warns of clocks that are proved to differ.
func (dr *doctor) tellClocks() {
	for _, c := range dr.checked {
		if c.Clock == nil {
			continue
		}
		least, most := c.Clock.AheadAtLeastSeconds, c.Clock.AheadAtMostSeconds
		var text string
		switch {
		case least != nil && *least > skewed:
			text = fmt.Sprintf("the clock of %s is at least %.1f s ahead of this machine's", c.Address, *least)
		case most != nil && *most < -skewed:
			text = fmt.Sprintf("the clock of %s is at least %.1f s behind this machine's", c.Address, -*most)
		default:
			continue
		}
		dr.tell(severityWarning, "clock", c, text, "time lag is off by as much: let both take their time from NTP")
	}
}
