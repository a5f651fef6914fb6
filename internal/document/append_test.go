package document

import (
	"math"
	"testing"
	"time"

	"github.com/klagtop/klagtop/collect"
)

var nan = math.NaN()

// partition is a row as a struct: the plain way that the encoder shortcuts.
func partition(r *collect.Row, members []string) Partition {
	seconds, bound := ageNumbers(r.Age)
	lost, ahead := apart(r)
	p := Partition{
		Topic: Text(r.Topic), Partition: r.Partition,
		LogStart: count(r.LogStart), LogEnd: count(r.LogEnd), LastStable: count(r.LastStable), Committed: count(r.Committed), LeaderEpoch: broker(r.CommitEpoch),
		Lag: count(r.Lag), LagStable: count(r.LagStable), Status: r.Status.String(), Stale: r.Stale, Reason: r.Reason.String(),
		LostRecords: count(lost), AheadRecords: count(ahead), TruncatedRecords: max(0, r.Truncated), OpenTransaction: openTransaction(r.Open),
		Seconds: float(seconds), SecondsMethod: ageMethod(r.Age).String(), SecondsError: float(bound), SecondsReason: Text(string(r.Age.Reason)),
		HeadroomSeconds: float(r.Headroom), Rates: rates(r.Produced, r.Consumed), ProgressAt: moment(r.ProgressAt),
		Leader: broker(r.Leader), AsOf: moment(r.AsOf),
	}
	if r.Owner >= 0 {
		p.MemberID = Text(members[r.Owner])
		if len(r.Owners) > 1 {
			for _, o := range r.Owners {
				p.MemberIDs = append(p.MemberIDs, Text(members[o]))
			}
		}
	}
	return p
}

func checkRow(t *testing.T, r *collect.Row, members []string) {
	t.Helper()
	e := rowEncoder{topic: appendString(nil, r.Topic)}
	for _, m := range members {
		e.members = append(e.members, appendString(nil, m))
	}
	want := marshal(t, partition(r, members))
	for range 2 { // the second time its times come from memory
		if got := string(e.append(nil, r)) + "\n"; got != want {
			t.Fatalf("row %+v\nby hand        %sby encoding/json %s", r, got, want)
		}
	}
}

func TestARowIsWrittenAsEncodingJSONWould(t *testing.T) {
	unread := collect.Row{
		LogStart: -1, LogEnd: -1, LastStable: -1, Committed: -2, CommitEpoch: -1, Lag: -1, LagStable: -1, Reason: collect.ReasonTimeout,
		Age: collect.Age{Seconds: nan, Reason: "timeout"}, Headroom: nan, Produced: nan, Consumed: nan, Owner: -1, Leader: -1,
	}
	shared := unread
	shared.Owner, shared.Owners = 1, []int32{1, 0}
	whole := collect.Row{
		Topic: "t", Partition: math.MaxInt32, LogEnd: math.MaxInt64, Lag: 5, Status: collect.StatusOK, Stale: true,
		Age: collect.Age{Seconds: 1.25, Error: 0.1, Method: collect.MethodInterpolated}, Headroom: 1e22, Produced: 1e-7, Consumed: math.Inf(1),
		ProgressAt: noon, AsOf: noon.In(time.FixedZone("", 3600)), Owner: 0,
		Truncated: 20, Open: &collect.OpenTransaction{
			Start: 5, Age: collect.Age{Seconds: 90, Method: collect.MethodAtLeast},
			TransactionAnswer: collect.TransactionAnswer{TransactionalID: "<a&b>\xff", ProducerID: 4000, Coordinator: -1, State: "Ongoing", Timeout: time.Minute},
		},
	}
	for name, r := range map[string]collect.Row{"unread": unread, "owned by two": shared, "whole": whole} {
		t.Run(name, func(t *testing.T) { checkRow(t, &r, []string{"a\xff", `b"`}) })
	}
}

func FuzzARowIsWrittenAsEncodingJSONWould(f *testing.F) {
	f.Add("topic", "member", int64(1), int64(-1), 1.5, 1e-9, uint8(1), int64(0))
	f.Add("\x00\x1f\u2028<&>\"\\\xff", "\x7f", int64(math.MaxInt64), int64(-2), 1e21, math.Copysign(0, -1), uint8(4), int64(1e18))
	f.Add("", "", int64(0), int64(7), math.Inf(-1), 123456789.123456789, uint8(9), int64(-1))
	f.Fuzz(func(t *testing.T, topic, member string, a, b int64, x, y float64, kind uint8, at int64) {
		r := collect.Row{
			Topic: topic, Partition: int32(a), LogStart: a, LogEnd: b, LastStable: a, Committed: b, CommitEpoch: int32(b), Lag: a, LagStable: b,
			Status: collect.Status(kind % 5), Stale: kind%2 == 0, Reason: collect.Reason(kind % 10), Lost: a, Ahead: b,
			Age:      collect.Age{Seconds: x, Error: y, Method: collect.Method(kind % 4), Reason: collect.SecondsReason(member)},
			Headroom: y, Produced: x, Consumed: y, Owner: int32(kind%3) - 1, Leader: int32(a), Truncated: a,
		}
		if kind%3 == 1 {
			r.Open = &collect.OpenTransaction{Start: b, Age: r.Age, TransactionAnswer: collect.TransactionAnswer{TransactionalID: topic, State: member, ProducerID: a, Hanging: kind%2 == 0}}
		}
		if at != 0 {
			r.AsOf, r.ProgressAt = time.Unix(0, at), time.Unix(0, a)
		}
		if kind%2 == 1 && r.Owner >= 0 {
			r.Owners = []int32{r.Owner, 0}
		}
		checkRow(t, &r, []string{member, topic})
	})
}
