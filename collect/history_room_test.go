package collect

import (
	"fmt"
	"testing"
	"time"
	"unsafe"
)

// size is what the history takes, in bytes.
func (t *tracker) historySize() int {
	n := 0
	for _, h := range t.topics {
		for p := range h.parts {
			n += int(unsafe.Sizeof(h.parts[p])) + cap(h.parts[p].ends)*int(unsafe.Sizeof(seen{})) + cap(h.parts[p].anchors)*int(unsafe.Sizeof(anchor{}))
		}
	}
	return n
}

// The history keeps within its budget whatever the cluster's size, also when that
// changes, and is flat once it is full.
func TestHistoryKeepsWithinItsBudget(t *testing.T) {
	tr := newTracker("default", "boot")
	tr.budget = 1 << 20
	end := int64(0)
	poll := func(topics int) {
		end += 10
		s := &Snapshot{TakenAt: epoch.Add(time.Duration(end) * time.Second)}
		for i := range topics {
			topic := &Topic{Name: fmt.Sprintf("topic-%04d", i), ID: [16]byte{1}, LogEnd: make([]int64, 10), EndAt: make([]int64, 10)}
			for p := range topic.LogEnd {
				topic.LogEnd[p], topic.EndAt[p] = end, s.TakenAt.UnixNano()
			}
			s.Topics = append(s.Topics, topic)
		}
		tr.noteEnds(s)
		for _, h := range tr.topics {
			for p := range h.parts {
				h.parts[p].pin(end-int64(p), s.TakenAt.UnixNano())
			}
		}
	}
	for _, c := range []struct {
		topics int
		ends   int // remembered of each partition in the end
	}{{10, maxSeen}, {80, 32}, {200, 10}, {20, maxSeen}} {
		for range 200 {
			poll(c.topics)
			if n := tr.historySize(); n > tr.budget {
				t.Fatalf("%d topics: %d bytes of %d", c.topics, n, tr.budget)
			}
		}
		full := tr.historySize()
		for range 100 {
			poll(c.topics)
		}
		if n := tr.historySize(); n > full+full/20 {
			t.Errorf("%d topics: %d bytes after 200 polls, %d after 300", c.topics, full, n)
		}
		if most := len(tr.topics["topic-0001"].parts[0].ends); most < c.ends/2 || most > c.ends+c.ends/2 {
			t.Errorf("%d topics: %d log ends are remembered, want about %d", c.topics, most, c.ends)
		}
	}
	if got := roomFor(historyBudget, 50_056); got != (room{}) {
		t.Errorf("50,056 partitions do not have the most there is: %+v", got)
	}
}
