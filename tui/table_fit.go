package tui

import "slices"

// field is a column that has found room.
type field struct{ column, gap, width int }

// fit chooses the columns that have room and how much each is given: by rank,
// the lowest first, every number whole.
func (t *table[R]) fit(l *look, cells [][]cell, w int) []field {
	need := make([]int, len(t.columns))
	least := make([]int, len(t.columns))
	for c := range t.columns {
		col := &t.columns[c]
		need[c] = max(width(t.title(l, c)), col.narrow)
		blank := col.sparse
		for i := range cells {
			need[c] = max(need[c], width(cells[i][c].text))
			blank = blank && (cells[i][c].text == "" || cells[i][c].text == "-")
		}
		if blank {
			need[c] = 0
			continue
		}
		least[c] = need[c]
		if col.broad > 0 {
			need[c] = min(need[c], col.broad)
			least[c] = min(need[c], col.narrow)
		}
	}
	chosen := t.choose(l, need, least, w-1)
	fields := make([]field, len(chosen))
	left := w - 1
	for i, c := range chosen {
		fields[i] = field{column: c, gap: t.gap(c), width: least[c]}
		left -= least[c]
		if i > 0 {
			left -= fields[i].gap
		}
	}
	// what is left goes to the cut texts: to each enough, the most important
	// first, and then all that is left
	byRank := make([]int, len(fields))
	for i := range byRank {
		byRank[i] = i
	}
	slices.SortStableFunc(byRank, func(a, b int) int {
		return t.columns[fields[a].column].rank - t.columns[fields[b].column].rank
	})
	for _, i := range byRank { // a name is cut to its last letter before a number is
		if f := &fields[i]; left < 0 && t.columns[f.column].broad > 0 {
			less := min(-left, f.width-1)
			f.width -= less
			left += less
		}
	}
	for _, most := range []int{comfortable, w} {
		for _, i := range byRank {
			more := max(0, min(left, min(need[fields[i].column], most)-fields[i].width))
			fields[i].width += more
			left -= more
		}
	}
	return fields
}

// choose picks columns by rank while they fit into w cells. Names give way to
// what belongs to the view; to extra columns they give way only when the user
// asked for them (wide).
func (t *table[R]) choose(l *look, need, least []int, w int) []int {
	byRank := make([]int, len(t.columns))
	for i := range byRank {
		byRank[i] = i
	}
	slices.SortStableFunc(byRank, func(a, b int) int { return t.columns[a].rank - t.columns[b].rank })
	var chosen []int
	used, squeezed := -t.gap(0), 0 // there is no gap before the first
	for _, c := range byRank {
		col := &t.columns[c]
		if need[c] == 0 && col.sparse {
			continue
		}
		used += least[c] + t.gap(c)
		squeezed += max(0, min(need[c], comfortable)-least[c])
		extra := 0
		if col.rank >= extraRank && !l.wide {
			extra = squeezed
		}
		if col.rank > 0 && used+extra > w {
			break // a column of lower worth must not take a better one's place
		}
		chosen = append(chosen, c)
	}
	slices.Sort(chosen)
	return chosen
}

// extraRank is where columns begin that a view can do without.
const extraRank = 10

// comfortable is how much of a name is enough to know it by.
const comfortable = 32

func (t *table[R]) gap(c int) int {
	if t.columns[c].tight {
		return 1
	}
	return 2
}

// shown lists the columns on the screen at a width.
func (t *table[R]) shown(l *look, w int) []int {
	var out []int
	for _, f := range t.fit(l, t.cells(l), w) {
		out = append(out, f.column)
	}
	return out
}
