package kafkatest

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// verdict records how a test would have ended, and ends the goroutine that it was to end.
type verdict struct {
	testing.TB
	skipped, failed string
}

func (v *verdict) Helper() {}

func (v *verdict) Skipf(format string, args ...any) {
	v.skipped = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (v *verdict) Fatalf(format string, args ...any) {
	v.failed = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// judge runs a test and returns its verdict.
func judge(t *testing.T, test func(t testing.TB)) *verdict {
	v := &verdict{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		test(v)
	}()
	<-done
	return v
}

func TestMissingJavaSkipsOrFailsInPlainWords(t *testing.T) {
	for name, tc := range map[string]struct{ path, demand, skipped, failed string }{
		"skips":             {"", "", "real Kafka tests cannot run: java not found", ""},
		"fails if required": {"", "required", "", "real Kafka tests cannot run: java not found (and KLAGTOP_TEST_KAFKA=required)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PATH", tc.path)
			t.Setenv("KLAGTOP_TEST_KAFKA", tc.demand)
			t.Setenv("KLAGTOP_TEST_BROKERS", "")
			v := judge(t, func(t testing.TB) { Start(t, Options{}) })
			if v.skipped != tc.skipped || v.failed != tc.failed {
				t.Errorf("skipped %q, failed %q; want %q, %q", v.skipped, v.failed, tc.skipped, tc.failed)
			}
		})
	}
}

func TestABrokenStartFails(t *testing.T) {
	v := judge(t, func(t testing.TB) { settle(t, errors.New("node 1 died")) })
	if v.skipped != "" || v.failed != "real Kafka: node 1 died" {
		t.Errorf("skipped %q, failed %q", v.skipped, v.failed)
	}
}

func TestGivenBrokersAreNotOurs(t *testing.T) {
	own := kafka.Cluster(t)
	t.Setenv("KLAGTOP_TEST_BROKERS", own.Bootstrap())
	for name, tc := range map[string]struct {
		options Options
		use     func(c *Cluster, t testing.TB)
		skipped string
	}{
		"three nodes wanted":     {Options{Nodes: 3}, nil, "needs 3 brokers"},
		"secure listeners":       {Options{Secure: true}, nil, "needs brokers of its own"},
		"properties":             {Options{Properties: map[string]string{"num.io.threads": "3"}}, nil, "needs brokers of its own"},
		"a test that stops them": {Options{}, func(c *Cluster, t testing.TB) { c.Kill(t, 1) }, "are not ours"},
		"nothing special":        {Options{}, func(c *Cluster, t testing.TB) { c.CreateTopic(t, Name("given"), 1) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			v := judge(t, func(t testing.TB) {
				c := Start(t, tc.options)
				if tc.use != nil {
					tc.use(c, t)
				}
			})
			if v.failed != "" || tc.skipped == "" && v.skipped != "" || !strings.Contains(v.skipped, tc.skipped) {
				t.Errorf("skipped %q, failed %q; want skipped %q", v.skipped, v.failed, tc.skipped)
			}
		})
	}
}
