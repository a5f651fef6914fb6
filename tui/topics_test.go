package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/klagtop/klagtop/collect"
)

// What a topic was produced at when a group's commits were last read is not what
// it is produced at now.
func TestRateOfAnEarlierPollIsNoneOfThisOne(t *testing.T) {
	g := groupSpec{facts: classic("g", collect.StateEmpty), rows: map[string][]row{"t": lagging(2, 90, 1)}}
	a := snapshot(nil, epoch.Add(-5*time.Second), g)
	s := newScreen(t, 120, 24).take(update(1, a)).press("enter shift+tab")
	if line := s.row("▸ t"); !strings.Contains(line, " 80 77") {
		t.Errorf("read just now, the topic's rates are not there: %q", line)
	}
	g.facts.Described, g.facts.Reason, g.commits = false, collect.ReasonBrokerDown, collect.ReasonBrokerDown
	s.take(update(2, snapshot(a, epoch, g)))
	if line := s.row("▸~ t"); !strings.Contains(line, "~ 90") || strings.Contains(line, " 80 ") {
		t.Errorf("the rate of the poll before is shown beside kept commits: %q", line)
	}
}
