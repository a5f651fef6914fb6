package tui

import (
	"strconv"
	"strings"
	"time"

	"github.com/klagtop/klagtop/collect"
)

// groupView shows one group: what is known of it in a few lines, and below
// them its topics, partitions or members.
type groupView struct {
	name   string // of the group
	seen   bool   // it was there while the view was open
	goneAt time.Time
	tab    int
	panes  [3]pane
	titles [3]string
	width  int
	height int
}

const partitionsTab = 1

func newGroupView() *groupView {
	v := &groupView{tab: partitionsTab, titles: [3]string{"Topics", "Partitions", "Members"}}
	v.open("")
	return v
}

// open turns the view to a group; filters and sorting stay with the one before.
func (v *groupView) open(name string) {
	v.name, v.seen, v.goneAt = name, false, time.Time{}
	v.panes = [3]pane{newTopicsPane(v.group), newPartitionsPane(v.group), newMembersPane(v.group)}
}

func (v *groupView) active() pane { return v.panes[v.tab] }

// group is the group on screen, nil while it is not there.
func (v *groupView) group(s *scene) *collect.Group {
	if s.snap == nil {
		return nil
	}
	if g, ok := s.snap.Group(v.name); ok {
		return g
	}
	return nil
}

func (v *groupView) show(s *scene) {
	switch {
	case v.group(s) != nil:
		v.seen, v.goneAt = true, time.Time{}
	case v.seen && v.goneAt.IsZero():
		v.goneAt = s.now
	}
	for _, p := range v.panes {
		p.show(s)
	}
}

func (v *groupView) turn(by int) { v.tab = (v.tab + by + len(v.panes)) % len(v.panes) }

// resize gives the table what the lines above it leave.
func (v *groupView) resize(s *scene, w, h int) {
	v.width, v.height = w, h
	rest := max(1, h-len(v.heading(s)))
	for _, p := range v.panes {
		p.resize(w, rest)
	}
}

func (v *groupView) draw(s *scene) []string {
	lines := v.heading(s)
	if v.group(s) != nil {
		lines = append(lines, v.active().draw(s)...)
	}
	return lines
}

// heading is what stands above the table.
func (v *groupView) heading(s *scene) []string {
	g := v.group(s)
	if g == nil {
		return v.absence(s)
	}
	facts := flow(s.look, groupFacts(s.look, g), v.width, v.factLines())
	if f := s.primary[g.Name]; f != nil && v.height >= 12 {
		m := s.look.mark(weigh(g, f))
		text := m.text + " " + s.look.text(f.Code+": "+f.Summary)
		facts = append(facts, s.look.paint(m.tone, cutEnd(text, v.width, s.look.glyphs.more)))
	}
	return append(facts, v.tabs(s))
}

func (v *groupView) factLines() int {
	switch {
	case v.height < 8:
		return 1
	case v.height < 16:
		return 2
	}
	return 4
}

// absence says in words why there is no group to show.
func (v *groupView) absence(s *scene) []string {
	name := s.look.name(v.name)
	say := "waiting for group " + name
	switch {
	case s.snap == nil:
	case v.seen:
		say = "group " + name + " is gone since " + v.goneAt.Format(time.TimeOnly) + " (esc leads back)"
	case !s.snap.Reached:
		say += ": the cluster is not reached"
	case s.snap.Filtered:
		say += " (among those that the filters select)"
	}
	lines := []string{""}
	for _, l := range wrap(say, v.width-4) {
		lines = append(lines, "  "+s.look.paint(toneStrong, l))
	}
	return lines
}

// tabs is the line that says which table is shown, and how many rows the
// others have where there is room.
func (v *groupView) tabs(s *scene) string {
	g := v.group(s)
	rows := rowCount(s.look, g)
	topics := rows
	if rows != "?" {
		topics = strconv.Itoa(len(g.Topics))
	}
	counts := [3]string{topics, rows, s.look.count(g.Assignment.Members)}
	for _, counted := range []bool{true, false} {
		plain, painted := 0, ""
		for i, title := range v.titles {
			if counted || i == v.tab {
				title += " " + counts[i]
			}
			text, t := " "+title+" ", toneDim
			if i == v.tab {
				text, t = "["+title+"]", toneAccent
			}
			plain += width(text) + 2
			painted += " " + s.look.paint(t, text) + " "
		}
		if plain <= v.width {
			return painted
		}
	}
	return s.look.paint(toneAccent, "["+v.titles[v.tab]+"]")
}

// groupFacts are the parts of the heading, what matters most first.
func groupFacts(l *look, g *collect.Group) []cell {
	facts := []cell{{l.name(g.Name), toneAccent}, labelled(l, "lag ", l.totalCell(g.Lag)), l.state(g, false)}
	if g.Reason != collect.ReasonNone {
		facts = append(facts, cell{g.Reason.String(), toneUnknown})
	}
	facts = append(facts, labelled(l, "time lag ", l.ageCell(g.Lag.Age)))
	a := &g.Assignment
	members := labelled(l, "members ", l.countCell(a.Members))
	if a.Idle > 0 {
		members = cell{members.text + " (" + l.count(a.Idle) + " idle)", toneWarn}
	}
	facts = append(facts, members)
	if a.Unassigned > 0 && a.Members > 0 {
		facts = append(facts, cell{l.count(a.Unassigned) + " unassigned", toneWarn})
	} else if a.Unassigned >= 0 {
		facts = append(facts, cell{l.count(a.Unassigned) + " unassigned", toneDim})
	}
	if a.Orphaned > 0 {
		facts = append(facts, cell{l.count(a.Orphaned) + " orphaned", toneDim})
	}
	if a.Conflicts > 0 {
		facts = append(facts, cell{l.count(a.Conflicts) + " with two owners", toneBad})
	}
	facts = append(facts, cell{"in " + l.rate(g.Produced) + "/s, out " + l.rate(g.Consumed) + "/s", tonePlain},
		cell{l.text(string(g.Type)), toneDim})
	if g.Assignor != "" {
		facts = append(facts, cell{l.text(g.Assignor), toneDim})
	}
	facts = append(facts, cell{generation(l, g), toneDim}, cell{"coordinator " + l.count(int64(g.Coordinator)), toneDim})
	rebalances := "rebalances "
	if g.Counters.RebalancesLower && g.Counters.Rebalances > 0 {
		rebalances += l.glyphs.atLeast + " "
	}
	facts = append(facts, cell{rebalances + l.count(g.Counters.Rebalances), toneDim})
	switch {
	case g.AssignmentStale && a.Assigned > 0:
		facts = append(facts, cell{"owners as of the last stable assignment", toneWarn})
	case g.AssignmentStale && a.Members > 0: // first seen while it rebalances: there is no earlier assignment to show
		facts = append(facts, cell{"owners not known", toneWarn})
	}
	if g.CommitsReason != collect.ReasonNone {
		facts = append(facts, cell{"commits not read: " + g.CommitsReason.String(), toneWarn})
	}
	return facts
}

func labelled(_ *look, label string, c cell) cell {
	if c.tone == toneDim {
		c.tone = tonePlain
	}
	return cell{label + c.text, c.tone}
}

// generation is a group's generation or epoch, marked where it is a lower bound.
func generation(l *look, g *collect.Group) string {
	word := "generation "
	if g.Generation.Source == collect.SourceEpoch || g.Type != collect.TypeClassic {
		word = "epoch "
	}
	switch {
	case !g.Generation.Known():
		return word + "?"
	case !g.Generation.Exact:
		word += l.glyphs.atLeast + " "
	}
	return word + strconv.FormatInt(g.Generation.Value, 10)
}

// flow packs parts into at most that many lines, a dot between them; what does
// not fit is left out, the last first.
func flow(l *look, parts []cell, w, most int) []string {
	var lines []string
	var line strings.Builder
	used := 0
	sep := " " + l.glyphs.dot + " "
	for _, p := range parts {
		text := p.text
		if used == 0 || used+width(sep)+width(text) > w {
			if used > 0 {
				lines = append(lines, line.String())
				line.Reset()
			}
			if len(lines) == most {
				return lines
			}
			text = cutMiddle(text, w, l.glyphs.more)
			used = 0
		} else {
			line.WriteString(l.paint(toneDim, sep))
			used += width(sep)
		}
		line.WriteString(l.paint(p.tone, text))
		used += width(text)
	}
	if used > 0 && len(lines) < most {
		lines = append(lines, line.String())
	}
	return lines
}
