//go:build unix

package collect

import (
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"
)

// bed is a cluster of the size that klagtop promises to be quick on: 2,000
// groups of 10 topics with 50 partitions each, one million rows.
type bed struct {
	groups, topicsPerGroup, partitions, topics, members int

	names   []string
	facts   []GroupFacts
	commits [][]TopicCommits
	leaders []int32
	ends    int64
	now     time.Time
	prev    *Snapshot
}

func newBed() *bed {
	b := &bed{groups: 2000, topicsPerGroup: 10, partitions: 50, topics: 1000, members: 10, ends: 1_000_000, now: epoch}
	b.leaders = make([]int32, b.partitions)
	for i := range b.topics {
		b.names = append(b.names, fmt.Sprintf("topic-%04d", i))
	}
	for g := range b.groups {
		f := GroupFacts{
			Name: fmt.Sprintf("group-%04d", g), Type: TypeClassic, State: StateStable, ProtocolType: "consumer", Assignor: "range", Coordinator: 1,
			Generation: Generation{Value: 7, Source: SourceMemberMetadata}, Described: true, MembersKnown: true,
		}
		share := b.partitions / b.members
		var topics []string
		var commits []TopicCommits
		for k := range b.topicsPerGroup {
			name := b.names[(g*b.topicsPerGroup+k)%b.topics]
			topics = append(topics, name)
			c := TopicCommits{Topic: name}
			for p := range b.partitions {
				c.Partitions, c.Offsets, c.Epochs = append(c.Partitions, int32(p)), append(c.Offsets, 0), append(c.Epochs, 0)
			}
			commits = append(commits, c)
		}
		for m := range b.members {
			mem := Member{ID: fmt.Sprintf("m-%d", m), ClientID: fmt.Sprintf("c-%d", m), Host: "/10.0.0.1", Epoch: -1, Generation: 6, Subscribed: topics, Decode: DecodeOK}
			for _, t := range topics {
				tp := TopicPartitions{Topic: t}
				for p := range share {
					tp.Partitions = append(tp.Partitions, int32(m*share+p))
				}
				mem.Assigned = append(mem.Assigned, tp)
			}
			f.Members = append(f.Members, mem)
		}
		b.facts, b.commits = append(b.facts, f), append(b.commits, commits)
	}
	return b
}

// step moves the cluster on: everything is produced to, and every group is
// ten records behind.
func (b *bed) step() {
	b.now = b.now.Add(time.Second)
	b.ends += 100
	for i := range b.commits {
		cs := slices.Clone(b.commits[i]) // snapshots keep those that were given
		for k := range cs {
			cs[k].Offsets = make([]int64, b.partitions)
			for p := range cs[k].Offsets {
				cs[k].Offsets[p] = b.ends - 10
			}
		}
		b.commits[i] = cs
	}
}

func (b *bed) build() *Snapshot {
	x := NewBuilder(b.prev, BuildOptions{StaleAfter: 5 * time.Minute})
	x.SetCluster(Cluster{ID: "id"})
	x.Reached()
	for i, n := range b.names {
		x.AddTopic(TopicMeta{Name: n, ID: [16]byte{1, byte(i), byte(i >> 8)}, Leaders: b.leaders})
	}
	for i := range b.facts {
		f := b.facts[i]
		f.At = b.now
		f.Members = append([]Member(nil), f.Members...)
		x.AddGroup(f)
		x.AddCommits(f.Name, b.now, b.commits[i])
	}
	x.Layout()
	for _, n := range x.Needs() {
		for _, p := range n.Partitions {
			x.SetStart(n.Topic, p, 0, b.now)
			x.SetEnd(n.Topic, p, b.ends, 0, b.now)
		}
	}
	x.CommitsToReread()
	x.StartsToReread()
	x.Suspects()
	return x.Finish(b.now, 0)
}

func rows(s *Snapshot) (n int) {
	for _, g := range s.Groups {
		n += g.Rows()
	}
	return n
}

// cpu is the processor time of this process, its garbage collector included:
// what a busy machine does not change.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// spent are the processor times of a benchmark's rounds.
type spent []time.Duration

// report gives the mean a row, and the least: neighbours on the machine can
// only add to it.
func (s spent) report(b *testing.B, snap *Snapshot) {
	sum := time.Duration(0)
	for _, d := range s {
		sum += d
	}
	n := float64(rows(snap))
	b.ReportMetric(float64(sum.Nanoseconds())/float64(len(s))/n, "cpu-ns/row")
	b.ReportMetric(float64(slices.Min(s).Nanoseconds())/n, "least-cpu-ns/row")
}

// BenchmarkBuild is what a poll costs beside the network: everything from the
// answers to a finished snapshot.
func BenchmarkBuild(b *testing.B) {
	w := newBed()
	w.step()
	w.prev = w.build()
	b.ReportAllocs()
	var times spent
	for b.Loop() {
		b.StopTimer()
		w.step()
		b.StartTimer()
		began := cpu()
		w.prev = w.build()
		times = append(times, cpu()-began)
	}
	times.report(b, w.prev)
}

// BenchmarkAdvance is what the tracker adds, with every row behind.
func BenchmarkAdvance(b *testing.B) {
	w, tr := newBed(), newTracker("default", "boot")
	for range 5 {
		w.step()
		w.prev = w.build()
		tr.advance(w.prev)
	}
	b.ReportAllocs()
	var times spent
	for b.Loop() {
		b.StopTimer()
		w.step()
		w.prev = w.build()
		b.StartTimer()
		began := cpu()
		tr.advance(w.prev)
		times = append(times, cpu()-began)
	}
	times.report(b, w.prev)
	b.StopTimer()
	w.facts, w.commits = nil, nil
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "MiB-live")
	runtime.KeepAlive(tr)
}

// BenchmarkWanted is what the choice of searches costs between two polls.
func BenchmarkWanted(b *testing.B) {
	w, tr := newBed(), newTracker("default", "boot")
	for range 2 {
		w.step()
		w.prev = w.build()
		tr.advance(w.prev)
	}
	b.ReportAllocs()
	var times spent
	for b.Loop() {
		began := cpu()
		tr.wanted(w.prev)
		times = append(times, cpu()-began)
	}
	times.report(b, w.prev)
}

// BenchmarkAt is what a reader pays for a snapshot whose numbers are too old.
func BenchmarkAt(b *testing.B) {
	w := newBed()
	w.step()
	s := w.build()
	b.ReportAllocs()
	for b.Loop() {
		s.At(w.now.Add(6 * time.Minute))
	}
}
