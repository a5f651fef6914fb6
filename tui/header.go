package tui

import (
	"strconv"
	"strings"
	"time"

	"github.com/klagtop/klagtop/collect"
)

// segment is a part of a line; the highest rank leaves first where the line is
// too short, and rank 0 never.
type segment struct {
	cell
	rank int
}

// join sets the segments that fit side by side.
func join(l *look, segments []segment, sep string, w int) string {
	for {
		used, worst := 0, -1
		for i, s := range segments {
			if i > 0 {
				used += width(sep)
			}
			used += width(s.text)
			if s.rank > 0 && (worst < 0 || s.rank >= segments[worst].rank) {
				worst = i
			}
		}
		if used <= w || worst < 0 {
			break
		}
		segments = append(segments[:worst:worst], segments[worst+1:]...)
	}
	var b strings.Builder
	left := w
	for i, s := range segments {
		if i > 0 {
			b.WriteString(l.paint(toneDim, sep))
			left -= width(sep)
		}
		text := cutEnd(s.text, left, l.glyphs.more)
		b.WriteString(l.paint(s.tone, text))
		left -= width(text)
	}
	return b.String()
}

// header is what stands above every view.
func (m *model) header() []string {
	lines := []string{join(m.look, m.title(), "  ", m.width), join(m.look, m.tally(), " "+m.look.glyphs.dot+" ", m.width)}
	if text, t := m.trouble(); text != "" {
		lines = append(lines, m.look.paint(t, cutEnd(text, m.width, m.look.glyphs.more)))
	}
	return lines
}

// title is the first line: which cluster, how old, how often, what is hidden.
func (m *model) title() []segment {
	var out []segment
	add := func(rank int, t tone, text string) {
		if text != "" {
			out = append(out, segment{cell{text, t}, rank})
		}
	}
	if !m.pausedAt.IsZero() {
		add(0, toneBanner, " PAUSED "+m.pausedAt.Format(time.TimeOnly)+", "+ago(m.now, m.pausedAt)+" ago ")
	}
	add(9, toneDim, "klagtop")
	s := m.scene.snap
	if s != nil {
		add(1, toneStrong, m.look.name(s.Cluster.Name))
		add(8, toneDim, shortID(m.look, s.Cluster.ID))
		add(10, toneDim, m.reachedBy())
	}
	out = append(out, segment{m.freshness(), 0})
	if m.opts.Wishes != nil {
		add(4, toneDim, "every "+interval(m.opts.Wishes.Interval()))
	}
	if s != nil && s.CommitsEvery > 0 {
		add(4, toneWarn, "commits every "+interval(s.CommitsEvery.Round(time.Second)))
	}
	if f := m.pane().filterText(); f != "" {
		add(2, toneAccent, "/"+m.look.text(f))
	}
	add(3, toneAccent, m.pane().note())
	if s != nil && s.Cluster.SeesAllGroups == collect.No {
		add(5, toneWarn, "not all groups visible")
	}
	if s != nil && s.Cluster.SeesAllTopics == collect.No {
		add(6, toneWarn, "not all topics visible")
	}
	if m.opts.Filter != "" {
		add(5, toneDim, "filter "+m.look.text(m.opts.Filter))
	}
	if s != nil && len(s.Cluster.Brokers) > 0 {
		add(7, toneDim, plural(len(s.Cluster.Brokers), "broker"))
	}
	return out
}

// reachedBy tells a cluster from the others, most of which have no name of
// their own; it is also where another client can join a demo.
func (m *model) reachedBy() string {
	first, _, _ := strings.Cut(m.opts.Brokers, ",")
	if first == "" || m.nothingYet() {
		return ""
	}
	return "at " + m.look.text(first)
}

func shortID(l *look, id string) string {
	if id == "" {
		return ""
	}
	return "(" + cutEnd(l.text(id), 10, l.glyphs.more) + ")"
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// freshness is the age of what is on the screen. It is late when a poll should
// have ended long ago.
func (m *model) freshness() cell {
	switch {
	case m.scene.snap == nil:
		return cell{"reading " + ago(m.now, m.started), toneAccent}
	case m.nothingYet():
		return cell{"not reached", toneBad}
	}
	u := m.scene.update
	if !u.Snapshot.Reached { // the poll is new, its numbers are those of an older one
		return cell{ago(m.now, m.scene.reachedAt) + " old, not reached", toneBad}
	}
	old := m.now.Sub(u.Snapshot.TakenAt)
	text := ago(m.now, u.Snapshot.TakenAt) + " old"
	if m.pausedAt.IsZero() && old > 2*u.Interval+2*time.Second {
		return cell{text + ", late", toneWarn}
	}
	if !u.Snapshot.Complete {
		return cell{text + ", incomplete", toneWarn}
	}
	return cell{text, toneGood}
}

// tally is the second line: the cluster in counts, whatever is hidden.
func (m *model) tally() []segment {
	if m.nothingYet() {
		return []segment{{cell{"reading groups " + m.look.glyphs.more, toneDim}, 0}}
	}
	c := m.groups.counts
	out := []segment{{cell{plural(c.groups, "group"), tonePlain}, 0}}
	for _, x := range []struct {
		n    int
		what string
		tone tone
		rank int
	}{
		{c.critical, "critical", toneBad, 1},
		{c.warning, "warning", toneWarn, 2},
		{c.rebalancing, "rebalancing", toneAccent, 4},
		{c.unknown, "unknown", toneUnknown, 3},
		{c.stale, "stale", toneWarn, 5},
	} {
		if x.n > 0 {
			out = append(out, segment{cell{strconv.Itoa(x.n) + " " + x.what, x.tone}, x.rank})
		}
	}
	return out
}

// trouble is the third line, there only when something is wrong with the
// cluster as a whole.
func (m *model) trouble() (string, tone) {
	s := m.scene.snap
	l := m.look
	switch {
	case m.ended:
		return l.glyphs.warning + " no more updates will come: polling has ended", toneWarn
	case s == nil:
		return "", tonePlain
	case !s.Reached && !m.scene.reachedAt.IsZero():
		text := l.glyphs.critical + " cluster not reached for " + ago(m.now, m.scene.reachedAt)
		if e := m.lastError(); e != "" {
			text += ": " + e
		}
		return text + ", " + m.nextTry(), toneBad
	case m.scene.cluster != nil:
		f := m.scene.cluster
		if f.Severity == collect.Critical {
			return l.glyphs.critical + " " + l.text(f.Code+": "+f.Summary), toneBad
		}
		return l.glyphs.warning + " " + l.text(f.Code+": "+f.Summary), toneWarn
	case s.Reached && len(s.Problems) > 0:
		text := l.glyphs.warning + " " + l.problem(&s.Problems[0])
		if n := len(s.Problems) - 1; n > 0 {
			text += " (+" + strconv.Itoa(n) + ")"
		}
		return text, toneWarn
	}
	return "", tonePlain
}

// problem is one thing a poll could not do, in a line.
func (l *look) problem(p *collect.Problem) string {
	var about []string
	if p.Broker >= 0 {
		about = append(about, "broker "+strconv.Itoa(int(p.Broker)))
	}
	if p.Group != "" {
		about = append(about, "group "+l.name(p.Group))
	}
	if p.Topic != "" {
		name := "topic " + l.name(p.Topic)
		if p.Partition >= 0 {
			name += "-" + strconv.Itoa(int(p.Partition))
		}
		about = append(about, name)
	}
	about = append(about, strings.ReplaceAll(string(p.Stage), "_", " ")+" "+p.Reason.String())
	text := strings.Join(about, ", ")
	if p.Error != "" {
		text += ": " + l.text(p.Error)
	}
	return text
}

// lastError is the first error, in words, of the poll on the screen; "" without
// one.
func (m *model) lastError() string {
	if m.scene.update == nil {
		return ""
	}
	problems := m.scene.update.Snapshot.Problems
	for i := range problems {
		if e := problems[i].Error; e != "" {
			return m.look.text(e)
		}
	}
	if len(problems) > 0 {
		return m.look.problem(&problems[0])
	}
	return ""
}

// lastHint is what would mend the first problem that has one; "" without.
func (m *model) lastHint() string {
	if m.scene.snap == nil {
		return ""
	}
	for _, p := range m.scene.snap.Problems {
		if p.Hint != "" {
			return m.look.text(p.Hint)
		}
	}
	return ""
}

func (m *model) nextTry() string {
	if m.latest == nil {
		return ""
	}
	left := m.latest.NextPoll.Sub(m.now)
	if left <= 0 {
		return "trying now"
	}
	return "next try in " + wholeSeconds(left+time.Second-1)
}

// nothingYet reports whether there is nothing to show but the attempt.
func (m *model) nothingYet() bool {
	return m.scene.snap == nil || m.scene.reachedAt.IsZero() && len(m.scene.snap.Groups) == 0
}

// connecting is the body while nothing was ever reached.
func (m *model) connecting() []string {
	l := m.look
	where := m.opts.Brokers
	if where == "" {
		where = "the cluster"
	}
	lines := []string{"", "  " + l.paint(toneStrong, cutMiddle("connecting to "+l.text(where)+" "+l.glyphs.more, m.width-2, l.glyphs.more))}
	if m.inside {
		lines = append(lines, "  "+cutMiddle("waiting for group "+l.name(m.group.name), m.width-2, l.glyphs.more))
	}
	if m.latest == nil {
		return append(lines, "  "+l.paint(toneDim, cutEnd("for "+ago(m.now, m.started)+" now; q quits", m.width-2, l.glyphs.more)))
	}
	if e := m.lastError(); e != "" {
		for _, line := range wrap(e, m.width-4) {
			lines = append(lines, "  "+l.paint(toneBad, line))
		}
	}
	if h := m.lastHint(); h != "" {
		lines = append(lines, "  "+cutEnd("hint: "+h, m.width-2, l.glyphs.more)) // one line: the next try stays in sight
	}
	return append(lines, "  "+l.paint(toneDim, cutEnd(m.nextTry()+", trying for "+ago(m.now, m.started), m.width-2, l.glyphs.more)))
}
