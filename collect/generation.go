package collect

// generationMemory is the generation that a group is known to have reached at
// least. It never falls while the group is the same one, and rebalances that
// were seen count it on where members tell none.
type generationMemory struct {
	at int64 // Unknown before the first
	// anchored: at is an exact generation, or one with only counted steps
	// since. A later exact one can then be compared with it, whatever told it:
	// a group that changes its protocol goes on with the same numbers.
	anchored bool
	source   GenerationSource // that told at last
	shown    Generation       // as it was given out when the group last settled
}

func newGenerationMemory() generationMemory {
	return generationMemory{at: Unknown, shown: Generation{Value: Unknown}}
}

// comparable reports whether the difference between g and what was known is a
// number of rebalances. That of a bound and an exact generation is not: the
// bound may have been too low from the start.
func (m *generationMemory) comparable(g Generation) bool {
	return g.Known() && m.at >= 0 && (m.anchored || !g.Exact && g.Source == m.source)
}

// rounds is by how much the generation grew; 0 where that is not known.
func (m *generationMemory) rounds(g Generation) int64 {
	if !m.comparable(g) {
		return 0
	}
	return max(0, g.Value-m.at)
}

// fell reports whether a generation is below what the group had reached.
func (m *generationMemory) fell(g Generation) bool {
	return g.Known() && m.at >= 0 && g.Value < m.at
}

// reach notes g after counted rebalances, and gives what is to be shown: the
// same, or the higher bound that was known before.
func (m *generationMemory) reach(g Generation, counted int64) Generation {
	compared := m.comparable(g)
	if m.at >= 0 {
		m.at += counted
	}
	switch {
	case g.Known() && (g.Source == SourceEpoch || g.Exact && g.Value >= m.at || m.at < 0):
		m.at, m.anchored, m.source = g.Value, g.Exact, g.Source
	case g.Known():
		// A bound below what was reached: members whose round failed, or a
		// dead static one, hold an old generation. The tail of a topic: it
		// is late.
		m.at, m.source = max(m.at, g.Value), g.Source
		m.anchored = m.anchored && compared
		g = Generation{Value: m.at, Source: g.Source}
	}
	m.shown = g
	return g
}

// rebase starts counting anew at an exact generation that cannot be compared
// with what was known.
func (m *generationMemory) rebase(g Generation) {
	m.at, m.anchored, m.source = g.Value, true, g.Source
}
