package collect

import (
	"math"
	"testing"
	"time"
)

func TestImbalance(t *testing.T) {
	for _, c := range []struct {
		why  string
		make func(s *paced)
		want ImbalanceCause
		who  string
	}{
		{"nobody is behind", func(s *paced) {
			s.member("pod-1", 10, 10, 2).member("pod-2", 10, 10, 2)
		}, ImbalanceNone, ""},
		{"all are behind alike", func(s *paced) {
			s.member("pod-1", 10, 5, 2).member("pod-2", 10, 5, 2)
		}, ImbalanceNone, ""},
		{"one has most of the partitions", func(s *paced) {
			s.member("pod-1", 10, 8, 4).member("pod-2", 10, 10, 1)
		}, ImbalanceAssignor, "pod-1"},
		{"as many partitions, but the keys fall on one's", func(s *paced) {
			s.member("pod-1", 10, 10, 2).member("pod-2", 40, 20, 2)
		}, ImbalanceKeys, "pod-2"},
		{"as many partitions and records, but one reads slower", func(s *paced) {
			s.member("pod-1", 10, 10, 2).member("pod-2", 10, 4, 2).member("pod-3", 10, 10, 2)
		}, ImbalanceMember, "pod-2"},
		{"one reads slower, but the other does not keep up either", func(s *paced) {
			s.member("pod-1", 10, 9, 2).member("pod-2", 10, 2, 2)
		}, ImbalanceUnknown, "pod-2"},
		{"fewer partitions than members: who has one has its share", func(s *paced) {
			s.member("pod-1", 10, 10, 1).member("pod-2", 10, 2, 1).member("pod-3", 0, 0, 0).member("pod-4", 0, 0, 0)
		}, ImbalanceMember, "pod-2"},
		{"what one member owns cannot be read", func(s *paced) {
			s.member("pod-1", 10, 8, 4).member("pod-2", 10, 10, 1)
			s.members[1].Decode = DecodeUndecodable
		}, ImbalanceUnknown, "pod-1"},
		{"one poll has no rates, but partitions can be counted", func(s *paced) {
			s.polls = 1
			s.member("pod-1", 10, 1, 5).member("pod-2", 10, 1, 1)
		}, ImbalanceAssignor, "pod-1"},
		{"one poll has no rates: what is not measured explains nothing", func(s *paced) {
			s.polls = 1
			s.member("pod-1", 10, 10, 2).member("pod-2", 40, 20, 2)
		}, ImbalanceUnknown, "pod-2"},
	} {
		t.Run(c.why, func(t *testing.T) {
			s := &paced{polls: 8}
			c.make(s)
			g := s.run(t)
			im := g.Imbalance()
			who := ""
			if im.Member >= 0 {
				who = g.Members[im.Member].ClientID
			}
			if im.Cause != c.want || who != c.who {
				t.Errorf("got %q of %q, want %q of %q; %+v, skew %+v", im.Cause, who, c.want, c.who, im, g.Assignment)
			}
		})
	}
}

// Where the lag of what some member owns is not known, neither is whose lag is
// the largest: nobody is named, and there is no skew.
func TestUnknownLagIsNoSkew(t *testing.T) {
	w := newWorld()
	x := w.topic("x", even(5, 0, 100)...)
	g := w.group("g", member("pod-1", on("x", 0, 1, 2, 3)), member("pod-2", on("x", 4)))
	for p := range int32(4) {
		g.commit("x", p, 90)
	}
	g.commit("x", 4, 0)
	x.endUnread[4] = ReasonNoLeader
	got := mustGroup(t, w.poll(), "g")
	if im := got.Imbalance(); !math.IsNaN(got.Assignment.SkewLag) || im.Cause != ImbalanceNone {
		t.Errorf("skew by lag %v, %+v; pod-2 may have any lag", got.Assignment.SkewLag, im)
	}
	if got.Assignment.SkewPartitions != 1.6 {
		t.Errorf("skew by partitions %v, want 1.6", got.Assignment.SkewPartitions)
	}
}

// paced is a group whose members read at a pace.
type paced struct {
	polls             int
	members           []Member
	produced, consume []int64 // records a poll, by partition
}

// member adds a member with n partitions on each of which so much is produced and consumed.
func (s *paced) member(client string, produced, consumed int64, n int) *paced {
	tp := TopicPartitions{Topic: "ticks"}
	for range n {
		tp.Partitions = append(tp.Partitions, int32(len(s.produced)))
		s.produced, s.consume = append(s.produced, produced), append(s.consume, consumed)
	}
	s.members = append(s.members, member(client, tp))
	return s
}

func (s *paced) run(t *testing.T) *Group {
	t.Helper()
	w := newWorld()
	g := w.group("g", s.members...)
	tr := newTracker("default", "boot")
	for n := range s.polls {
		var parts []part
		for p := range s.produced {
			parts = append(parts, part{0, 100 + int64(n+1)*s.produced[p]})
			g.commit("ticks", int32(p), 100+int64(n+1)*s.consume[p])
		}
		w.topic("ticks", parts...)
		tr.advance(w.after(time.Second).poll())
	}
	return mustGroup(t, w.prev, "g")
}
