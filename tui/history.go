package tui

import "github.com/klagtop/klagtop/collect"

// Bounds of the screen's own memory.
const (
	historySamples = 32     // of each group
	historyGroups  = 20_000 // more have none: 5 MiB is enough for a column
)

// history remembers the last lags of each group, for trends and sparklines.
type history struct {
	boot  string
	seq   uint64
	rings map[string]*ring
}

// ring holds the newest samples; n counts all there ever were, so that a paused
// screen can go on looking at the ones it had.
type ring struct {
	lag  [historySamples]int64 // records, or collect.Unknown
	n    uint64
	seen uint64
}

func newHistory() *history { return &history{rings: map[string]*ring{}} }

// add takes an update in, once, and forgets the groups it no longer has.
func (h *history) add(u *collect.Update) {
	if u.Boot == h.boot && u.Seq == h.seq {
		return
	}
	h.boot, h.seq = u.Boot, u.Seq
	for _, g := range u.Snapshot.Groups {
		r := h.rings[g.Name]
		if r == nil {
			if len(h.rings) >= historyGroups {
				continue
			}
			r = &ring{}
			h.rings[g.Name] = r
		}
		lag := g.Lag.Records
		if g.Lag.Unknown > 0 { // a part of the lag would look like a drop
			lag = collect.Unknown
		}
		r.lag[r.n%historySamples] = lag
		r.n++
		r.seen = u.Seq
	}
	for name, r := range h.rings {
		if r.seen != u.Seq {
			delete(h.rings, name)
		}
	}
}

// window is the newest k samples of the first n, oldest first; those that were
// overwritten since are left out.
func (r *ring) window(n uint64, k int) []int64 {
	if r == nil {
		return nil
	}
	n = min(n, r.n)
	from := uint64(0)
	if r.n > historySamples {
		from = r.n - historySamples
	}
	if k := uint64(k); n > k && n-k > from {
		from = n - k
	}
	var out []int64
	for i := from; i < n; i++ {
		out = append(out, r.lag[i%historySamples])
	}
	return out
}

// trend is where a lag is going.
type trend uint8

const (
	trendNone   trend = iota // not known
	trendFlat                // the same
	trendSteady              // moves within 1 %
	trendDown
	trendUp
)

// trendPolls is how far back a trend looks: the short window.
const trendPolls = 3

func (r *ring) trend(n uint64) trend {
	w := r.window(n, trendPolls+1)
	if len(w) < 2 {
		return trendNone
	}
	last := w[len(w)-1]
	first, ok := last, false
	for _, v := range w[:len(w)-1] {
		if v >= 0 {
			first, ok = v, true
			break
		}
	}
	switch d := last - first; {
	case last < 0 || !ok:
		return trendNone
	case d == 0:
		return trendFlat
	case max(d, -d)*100 < max(last, first):
		return trendSteady
	case d > 0:
		return trendUp
	}
	return trendDown
}

func (l *look) trend(t trend) cell {
	switch t {
	case trendFlat:
		return cell{l.glyphs.flat, toneDim}
	case trendSteady:
		return cell{l.glyphs.steady, toneDim}
	case trendDown:
		return cell{l.glyphs.down, toneGood}
	case trendUp:
		return cell{l.glyphs.up, toneWarn}
	}
	return cell{}
}

// spark draws samples as bars from 0 to their largest; one that is not known
// leaves a gap.
func (l *look) spark(samples []int64) string {
	most := int64(0)
	for _, v := range samples {
		most = max(most, v)
	}
	s := ""
	for _, v := range samples {
		switch {
		case v < 0:
			s += " "
		case most == 0:
			s += l.glyphs.spark[0]
		default:
			i := int(float64(v) / float64(most) * float64(len(l.glyphs.spark)-1))
			s += l.glyphs.spark[i]
		}
	}
	return s
}
