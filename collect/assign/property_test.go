package assign

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klagtop/klagtop/collect"
)

// dice makes groups and changes out of bytes; when they are used up, all is 0.
type dice struct{ b []byte }

func (d *dice) n(limit int) int {
	if len(d.b) == 0 {
		return 0
	}
	x := int(d.b[0])
	d.b = d.b[1:]
	return x % limit
}

// group makes a group with members that own anything, also what is not there.
func (d *dice) group() *bed {
	names := []string{rangeName, roundRobin, sticky, cooperative, kafkaJS, "CoPartitionAssigner", uniform, "stream", "", "own"}
	b := classic(names[d.n(len(names))], "")
	b.group.Type = []collect.GroupType{collect.TypeClassic, collect.TypeClassic, collect.TypeConsumer, collect.TypeShare}[d.n(4)]
	for i := range d.n(5) {
		b.topic(fmt.Sprintf("t%d", i), d.n(10))
	}
	alike := d.n(2) == 0
	for i := range d.n(9) {
		subscribed := ""
		for k := range b.group.Topics {
			if alike || d.n(2) == 0 {
				subscribed += fmt.Sprintf(" t%d", k)
			}
		}
		owned := ""
		for range d.n(3) {
			owned += fmt.Sprintf(" t%d:%d", d.n(6), d.n(12))
		}
		id := fmt.Sprintf("pod%d-%d", d.n(4), i)
		if d.n(4) == 0 {
			id += fmt.Sprintf("@i%d", i)
		}
		b.member(id, subscribed+" ", owned)
		m := &b.group.Members[i]
		switch d.n(8) {
		case 0:
			m.Subscribed, m.Regex = nil, "t[0-2]"
		case 1:
			m.Subscribed = nil
		case 2:
			m.Decode = collect.DecodeUndecodable
		case 3:
			m.Rack = "a"
		}
	}
	b.group.AssignmentStale = d.n(4) == 0
	return b
}

func (d *dice) change() (c collect.Change) {
	if d.n(3) == 0 {
		c.Assignor = Names()[d.n(len(Names()))]
	}
	switch d.n(5) {
	case 0:
		c.Members.To = d.n(12)
	case 1:
		c.Members.Add = d.n(5)
		c.Members.Join = []string{fmt.Sprintf("pod%d", d.n(6)), "i1"}
	case 2:
		c.Members.Drop = d.n(5)
	case 3:
		c.Members.Leave = []string{fmt.Sprintf("pod%d", d.n(5)), fmt.Sprintf("i%d", d.n(9))}[:d.n(3)]
	}
	if d.n(3) == 0 {
		c.Partitions = map[string]int32{fmt.Sprintf("t%d", d.n(5)): int32(1 + d.n(20))}
	}
	return c
}

// check plans, and holds what comes out against what must be so of any plan.
func check(t *testing.T, b *bed, c collect.Change) {
	w, err := Planner{}.Plan(b.group, b.snapshot, c)
	if err != nil {
		_, change := errors.AsType[*collect.ChangeError](err)
		_, none := errors.AsType[*collect.NoPlanError](err)
		if !change && !none {
			t.Errorf("an error of no kind: %v", err)
		}
		return
	}
	if len(w.Plans) == 0 {
		t.Error("neither plans nor an error")
	}
	total := int64(0)
	for _, tp := range w.Topics {
		total += int64(tp.Then)
	}
	s, _ := observe(b.group, b.snapshot)
	if _, err := s.change(c); err != nil {
		t.Fatal(err)
	}
	alike := s.alike()
	for i := range w.Plans {
		p := &w.Plans[i]
		whole(t, b, w, p)
		if alike && p.Assignment.Unassigned != 0 {
			t.Errorf("%s: %d partitions of subscribed topics have no owner", p.Assignor, p.Assignment.Unassigned)
		}
		even := p.Assignor != rangeName && p.Assignor != byIndex
		if alike && even && p.Most-p.Fewest > 1 {
			t.Errorf("%s: from %d to %d partitions a member", p.Assignor, p.Fewest, p.Most)
		}
		if alike && even && p.Assignment.Idle != max(0, int64(len(p.Members))-total) {
			t.Errorf("%s: %d idle of %d members with %d partitions", p.Assignor, p.Assignment.Idle, len(p.Members), total)
		}
		if alike && !even && p.Assignment.Colocated != p.Assignment.Copartitioned {
			t.Errorf("%s: %d of %d co-located", p.Assignor, p.Assignment.Colocated, p.Assignment.Copartitioned)
		}
		if p.Stopped < p.Moved+p.Lost {
			t.Errorf("%s: %d stop, but %d move and %d are lost", p.Assignor, p.Stopped, p.Moved, p.Lost)
		}
		if p.Rounds > 2 || (p.Style == collect.StyleReconcile) != (p.Rounds == 0) {
			t.Errorf("%s: %d rounds of style %s", p.Assignor, p.Rounds, p.Style)
		}
		if strings.HasSuffix(p.Assignor, sticky) && alike && c.Members.To+c.Members.Add+c.Members.Drop == 0 && c.Members.Leave == nil && c.Members.Join == nil {
			least(t, s, p)
		}
	}
}

// least holds a sticky plan to the least movement that balance allows: with the
// same topics for all, members give up only what is more than their share.
func least(t *testing.T, s *situation, p *collect.Plan) {
	if p.Moved < 0 {
		return
	}
	total, had := 0, make([]int, len(s.members))
	for i := range s.topics {
		total += int(s.topics[i].then)
		for part, o := range s.owned[i] {
			if o >= 0 && part < int(s.topics[i].then) {
				had[o]++
			}
		}
	}
	need := int64(0)
	for i, q := range quotas(total, had) {
		need += int64(max(0, had[i]-q))
	}
	if p.Moved != need {
		t.Errorf("%s: %d move, %d have to: %v", p.Assignor, p.Moved, need, shares(p))
	}
}

func TestWhateverTheGroup(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 8_000 {
		b := make([]byte, 90)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		d := &dice{b}
		g := d.group()
		check(t, g, d.change())
		if t.Failed() {
			t.Fatalf("of the dice %v", b)
		}
	}
}

func FuzzPlan(f *testing.F) {
	f.Add([]byte{0, 0, 2, 6, 6, 0, 4, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
	f.Add([]byte("a group of many bytes, with members that own much, and a change of them as well"))
	f.Fuzz(func(t *testing.T, b []byte) {
		d := &dice{b}
		g := d.group()
		check(t, g, d.change())
	})
}

// A large group is planned for while a person waits.
func BenchmarkPlan(b *testing.B) {
	g := classic(rangeName, "a:5000 b:5000")
	for i := range 500 {
		g.member(fmt.Sprintf("pod%d-x", i), "", fmt.Sprintf("a:%d b:%d", i, i))
	}
	b.ReportAllocs()
	for b.Loop() {
		g.what(b, collect.Change{})
	}
}
