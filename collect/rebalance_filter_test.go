package collect

import (
	"testing"
	"time"
)

// A topic filter takes rows away and leaves rebalances whole: between the two
// rounds of a cooperative one, partitions of a topic without rows wait, too.
func TestACooperativeRebalanceOfTopicsThatAFilterHides(t *testing.T) {
	w := watch(newWorld())
	w.opts.Filter = Filter{Topics: mustPatterns(t, "t")}
	w.topic("t", even(1, 0, 10)...)
	w.topic("u", even(2, 0, 10)...)
	w.group("g", member("a", on("t", 0), on("u", 0, 1)))
	w.look(t)
	w.after(time.Second).groups["g"].facts.Members = []Member{member("a", on("t", 0)).to("u"), member("b").to("t", "u")}
	_, es := w.look(t)
	wantLines(t, briefs(es))
	w.after(time.Second).groups["g"].facts.Members = []Member{member("a", on("t", 0)).to("u"), member("b", on("u", 0, 1)).to("t")}
	_, es = w.look(t)
	wantLines(t, briefs(es), "rebalance x1 member_joined moved 2 gained 0 lost 0 kept 1 +b")
}
