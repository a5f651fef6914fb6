package kafka

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

// seen takes over what one poll came upon.
func (x *examination) seen(ctx context.Context, s *collect.Snapshot) {
	if s == nil || !s.Reached {
		return
	}
	c := &x.d.Cluster
	groups, topics := len(s.Groups), 0
	x.used = map[string]bool{}
	for _, g := range s.Groups {
		if g.Reason == collect.ReasonDenied {
			c.DeniedGroups = append(c.DeniedGroups, g.Name)
		}
	}
	for _, t := range s.Topics {
		if !x.o.Filter.Topic(t.Name) {
			continue
		}
		x.used[t.Name] = true
		if t.Reason == collect.ReasonDenied {
			c.DeniedTopics = append(c.DeniedTopics, t.Name)
			continue
		}
		topics++
	}
	c.Groups, c.Topics = &groups, &topics
	x.askAgain(ctx, s)
}

// askAgain tells groups that may not be described from those that may, but have
// a member with a topic that may not: their describe is denied as a whole, and
// names no topic.
func (x *examination) askAgain(ctx context.Context, s *collect.Snapshot) {
	denied := x.d.Cluster.DeniedGroups
	if len(denied) == 0 {
		return
	}
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups = denied[:min(len(denied), mostGroups)]
	resp, err := x.c.request(ctx, req)
	if err != nil {
		return
	}
	for _, g := range resp.(*kmsg.DescribeGroupsResponse).Groups {
		x.groups[g.Group] = mayTellGroup(g.ErrorCode)
		if met, ok := s.Group(g.Group); ok && x.groups[g.Group] == collect.Yes {
			x.blocked = append(x.blocked, met)
		}
	}
}

// permissions judges what was asked and seen.
func (x *examination) permissions() []Permission {
	c := &x.d.Cluster
	seesGroups, seesTopics := x.groups[x.unused], x.topics[x.unused]
	c.SeesAllGroups, c.SeesAllTopics = known(seesGroups), known(seesTopics)
	if len(x.blocked) > 0 && seesTopics == collect.Yes {
		x.tell(x.severity(), "permission", nil, x.blockedText(), "topics may be described in general, so a rule denies one of them: kafka-acls --list shows the rules")
	}
	out := x.groupRights()
	out = append(out, x.topicRights(seesTopics)...)
	out = append(out, Permission{
		Resource: onCluster, Name: clusterName, Pattern: literal, Operation: opDescribe,
		Granted:      known(may(x.cluster, kmsg.ACLOperationDescribe)),
		Buys:         "every group is listed, also one that may not be described",
		idle:         seesGroups == collect.Yes,
		CostsWithout: cond(seesGroups == collect.Yes, "nothing, while all groups may be described", "groups that may not be described are not even listed: only that some may be hidden is said"),
	}, x.overTopics(opDescribeConfigs, kmsg.ACLOperationDescribeConfigs,
		"retention settings: how long until unread records are deleted is known from the first poll",
		"headroom only once the log start was seen to move"), Permission{
		Resource: onTransactional, Name: everything, Pattern: literal, Operation: opDescribe, Granted: known(x.transactional),
		Buys:         "transactional id, producer and age of a hanging transaction",
		CostsWithout: "that a transaction hangs is still found, but not whose it is",
	}, Permission{
		Resource: onTopic, Name: offsetsTopicName, Pattern: literal, Operation: opRead, Needed: x.o.OffsetsTopic, Granted: known(x.onOne(offsetsTopicName, kmsg.ACLOperationRead)),
		Buys:         "--offsets-topic: exact generations of classic groups, and when commits were made",
		CostsWithout: "generations of classic groups are lower bounds",
	}, x.overTopics(opRead, kmsg.ACLOperationRead,
		"--probe-records: whether a short tail is transaction markers only; the producer ids of an open transaction",
		"the age of such a tail is not known (control_records)"))
	for i := range out {
		if out[i].Missing == nil {
			out[i].Missing = []string{}
		}
	}
	return out
}

// groupRights is DESCRIBE on what is selected, and on groups that were met and
// denied all the same.
func (x *examination) groupRights() []Permission {
	var out []Permission
	row := func(s scope, granted collect.Tri) {
		out = append(out, Permission{
			Resource: onGroup, Name: s.name, Pattern: s.pattern, Operation: opDescribe, Needed: true, Granted: known(granted),
			Buys:         "state, members, assignments and commits: lag itself",
			CostsWithout: cond(s.name == everything || s.pattern == prefixed, "groups are left out without a word, or shown as denied, without lag", "the group is shown as denied, without lag"),
		})
	}
	covered := false
	for _, s := range scopesOf(x.o.Filter.Groups) {
		granted := x.groups[s.probe(x.unused)]
		covered = covered || granted == collect.No && (s.name == everything || s.pattern == prefixed)
		row(s, granted)
	}
	if covered {
		return out
	}
	for _, name := range x.d.Cluster.DeniedGroups {
		told := x.groups[name]
		if !slices.ContainsFunc(out, func(p Permission) bool { return p.Name == name }) && told != collect.Yes {
			row(scope{name, literal}, told)
		}
	}
	return out
}

// topicRights is DESCRIBE on the topics that are needed: those selected; else
// those of the groups selected; else all.
func (x *examination) topicRights(seesAll collect.Tri) []Permission {
	row := func(s scope, needed bool, granted collect.Tri) Permission {
		return Permission{
			Resource: onTopic, Name: s.name, Pattern: s.pattern, Operation: opDescribe, Needed: needed, Granted: known(granted),
			Buys:         "log starts and ends, partitions and leaders: lag and time lag",
			CostsWithout: cond(s.name == everything || s.pattern == prefixed, "rows on topics that may not be described are denied, without lag; of a group without members they are not seen at all; consumer (KIP-848), share and streams groups with one are denied as a whole, streams groups over a changelog or repartition topic, too", "its rows are denied, without lag"),
		}
	}
	var out []Permission
	all, covered := false, false
	ofGroups := !x.o.Filter.FiltersTopics() && x.o.Filter.FiltersGroups() && x.used != nil
	if !ofGroups {
		for _, s := range scopesOf(x.o.Filter.Topics) {
			granted := x.topics[s.probe(x.unused)]
			all = all || s.name == everything
			covered = covered || granted == collect.No && s.name == everything
			out = append(out, row(s, true, granted))
		}
	}
	if ofGroups || len(x.blocked) > 0 && !all {
		p := row(scope{everything, literal}, len(x.blocked) > 0, seesAll)
		p.CostsWithout = x.blockedText()
		if ofGroups {
			p.CostsWithout = strings.TrimPrefix(p.CostsWithout+"; commits on topics that may not be described are not seen: a group without members may lag more than is shown", "; ")
		}
		out = append(out, p)
	}
	for _, name := range x.d.Cluster.DeniedTopics {
		if _, asked := x.topics[name]; !asked && !covered {
			out = append(out, row(scope{name, literal}, true, collect.No))
		}
	}
	return out
}

// blockedText says which groups are denied over a topic; "" for none.
func (x *examination) blockedText() string {
	if len(x.blocked) == 0 {
		return ""
	}
	names := make([]string, 0, mostMissing)
	streams := false
	for _, g := range x.blocked {
		streams = streams || g.Type == collect.TypeStreams
		if len(names) < mostMissing {
			names = append(names, g.Name)
		}
	}
	text := cond(len(x.blocked) == 1, "group ", "groups ") + strings.Join(names, ", ")
	if more := len(x.blocked) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	text += cond(len(x.blocked) == 1, " is", " are") + " denied as a whole, over a topic of a member's that may not be described; the broker does not say which"
	if streams {
		text += ": of Kafka Streams changelog and repartition topics count, too, whose names begin with the group's"
	}
	return text
}

// mostMissing is how many topics that lack a permission are named one by one.
const mostMissing = 20

// overTopics is what may be done to the topics that are looked at.
func (x *examination) overTopics(operation string, op kmsg.ACLOperation, buys, costs string) Permission {
	p := Permission{Resource: onTopic, Name: everything, Pattern: literal, Operation: operation, Needed: op == kmsg.ACLOperationRead && x.o.ProbeRecords, Buys: buys, CostsWithout: costs}
	if s := scopesOf(x.o.Filter.Topics); len(s) == 1 {
		p.Name, p.Pattern = s[0].name, s[0].pattern
	}
	var has, lacks int
	onlyUsed := x.o.Filter.FiltersGroups() && !x.o.Filter.FiltersTopics() && x.used != nil
	for _, t := range x.listed {
		if !x.o.Filter.Topic(t.name) || strings.HasPrefix(t.name, "__") || onlyUsed && !x.used[t.name] {
			continue
		}
		told := may(t.operations, op)
		if told == collect.Maybe && op == kmsg.ACLOperationDescribeConfigs {
			told = x.topicConfigs
		}
		switch told {
		case collect.Yes:
			has++
		case collect.No:
			lacks++
			p.Missing = append(p.Missing, t.name)
		}
	}
	switch {
	case lacks > 0:
		p.Granted = known(collect.No)
	case has > 0:
		p.Granted = known(collect.Yes)
	}
	if has == 0 || lacks > mostMissing {
		p.Missing = nil // all, or too many to name
	}
	return p
}

// onOne is what may be done to one topic. What may not even be described may
// not be read: READ implies DESCRIBE.
func (x *examination) onOne(topic string, op kmsg.ACLOperation) collect.Tri {
	if i, ok := slices.BinarySearchFunc(x.listed, topic, func(t topicRights, name string) int { return strings.Compare(t.name, name) }); ok {
		return may(x.listed[i].operations, op)
	}
	if x.topics[topic] == collect.No {
		return collect.No
	}
	return collect.Maybe
}

// tellMissing makes a problem of each needed permission that is not there.
func (dr *doctor) tellMissing() {
	var asked bool
	for _, p := range dr.d.Permissions {
		asked = asked || p.Granted != nil
		if p.Needed && p.Granted != nil && !*p.Granted {
			dr.tell(dr.severity(), "permission", nil, fmt.Sprintf("%s may not %s %s: %s", dr.d.Principal.Name, strings.ToLower(p.Operation), p.of(), p.CostsWithout), dr.against(&p))
		}
	}
	if !asked && len(dr.d.Permissions) > 0 {
		dr.tell(severityWarning, "permission", nil, "what this user may do could not be found out: no broker told in time", "a longer --timeout")
	}
}

// severity is how bad it is that something may not be seen.
func (dr *doctor) severity() string {
	if dr.o.AcceptDenied {
		return severityWarning
	}
	return severityError
}

// against hints at rules that stand against one name where all may be seen.
func (dr *doctor) against(p *Permission) string {
	if p.Name == everything || !slices.ContainsFunc(dr.d.Permissions, func(all Permission) bool {
		return all.Resource == p.Resource && all.Operation == p.Operation && all.Name == everything && all.Granted != nil && *all.Granted
	}) {
		return ""
	}
	return "all others may be seen: if granting it changes nothing, a rule denies it, and is shown by kafka-acls --list " + strings.Join(p.aclFlags(), " ")
}

// of names what a permission is about, in words.
func (p *Permission) of() string {
	switch {
	case p.Resource == onCluster:
		return "the cluster"
	case p.Name == everything:
		return "all " + strings.ReplaceAll(p.Resource, "_", " ") + "s"
	case p.Pattern == prefixed:
		return strings.ReplaceAll(p.Resource, "_", " ") + "s that begin with " + p.Name
	}
	return strings.ReplaceAll(p.Resource, "_", " ") + " " + p.Name
}

// known turns an answer into one with null for not known.
func known(t collect.Tri) *bool {
	if t == collect.Maybe {
		return nil
	}
	yes := t == collect.Yes
	return &yes
}

func cond[T any](yes bool, a, b T) T {
	if yes {
		return a
	}
	return b
}
