package tui

import (
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/bubbles/help"
	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/klagtop/klagtop/collect"
)

// A screen smaller than this can show no row with its number.
const (
	leastWidth  = 30
	leastHeight = 6
)

// model is the whole screen. The toolkit calls it from one goroutine.
type model struct {
	opts    Options
	keys    []command
	look    *look
	history *history
	groups  *groupsPane
	group   *groupView
	// next waits for an update newer than the given one.
	next func(after *collect.Update) tea.Cmd

	width, height int
	started, now  time.Time
	latest        *collect.Update // what came in last
	scene         scene           // what is drawn: the same, but while paused
	reachedAt     time.Time       // end of the last poll that reached the cluster; zero before
	pausedAt      time.Time       // zero while live
	ended         bool            // no update will follow
	inside        bool            // the group view is open, not Groups
	overlay       overlay         // nil without one
	mouse         bool
	said          string // for a moment, in the status line
	saidAt        time.Time
}

func newModel(o Options, l *look) *model {
	m := &model{opts: o, keys: commands(), look: l, history: newHistory(), groups: newGroupsPane(), group: newGroupView()}
	for i := range m.keys {
		if m.keys[i].wish && o.Wishes == nil || slices.Contains(m.keys[i].Keys(), "T") && l.noColor {
			m.keys[i].SetEnabled(false)
		}
	}
	m.now = o.Now()
	m.started = m.now
	m.scene = newScene(nil, m.now, m.history, l)
	if o.Group != "" {
		m.openGroup(o.Group)
	}
	return m
}

// Init asks for the first update and the first tick.
func (m *model) Init() tea.Cmd { return tea.Batch(m.next(nil), tick()) }

// Update routes a message: data, time, size, then keys.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.now = m.opts.Now()
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case updateMsg:
		m.take(msg.Update)
		cmd = m.next(msg.Update)
	case endedMsg:
		m.ended = true
	case tickMsg:
		m.age()
		cmd = tick()
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.KeyMsg:
		cmd = m.press(msg)
	case tea.MouseMsg:
		m.click(tea.MouseEvent(msg))
	}
	m.layout()
	return m, cmd
}

// take takes an update in; a paused screen goes on showing the one it has.
func (m *model) take(u *collect.Update) {
	m.latest = u
	m.history.add(u)
	if u.Snapshot.Reached {
		m.reachedAt = u.Snapshot.TakenAt
	}
	if m.pausedAt.IsZero() {
		m.show()
	}
}

// show draws the newest update from now on.
func (m *model) show() {
	m.scene = newScene(m.latest, m.now, m.history, m.look)
	m.scene.reachedAt = m.reachedAt
	m.showRows()
}

func (m *model) showRows() {
	m.groups.show(&m.scene)
	if m.inside {
		m.group.show(&m.scene)
	}
}

// age lets time go on: numbers that are too old by now become unknown.
func (m *model) age() {
	if !m.pausedAt.IsZero() {
		return
	}
	m.scene.now, m.look.now = m.now, m.now
	if m.scene.snap == nil {
		return
	}
	if s := m.scene.snap.At(m.now); s != m.scene.snap {
		m.scene.snap = s
		m.showRows()
	}
}

// view is the scope below any overlay.
func (m *model) view() scope {
	if m.inside {
		return inGroup
	}
	return inGroups
}

func (m *model) scope() scope {
	if m.overlay != nil {
		return m.overlay.scope()
	}
	return m.view()
}

// pane is the table that keys move in.
func (m *model) pane() pane {
	if m.inside {
		return m.group.active()
	}
	return m.groups
}

// press does what a key means here. Keys that were typed fast come together.
func (m *model) press(msg tea.KeyMsg) tea.Cmd {
	if msg.Type == tea.KeyRunes && m.scope() != inFilter {
		if msg.Paste {
			return nil
		}
		if len(msg.Runes) > 1 {
			var cmds []tea.Cmd
			for i, r := range msg.Runes {
				rest := msg
				if rest.Runes = []rune{r}; m.scope() == inFilter {
					rest.Runes = msg.Runes[i:]
				}
				cmds = append(cmds, m.press(rest))
				if len(rest.Runes) > 1 {
					break
				}
			}
			return tea.Batch(cmds...)
		}
	}
	for _, c := range active(m.keys, m.scope()) {
		if !msg.Paste && key.Matches(msg, c.Binding) {
			return c.run(m)
		}
	}
	if m.scope() == inFilter && (msg.Type == tea.KeyRunes || msg.Type == tea.KeySpace) {
		m.typeRunes(msg.Runes)
	}
	return nil
}

func (m *model) click(e tea.MouseEvent) {
	if m.overlay != nil {
		return
	}
	switch {
	case e.Button == tea.MouseButtonWheelUp:
		m.pane().move(wheelUp)
	case e.Button == tea.MouseButtonWheelDown:
		m.pane().move(wheelDown)
	case e.Button == tea.MouseButtonLeft && e.Action == tea.MouseActionPress:
		line := e.Y - len(m.header())
		if m.inside {
			line -= len(m.group.heading(&m.scene))
		}
		m.pane().moveTo(line)
	}
}

// layout gives the views the room that header, overlay and footer leave.
func (m *model) layout() {
	if m.small() {
		return
	}
	h := m.bodyHeight()
	if m.overlay != nil {
		h -= len(m.overlay.draw(m, m.width, h))
	}
	m.groups.resize(m.width, h)
	if m.inside {
		m.group.resize(&m.scene, m.width, h)
	}
}

func (m *model) small() bool { return m.width < leastWidth || m.height < leastHeight }

// footerHeight is the status line and the hints; the status line leaves first.
func (m *model) footerHeight() int {
	if m.height < 9 {
		return 1
	}
	return 2
}

func (m *model) bodyHeight() int { return max(1, m.height-len(m.header())-m.footerHeight()) }

// View draws the screen. It reads the model and changes nothing.
func (m *model) View() string {
	switch {
	case m.width <= 0 || m.height <= 0:
		return "" // the size comes with the first message
	case m.small():
		return m.tooSmall()
	}
	lines := m.header()
	room := m.height - m.footerHeight()
	var over []string
	if m.overlay != nil {
		over = m.overlay.draw(m, m.width, m.bodyHeight())
	}
	body := m.body()
	lines = append(lines, body[:max(0, min(len(body), room-len(lines)-len(over)))]...)
	for len(lines)+len(over) < room {
		lines = append(lines, "")
	}
	lines = append(append(lines, over...), m.footer()...)
	for i := range lines {
		if ansi.StringWidth(lines[i]) > m.width {
			lines[i] = ansi.Truncate(lines[i], m.width, "")
		}
	}
	return strings.Join(lines[:min(len(lines), m.height)], "\n")
}

// body is the view between header and footer.
func (m *model) body() []string {
	switch {
	case m.nothingYet():
		return m.connecting()
	case m.inside:
		return m.group.draw(&m.scene)
	}
	return m.groups.draw(&m.scene)
}

func (m *model) tooSmall() string {
	words := []string{"too small", "needs 30x6", "q quits"}
	for i := range words {
		words[i] = cutEnd(words[i], m.width, "")
	}
	return strings.Join(words[:min(len(words), m.height)], "\n")
}

// footer is the status line and the hints.
func (m *model) footer() []string {
	h := help.New()
	h.Width = m.width
	h.Styles.ShortKey, h.Styles.ShortDesc = m.look.style(toneStrong), m.look.style(toneDim)
	h.Styles.ShortSeparator, h.Styles.Ellipsis = m.look.style(toneDim), m.look.style(toneDim)
	h.ShortSeparator, h.Ellipsis = "  ", m.look.glyphs.more
	keys := h.ShortHelpView(hints(m.keys, m.scope()))
	if m.footerHeight() == 1 && m.scope() != inFilter {
		return []string{keys}
	}
	lines := []string{m.status(), keys}
	return lines[:m.footerHeight()]
}

// status names the chosen row in full, which the table may have cut.
func (m *model) status() string {
	if o, ok := m.overlay.(*filterLine); ok {
		text := m.look.text(string(o.text))
		room := m.width - 3
		if n := width(text); n > room {
			text = ansi.TruncateLeft(text, n-room, "")
		}
		return m.look.paint(toneAccent, "/") + text + m.look.paint(toneSelected, " ")
	}
	if m.said != "" && m.now.Sub(m.saidAt) < 4*time.Second {
		return m.look.paint(toneAccent, cutEnd(m.said, m.width, m.look.glyphs.more))
	}
	return m.look.paint(toneDim, cutMiddle(m.pane().status(), m.width, m.look.glyphs.more))
}

func (m *model) say(text string) { m.said, m.saidAt = text, m.now }
