package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/klagtop/klagtop/collect"
)

func TestRowsSayWhatTheirNumberIsNot(t *testing.T) {
	s := live(t, 120, 40).press("/ b i l l enter enter")
	for _, x := range []struct{ why, row, mark, note string }{
		{"retention overtook the commit", "orders 0", "✖", "40 lost"},
		{"the commit lies past the end", "orders 1", "▲", "100 ahead"},
		{"nothing is committed", "orders 2", "-", "no commit"},
		{"the log end has no leader to ask", "orders 3", "?", "no_leader"},
		{"the commit may not be read", "orders 4", "?", "denied"},
	} {
		line := s.row(x.row)
		if !strings.Contains(line[:min(len(line), 6)], x.mark) || !strings.Contains(line, x.note) {
			t.Errorf("%s: %q lacks %q or %q", x.why, line, x.mark, x.note)
		}
	}
	if line := s.row("orders 2"); !strings.Contains(line, " - 2500 2000") {
		t.Errorf("no commit is not drawn as -: %q", line)
	}
	if line := s.row("orders 5"); !strings.Contains(line, "7 7 0 0") {
		t.Errorf("a true zero is not drawn as 0: %q", line)
	}
}

func TestKeptNumbersAreMarked(t *testing.T) {
	a := snapshot(nil, epoch, street()...)
	specs := street()
	for i := range specs[0].rows["market-updates"] {
		specs[0].rows["market-updates"][i].unread = collect.ReasonBrokerDown
	}
	b := snapshot(a, epoch.Add(5*time.Second), specs...)
	s := newScreen(t, 120, 40).take(update(1, a)).take(update(2, b))
	if line := s.row("ticker"); !strings.Contains(line, "~ 12.3k") || !strings.Contains(line, "6 stale") {
		t.Errorf("the group's kept lag is not marked: %q", line)
	}
	s.press("/ t i c k e r enter enter")
	if line := s.row("market-updates 0"); !strings.Contains(line, "~ 2060") || !strings.Contains(line, "stale: broker_down") {
		t.Errorf("the row's kept lag is not marked: %q", line)
	}
	s.press("tab x").shows("The lag of 2 of its partitions is kept from an earlier poll").press("esc")
	if line := s.row("pod-1"); !strings.Contains(line, "~ ") {
		t.Errorf("a member's lag made of kept numbers is not marked: %q", line)
	}
	s.press("shift+tab shift+tab x").shows("6 numbers of them kept").press("esc tab")
	s.now = epoch.Add(10 * time.Minute) // older than numbers may stand
	s.send(tickMsg{})
	if line := s.row("market-updates 0"); !strings.Contains(line, "?") || strings.Contains(line, "2060") {
		t.Errorf("a number that may stand no longer is still there: %q", line)
	}
}

// What is unassigned by topic adds up to what is said of the group.
func TestUnassignedByTopicIsTheGroups(t *testing.T) {
	s := live(t, 160, 24).press("/ m o v e r enter enter shift+tab").shows("0 unassigned")
	if line := s.row("old-prices"); !strings.Contains(line, "old-prices 2 500 250 0 ") {
		t.Errorf("partitions of a topic that was left wait for nobody: %q", line)
	}
	alone := groupSpec{facts: classic("alone", collect.StateEmpty), rows: map[string][]row{"prices": lagging(2, 90, 1)}}
	alone.facts.ProtocolType, alone.facts.Assignor = "", ""
	s = newScreen(t, 160, 24).take(update(1, snapshot(nil, epoch, alone))).press("enter shift+tab")
	if line := s.row("prices"); !strings.Contains(line, "prices 2 90 45 ? ") {
		t.Errorf("a standalone committer's partitions are assigned to no one: %q", line)
	}
}

// A group first seen while it rebalances has no earlier owners to show, and one
// whose coordinator is down and which was empty has none at all.
func TestOwnersThatWereNeverSeenAreNotClaimed(t *testing.T) {
	pod := member("pod-1")
	pod.Subscribed = nil
	g := groupSpec{facts: classic("g", collect.StatePreparingRebalance), members: []collect.Member{pod}, rows: map[string][]row{"t": lagging(2, 90, 1)}}
	newScreen(t, 120, 24).take(update(1, snapshot(nil, epoch, g))).press("enter").shows("owners not known").hides("last stable")

	empty := groupSpec{facts: classic("g", collect.StateEmpty), rows: map[string][]row{"t": lagging(2, 90, 1)}}
	a := snapshot(nil, epoch, empty)
	empty.facts.Described, empty.facts.Reason = false, collect.ReasonBrokerDown
	b := snapshot(a, epoch.Add(5*time.Second), empty)
	newScreen(t, 120, 24).take(update(1, a)).take(update(2, b)).press("enter").shows("broker_down").hides("last stable", "owners not known")
}

func TestNoRowIsNotZero(t *testing.T) {
	odd := member("odd")
	odd.Decode = collect.DecodeUndecodable
	g := groupSpec{facts: classic("g", collect.StateStable), members: []collect.Member{odd}, rows: map[string][]row{"t": lagging(2, 90, 1)}}
	s := newScreen(t, 120, 24).take(update(1, snapshot(nil, epoch, g))).press("enter tab")
	if line := s.row("odd"); !strings.Contains(line, "? ? ") {
		t.Errorf("what a member owns is not known, and yet: %q", line)
	}
	denied := groupSpec{facts: collect.GroupFacts{Name: "secret", Type: collect.TypeClassic, State: collect.StateStable, Reason: collect.ReasonDenied}, commits: collect.ReasonDenied}
	s = newScreen(t, 160, 24).take(update(1, snapshot(nil, epoch, denied)))
	if line := s.row("secret"); !strings.Contains(line, "Stable ? ? ?") {
		t.Errorf("partitions that could not be read are no 0: %q", line)
	}
	s.press("enter").shows("[Partitions ?]", "the commits could not be read: denied").hides("no committed offsets")
}

func TestRebalancingGroupSaysWhoseOwnersItShows(t *testing.T) {
	s := live(t, 120, 40)
	if line := s.row("payments"); !strings.Contains(line, "↻ Preparing") {
		t.Errorf("the rebalance is not shown: %q", line)
	}
	s.press("/ p a y enter enter").shows("↻ PreparingRebalance", "owners as of the last stable assignment", "~ pod-1", "generation ≥ 3")
}

func TestStateOfAnotherFutureIsShownAsItIs(t *testing.T) {
	g := groupSpec{facts: classic("g", "Hibernating")}
	newScreen(t, 80, 24).take(update(1, snapshot(nil, epoch, g))).shows("Hibernating")
}

func TestSelectionFollowsTheGroup(t *testing.T) {
	s := live(t, 80, 24).press("G k")
	chosen := s.groups.status()
	specs := street()
	specs = append(specs, groupSpec{facts: collect.GroupFacts{Name: "aaa", Type: collect.TypeClassic, Reason: collect.ReasonDenied}, commits: collect.ReasonDenied})
	specs[0].rows["market-updates"] = lagging(6, 900_000, 90_000, "pod-1")
	s.take(update(3, snapshot(nil, epoch, specs...)))
	if got := s.groups.status(); got != chosen {
		t.Errorf("after new rows above it the cursor is on %s, was on %s", got, chosen)
	}
	if !strings.Contains(s.row("▸"), chosen) {
		t.Errorf("the cursor's row is %q, want %s", s.row("▸"), chosen)
	}
	place := s.groups.cursor
	var rest []groupSpec
	for _, g := range specs {
		if g.facts.Name != chosen {
			rest = append(rest, g)
		}
	}
	s.take(update(4, snapshot(nil, epoch, rest...)))
	if s.groups.cursor != place && s.groups.cursor != len(rest)-1 {
		t.Errorf("when its group is gone the cursor is at %d, was at %d", s.groups.cursor, place)
	}
}

func TestCursorStaysWithTheWorstUntilItIsMoved(t *testing.T) {
	s := live(t, 80, 24)
	specs := street()
	specs = append(specs, groupSpec{facts: collect.GroupFacts{Name: "zzz", Type: collect.TypeClassic, Reason: collect.ReasonDenied}, commits: collect.ReasonDenied})
	specs[2].rows["orders"] = lagging(6, 0, 0, "pod-1")
	s.take(update(3, snapshot(nil, epoch, specs...)))
	if line := s.row("▸"); !strings.Contains(line, "secret") {
		t.Errorf("an untouched cursor went along with a row: %q", line)
	}
}

func TestTiesStandByName(t *testing.T) {
	var specs []groupSpec
	for _, n := range []string{"c", "a", "b"} {
		specs = append(specs, groupSpec{facts: classic("group-"+n, collect.StateEmpty)})
	}
	s := newScreen(t, 80, 24).take(update(1, snapshot(nil, epoch, specs...)))
	for _, keys := range []string{"", "s G enter", "s g j enter"} {
		s.press(keys)
		if text := s.text(); strings.Index(text, "group-a") > strings.Index(text, "group-b") || strings.Index(text, "group-b") > strings.Index(text, "group-c") {
			t.Errorf("after %q equal rows are not by name:\n%s", keys, text)
		}
	}
}

func TestDeletedGroupLeavesANote(t *testing.T) {
	s := live(t, 80, 24).press("/ t i c k e r enter enter j")
	s.take(update(3, snapshot(nil, epoch.Add(5*time.Second), street()[1:]...)))
	s.shows("group ticker is gone since 12:00:02")
	s.press("j k tab x esc s esc / z enter esc ? esc I w").shows("is gone")
	s.take(update(4, snapshot(nil, epoch.Add(10*time.Second), street()...))).shows("market-updates")
	s.press("esc esc").shows("payments")
}

func TestGroupFromTheStart(t *testing.T) {
	open := func(o *Options) { o.Group = "later" }
	s := newScreen(t, 80, 24, open)
	s.shows("waiting for group later", "reading")
	s.take(update(1, snapshot(nil, epoch, street()...))).shows("waiting for group later")
	later := groupSpec{facts: classic("later", collect.StateStable), members: []collect.Member{member("pod-1")}}
	s.take(update(2, snapshot(nil, epoch, later))).shows("later", "no assigned partitions, no committed offsets", "members 1 (1 idle)")
	if got := fmt.Sprint(s.loop.focus); got != "[later]" {
		t.Errorf("focus is %s, want [later]", got)
	}
	s.press("q").shows("1 group")
	if got := s.loop.focus[len(s.loop.focus)-1]; got != "" || s.quit {
		t.Errorf("after q from the group: focus %q, quit %v", got, s.quit)
	}
	if s.press("esc esc h"); s.quit {
		t.Error("esc quits at the top")
	}
	if s.press("q"); !s.quit {
		t.Error("q does not quit at the top")
	}
}

func TestClusterThatIsNotThere(t *testing.T) {
	s := newScreen(t, 80, 24)
	s.shows("connecting to kafka-1:9092", "reading")
	b := collect.NewBuilder(nil, collect.BuildOptions{ClusterName: "prod"})
	b.Problem(collect.Problem{Stage: collect.StageConnect, Broker: -1, Partition: -1, Reason: collect.ReasonBrokerDown, Error: "dial tcp: connection refused\x1b[2J"})
	down := b.Finish(epoch, time.Second)
	s.take(update(1, down)).shows("connecting to kafka-1:9092", `connection refused^[[2J`, "next try in 3s")
	s.now = s.now.Add(10 * time.Second)
	s.send(tickMsg{})
	s.shows("trying now")

	up := snapshot(nil, epoch.Add(10*time.Second), street()...)
	s.take(update(2, up)).shows("ticker")
	b = collect.NewBuilder(up, collect.BuildOptions{ClusterName: "prod", StaleAfter: 5 * time.Minute})
	for _, g := range up.Groups {
		b.AddGroup(collect.GroupFacts{Name: g.Name, Type: g.Type, Coordinator: -1, Reason: collect.ReasonBrokerDown, At: epoch.Add(20 * time.Second)})
		b.CommitsUnread(g.Name, collect.ReasonBrokerDown)
	}
	b.KeepTopics(collect.ReasonBrokerDown)
	b.Problem(collect.Problem{Stage: collect.StageConnect, Broker: 1, Partition: -1, Reason: collect.ReasonBrokerDown, Error: "no route to host"})
	b.Layout()
	lost := b.Finish(epoch.Add(20*time.Second), time.Second)
	s.take(update(3, lost))
	s.now = epoch.Add(35 * time.Second)
	s.send(tickMsg{})
	s.shows("cluster not reached for 25s: no route to host", "trying now", "ticker", "25s old, not reached")
	if line := s.row("ticker"); !strings.Contains(line, "~ 12.3k") {
		t.Errorf("the last numbers are not kept and marked: %q", line)
	}
	if s.quit {
		t.Error("a lost cluster ends the screen")
	}
	s.take(update(4, snapshot(lost, epoch.Add(36*time.Second), street()...))).hides("not reached")
}

// A cluster without a name of its own is told by its address, where there is room.
func TestHeaderSaysWhereTheClusterIs(t *testing.T) {
	s := live(t, 120, 40)
	s.opts.Brokers = "kafka-1:9092,kafka-2:9092"
	s.shows("at kafka-1:9092").hides("kafka-2")
	s.opts.Brokers = strings.Repeat("long-", 30) + "name:9092"
	s.shows("prod", "3 brokers").hides("long-")
	s.opts.Brokers = ""
	s.hides(" at ")
}

func TestFilter(t *testing.T) {
	s := live(t, 80, 24)
	s.press("/ T I C K").shows("ticker").hides("payments")
	s.press("esc").shows("payments", "ticker")
	s.press("/ ! t i c k enter").shows("payments", "/!tick", "1 filtered").hides(" ticker")
	s.press("esc").shows("ticker")
	s.press("/ z z z enter").shows("nothing matches the filter zzz")
	s.press("/ ctrl+u enter").shows("ticker")
	s.press("/ q space ? enter").shows("/q ?") // keys are letters while a filter is typed
	if s.quit {
		t.Error("q in a filter quits")
	}
	s.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("q"), Paste: true})
	if s.quit {
		t.Error("a pasted q quits")
	}
}

func TestHidingSaysHowManyAndHidesNoLag(t *testing.T) {
	s := live(t, 100, 24).press("e")
	s.hides("archive").shows("1 hidden", "newborn", "secret", "ticker")
	s.press("e").shows("archive")
	s.press("i").shows("issues only", "secret", "billing").hides("ticker", "archive")
}

func TestPauseHoldsTheScreenAndNotTheData(t *testing.T) {
	s := live(t, 100, 24).press("space")
	before := s.row("ticker")
	specs := street()
	specs[0].rows["market-updates"] = lagging(6, 777, 3, "pod-1")
	s.now = s.now.Add(30 * time.Second)
	s.take(update(3, snapshot(nil, epoch.Add(30*time.Second), specs...)))
	s.send(tickMsg{})
	s.shows("PAUSED 12:00:02, 30s ago")
	if got := s.row("ticker"); got != before {
		t.Errorf("a paused row changed from %q to %q", before, got)
	}
	s.press("space").hides("PAUSED")
	if got := s.row("ticker"); !strings.Contains(got, "777") {
		t.Errorf("after the pause the newest is not there: %q", got)
	}
}

// Paused while the cluster is lost, the numbers on the screen grow old, also
// when later polls succeed.
func TestPauseOnALostClusterDoesNotBecomeFresh(t *testing.T) {
	s := live(t, 120, 24)
	lost := *snapshot(nil, epoch.Add(5*time.Second), street()...)
	lost.Reached, lost.Complete = false, false
	lost.Problems = []collect.Problem{{Stage: collect.StageConnect, Broker: 1, Partition: -1, Reason: collect.ReasonBrokerDown, Error: "no route to host"}}
	s.now = epoch.Add(6 * time.Second)
	s.take(update(3, &lost)).press("space")
	s.now = epoch.Add(62 * time.Second)
	s.take(update(4, snapshot(nil, epoch.Add(60*time.Second), street()...)))
	s.shows("1m02s old, not reached", "not reached for 1m02s: no route to host")
	s.press("space").shows("2s old").hides("not reached")
}

func TestFindingOfTheClusterIsNotThatOfTheGroupWithoutAName(t *testing.T) {
	snap := snapshot(nil, epoch, groupSpec{facts: classic("", collect.StateEmpty)})
	u := update(1, snap)
	u.Findings = []collect.Finding{{Cluster: true, Code: "broker_unreachable", Severity: collect.Critical, Summary: "broker 3 does not answer"}}
	s := newScreen(t, 120, 24).take(u).shows("broker_unreachable: broker 3 does not answer", "1 group").hides("1 critical")
	if line := s.row("(empty)"); strings.Contains(line, "broker_unreachable") {
		t.Errorf("the group is blamed: %q", line)
	}
}

func TestIntervalAndRefreshGoToTheLoop(t *testing.T) {
	s := live(t, 100, 24).press("+").shows("every 10s")
	s.press("- -").shows("every 3s")
	s.press("- - - - - - - - -").shows("every 100ms")
	if s.press("r"); s.loop.refreshes != 1 {
		t.Errorf("r asked for %d polls", s.loop.refreshes)
	}
	s.shows("asked for a poll now").press("space r").shows("asked for a poll, but the screen is paused")
	still := live(t, 100, 24, func(o *Options) { o.Wishes = nil })
	still.press("+ - r enter esc").hides("every")
	still.press("?").hides("poll now")
}

func TestOrderCanBeHeldAndChosen(t *testing.T) {
	s := live(t, 120, 40)
	order := s.groups.names
	held := fmt.Sprint(order())
	s.press("O")
	specs := street()
	specs[0].rows["market-updates"] = lagging(6, 490_000, 200_000, "pod-1")
	s.take(update(3, snapshot(nil, epoch, specs...))).shows("order held")
	if got := fmt.Sprint(order()); got != held {
		t.Errorf("a held order went from %s to %s", held, got)
	}
	s.press("O")
	if got := fmt.Sprint(order()); got == held {
		t.Error("a released order stays")
	}
	s.press("s j j enter") // by group
	if got := order(); got[0] != "alerts" {
		t.Errorf("by group %s is first", got[0])
	}
	if s.press("I"); order()[0] != "ticker" {
		t.Errorf("by group, reversed, %s is first", order()[0])
	}
	s.press("> <").shows("GROUP▴")
}

// names are those of the rows, in order.
func (p *groupsPane) names() (names []string) {
	for _, r := range p.table.rows {
		names = append(names, r.Name)
	}
	return names
}

func TestUnitsNeverCutANumber(t *testing.T) {
	g := groupSpec{facts: classic("g", collect.StateStable), rows: map[string][]row{"t": {{p: 0, committed: 0, end: 9_223_372_036_854, method: collect.MethodExact}}}}
	for w := leastWidth; w <= 300; w += 9 {
		s := newScreen(t, w, 12).take(update(1, snapshot(nil, epoch, g)))
		s.shows("9.22T")
		s.press("u").shows("9,223,372,036,854")
		s.press("enter").shows("9,223,372,036,854")
	}
}

func TestExplain(t *testing.T) {
	s := live(t, 120, 40).press("/ b i l l enter enter")
	for _, want := range [][]string{
		{"committed 60 on orders-0, but the log now starts at 100: retention took 40 records", "at least 3h12m old"},
		{"100 records beyond the log end 800"},
		{"no commit on orders-2", "2500 - 500 = 2,000 records", "give or take 1m00s"},
		{"not known: the partition has no leader"},
		{"this principal may not see it"},
		{"the log ends at 7 and 7 is committed", "2s old"},
	} {
		s.press("x")
		text := strings.Join(strings.Fields(s.text()), " ") // sentences are broken over lines
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("the explanation lacks %q: %s", w, text)
			}
		}
		s.press("esc j")
	}
}

func TestLongExplanationScrolls(t *testing.T) {
	s := live(t, 40, 12).press("/ b i l l enter enter x").hides("The numbers are")
	s.press("G").shows("The numbers are", "2s old.")
	s.press("g").shows("committed 60")
}

func TestMembersThatShareAClientIDAreToldApart(t *testing.T) {
	a, b, c := member("app"), member("app"), member("app")
	b.Host, c.ID = "/10.0.0.8", "app-ffffffff"
	g := &collect.Group{Members: []collect.Member{a, b, c}}
	got := fmt.Sprint(memberLabels(newLook([]string{"LANG=C.UTF-8"}, groundDark, 0), g))
	if want := "[app#3c9a52 app@/10.0.0.8 app#ffffff]"; got != want {
		t.Errorf("labels are %s, want %s", got, want)
	}
}

func TestFastKeysAreNotLost(t *testing.T) {
	s := live(t, 80, 24)
	s.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("jjj")})
	if s.groups.cursor != 3 {
		t.Errorf("jjj in one read moved to %d", s.groups.cursor)
	}
	s.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("/tick")})
	s.shows("/tick")
	s.hides("payments")
}

func TestMouse(t *testing.T) {
	s := live(t, 80, 24).press("m")
	s.send(tea.MouseMsg{X: 5, Y: 5, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
	if want := s.lines()[5]; !strings.HasPrefix(want, "▸") {
		t.Errorf("a click does not choose the row under it: %q", want)
	}
	s.send(tea.MouseMsg{Button: tea.MouseButtonWheelDown})
	if s.groups.cursor != 5 {
		t.Errorf("the wheel moved to %d, want 5", s.groups.cursor)
	}
}

func TestTooSmall(t *testing.T) {
	s := live(t, 10, 3)
	s.shows("too small", "30x6")
	s.press("j enter tab ? esc s esc / x enter esc")
	s.press("esc esc q")
	if !s.quit {
		t.Error("q does not quit when it is too small")
	}
}

func TestLoopThatEnds(t *testing.T) {
	s := live(t, 80, 24)
	s.send(endedMsg{})
	s.shows("no more updates will come", "ticker")
}
