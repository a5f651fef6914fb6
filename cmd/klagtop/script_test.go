package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/internal/document"
)

func TestMain(m *testing.M) {
	testscript.Main(withKafka{m}, map[string]func(){"klagtop": main})
}

// TestScripts runs the real program against embedded brokers, as its users do.
func TestScripts(t *testing.T) {
	env := []string{
		"BROKERS=" + marketCluster(t), "PARTIAL=" + leaderlessCluster(t), "EMPTY=" + emptyCluster(t), "LOCKED=" + lockedCluster(t),
		"SILENT=" + silentAddress(t), "NOBODY=" + freeAddress(t), "TERM=xterm-256color", "LANG=C.UTF-8",
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Vars = append(e.Vars, env...)
			e.Vars = append(e.Vars, "LISTEN="+freeAddress(t)) // one per script
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"documents": documents, "events": events, "code": code, "get": get},
	})
}

// documents FILE N: the file has N lines at least, each of them a document
// that is whole, and nothing else.
func documents(ts *testscript.TestScript, neg bool, args []string) {
	lines := strings.Split(strings.TrimSuffix(ts.ReadFile(args[0]), "\n"), "\n")
	for _, line := range lines {
		d, err := document.Decode(strings.NewReader(line))
		if err != nil {
			ts.Fatalf("%v: %q", err, line)
		}
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		ts.Check(enc.Encode(d))
		if b.String() != line+"\n" {
			ts.Fatalf("the document has other keys than its structs:\n%s\n%s", line, b.String())
		}
	}
	if n, _ := strconv.Atoi(args[1]); len(lines) < n {
		ts.Fatalf("%d documents, want %d", len(lines), n)
	}
}

// events FILE: each line of the file is an event.
func events(ts *testscript.TestScript, neg bool, args []string) {
	for _, line := range strings.Split(strings.TrimSpace(ts.ReadFile(args[0])), "\n") {
		var e document.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Schema != document.Schema || e.Kind == "" {
			ts.Fatalf("not an event (%v): %q", err, line)
		}
	}
}

// code N PROGRAM ARGS...: the program ends with exit code N.
func code(ts *testscript.TestScript, neg bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if x, ok := err.(interface{ ExitCode() int }); ok {
		got = x.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if args[0] != strconv.Itoa(got) {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// get URL TEXT: the page comes to hold the text.
func get(ts *testscript.TestScript, neg bool, args []string) {
	var body []byte
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		resp, err := http.Get(args[0])
		if err != nil {
			continue
		}
		body, _ = io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if bytes.Contains(body, []byte(args[1])) {
			return
		}
	}
	ts.Fatalf("%s has no %q: %.500s", args[0], args[1], body)
}

// marketCluster has groups that lag by 120, 30, and 0 records, and a name that
// attacks terminals.
func marketCluster(t *testing.T) string {
	c := embedded(t, kfake.NumBrokers(2), kfake.SeedTopics(6, "market-updates"), kfake.SeedTopics(1, "notifications"))
	cl := client(t, c)
	for p := range int32(6) {
		produce(t, cl, "market-updates", p, 20)
	}
	produce(t, cl, "notifications", 0, 50)
	commitAt(t, cl, "ticker", "market-updates", map[int32]int64{0: 0, 1: 0, 2: 0, 3: 0, 4: 0, 5: 0})
	commitAt(t, cl, "alerts", "notifications", map[int32]int64{0: 20})
	commitAt(t, cl, "idle", "notifications", map[int32]int64{0: 50})
	commitAt(t, cl, "evil\x1b[2J\"", "notifications", map[int32]int64{0: 49})
	member, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.ConsumerGroup("audit"), kgo.ConsumeTopics("notifications"), kgo.ClientID("auditor"), kgo.DisableAutoCommit())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(member.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if member.PollFetches(ctx).NumRecords() == 0 {
		t.Fatal("the member reads nothing")
	}
	if err := member.CommitUncommittedOffsets(ctx); err != nil {
		t.Fatal(err)
	}
	return bootstrap(c)
}

// leaderlessCluster has a group with a partition that no broker leads.
func leaderlessCluster(t *testing.T) string {
	c := embedded(t, kfake.NumBrokers(1), kfake.SeedTopics(2, "market-updates"))
	cl := client(t, c)
	produce(t, cl, "market-updates", 0, 10)
	produce(t, cl, "market-updates", 1, 10)
	commitAt(t, cl, "ticker", "market-updates", map[int32]int64{0: 4, 1: 4})
	c.ControlKey(int16(kmsg.ListOffsets), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		req := kreq.(*kmsg.ListOffsetsRequest)
		resp := req.ResponseKind().(*kmsg.ListOffsetsResponse)
		for _, rt := range req.Topics {
			st := kmsg.NewListOffsetsResponseTopic()
			st.Topic = rt.Topic
			for _, rp := range rt.Partitions {
				sp := kmsg.NewListOffsetsResponseTopicPartition()
				sp.Partition, sp.Offset, sp.LeaderEpoch = rp.Partition, 10, 0
				if rp.Timestamp == -2 {
					sp.Offset = 0
				}
				if rp.Partition == 1 {
					sp.ErrorCode = kerr.LeaderNotAvailable.Code
				}
				st.Partitions = append(st.Partitions, sp)
			}
			resp.Topics = append(resp.Topics, st)
		}
		return resp, nil, true
	})
	return bootstrap(c)
}

func emptyCluster(t *testing.T) string { return bootstrap(embedded(t, kfake.NumBrokers(1))) }

// lockedCluster wants a login: viewer with the password secret.
func lockedCluster(t *testing.T) string {
	return bootstrap(embedded(t, kfake.NumBrokers(1), kfake.EnableSASL(), kfake.Superuser("PLAIN", "viewer", "secret")))
}

// silentAddress takes connections and never answers.
func silentAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = bufio.NewReader(c).WriteTo(io.Discard) }()
		}
	}()
	return l.Addr().String()
}

// freeAddress is one that nobody listens on just now.
func freeAddress(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func embedded(t testing.TB, opts ...kfake.Opt) *kfake.Cluster {
	c, err := kfake.NewCluster(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func bootstrap(c *kfake.Cluster) string { return strings.Join(c.ListenAddrs(), ",") }

func client(t testing.TB, c *kfake.Cluster) *kgo.Client {
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

func produce(t testing.TB, cl *kgo.Client, topic string, partition int32, n int) {
	var rs []*kgo.Record
	began := time.Now().Add(-5*time.Hour - 30*time.Minute) // hours, whatever the machine is busy with
	for i := range n {
		rs = append(rs, &kgo.Record{Topic: topic, Partition: partition, Value: []byte("tick"), Timestamp: began.Add(time.Duration(i) * time.Millisecond)})
	}
	if err := cl.ProduceSync(context.Background(), rs...).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

func commitAt(t testing.TB, cl *kgo.Client, group, topic string, at map[int32]int64) {
	var os kadm.Offsets
	for p, o := range at {
		os.AddOffset(topic, p, o, -1)
	}
	if err := kadm.NewClient(cl).CommitAllOffsets(context.Background(), group, os); err != nil {
		t.Fatal(fmt.Errorf("commit %q: %w", group, err))
	}
}
