package kafka

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

// retryRetentions is when settings are asked for again that no broker told.
const retryRetentions = time.Minute

// retentionKeys are the settings that say when records are deleted.
var retentionKeys = []string{"cleanup.policy", "retention.ms", "retention.bytes"}

// readRetentions asks, each hour, for the retention settings of topics with
// rows. Metadata tells first which topics this principal may ask about: a
// question about another one would be a denial in the authorizer's log. What
// goes wrong here is no problem of the poll: headroom is then not known, or
// known from how the log start moves.
func (p *poll) readRetentions() {
	now := p.o.Now()
	due := p.b.RetentionsDue(now)
	if len(due) == 0 {
		return
	}
	allowed, ok := p.mayDescribeConfigs(due)
	if ok && len(allowed) > 0 {
		ok = p.describeRetentions(allowed, now)
	}
	for _, t := range due {
		switch {
		case t.Retention.AskedAt.Equal(now): // told
		case ok:
			p.b.SetRetention(t, collect.Retention{AskedAt: now})
		default: // what was known stands
			r := t.Retention
			r.AskedAt = now.Add(retryRetentions - time.Hour)
			p.b.SetRetention(t, r)
		}
	}
}

// mayDescribeConfigs picks the topics whose authorised operations hold
// DESCRIBE_CONFIGS; ok is false where no broker told.
func (p *poll) mayDescribeConfigs(topics []*collect.Topic) (allowed []*collect.Topic, ok bool) {
	names := make([]string, len(topics))
	for i, t := range topics {
		names[i] = t.Name
	}
	resp, _ := p.anyBroker(func() kmsg.Request {
		req := metadataOf(names)
		req.IncludeTopicAuthorizedOperations = true
		return req
	})
	m, ok := resp.(*kmsg.MetadataResponse)
	if !ok || len(m.Brokers) == 0 {
		return nil, false
	}
	granted := map[string]bool{}
	for i := range m.Topics {
		if t := &m.Topics[i]; t.Topic != nil && t.ErrorCode == 0 {
			granted[*t.Topic] = may(t.AuthorizedOperations, kmsg.ACLOperationDescribeConfigs) == collect.Yes
		}
	}
	return slices.DeleteFunc(slices.Clone(topics), func(t *collect.Topic) bool { return !granted[t.Name] }), true
}

// describeRetentions reads settings; false where no broker answered.
func (p *poll) describeRetentions(topics []*collect.Topic, now time.Time) bool {
	byName := make(map[string]*collect.Topic, len(topics))
	for _, t := range topics {
		byName[t.Name] = t
	}
	resp, _ := p.anyBroker(func() kmsg.Request {
		req := kmsg.NewPtrDescribeConfigsRequest()
		for _, t := range topics {
			r := kmsg.NewDescribeConfigsRequestResource()
			r.ResourceType, r.ResourceName, r.ConfigNames = kmsg.ConfigResourceTypeTopic, t.Name, retentionKeys
			req.Resources = append(req.Resources, r)
		}
		return req
	})
	configs, ok := resp.(*kmsg.DescribeConfigsResponse)
	if !ok {
		return false
	}
	for i := range configs.Resources {
		r := &configs.Resources[i]
		if t := byName[r.ResourceName]; t != nil && r.ErrorCode == 0 {
			p.b.SetRetention(t, retentionOf(r.Configs, now))
		}
	}
	return true
}

// retentionOf reads a topic's settings. One that is missing or makes no sense
// leaves all of it unknown: no managed service has to tell them.
func retentionOf(configs []kmsg.DescribeConfigsResponseResourceConfig, now time.Time) collect.Retention {
	values := map[string]string{}
	for i := range configs {
		if c := &configs[i]; c.Value != nil {
			values[c.Name] = *c.Value
		}
	}
	r := collect.Retention{AskedAt: now}
	ms, errTime := strconv.ParseInt(values["retention.ms"], 10, 64)
	bytes, errBytes := strconv.ParseInt(values["retention.bytes"], 10, 64)
	if errTime != nil || errBytes != nil || values["cleanup.policy"] == "" {
		return r
	}
	for policy := range strings.SplitSeq(values["cleanup.policy"], ",") {
		switch strings.TrimSpace(policy) {
		case "delete":
			r.Deletes = true
		case "compact":
			r.Compacts = true
		}
	}
	const longest = int64(1<<63-1) / int64(time.Millisecond)
	if r.Known, r.Bytes, r.Time = true, bytes, -1; ms >= 0 && ms <= longest { // more is for ever
		r.Time = time.Duration(ms) * time.Millisecond
	}
	return r
}
