package tui

import (
	"math"
	"testing"
	"time"

	"github.com/klagtop/klagtop/collect"
)

func TestNumbers(t *testing.T) {
	l := newLook([]string{"LANG=C.UTF-8"}, groundDark, 0)
	whole := *l
	whole.whole = true
	for _, x := range []struct{ why, got, want string }{
		{"a number that was not read", l.count(collect.Unknown), "?"},
		{"a true zero", l.count(0), "0"},
		{"four digits stay", l.count(9_999), "9999"},
		{"five are shortened", l.count(12_345), "12.3k"},
		{"rounding carries into the next digit", l.count(99_960), "100k"},
		{"rounding carries into the next unit", l.count(999_950), "1.00M"},
		{"the largest there is", l.count(math.MaxInt64), "9.22E"},
		{"whole on demand", whole.count(1_234_567), "1,234,567"},
		{"no commit", offset(collect.NoCommit), "-"},
		{"offsets are whole", offset(12_345_678), "12345678"},
		{"some rows unknown", l.total(collect.Totals{Records: 5, Unknown: 1, Stale: 1}), "≥ 5"},
		{"some rows kept", l.total(collect.Totals{Records: 5, Stale: 1}), "~ 5"},
		{"all rows unknown", l.total(collect.Totals{Records: collect.Unknown, Unknown: 2}), "?"},
		{"a rate that is not known", l.rate(math.NaN()), "?"},
		{"no rate", l.rate(0), "0"},
		{"a trickle is not nothing", l.rate(0.01), "<0.1"},
		{"a slow rate", l.rate(3.14), "3.1"},
		{"an age not known", l.age(collect.Age{Seconds: math.NaN()}), "?"},
		{"an age with a wide bound", l.age(collect.Age{Seconds: 60, Error: 30, Method: collect.MethodInterpolated}), "~1m00s"},
		{"an age with a narrow bound", l.age(collect.Age{Seconds: 60, Error: 3, Method: collect.MethodInterpolated}), "1m00s"},
		{"an age from below", l.age(collect.Age{Seconds: 7200, Method: collect.MethodAtLeast}), "≥2h00m"},
		{"an age from below that says nothing", l.age(collect.Age{Method: collect.MethodAtLeast}), "≥0s"},
		{"seconds round up to a minute", seconds(59.7), "1m00s"},
		{"days", seconds(90_000), "1d01h"},
		{"many days", seconds(200 * 86_400), "200d"},
		{"a clock that was set back", ago(epoch, epoch.Add(time.Hour)), "0s"},
		{"never", ago(epoch, time.Time{}), "?"},
		{"a short interval", interval(250 * time.Millisecond), "250ms"},
		{"an uneven interval", interval(1500 * time.Millisecond), "1.5s"},
	} {
		if x.got != x.want {
			t.Errorf("%s: %q, want %q", x.why, x.got, x.want)
		}
	}
}

func TestNamesAreCutInTheMiddle(t *testing.T) {
	for _, x := range []struct {
		why, name string
		w         int
		want      string
	}{
		{"fits", "ticker", 6, "ticker"},
		{"both ends stay", "billing.invoices.eu-west-1", 11, "billi…est-1"},
		{"a wide character is not halved", "市場市場市場", 6, "市…場"},
		{"no room for both ends", "ticker", 3, "ti…"},
		{"no room at all", "ticker", 0, ""},
	} {
		got := cutMiddle(x.name, x.w, "…")
		if got != x.want || width(got) > x.w {
			t.Errorf("%s: %q (%d wide), want %q", x.why, got, width(got), x.want)
		}
	}
}

func TestHistoryIsBoundedAndForgetsGroups(t *testing.T) {
	h := newHistory()
	for i := range uint64(100) {
		h.add(update(i+1, snapshot(nil, epoch, street()[:1]...)))
	}
	r := h.rings["ticker"]
	if got := len(r.window(r.n, 1000)); got != historySamples {
		t.Errorf("%d samples are kept, want %d", got, historySamples)
	}
	if got := len(r.window(r.n-historySamples, 5)); got != 0 {
		t.Errorf("%d samples are left that were overwritten", got)
	}
	h.add(update(101, snapshot(nil, epoch, street()[1:2]...)))
	if h.rings["ticker"] != nil || h.rings["alerts"] == nil {
		t.Error("a group that is gone is remembered, or a new one is not")
	}
}

func TestTrends(t *testing.T) {
	for _, x := range []struct {
		why  string
		lags []int64
		want trend
	}{
		{"one sample says nothing", []int64{5}, trendNone},
		{"the same", []int64{5, 5}, trendFlat},
		{"within a hundredth", []int64{10_000, 10_050}, trendSteady},
		{"more", []int64{100, 90, 200}, trendUp},
		{"less", []int64{100, 90}, trendDown},
		{"unknown now", []int64{100, collect.Unknown}, trendNone},
		{"unknown before", []int64{collect.Unknown, 100, 200}, trendUp},
		{"only the last polls count", []int64{900, 1, 1, 1, 5}, trendUp},
	} {
		r := &ring{}
		for _, v := range x.lags {
			r.lag[r.n%historySamples] = v
			r.n++
		}
		if got := r.trend(r.n); got != x.want {
			t.Errorf("%s: trend %d, want %d", x.why, got, x.want)
		}
	}
}
