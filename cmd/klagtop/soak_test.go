package main

import (
	"context"
	"io"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/klagtop/klagtop/collect"
	"github.com/klagtop/klagtop/collect/kafka"
	"github.com/klagtop/klagtop/exporter"
	"github.com/klagtop/klagtop/internal/demo"
)

// The demo's story at twenty times its pace, polled and scraped as fast as can
// be: pods come, crash and go, and nothing of them is left behind.
func TestSoak(t *testing.T) {
	if os.Getenv("KLAGTOP_TEST_SOAK") == "" {
		t.Skip("no soak: KLAGTOP_TEST_SOAK is not set to a duration such as 10m")
	}
	length, err := time.ParseDuration(os.Getenv("KLAGTOP_TEST_SOAK"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := demo.Start(t.Context(), demo.Options{Pace: 20})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	source, err := kafka.New(kafka.Config{Brokers: strings.Split(d.Bootstrap(), ",")}, kafka.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	c := collect.New(source, collect.Options{
		Build: collect.BuildOptions{ClusterName: "demo", StaleAfter: time.Minute}, Interval: collect.MinInterval, Timeout: 10 * time.Second,
	})
	e, err := exporter.New(exporter.Options{Feeds: []exporter.Feed{{
		Name: "demo", Hub: c.Hub(), Alive: c.Alive, Interval: c.Interval, Timeout: 10 * time.Second,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	stream, done := c.Hub().Stream(64), make(chan struct{})
	go func() { defer close(done); c.Run(ctx) }()
	began := time.Now()
	var goroutines int
	var heap uint64
	for u := range stream.C() {
		for _, g := range u.Snapshot.Groups {
			if g.Lag.Records < collect.Unknown || g.Lag.Complete && g.Lag.Unknown+g.Lag.Stale > 0 {
				t.Errorf("poll %d: %s: %+v", u.Seq, g.Name, g.Lag)
			}
		}
		w := httptest.NewRecorder()
		e.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		if n, _ := io.Copy(io.Discard, w.Result().Body); w.Code != 200 || n == 0 {
			t.Errorf("poll %d: /metrics answers %d with %d bytes", u.Seq, w.Code, n)
		}
		if heap == 0 && time.Since(began) > length/4 { // all of the story's pods have been there
			goroutines, heap = runtime.NumGoroutine(), liveHeap()
		}
	}
	<-done
	if now := liveHeap(); now > 2*heap+64<<20 {
		t.Errorf("the heap grew from %d to %d MiB", heap>>20, now>>20)
	}
	if now := runtime.NumGoroutine(); now > goroutines+50 {
		t.Errorf("goroutines grew from %d to %d", goroutines, now)
	}
	t.Logf("%d polls, %d left out, heap %d MiB at a quarter and %d at the end", c.Hub().Latest().Seq, stream.Dropped(), heap>>20, liveHeap()>>20)
}

func liveHeap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
