package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/klagtop/klagtop/collect"
)

// WhatIf prints a group as it is and as assignors would have it, a line each.
// Where it is one assignor, its members follow: what each would own, with + where
// it does not own it now, and what it would give up. seconds is over what time
// rates were measured, NaN where they were not.
func WhatIf(w io.Writer, g *collect.Group, what *collect.WhatIf, seconds float64) error {
	if _, err := io.WriteString(w, whatIfHead(g, what)+"\n"); err != nil {
		return err
	}
	if err := plansTable(what).write(w); err != nil {
		return err
	}
	if len(what.Plans) == 1 {
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
		if err := sharesTable(what).write(w); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, whatIfFoot(what, seconds))
	return err
}

// whatIfHead says what group it is, and what is supposed of it.
func whatIfHead(g *collect.Group, what *collect.WhatIf) string {
	topics, total := make([]string, len(what.Topics)), int64(0)
	for i, t := range what.Topics {
		topics[i] = fmt.Sprintf("%s %d", Printable(t.Name), t.Now)
		total += int64(t.Now)
	}
	parts := []string{string(g.Type), Printable(g.State)}
	if g.Assignor != "" {
		parts = append(parts, Printable(g.Assignor))
	}
	parts = append(parts, plural(int64(len(what.Now.Members)), "member"), plural(total, "partition")+" ("+strings.Join(shortened(topics), ", ")+")")
	if what.Stale {
		parts = append(parts, "members as they were")
	}
	head := Printable(g.Name) + ": " + strings.Join(parts, ", ")
	if suppositions := suppositions(what); len(suppositions) > 0 {
		head += "\nwhat if " + strings.Join(suppositions, ", ")
	}
	return head
}

func suppositions(what *collect.WhatIf) (list []string) {
	for _, c := range []struct {
		members   []collect.MemberRef
		one, many string
	}{{what.Added, "joins", "join"}, {what.Removed, "leaves", "leave"}} {
		var names []string
		for _, m := range c.members {
			names = append(names, Printable(identity(m)))
		}
		switch len(names) {
		case 0:
		case 1:
			list = append(list, names[0]+" "+c.one)
		default:
			list = append(list, strings.Join(shortened(names), " and ")+" "+c.many)
		}
	}
	for _, t := range what.Topics {
		if t.Now != t.Then {
			list = append(list, fmt.Sprintf("%s has %s", Printable(t.Name), plural(int64(t.Then), "partition")))
		}
	}
	return list
}

// shortened leaves out what goes beyond maxNamed, and says how many that is.
func shortened(names []string) []string {
	if n := len(names) - maxNamed; n > 0 {
		return append(slices.Clone(names[:maxNamed]), strconv.Itoa(n)+" more")
	}
	return names
}

// identity is what a person knows a member by.
func identity(m collect.MemberRef) string {
	switch {
	case m.InstanceID != "":
		return m.InstanceID
	case m.ClientID != "":
		return m.ClientID
	}
	return m.MemberID
}

func plansTable(what *collect.WhatIf) *table {
	t := &table{columns: []column{
		text("ASSIGNOR"), text("PROTOCOL"), number("PARTITIONS"), number("SKEW"), number("RATE-SKEW"), number("IDLE"), number("CO-LOCATED"),
		number("MOVED"), number("STOPPED"), number("ROUNDS"), text("EXACT"),
	}}
	row := func(name string, p *collect.Plan) []string {
		a := &p.Assignment
		colocated := "-"
		if a.Copartitioned >= 0 {
			colocated = fmt.Sprintf("%d/%d", a.Colocated, a.Copartitioned)
		}
		spread := "?"
		if p.Most >= 0 {
			spread = fmt.Sprintf("%d..%d", p.Fewest, p.Most)
		}
		return []string{name, string(p.Protocol), spread, ratio(a.SkewPartitions), ratio(a.SkewRate), count(a.Idle), colocated}
	}
	now := "now"
	if what.Now.Assignor != "" {
		now += " (" + Printable(what.Now.Assignor) + ")"
	}
	if len(what.Now.Members) > 0 {
		t.add(append(row(now, &what.Now), "-", "-", "-", "-")...)
	}
	for i := range what.Plans {
		p := &what.Plans[i]
		rounds, exact := "-", "no"
		if p.Rounds > 0 {
			rounds = strconv.Itoa(p.Rounds)
		}
		if p.Exact {
			exact = "yes"
		}
		t.add(append(row(p.Assignor, p), count(p.Moved), count(p.Stopped), rounds, exact)...)
	}
	return t
}

// ratio is a skew: 1.00 is even.
func ratio(f float64) string {
	if math.IsNaN(f) {
		return "?"
	}
	return strconv.FormatFloat(f, 'f', 2, 64)
}

// sharesTable is the one plan member by member, with those that leave.
func sharesTable(what *collect.WhatIf) *table {
	p := &what.Plans[0]
	t := &table{columns: []column{
		text("MEMBER"), text("CONSUMER-ID"), number("NOW"), number("THEN"), number("PRODUCED/S"), text("ASSIGNMENT"), text("GIVES-UP"),
	}}
	before := make(map[string]*collect.PlannedMember, len(what.Now.Members))
	for i := range what.Now.Members {
		before[what.Now.Members[i].MemberID] = &what.Now.Members[i]
	}
	for i := range p.Members {
		m := &p.Members[i]
		id, now := Printable(m.MemberID), "-"
		if m.New {
			id = "(new)"
		} else if b := before[m.MemberID]; b != nil {
			now = strconv.Itoa(b.Partitions())
		}
		t.add(Printable(identity(m.MemberRef)), id, now, strconv.Itoa(m.Partitions()), rate(m.Rate), marked(m.Assigned, m.Taken), assigned(m.GivenUp))
	}
	for _, m := range what.Removed {
		if b := before[m.MemberID]; b != nil {
			t.add(Printable(identity(m)), Printable(m.MemberID), strconv.Itoa(b.Partitions()), "-", "-", "(leaves)", assigned(b.Assigned))
		}
	}
	return t
}

// marked writes partitions as assigned does, with + before those that are taken.
func marked(tps, taken []collect.TopicPartitions) string {
	if len(tps) == 0 {
		return "-"
	}
	isTaken := func(topic string, p int32) bool {
		return slices.ContainsFunc(taken, func(tp collect.TopicPartitions) bool {
			_, found := slices.BinarySearch(tp.Partitions, p)
			return tp.Topic == topic && found
		})
	}
	topics := make([]string, len(tps))
	for i, tp := range tps {
		parts := make([]string, len(tp.Partitions))
		for k, p := range tp.Partitions {
			if parts[k] = strconv.Itoa(int(p)); isTaken(tp.Topic, p) {
				parts[k] = "+" + parts[k]
			}
		}
		topics[i] = Printable(tp.Topic) + ":" + strings.Join(parts, ",")
	}
	return strings.Join(topics, ";")
}

// whatIfFoot is the recommendation and what the plans rest on; a note that
// several plans share stands once.
func whatIfFoot(what *collect.WhatIf, seconds float64) string {
	var b strings.Builder
	if a := what.Advice; a.Assignor != "" {
		fmt.Fprintf(&b, "\nrecommendation: %s. %s\n", a.Assignor, Printable(a.Reason))
	}
	if !math.IsNaN(seconds) {
		fmt.Fprintf(&b, "note: rates were measured over %s.\n", span(seconds))
	}
	for _, note := range what.Notes {
		fmt.Fprintf(&b, "note: %s\n", Printable(note))
	}
	var notes []string
	of := map[string][]string{}
	for i := range what.Plans {
		p := &what.Plans[i]
		name := p.Assignor
		if slices.ContainsFunc(what.Plans, func(o collect.Plan) bool { return o.Assignor == name && o.Protocol != p.Protocol }) {
			name += " of " + string(p.Protocol)
		}
		for _, note := range p.Notes {
			if of[note] == nil {
				notes = append(notes, note)
			}
			of[note] = append(of[note], name)
		}
	}
	for _, note := range notes {
		fmt.Fprintf(&b, "note on %s: %s\n", strings.Join(of[note], ", "), Printable(note))
	}
	if b.Len() > 0 && what.Advice.Assignor == "" {
		return "\n" + b.String()
	}
	return b.String()
}
