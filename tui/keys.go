package tui

import (
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
)

// A scope is where keys go to: a view, or what lies over it.
type scope uint8

const (
	inGroups scope = 1 << iota
	inGroup
	inFilter
	inMenu
	inHelp
	inExplain

	inViews   = inGroups | inGroup
	inMovable = inViews | inMenu | inHelp | inExplain
)

var scopeNames = map[scope]string{inGroups: "Groups", inGroup: "Group", inFilter: "Filter", inMenu: "Sort menu", inHelp: "Help", inExplain: "Explain"}

// A command is one thing a key does. The one table of them dispatches keys and
// writes the hints and the help, so that they cannot disagree.
type command struct {
	key.Binding
	in      scope
	section string // heading in the help
	hint    bool   // named in the last line, in the table's order
	wish    bool   // asks the poll loop: works only where there is one
	run     func(*model) tea.Cmd
}

func bind(in scope, section, help, what string, run func(*model) tea.Cmd, keys ...string) command {
	return command{Binding: key.NewBinding(key.WithKeys(keys...), key.WithHelp(help, what)), in: in, section: section, run: run}
}

// labels are how the help writes keys; others are written as they are.
var labels = map[string]string{
	" ": "space", "up": "↑", "down": "↓", "left": "←", "pgup": "PgUp", "pgdown": "PgDn", "home": "Home", "end": "End",
}

// every is all the keys of the command, for the help.
func (c command) every() string {
	names := make([]string, len(c.Keys()))
	for i, k := range c.Keys() {
		if names[i] = labels[k]; names[i] == "" {
			names[i] = strings.ReplaceAll(k, "+", "-")
			if k == "+" {
				names[i] = k
			}
		}
	}
	return strings.Join(names, " ")
}

func (c command) hinted() command { c.hint = true; return c }
func (c command) wished() command { c.wish = true; return c }

// does makes a command of something that needs nothing more from the toolkit.
func does(f func(*model)) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd { f(m); return nil }
}

func moves(by motion) func(*model) tea.Cmd {
	return does(func(m *model) { m.move(by) })
}

// commands is the key table.
func commands() []command {
	table := []command{
		bind(inViews, "screen", "?", "help", does((*model).openHelp), "?").hinted(),
		bind(inGroups, "views", "enter", "open", does((*model).enter), "enter", "l").hinted(),
		bind(inGroup, "views", "esc", "back", does((*model).escape), "esc", "h", "left").hinted(),
		bind(inGroup, "views", "tab", "next tab", does((*model).nextTab), "tab", "]").hinted(),
		bind(inGroup, "views", "shift-tab", "previous tab", does((*model).previousTab), "shift+tab", "["),
		bind(inViews, "rows", "/", "filter", does((*model).openFilter), "/").hinted(),
		bind(inViews, "rows", "s", "sort", does((*model).openMenu), "s").hinted(),
		bind(inViews, "numbers", "x", "explain", does((*model).openExplain), "x").hinted(),
		bind(inViews, "numbers", "space", "pause", does((*model).pause), " ").hinted(),
		bind(inGroups, "rows", "i", "issues only", does((*model).issues), "i").hinted(),
		bind(inGroups, "rows", "e", "hide empty groups", does((*model).empties), "e").hinted(),
		bind(inGroups, "views", "esc", "clear the filter", does((*model).escape), "esc", "h", "left"),
		bind(inGroups, "views", "q", "quit", (*model).leave, "q").hinted(),
		bind(inGroup, "views", "q", "back", (*model).leave, "q"),
		bind(inViews, "views", "1", "Groups", does((*model).showGroups), "1"),
		bind(inViews, "views", "2", "Group", does((*model).showGroup), "2"),
		bind(inViews, "rows", "<", "previous sort column", does(func(m *model) { m.shiftSort(-1) }), "<"),
		bind(inViews, "rows", ">", "next sort column", does(func(m *model) { m.shiftSort(1) }), ">"),
		bind(inViews, "rows", "I", "reverse the order", does((*model).reverse), "I"),
		bind(inViews, "rows", "O", "hold the order of rows", does((*model).freeze), "O"),
		bind(inViews, "numbers", "r", "poll now", does((*model).refresh), "r").wished(),
		bind(inViews, "numbers", "+", "poll less often", does(func(m *model) { m.pace(1) }), "+", "=").wished(),
		bind(inViews, "numbers", "-", "poll more often", does(func(m *model) { m.pace(-1) }), "-").wished(),
		bind(inViews, "numbers", "u", "12.3k or 12,345", does((*model).units), "u"),
		bind(inViews, "screen", "w", "more columns", does((*model).wide), "w"),
		bind(inViews, "screen", "T", "theme", does((*model).theme), "T"),
		bind(inViews, "screen", "m", "mouse", (*model).toggleMouse, "m"),
		bind(inViews|inMenu|inHelp|inExplain, "screen", "ctrl-l", "draw anew", func(*model) tea.Cmd { return tea.ClearScreen }, "ctrl+l"),
		bind(inViews|inMenu|inHelp|inExplain, "screen", "ctrl-z", "suspend", func(*model) tea.Cmd { return tea.Suspend }, "ctrl+z"),
		bind(inViews|inFilter|inMenu|inHelp|inExplain, "screen", "ctrl-c", "quit", func(*model) tea.Cmd { return tea.Quit }, "ctrl+c"),
	}
	return append(append(table, motions()...), overlayCommands()...)
}

func motions() []command {
	return []command{
		bind(inMovable, "move", "k", "up", moves(lineUp), "k", "up"),
		bind(inMovable, "move", "j", "down", moves(lineDown), "j", "down"),
		bind(inMovable, "move", "g", "top", moves(toTop), "g", "home"),
		bind(inMovable, "move", "G", "end", moves(toEnd), "G", "end"),
		bind(inMovable, "move", "ctrl-u", "half a page up", moves(halfUp), "ctrl+u"),
		bind(inMovable, "move", "ctrl-d", "half a page down", moves(halfDown), "ctrl+d"),
		bind(inMovable, "move", "PgUp", "page up", moves(pageUp), "pgup", "ctrl+b"),
		bind(inMovable, "move", "PgDn", "page down", moves(pageDown), "pgdown", "ctrl+f"),
	}
}

// overlayCommands work in what lies over a view.
func overlayCommands() []command {
	return []command{
		bind(inFilter, "filter", "enter", "keep", does((*model).keepFilter), "enter").hinted(),
		bind(inFilter, "filter", "esc", "as before", does((*model).dropFilter), "esc").hinted(),
		bind(inFilter, "filter", "backspace", "take back", does((*model).eraseRune), "backspace", "ctrl+h").hinted(),
		bind(inFilter, "filter", "ctrl-w", "take a word back", does((*model).eraseWord), "ctrl+w"),
		bind(inFilter, "filter", "ctrl-u", "start anew", does((*model).eraseAll), "ctrl+u").hinted(),
		bind(inMenu, "sort menu", "enter", "sort", does((*model).chooseSort), "enter", "l").hinted(),
		bind(inMenu, "sort menu", "esc", "close", does((*model).closeOverlay), "esc", "q", "s", "h").hinted(),
		bind(inHelp, "help", "esc", "close", does((*model).closeOverlay), "esc", "q", "?", "enter", "h").hinted(),
		bind(inExplain, "explain", "esc", "close", does((*model).closeOverlay), "esc", "q", "x", "enter", "h").hinted(),
	}
}

// active are the commands that work in a scope now.
func active(table []command, in scope) []command {
	var out []command
	for _, c := range table {
		if c.in&in != 0 && c.Enabled() {
			out = append(out, c)
		}
	}
	return out
}

// hints are those named in the last line.
func hints(table []command, in scope) []key.Binding {
	var out []key.Binding
	for _, c := range active(table, in) {
		if c.hint {
			out = append(out, c.Binding)
		}
	}
	return out
}
