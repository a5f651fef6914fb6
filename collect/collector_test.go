package collect

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// fakeSource is a Source whose polls take as long as they are told to.
type fakeSource struct {
	t     *testing.T
	takes func(n int) time.Duration // of poll n, from 0; obeys no deadline if it is negative

	mu        sync.Mutex
	began     []time.Time
	deadlines []time.Duration
	asks      []Ask
	busy      bool
	fill      func(b *Builder, ask Ask, now time.Time)
	offsetsAt func(ctx context.Context, qs []TimeQuery) []TimeAnswer
}

func (f *fakeSource) Poll(ctx context.Context, ask Ask) *Snapshot {
	began := time.Now()
	f.mu.Lock()
	if f.busy {
		f.t.Error("two polls at once")
	}
	f.busy = true
	n := len(f.began)
	f.began, f.asks = append(f.began, began), append(f.asks, ask)
	if d, ok := ctx.Deadline(); ok {
		f.deadlines = append(f.deadlines, d.Sub(began))
	}
	f.mu.Unlock()
	if f.takes != nil {
		select {
		case <-time.After(f.takes(n)):
		case <-ctx.Done():
		}
	}
	b := ask.Builder()
	b.Reached()
	if f.fill != nil {
		f.fill(b, ask, time.Now())
	}
	f.mu.Lock()
	f.busy = false
	f.mu.Unlock()
	return b.Finish(time.Now(), time.Since(began))
}

func (f *fakeSource) OffsetsAt(ctx context.Context, qs []TimeQuery) []TimeAnswer {
	if f.offsetsAt != nil {
		return f.offsetsAt(ctx, qs)
	}
	return make([]TimeAnswer, len(qs))
}

func (f *fakeSource) Close() {}

// starts are the moments at which polls began, in seconds since the first.
func (f *fakeSource) starts() (out []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, b := range f.began {
		out = append(out, fmt.Sprint(b.Sub(f.began[0]).Seconds()))
	}
	return out
}

// running starts a collector and stops it after so long.
func running(t *testing.T, f *fakeSource, o Options, d time.Duration, meanwhile func(c *Collector)) *Collector {
	f.t = t
	c := New(f, o)
	ctx, cancel := context.WithCancel(t.Context())
	defer time.AfterFunc(d, cancel).Stop()
	done := make(chan struct{})
	go func() {
		c.Run(ctx)
		close(done)
	}()
	if meanwhile != nil {
		meanwhile(c)
	}
	<-done
	return c
}

func constant(d time.Duration) func(int) time.Duration {
	return func(int) time.Duration { return d }
}

func TestPollsKeepTheirInterval(t *testing.T) {
	for _, c := range []struct {
		why   string
		takes func(int) time.Duration
		want  []string
	}{
		{"short polls: from start to start", constant(200 * time.Millisecond), []string{"0", "1", "2", "3", "4"}},
		{"a poll as long as the interval", constant(time.Second), []string{"0", "1", "2", "3", "4"}},
		{"a longer one is followed at once, and never overlaps", constant(1500 * time.Millisecond), []string{"0", "1.5", "3", "4.5"}},
		{"after a slow one the pace is as before", func(n int) time.Duration {
			if n == 1 {
				return 1700 * time.Millisecond
			}
			return 0
		}, []string{"0", "1", "2.7", "3.7", "4.7"}},
		{"one that hangs ends at its deadline", constant(time.Hour), []string{"0", "2", "4"}},
	} {
		t.Run(c.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fakeSource{takes: c.takes}
				running(t, f, Options{Interval: time.Second, Timeout: 2 * time.Second}, 4900*time.Millisecond, nil)
				wantLines(t, f.starts(), c.want...)
				for _, d := range f.deadlines {
					if d != 2*time.Second {
						t.Errorf("a poll was given %v, want the timeout", d)
					}
				}
			})
		})
	}
}

func TestUpdatesOfALoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeSource{takes: constant(100 * time.Millisecond)}
		judged := 0
		var got []*Update
		collector := running(t, f, Options{Interval: time.Second, Timeout: time.Second, Rules: ruleFunc(func(u *Update) []Finding {
			judged++
			return []Finding{{Code: "stalled", Group: "g"}}
		})}, 3500*time.Millisecond, func(c *Collector) {
			s := c.Hub().Stream(10)
			for u := range s.C() {
				got = append(got, u)
			}
		})
		if len(got) != 4 || judged != 4 {
			t.Fatalf("%d updates, %d judged, want 4", len(got), judged)
		}
		for i, u := range got {
			if u.Seq != uint64(i+1) || u.Boot != got[0].Boot || len(u.Boot) < 8 || u.Interval != time.Second || len(u.Findings) != 1 {
				t.Errorf("update %d: seq %d boot %q interval %v findings %d", i, u.Seq, u.Boot, u.Interval, len(u.Findings))
			}
			if want := f.began[i].Add(time.Second); !u.NextPoll.Equal(want) {
				t.Errorf("update %d: next poll at %v, want %v", i, u.NextPoll, want)
			}
			if i > 0 && f.asks[i].Prev != got[i-1].Snapshot {
				t.Errorf("poll %d was not given the snapshot before it", i)
			}
		}
		if _, ok := collector.Hub().Next(t.Context(), collector.Hub().Latest()); ok {
			t.Error("the hub of an ended loop is open")
		}
	})
}

type ruleFunc func(u *Update) []Finding

func (f ruleFunc) Judge(u *Update) []Finding { return f(u) }

func TestWishes(t *testing.T) {
	for _, c := range []struct {
		why       string
		meanwhile func(c *Collector)
		want      []string
	}{
		{"refresh: at once, and the pace goes on from there", func(c *Collector) {
			time.Sleep(2500 * time.Millisecond)
			c.Refresh()
		}, []string{"0", "2.5", "12.5"}},
		{"refresh during a poll: another one after it", func(c *Collector) {
			time.Sleep(50 * time.Millisecond)
			c.Refresh()
			c.Refresh()
		}, []string{"0", "0.1", "10.1"}},
		{"a shorter interval holds for the pause under way", func(c *Collector) {
			time.Sleep(3 * time.Second)
			c.SetInterval(4 * time.Second)
		}, []string{"0", "4", "8", "12"}},
		{"a shorter one that has passed already: at once", func(c *Collector) {
			time.Sleep(7 * time.Second)
			c.SetInterval(5 * time.Second)
		}, []string{"0", "7", "12"}},
		{"a longer one too", func(c *Collector) {
			time.Sleep(7 * time.Second)
			c.SetInterval(12 * time.Second)
		}, []string{"0", "12"}},
		{"focus alone makes no poll", func(c *Collector) {
			time.Sleep(time.Second)
			c.Focus("g")
		}, []string{"0", "10"}},
	} {
		t.Run(c.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fakeSource{takes: constant(100 * time.Millisecond)}
				running(t, f, Options{Interval: 10 * time.Second, Timeout: 5 * time.Second}, 14*time.Second, c.meanwhile)
				wantLines(t, f.starts(), c.want...)
			})
		})
	}
	t.Run("no interval below the least", func(t *testing.T) {
		c := New(&fakeSource{t: t}, Options{Interval: time.Second})
		c.SetInterval(time.Nanosecond)
		if got := c.Interval(); got != MinInterval {
			t.Errorf("got %v", got)
		}
	})
}

func TestRefreshDoesNotWaitForATimeSearch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeSource{fill: behind, offsetsAt: func(ctx context.Context, qs []TimeQuery) []TimeAnswer {
			<-ctx.Done() // a broker hangs
			out := make([]TimeAnswer, len(qs))
			for i := range out {
				out[i].Reason = ReasonTimeout
			}
			return out
		}}
		running(t, f, Options{Interval: 10 * time.Second, Timeout: 5 * time.Second}, 15*time.Second, func(c *Collector) {
			time.Sleep(3 * time.Second)
			c.Refresh()
		})
		wantLines(t, f.starts(), "0", "3", "13")
	})
}

// behind fills in one row with lag.
func behind(b *Builder, _ Ask, now time.Time) {
	b.SetCluster(Cluster{ID: "id"})
	b.AddTopic(TopicMeta{Name: "a", ID: [16]byte{1}, Leaders: []int32{1}})
	b.AddGroup(GroupFacts{Name: "g", Type: TypeClassic, Described: true, At: now, MembersKnown: true, State: StateEmpty})
	b.AddCommits("g", now, []TopicCommits{{Topic: "a", Partitions: []int32{0}, Offsets: []int64{3}, Epochs: []int32{0}}})
	b.Layout()
	for _, n := range b.Needs() {
		b.SetStart(n.Topic, 0, 0, now)
		b.SetEnd(n.Topic, 0, 10, 0, now)
	}
}

func TestALoopThatCannotReadGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeSource{fill: func(b *Builder, ask Ask, now time.Time) {
			b.Problem(Problem{Stage: StageConnect, Broker: -1, Partition: -1, Reason: ReasonBrokerDown, Error: "refused"})
		}}
		c := running(t, f, Options{Interval: time.Second, Timeout: time.Second}, 9500*time.Millisecond, nil)
		if u := c.Hub().Latest(); u.Seq != 10 || u.Snapshot.Complete {
			t.Errorf("update %d, complete %v", u.Seq, u.Snapshot.Complete)
		}
	})
}

func TestALoopThatIsToldToStopPublishesNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeSource{takes: constant(time.Second)}
		c := running(t, f, Options{Interval: time.Second, Timeout: 5 * time.Second}, 1500*time.Millisecond, nil)
		if got := c.Hub().Latest().Seq; got != 1 {
			t.Errorf("%d updates, want the one that was finished", got)
		}
		if time.Since(f.began[0]) > 1500*time.Millisecond {
			t.Errorf("stopped after %v", time.Since(f.began[0]))
		}
	})
}

func TestAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeSource{takes: func(n int) time.Duration { return time.Duration(n) * 4 * time.Second }}
		running(t, f, Options{Interval: time.Second, Timeout: time.Hour}, 6*time.Second, func(c *Collector) {
			if !c.Alive(time.Now(), time.Second) {
				t.Error("dead before it began")
			}
			time.Sleep(500 * time.Millisecond)
			if !c.Alive(time.Now(), time.Second) {
				t.Error("dead between two polls")
			}
			time.Sleep(2 * time.Second) // a poll is under way since 1.5 s
			if c.Alive(time.Now(), time.Second) || !c.Alive(time.Now(), 2*time.Second) {
				t.Error("a poll under way is measured from its begin")
			}
		})
	})
}

func TestOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeSource{t: t, takes: constant(time.Second), fill: behind}
		var left time.Duration
		f.offsetsAt = func(ctx context.Context, qs []TimeQuery) []TimeAnswer {
			d, _ := ctx.Deadline()
			left = time.Until(d)
			out := make([]TimeAnswer, len(qs))
			for i, q := range qs {
				out[i] = TimeAnswer{Offset: 9, Timestamp: time.Now().Add(-time.Minute).UnixMilli()}
				if q.Timestamp != TimestampNewest {
					out[i] = TimeAnswer{Offset: 3, Timestamp: time.Now().Add(-time.Hour).UnixMilli()}
				}
			}
			return out
		}
		c := New(f, Options{Interval: time.Second, Timeout: 5 * time.Second, EventLog: 3})
		u := c.Once(t.Context())
		if a := mustGroup(t, u.Snapshot, "g").Lag.Age; a.Method != MethodExact || !same(a.Seconds, 3600) {
			t.Errorf("age %+v, want an hour out of one look", a)
		}
		if left != 4*time.Second {
			t.Errorf("the search was left %v, want what the poll left of its timeout", left)
		}
		if c.Hub().Latest() != u {
			t.Error("not published")
		}
	})
}

func TestCadenceOfALargeCluster(t *testing.T) {
	for _, c := range []struct {
		why                    string
		interval, takes, lasts time.Duration
	}{
		{"each second", time.Second, 100 * time.Millisecond, 2 * time.Minute},
		{"each 100 ms", 100 * time.Millisecond, 10 * time.Millisecond, 40 * time.Second},
		{"each 10 s", 10 * time.Second, time.Second, 3 * time.Minute},
		{"slower than the slow loop", 45 * time.Second, time.Second, 5 * time.Minute},
		{"polls that take ten intervals", 100 * time.Millisecond, time.Second, 2 * time.Minute},
	} {
		t.Run(c.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const groups = 501
				described, listed, started := map[string]time.Time{}, time.Time{}, time.Time{}
				worst, worstList, worstStart := time.Duration(0), time.Duration(0), time.Duration(0)
				var work []int
				focused := 0
				f := &fakeSource{takes: constant(c.takes)}
				f.fill = func(b *Builder, ask Ask, now time.Time) {
					n := 0
					b.AddTopic(TopicMeta{Name: "a", ID: [16]byte{1}, Leaders: []int32{1}})
					if ask.Lists {
						if !listed.IsZero() {
							worstList = max(worstList, now.Sub(listed))
						}
						listed = now
					}
					if ask.Starts == nil || ask.Starts("a") {
						if !started.IsZero() {
							worstStart = max(worstStart, now.Sub(started))
						}
						started = now
					}
					for i := range groups {
						name := fmt.Sprintf("group-%03d", i)
						facts := GroupFacts{Name: name, Type: TypeClassic, State: StateEmpty, ProtocolType: "consumer", MembersKnown: true}
						if ask.Describe == nil || ask.Describe(name) {
							n++
							if at, ok := described[name]; ok {
								worst = max(worst, now.Sub(at))
							}
							described[name] = now
							facts.Described, facts.At = true, now
							if name == "group-007" {
								focused++
							}
						}
						b.AddGroup(facts)
						b.AddCommits(name, now, []TopicCommits{{Topic: "a", Partitions: []int32{0}, Offsets: []int64{10}, Epochs: []int32{0}}})
					}
					b.Layout()
					for _, need := range b.Needs() {
						b.SetEnd(need.Topic, 0, 10, 0, now)
						if started.Equal(now) {
							b.SetStart(need.Topic, 0, 0, now)
						}
					}
					work = append(work, n)
				}
				polls := 0
				running(t, f, Options{Build: BuildOptions{StaleAfter: 5 * time.Minute}, Interval: c.interval, Timeout: 5 * time.Second}, c.lasts, func(c *Collector) { c.Focus("group-007") })
				polls = len(f.began)
				limit := max(30*time.Second, c.interval) + c.takes
				if worst > limit {
					t.Errorf("a group was not described for %v", worst)
				}
				if worstStart > limit {
					t.Errorf("a log start was not read for %v", worstStart)
				}
				if most := max(5*time.Second, c.interval) + max(c.takes, c.interval); worstList > most {
					t.Errorf("groups were not listed for %v", worstList)
				}
				if focused < polls-1 {
					t.Errorf("the group on screen was described %d times in %d polls", focused, polls)
				}
				step := max(c.interval, c.takes)
				if step <= 5*time.Second {
					even := float64(groups) * step.Seconds() / turnLoop.Seconds()
					late := work[len(work)/2:]
					if most := slices.Max(late); float64(most) > 2.5*even+8 {
						t.Errorf("a poll described %d groups where an even share is %.0f", most, even)
					}
				}
			})
		})
	}
}

func TestEverythingIsAskedForInASmallCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeSource{fill: behind}
		running(t, f, Options{Interval: time.Second, Timeout: time.Second}, 3*time.Second, nil)
		for i, a := range f.asks {
			if !a.Lists || a.Describe != nil || a.Starts != nil {
				t.Errorf("poll %d asks for less than everything", i)
			}
		}
	})
}

func TestALargeClusterLooksAtOnceWhereSomethingHappens(t *testing.T) {
	c := New(nil, Options{Interval: time.Second})
	s := &Snapshot{}
	for i := range 600 {
		s.Groups = append(s.Groups, &Group{Name: fmt.Sprintf("group-%03d", i), State: StateStable, DescribedAt: epoch})
	}
	s.Groups[1].State = StatePreparingRebalance
	s.Groups[2].Reason = ReasonLoading
	s.Groups[3].DescribedAt = epoch.Add(-time.Minute)
	s.Groups[4].stalledAt = epoch.Add(time.Millisecond)
	s.Topics = []*Topic{{Name: "read", LogEnd: []int64{1}, StartAt: []int64{epoch.UnixNano()}}, {Name: "unread", StartReason: []Reason{ReasonTimeout}}}
	c.hub.Publish(&Update{Snapshot: s})
	for seq := range uint64(200) {
		a := c.ask(epoch.Add(time.Duration(seq) * time.Millisecond))
		for _, name := range []string{"group-001", "group-002", "group-003", "group-004", "new"} {
			if !a.Describe(name) {
				t.Fatalf("poll %d leaves %s out", seq, name)
			}
		}
		if !a.Starts("unread") || !a.Starts("new") {
			t.Fatalf("poll %d leaves a log start out that is not known", seq)
		}
	}
}

// With many brokers it is the number of requests that counts: a little of
// everything at each poll would be a request to every broker.
func TestCadenceOfManyBrokers(t *testing.T) {
	const brokers, groups = 50, 2000
	c := New(nil, Options{Interval: 5 * time.Second})
	s := &Snapshot{Cluster: Cluster{Brokers: make([]Broker, brokers)}}
	for i := range groups {
		s.Groups = append(s.Groups, &Group{Name: fmt.Sprintf("group-%04d", i), State: StateStable, Coordinator: int32(i % brokers), DescribedAt: epoch})
	}
	for i := range 3 {
		s.Topics = append(s.Topics, &Topic{Name: fmt.Sprint("topic-", i), LogEnd: []int64{1}, StartAt: []int64{epoch.UnixNano()}})
	}
	c.hub.Publish(&Update{Snapshot: s})
	c.ask(epoch)
	requests, listed, started, polls := 0, epoch, epoch, 24
	for i := range polls {
		now := epoch.Add(time.Duration(i+1) * 5 * time.Second)
		a := c.ask(now)
		if a.Lists {
			requests += brokers
			listed = now
		}
		if n := count3(a.Starts); n == 3 {
			requests += brokers
			started = now
			for _, topic := range s.Topics {
				topic.StartAt[0] = now.UnixNano()
			}
		} else if n != 0 {
			t.Errorf("poll %d reads some log starts: each broker is asked for as little", i)
		}
		asked := map[int32]bool{}
		for _, g := range s.Groups {
			if a.Describe(g.Name) {
				asked[g.Coordinator] = true
				g.DescribedAt = now
			}
			if age := now.Sub(g.DescribedAt); age > slowLoop {
				t.Fatalf("poll %d: %s was described %v ago", i, g.Name, age)
			}
		}
		requests += len(asked)
		if now.Sub(listed) > slowLoop || now.Sub(started) > slowLoop {
			t.Errorf("poll %d: listed %v ago, log starts read %v ago", i, now.Sub(listed), now.Sub(started))
		}
	}
	if per := float64(requests) / float64(polls); per > 35 {
		t.Errorf("%.1f requests a poll beside those for commits and log ends", per)
	}
}

func count3(starts func(string) bool) (n int) {
	for i := range 3 {
		if starts(fmt.Sprint("topic-", i)) {
			n++
		}
	}
	return n
}

// A group stalls from when records arrive and its commits stand still.
func TestAGroupStalls(t *testing.T) {
	var m groupMemory
	for i, c := range []struct {
		lag                int64
		produced, consumed float64
		stalls             bool
	}{
		{5, 1, 1, false},
		{5, 1, 0, true},
		{6, 1, 0, true},
		{6, 0, 0, false},
		{6, 1, 0, true},
		{0, 1, 0, false},
		{Unknown, 1, 0, false},
		{5, math.NaN(), 0, false},
		{5, 1, math.NaN(), false},
	} {
		g := &Group{Lag: Totals{Records: c.lag}, Produced: c.produced, Consumed: c.consumed}
		since := m.stalled
		m.stall(g, epoch.Add(time.Duration(i)*time.Second))
		if got := !g.stalledAt.IsZero(); got != c.stalls {
			t.Errorf("%d: stalls %v, want %v", i, got, c.stalls)
		}
		if !since.IsZero() && c.stalls && !g.stalledAt.Equal(since) {
			t.Errorf("%d: stalled since %v, want %v", i, g.stalledAt, since)
		}
	}
}
