package tui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// What keys do. Each is one line of the key table.

func (m *model) move(by motion) {
	switch o := m.overlay.(type) {
	case *sortMenu:
		o.at = max(0, min(len(o.orders)-1, o.at+steps(by)))
	case *helpPage:
		o.scroll(m, steps(by))
	case *explanation:
		o.scroll(m, steps(by))
	case nil:
		m.pane().move(by)
	}
}

// steps is a motion in a short list.
func steps(by motion) int {
	return map[motion]int{lineUp: -1, lineDown: 1, halfUp: -5, halfDown: 5, pageUp: -10, pageDown: 10, toTop: -1000, toEnd: 1000}[by]
}

func (m *model) enter() {
	m.pane().hold()
	if name, ok := m.pane().opens(); ok {
		m.openGroup(name)
	}
}

// openGroup turns to a group and has it described at every poll.
func (m *model) openGroup(name string) {
	if name != m.group.name || !m.inside {
		m.group.open(name)
	}
	m.inside = true
	m.focus(name)
	m.group.show(&m.scene)
}

func (m *model) focus(group string) {
	if m.opts.Wishes != nil {
		m.opts.Wishes.Focus(group)
	}
}

// escape takes one step back: a filter first, then the view. It never quits.
func (m *model) escape() {
	if m.pane().filterText() != "" {
		m.pane().setFilter("")
		return
	}
	m.showGroups()
}

// leave goes back, and from the top ends the program.
func (m *model) leave() tea.Cmd {
	if !m.inside {
		return tea.Quit
	}
	m.showGroups()
	return nil
}

func (m *model) showGroups() {
	if m.inside {
		m.inside = false
		m.focus("")
		m.groups.show(&m.scene)
	}
}

// showGroup opens the group under the cursor.
func (m *model) showGroup() {
	if !m.inside {
		m.enter()
	}
}

func (m *model) nextTab()     { m.group.turn(1) }
func (m *model) previousTab() { m.group.turn(-1) }

func (m *model) shiftSort(by int) { m.pane().shiftSort(&m.scene, by) }
func (m *model) reverse()         { m.pane().reverse() }

func (m *model) freeze() {
	if m.pane().freeze() {
		m.say("rows stay in place, numbers go on (O lets them move)")
		return
	}
	m.say("rows move again")
}

func (m *model) issues() {
	m.groups.issuesOnly = !m.groups.issuesOnly
	m.groups.refilter()
}

func (m *model) empties() {
	m.groups.hideEmpty = !m.groups.hideEmpty
	m.groups.refilter()
}

// pause holds the screen while data goes on, or lets it go on.
func (m *model) pause() {
	if m.pausedAt.IsZero() {
		m.pausedAt = m.now
		return
	}
	m.pausedAt = time.Time{}
	if m.latest != nil {
		m.show()
	}
}

func (m *model) refresh() {
	m.opts.Wishes.Refresh()
	if !m.pausedAt.IsZero() {
		m.say("asked for a poll, but the screen is paused (space goes on)")
		return
	}
	m.say("asked for a poll now")
}

// paces are the intervals that + and - step through.
var paces = [...]time.Duration{
	100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 3 * time.Second,
	5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute,
}

func (m *model) pace(by int) {
	now := m.opts.Wishes.Interval()
	to := now
	if by > 0 {
		for i := len(paces) - 1; i >= 0 && paces[i] > now; i-- {
			to = paces[i]
		}
	} else {
		for i := 0; i < len(paces) && paces[i] < now; i++ {
			to = paces[i]
		}
	}
	m.opts.Wishes.SetInterval(to)
	m.say("polls every " + interval(m.opts.Wishes.Interval()))
}

func (m *model) units() { m.look.whole = !m.look.whole }

func (m *model) wide() {
	m.look.wide = !m.look.wide
	if m.look.wide {
		m.say("more columns, shorter names")
		return
	}
	m.say("fewer columns, longer names")
}

func (m *model) theme() {
	m.look.nextTheme()
	m.say("theme " + themeNames[m.look.theme])
}

func (m *model) toggleMouse() tea.Cmd {
	if m.mouse = !m.mouse; m.mouse {
		m.say("mouse on: the wheel moves, a click chooses")
		return tea.EnableMouseCellMotion
	}
	m.say("mouse off")
	return tea.DisableMouse
}
