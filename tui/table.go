package tui

import (
	"slices"
	"strings"
)

// A cell is plain text with a tone: it is measured and cut before it is styled,
// or a coloured number would be cut by its invisible bytes.
type cell struct {
	text string
	tone tone
}

// A column of a table. Numbers stand right and are never cut: a column that has
// no room for them leaves.
type column[R any] struct {
	title string
	name  string // in the sort menu; title if ""
	right bool
	// narrow to broad is the room a text column may be given; a column without
	// broad takes what its cells need, narrow at least.
	narrow, broad int
	middle        bool // cut in the middle
	tight         bool // no gap before it
	sparse        bool // not there while no row on the screen has anything in it
	rank          int  // the highest leaves first; 0 never leaves
	cell          func(l *look, r R) cell
	// compare orders rows, smallest first; nil for a column that cannot be
	// sorted by. falling shows the largest first.
	compare func(a, b R) int
	falling bool
}

// A table holds rows in an order, with the cursor on one of them: on the row,
// not on its place.
type table[R any] struct {
	columns []column[R]
	key     func(R) string
	order   func(a, b R) int // without a sort column; ties too

	all      []R            // in order
	rows     []R            // those of them that pass
	pass     func(r R) bool // nil: all of them
	sorted   int            // column, -1 for the table's own order
	reversed bool
	frozen   map[string]int // places to keep; nil while rows may move

	// chosen is the key of the row under the cursor; "" until someone moves it:
	// an untouched cursor stays on the first row, whichever that is.
	chosen string
	cursor int
	top    int // first row drawn
	height int // lines there are, with the titles
}

// set replaces the rows.
func (t *table[R]) set(rows []R) {
	t.all = rows
	slices.SortFunc(t.all, t.compare)
	t.sift()
}

// sift picks the rows that pass, in the order they have, and finds the chosen
// one again. When it is gone, the cursor stays in place, on its neighbour.
func (t *table[R]) sift() {
	t.rows = make([]R, 0, len(t.all))
	for _, r := range t.all {
		if t.pass == nil || t.pass(r) {
			t.rows = append(t.rows, r)
		}
	}
	if t.chosen == "" {
		t.cursor = 0
		t.scroll()
		return
	}
	at := slices.IndexFunc(t.rows, func(r R) bool { return t.key(r) == t.chosen })
	if at < 0 {
		at = t.cursor
	}
	t.moveTo(at)
}

func (t *table[R]) compare(a, b R) int {
	if t.frozen != nil {
		if c := t.place(a) - t.place(b); c != 0 {
			return c
		}
		return t.order(a, b)
	}
	c := 0
	if t.sorted >= 0 {
		col := &t.columns[t.sorted]
		if c = col.compare(a, b); col.falling {
			c = -c
		}
	}
	if c == 0 {
		c = t.order(a, b)
		if t.sorted >= 0 { // ties stand by name, whichever way the column goes
			return c
		}
	}
	if t.reversed {
		c = -c
	}
	return c
}

func (t *table[R]) place(r R) int {
	if i, ok := t.frozen[t.key(r)]; ok {
		return i
	}
	return len(t.frozen) // new rows come last
}

// freeze keeps the rows where they are while their numbers go on, or lets them
// move again; it says whether they are frozen now.
func (t *table[R]) freeze() bool {
	if t.frozen != nil {
		t.frozen = nil
		t.set(t.all)
		return false
	}
	t.frozen = make(map[string]int, len(t.all))
	for i, r := range t.all {
		t.frozen[t.key(r)] = i
	}
	return true
}

// sortBy chooses a column to sort by, -1 for the table's own order.
func (t *table[R]) sortBy(column int) {
	t.sorted, t.reversed, t.frozen = column, false, nil
	t.set(t.all)
}

// shiftSort moves the sort column among those that can be sorted by and that
// are on the screen, the table's own order being one of the places.
func (t *table[R]) shiftSort(by int, shown []int) {
	places := []int{-1}
	for _, i := range shown {
		if t.columns[i].compare != nil {
			places = append(places, i)
		}
	}
	at := max(0, slices.Index(places, t.sorted))
	t.sortBy(places[(at+by+len(places))%len(places)])
}

func (t *table[R]) reverse() {
	t.reversed, t.frozen = !t.reversed, nil
	t.set(t.all)
}

// selected is the row under the cursor.
func (t *table[R]) selected() (r R, ok bool) {
	if t.cursor < len(t.rows) {
		return t.rows[t.cursor], true
	}
	return r, false
}

func (t *table[R]) page() int { return max(1, t.height-1) }

// moveTo puts the cursor on a row and the row on the screen.
func (t *table[R]) moveTo(i int) {
	t.cursor = max(0, min(i, len(t.rows)-1))
	if len(t.rows) > 0 {
		t.chosen = t.key(t.rows[t.cursor])
	}
	t.scroll()
}

func (t *table[R]) scroll() {
	t.top = max(t.cursor-t.page()+1, min(t.top, t.cursor))
	t.top = max(0, min(t.top, len(t.rows)-t.page()))
}

func (t *table[R]) resize(height int) {
	t.height = height
	t.scroll()
}

// draw renders the titles and the visible rows, no line wider than w.
func (t *table[R]) draw(l *look, w int) []string {
	cells := t.cells(l)
	fields := t.fit(l, cells, w)
	lines := make([]string, 0, len(cells)+1)
	lines = append(lines, t.titles(l, fields))
	for i := range cells {
		lines = append(lines, t.line(l, cells[i], fields, w, t.top+i == t.cursor))
	}
	return lines
}

// cells works out the rows that are on the screen, and no other.
func (t *table[R]) cells(l *look) [][]cell {
	visible := t.rows[min(t.top, len(t.rows)):min(t.top+t.page(), len(t.rows))]
	cells := make([][]cell, len(visible))
	for i, r := range visible {
		cells[i] = make([]cell, len(t.columns))
		for c := range t.columns {
			cells[i][c] = t.columns[c].cell(l, r)
		}
	}
	return cells
}

func (t *table[R]) titles(l *look, fields []field) string {
	var b strings.Builder
	b.WriteByte(' ')
	for i, f := range fields {
		if i > 0 {
			b.WriteString(strings.Repeat(" ", f.gap))
		}
		b.WriteString(pad(cutEnd(t.title(l, f.column), f.width, ""), f.width, t.columns[f.column].right))
	}
	return l.paint(toneTitle, strings.TrimRight(b.String(), " "))
}

// title is a column's, with an arrow on the one that rows are sorted by.
func (t *table[R]) title(l *look, c int) string {
	col := &t.columns[c]
	if c != t.sorted {
		return col.title
	}
	if col.falling == t.reversed {
		return col.title + l.glyphs.ascending
	}
	return col.title + l.glyphs.descending
}

func (t *table[R]) line(l *look, cells []cell, fields []field, w int, selected bool) string {
	var b strings.Builder
	cursor := " "
	if selected {
		cursor = l.glyphs.cursor
	}
	b.WriteString(cursor)
	for i, f := range fields {
		if i > 0 {
			b.WriteString(strings.Repeat(" ", f.gap))
		}
		c, col := cells[f.column], &t.columns[f.column]
		text := c.text
		if width(text) > f.width {
			if col.middle {
				text = cutMiddle(text, f.width, l.glyphs.more)
			} else {
				text = cutEnd(text, f.width, l.glyphs.more)
			}
		}
		text = pad(text, f.width, col.right)
		if !selected && c.tone != tonePlain {
			text = l.paint(c.tone, text)
		}
		b.WriteString(text)
	}
	if selected { // one tone over the whole line: inner ones would end it
		return l.paint(toneSelected, pad(b.String(), w, false))
	}
	return b.String()
}
