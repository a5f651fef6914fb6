package collect

import (
	"sort"
	"time"
)

// RetentionsDue lists topics with rows whose retention settings were not asked
// for within an hour, by name and retentionTopics at most.
func (b *Builder) RetentionsDue(now time.Time) []*Topic {
	var out []*Topic
	for _, d := range b.topics {
		if d.any && d.exists && d.Reason == ReasonNone && now.Sub(d.Retention.AskedAt) >= retentionEvery {
			out = append(out, d.Topic)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out[:min(len(out), retentionTopics)]
}

const (
	retentionEvery  = time.Hour
	retentionTopics = 1000 // of one question
)

// SetRetention gives a topic's retention settings, or says with AskedAt alone
// that they were asked for in vain.
func (b *Builder) SetRetention(t *Topic, r Retention) { t.Retention = r }
