package collect

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestParseMembers(t *testing.T) {
	for text, want := range map[string]MembersChange{
		"5":                 {To: 5},
		"+2":                {Add: 2},
		"-1":                {Drop: 1},
		"+0":                {},
		"+pod-4,-pod-1":     {Join: []string{"pod-4"}, Leave: []string{"pod-1"}},
		"-a-0b1c,-b,+2,+2":  {Add: 4, Leave: []string{"a-0b1c", "b"}},
		"+4 pods,-1,-x\x1b": {Join: []string{"4 pods"}, Drop: 1, Leave: []string{"x\x1b"}},
	} {
		if got, err := ParseMembers(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                         "an identity or a number is missing",
		"+":                        "an identity or a number is missing",
		"+a,":                      "an identity or a number is missing",
		"pod-4":                    "neither a number nor",
		"5,+1":                     "stands alone",
		"0":                        "a group without members",
		"10001":                    "more than 10000 members",
		"+99999999999999999999":    "more than 10000 members",
		"-99999999999999999999":    "more than 10000 members",
		"+6000,+6000":              "more than 10000 members",
		"999999999999999999999999": "more than 10000 members",
	} {
		got, err := ParseMembers(text)
		ce, ok := errors.AsType[*ChangeError](err)
		if !ok || ce.Part != ChangeMembers || !strings.Contains(ce.Problem, want) || ce.Hint == "" || !reflect.DeepEqual(got, MembersChange{}) {
			t.Errorf("%q: %+v, %v; want %q", text, got, err, want)
		}
	}
}

func TestParsePartitions(t *testing.T) {
	got, err := ParsePartitions([]string{"market-updates=12", "a.b_c=1"})
	if err != nil || !reflect.DeepEqual(got, map[string]int32{"market-updates": 12, "a.b_c": 1}) {
		t.Errorf("%v, %v", got, err)
	}
	for text, want := range map[string]string{
		"market-updates": "not topic=N", "=3": "not topic=N", "t=": "not a number", "t=0": "not a number", "t=-1": "not a number",
		"t=6,u=7": "not a number", "t=100001": "more than 100000", "twice=2": "named twice",
	} {
		_, err := ParsePartitions([]string{"twice=1", text})
		if ce, ok := errors.AsType[*ChangeError](err); !ok || ce.Value != text || !strings.Contains(ce.Problem, want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// What is pretended is counted as what is so: the real assignment comes to the
// same counts either way.
func TestPretendedIsCountedAsReal(t *testing.T) {
	w := newWorld()
	w.topic("a", even(3, 0, 9)...)
	w.topic("b", even(3, 0, 9)...)
	w.topic("c", even(2, 0, 9)...)
	w.group("ticker", member("pod-1", on("a", 0, 1), on("b", 0), on("c", 0)), member("pod-2", on("a", 2), on("b", 1, 2)), member("pod-3").to("a", "b", "c"))
	g := mustGroup(t, w.poll(), "ticker")
	topics := []PlannedTopic{{Name: "a", Then: 3}, {Name: "b", Then: 3}, {Name: "c", Then: 2}}
	got, want := g.Pretend(g.Members, topics, []float64{2, 4, 0}), g.Assignment
	if got.Members != want.Members || got.Idle != want.Idle || got.Assigned != want.Assigned || got.Unassigned != want.Unassigned ||
		got.SkewPartitions != want.SkewPartitions || got.Colocated != want.Colocated || got.Copartitioned != want.Copartitioned || got.Unassigned != 1 || got.Colocated != 2 {
		t.Errorf("pretended %+v, real %+v", got, want)
	}
	if !same(got.SkewRate, 2) {
		t.Errorf("skew by rate %g, want 2", got.SkewRate)
	}
	// more partitions than there are, and one that nobody has
	got = g.Pretend(g.Members, []PlannedTopic{{Name: "a", Then: 6}}, make([]float64, 3))
	if got.Unassigned != 3 || got.Copartitioned != Unknown || !same(got.SkewRate, skew(nil)) {
		t.Errorf("%+v", got)
	}
}
