package report

import (
	"io"
	"strings"

	"github.com/mattn/go-runewidth"
)

// column is a table's heading; numbers stand to the right.
type column struct {
	name  string
	right bool
}

func text(name string) column   { return column{name: name} }
func number(name string) column { return column{name: name, right: true} }

// table is laid out by the widths that its cells have on a screen.
type table struct {
	columns []column
	rows    [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) write(w io.Writer) error {
	screen := &runewidth.Condition{} // not the caller's locale: output must not depend on it
	head := make([]string, len(t.columns))
	widths := make([]int, len(t.columns))
	for i, c := range t.columns {
		head[i], widths[i] = c.name, len(c.name)
	}
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], screen.StringWidth(cell))
		}
	}
	var b strings.Builder
	line := func(row []string) error {
		b.Reset()
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-screen.StringWidth(cell))
			if i > 0 {
				b.WriteString("  ")
			}
			switch {
			case t.columns[i].right:
				b.WriteString(pad + cell)
			case i < len(row)-1:
				b.WriteString(cell + pad)
			default: // a line does not end in blanks
				b.WriteString(cell)
			}
		}
		b.WriteByte('\n')
		_, err := io.WriteString(w, b.String())
		return err
	}
	if err := line(head); err != nil {
		return err
	}
	for _, row := range t.rows {
		if err := line(row); err != nil {
			return err
		}
	}
	return nil
}
