package assign

import (
	"fmt"
	"testing"

	"github.com/klagtop/klagtop/collect"
)

// The order in which an application subscribes decides what KafkaJS deals, and
// only the present assignment tells it.
func TestTheOrderOfTopicsInTurns(t *testing.T) {
	two := func(owned ...string) *bed {
		b := classic(kafkaJS, "a:3 b:3")
		for i, o := range owned {
			b.member(fmt.Sprintf("pod%d-0", i+1), "", o)
		}
		return b
	}
	for _, c := range []struct {
		reason, join string
		bed          *bed
		exact        bool
	}{
		{"one member has all in any order", "+pod2", two("a:0,1,2 b:0,1,2"), false},
		{"but where every topic fills whole turns", "+pod2,+pod3", two("a:0,1,2 b:0,1,2"), true},
		{"a, then b", "+pod3,+pod4", two("a:0,2 b:1", "a:1 b:0,2"), true},
		{"b, then a", "+pod3,+pod4", two("a:1 b:0,2", "a:0,2 b:1"), true},
		{"what no order explains", "+pod3,+pod4", two("a:0,1 b:1", "a:2 b:0,2"), false},
	} {
		if p := c.bed.what(t, collect.Change{Assignor: kafkaJS, Members: members(c.join).Members}).Plans[0]; p.Exact != c.exact {
			t.Errorf("%s: exact %v: %v", c.reason, p.Exact, shares(&p))
		}
	}
	first := func(b *bed) string {
		return shares(&b.what(t, collect.Change{Assignor: kafkaJS, Members: members("+pod3,+pod4").Members}).Plans[0])["pod4"]
	}
	if got := first(two("a:0,2 b:1", "a:1 b:0,2")); got != "b:0" {
		t.Errorf("a, then b: the fourth gets %q", got)
	}
	if got := first(two("a:1 b:0,2", "a:0,2 b:1")); got != "a:0" {
		t.Errorf("b, then a: the fourth gets %q", got)
	}
}

// Of three topics, more than one order may explain what is, and deal otherwise
// under the change: that is no knowledge.
func TestOrdersThatExplainTheSameAreNoProof(t *testing.T) {
	b := classic(kafkaJS, "a:3 b:3 c:3").member("pod1-0", "", "a:0,2 b:1 c:0,2").member("pod2-0", "", "a:1 b:0,2 c:1")
	if p := b.what(t, collect.Change{Assignor: kafkaJS, Members: members("+pod3,+pod4").Members}).Plans[0]; p.Exact {
		t.Errorf("exact though a, b, c and c, b, a deal alike today: %v", shares(&p))
	}
	if p := b.what(t, collect.Change{Assignor: kafkaJS, Members: members("+pod3").Members}).Plans[0]; !p.Exact {
		t.Error("not exact though every topic fills whole turns")
	}
}

func TestOrders(t *testing.T) {
	seen := map[string]bool{}
	for _, o := range orders(4) {
		seen[fmt.Sprint(o)] = true
	}
	if len(seen) != 24 || fmt.Sprint(orders(3)[0]) != "[0 1 2]" {
		t.Errorf("%d orders of 4 things, %v", len(seen), orders(3))
	}
}
