package tui

import (
	"strings"
	"time"

	"github.com/klagtop/klagtop/collect"
)

// A scene is what views draw: one update, as it may be shown at one moment.
type scene struct {
	update    *collect.Update // nil before the first
	snap      *collect.Snapshot
	now       time.Time
	reachedAt time.Time                   // end of the last poll that had reached the cluster by then; zero before
	cluster   *collect.Finding            // the primary one about the cluster itself; nil without
	primary   map[string]*collect.Finding // by group
	findings  map[string]int              // how many, by group
	history   *history
	look      *look
}

// newScene is the update as it may be shown now: numbers that are too old to
// stand are unknown, so that a poll that hangs leaves nothing healthy behind.
func newScene(u *collect.Update, now time.Time, h *history, l *look) scene {
	l.now = now
	s := scene{update: u, now: now, history: h, look: l, primary: map[string]*collect.Finding{}, findings: map[string]int{}}
	if u == nil {
		return s
	}
	s.snap = u.Snapshot.At(now)
	for i := range u.Findings {
		f := &u.Findings[i]
		if f.Cluster {
			if s.cluster == nil || f.Primary {
				s.cluster = f
			}
			continue
		}
		if s.findings[f.Group]++; s.primary[f.Group] == nil || f.Primary {
			s.primary[f.Group] = f
		}
	}
	return s
}

// A pane is one table of the screen: the small interface that all views share.
type pane interface {
	// show takes a new scene in and keeps the cursor on its row.
	show(s *scene)
	resize(width, height int)
	// draw returns at most as many lines as it was given.
	draw(s *scene) []string

	move(m motion)
	moveTo(line int) // counted from the pane's first line
	hold()           // the cursor stays with its row from now on
	// status is the chosen row's whole name, opens the group it leads to.
	status() string
	opens() (group string, ok bool)
	explain(s *scene) []string

	filterText() string
	setFilter(text string)
	note() string // what is hidden or held, in words

	orders() []ordering
	sortBy(column int)
	shiftSort(s *scene, by int)
	reverse()
	freeze() bool
}

// ordering is one way to sort a pane.
type ordering struct {
	name   string
	column int // -1 for the pane's own
	active bool
}

// motion is a way to move the cursor.
type motion uint8

const (
	lineUp motion = iota
	lineDown
	halfUp
	halfDown
	pageUp
	pageDown
	toTop
	toEnd
	wheelUp
	wheelDown
)

// A list is a pane made of a table: the rows come from a scene, the rest is
// words.
type list[R any] struct {
	table[R]
	width   int
	build   func(s *scene) []R
	text    func(r R) string // what a filter looks in
	keep    func(r R) bool   // nil: all
	name    func(r R) string
	target  func(r R) (group string, ok bool) // nil: rows lead nowhere
	why     func(s *scene, r R) []string
	empty   func(s *scene) string // what to say without rows
	natural string                // name of the table's own order
	filter  string
	hidden  int // rows that keep left out
	missed  int // rows that the filter left out
}

func (p *list[R]) show(s *scene) {
	rows := p.build(s)
	p.arm()
	p.set(rows)
}

// refilter picks rows anew after a change of what is hidden.
func (p *list[R]) refilter() {
	p.arm()
	p.sift()
}

// arm readies the filter for one pass over the rows; it counts what it leaves
// out.
func (p *list[R]) arm() {
	match := matcher(p.filter)
	p.hidden, p.missed = 0, 0
	p.pass = func(r R) bool {
		if p.keep != nil && !p.keep(r) {
			p.hidden++
			return false
		}
		if !match(p.text(r)) {
			p.missed++
			return false
		}
		return true
	}
}

func (p *list[R]) resize(w, h int) {
	p.width = w
	p.table.resize(h)
}

func (p *list[R]) draw(s *scene) []string {
	if len(p.rows) > 0 {
		return p.table.draw(s.look, p.width)
	}
	say := p.empty(s)
	switch {
	case p.missed > 0:
		say = "nothing matches the filter " + s.look.text(p.filter) + " (esc clears it)"
	case p.hidden > 0:
		say = "all rows are hidden"
	}
	return []string{"", s.look.paint(toneDim, cutEnd("  "+say, p.width, s.look.glyphs.more))}
}

func (p *list[R]) move(m motion) {
	half := max(1, p.page()/2)
	by := map[motion]int{
		lineUp: -1, lineDown: 1, halfUp: -half, halfDown: half, pageUp: -p.page(), pageDown: p.page(),
		toTop: -len(p.rows), toEnd: len(p.rows), wheelUp: -3, wheelDown: 3,
	}[m]
	p.table.moveTo(p.cursor + by)
}

func (p *list[R]) moveTo(line int) {
	if i := p.top + line - 1; line > 0 && i < len(p.rows) {
		p.table.moveTo(i)
	}
}

func (p *list[R]) hold() { p.table.moveTo(p.cursor) }

func (p *list[R]) status() string {
	if r, ok := p.selected(); ok {
		return p.name(r)
	}
	return ""
}

func (p *list[R]) opens() (string, bool) {
	if r, ok := p.selected(); ok && p.target != nil {
		return p.target(r)
	}
	return "", false
}

func (p *list[R]) explain(s *scene) []string {
	if r, ok := p.selected(); ok {
		return p.why(s, r)
	}
	return nil
}

func (p *list[R]) filterText() string { return p.filter }

func (p *list[R]) setFilter(text string) {
	p.filter = text
	p.refilter()
}

func (p *list[R]) note() string {
	if p.frozen != nil {
		return "order held"
	}
	return ""
}

func (p *list[R]) orders() []ordering {
	out := []ordering{{name: p.natural, column: -1, active: p.sorted < 0}}
	for i := range p.columns {
		if c := &p.columns[i]; c.compare != nil {
			o := ordering{name: c.name, column: i, active: i == p.sorted}
			if o.name == "" {
				o.name = strings.ToLower(c.title)
			}
			out = append(out, o)
		}
	}
	return out
}

func (p *list[R]) shiftSort(s *scene, by int) { p.table.shiftSort(by, p.shown(s.look, p.width)) }

// matcher makes a filter: a part of the text in any case, ! for its opposite.
func matcher(filter string) func(string) bool {
	part, inverse := strings.CutPrefix(strings.ToLower(filter), "!")
	if part == "" {
		return func(string) bool { return true }
	}
	return func(text string) bool { return strings.Contains(strings.ToLower(text), part) != inverse }
}
