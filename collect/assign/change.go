package assign

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/klagtop/klagtop/collect"
)

// membersShown is how many members a hint names.
const membersShown = 20

// outcome is what a change does to the membership.
type outcome struct {
	added, removed []collect.MemberRef
	notes          []string
}

// change applies a what-if: who leaves, who joins, how many partitions there are.
func (s *situation) change(c collect.Change) (out outcome, err error) {
	if err := s.changePartitions(c.Partitions); err != nil {
		return out, err
	}
	for name, n := range c.Partitions {
		i := slices.IndexFunc(s.topics, func(t topic) bool { return t.name == name })
		switch t := &s.topics[i]; {
		case n < t.now:
			out.notes = append(out.notes, fmt.Sprintf("Kafka takes no partition away: for %s of %s the topic has to be made anew.", plural(int(n), "partition"), name))
		case n > t.now:
			out.notes = append(out.notes, fmt.Sprintf("With %s, keys fall on other partitions of %s than before: order by key, and joins with other topics, break at that point.", plural(int(n), "partition"), name))
		}
	}
	slices.Sort(out.notes)
	joins, leaves := s.typical(), c.Members
	if leaves.To > 0 {
		leaves.Add, leaves.Drop = max(0, leaves.To-len(s.members)), max(0, len(s.members)-leaves.To)
	}
	if err := s.leave(leaves, &out); err != nil {
		return out, err
	}
	if err := s.join(leaves, joins, &out); err != nil {
		return out, err
	}
	s.arrange()
	return out, nil
}

func (s *situation) changePartitions(counts map[string]int32) error {
	for name, n := range counts {
		i := slices.IndexFunc(s.topics, func(t topic) bool { return t.name == name })
		if i < 0 {
			var names []string
			for k := range s.topics {
				names = append(names, s.topics[k].name)
			}
			return &collect.ChangeError{
				Part: collect.ChangePartitions, Value: name + "=" + strconv.Itoa(int(n)), Problem: "the group does not read this topic",
				Hint: "its topics: " + enumerated(names),
			}
		}
		t := &s.topics[i]
		if t.then = n; n != t.now {
			t.rates = nil // keys fall elsewhere
		}
	}
	return nil
}

// typical are the topics that a new member subscribes to: what most members do.
func (s *situation) typical() []string {
	if len(s.members) == 0 {
		var all []string
		for i := range s.topics {
			all = append(all, s.topics[i].name)
		}
		return all
	}
	counts := map[string]int{}
	most := &s.members[0]
	for i := range s.members {
		m := &s.members[i]
		key := strings.Join(m.subscribed, "\x00")
		if counts[key]++; counts[key] > counts[strings.Join(most.subscribed, "\x00")] {
			most = m
		}
	}
	return most.subscribed
}

// leave takes members out: those that are named, then those that come last.
func (s *situation) leave(c collect.MembersChange, out *outcome) error {
	depart := func(i int) {
		s.gone = append(s.gone, s.members[i])
		out.removed = append(out.removed, s.members[i].MemberRef)
		s.members = slices.Delete(s.members, i, i+1)
	}
	for _, id := range c.Leave {
		i, err := s.find(id)
		if err != nil {
			return err
		}
		depart(i)
	}
	if c.Drop == 0 {
		return nil
	}
	switch left := len(s.members) + c.Add + len(c.Join); {
	case c.Drop > len(s.members):
		return &collect.ChangeError{Part: collect.ChangeMembers, Value: "-" + strconv.Itoa(c.Drop), Problem: "the group has " + plural(len(s.members), "member"), Hint: s.whoThereIs()}
	case c.Drop == left:
		return &collect.ChangeError{Part: collect.ChangeMembers, Value: "-" + strconv.Itoa(c.Drop), Problem: "a group without members is assigned nothing", Hint: s.whoThereIs()}
	}
	slices.SortStableFunc(s.members, func(a, b member) int { return before(&a, &b) })
	for range c.Drop {
		depart(len(s.members) - 1)
	}
	out.notes = append(out.notes, "Nobody said who leaves: those that come last in the assignors' order do.")
	return nil
}

// find gives the place of the one member that an identity means.
func (s *situation) find(id string) (int, error) {
	var found []int
	for i := range s.members {
		if m := &s.members[i]; m.MemberID == id {
			return i, nil
		} else if m.InstanceID == id || m.ClientID == id {
			found = append(found, i)
		}
	}
	fail := func(problem, hint string) (int, error) {
		return 0, &collect.ChangeError{Part: collect.ChangeMembers, Value: "-" + id, Problem: problem, Hint: hint}
	}
	switch len(found) {
	case 0:
		return fail("no such member", s.whoThereIs())
	case 1:
		return found[0], nil
	}
	var ids []string
	for _, i := range found {
		ids = append(ids, s.members[i].MemberID)
	}
	return fail(plural(len(found), "member")+" of that name", "their member ids: "+enumerated(ids))
}

func (s *situation) whoThereIs() string {
	if len(s.members) == 0 {
		return "the group has no members"
	}
	var names []string
	for i := range s.members {
		names = append(names, s.members[i].name())
	}
	return "the members there are: " + enumerated(names)
}

// name is the shortest identity that a person knows a member by.
func (m *member) name() string {
	switch {
	case m.InstanceID != "":
		return m.InstanceID
	case m.ClientID != "" && m.ClientID != m.MemberID:
		return m.ClientID + " (" + m.MemberID + ")"
	}
	return m.MemberID
}

func enumerated(names []string) string {
	if n := len(names) - membersShown; n > 0 {
		return strings.Join(names[:membersShown], ", ") + " and " + strconv.Itoa(n) + " more"
	}
	return strings.Join(names, ", ")
}

// join adds members. In a group whose members are all static an identity is an
// instance id, else a client id.
func (s *situation) join(c collect.MembersChange, subscribed []string, out *outcome) error {
	static := len(s.members)+len(s.gone) > 0
	for _, m := range slices.Concat(s.members, s.gone) {
		static = static && m.InstanceID != ""
	}
	add := func(ref collect.MemberRef, kind arrival) {
		s.members = append(s.members, member{MemberRef: ref, kind: kind, subscribed: subscribed})
		out.added = append(out.added, ref)
	}
	for _, id := range c.Join {
		if i := slices.IndexFunc(s.members, func(m member) bool { return m.InstanceID == id }); static && i >= 0 {
			return &collect.ChangeError{Part: collect.ChangeMembers, Value: "+" + id, Problem: "a member already", Hint: s.whoThereIs()}
		}
		if static {
			add(collect.MemberRef{MemberID: id, ClientID: id, InstanceID: id}, named)
		} else {
			add(collect.MemberRef{MemberID: s.unlike(id), ClientID: id}, named)
		}
	}
	taken := func(name string) bool {
		return slices.ContainsFunc(s.members, func(m member) bool { return m.MemberID == name || m.ClientID == name || m.InstanceID == name })
	}
	number := 0
	for range c.Add {
		for number++; c.Add < membersShown && taken("new-"+strconv.Itoa(number)); number++ {
		}
		name := "new-" + strconv.Itoa(number)
		add(collect.MemberRef{MemberID: name, ClientID: name}, nameless)
	}
	return nil
}

// unlike is a name for a member that joins, which no other has: many
// applications give all their members one client id.
func (s *situation) unlike(id string) string {
	name := id
	for n := 2; slices.ContainsFunc(s.members, func(m member) bool { return m.MemberID == name }); n++ {
		name = id + "-" + strconv.Itoa(n)
	}
	return name
}
