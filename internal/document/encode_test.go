package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/klagtop/klagtop/collect"
)

func encode(t testing.TB, u *collect.Update, o Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Encode(&b, u, nil, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func decode(t testing.TB, b []byte) *Document {
	t.Helper()
	d, err := Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatalf("%v in %.300s", err, b)
	}
	return d
}

// marshal is what encoding/json makes of v, on one line.
func marshal(t testing.TB, v any) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func group(t testing.TB, d *Document, name string) *Group {
	t.Helper()
	for i := range d.Groups {
		if d.Groups[i].Group == name {
			return &d.Groups[i]
		}
	}
	t.Fatalf("no group %q", name)
	return nil
}

// A document that is read and written again is the same to the byte: every key
// of the structs is there, once, in their order, and nothing else is.
func TestADocumentIsWhatItsStructsSay(t *testing.T) {
	for name, o := range map[string]Options{"all": {}, "group level": {GroupLevel: true}} {
		t.Run(name, func(t *testing.T) {
			got := encode(t, everything(t), o)
			if !utf8.Valid(got) || bytes.Count(got, []byte("\n")) != 1 || got[len(got)-1] != '\n' {
				t.Fatalf("not one line of UTF-8: %q", got)
			}
			if want := marshal(t, decode(t, got)); string(got) != want {
				t.Errorf("written:\n%s\nread and written again:\n%s", got, want)
			}
		})
	}
}

func TestNamesStayTrueAndApart(t *testing.T) {
	d := decode(t, encode(t, everything(t), Options{}))
	names := map[string]bool{}
	for _, g := range d.Groups {
		names[g.Group] = true
	}
	for _, want := range []string{"", `alerts "eu"`, `alerts\eu`, "alerts\neu", `alerts-\xff`, `alerts-\xfe`, "市場-alerts", "alerts\x1b[2Jeu", "line\u2028\u2029end", "nul\x00del\x7f", "ticker", "hidden"} {
		if !names[want] {
			t.Errorf("group %q is missing", want)
		}
	}
	if len(d.Groups) != 12 {
		t.Errorf("%d groups, want 12", len(d.Groups))
	}
}

func TestTextDoublesBackslashesWhereEscapesStandOnly(t *testing.T) {
	for in, want := range map[string]string{
		`a\b`: `a\b`, "a\\b\xff": `a\\b\xff`, "\xc3(": `\xc3(`, "é\x80": `é\x80`, "\ufffd": "\ufffd",
		`a\xff`: `a\\xff`, `\x\x1fb\c`: `\\x\\x1fb\\c`, `a\xf`: `a\xf`, `a\xFF`: `a\xFF`, `C:\xe\xg0`: `C:\xe\xg0`,
	} {
		if got := Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}

// Every name of up to seven of these signs: whatever mixes with an escape.
func TestNoTwoNamesAreSpelledAlike(t *testing.T) {
	signs := []byte{'\\', 'x', 'f', 0xff}
	spelled := map[string]string{}
	var try func(name []byte, more int)
	try = func(name []byte, more int) {
		n := string(name)
		if other, taken := spelled[Text(n)]; taken {
			t.Fatalf("%q and %q are both spelled %q", other, n, Text(n))
		}
		spelled[Text(n)] = n
		if more == 0 {
			return
		}
		for _, c := range signs {
			try(append(name[:len(name):len(name)], c), more-1)
		}
	}
	try(nil, 7)
}

func TestAMarkIsWrittenAsItIs(t *testing.T) {
	if got := encode(t, everything(t), Options{}); !bytes.Contains(got, []byte(`a \"quoted\" <topic> & more`)) {
		t.Error("<, > and & are escaped: grep and people would not find the name")
	}
}

func TestWhatIsNotKnownIsNull(t *testing.T) {
	d := decode(t, encode(t, everything(t), Options{}))
	if d.Cluster.SeesAllTopics != nil || d.Cluster.SeesAllGroups == nil || !*d.Cluster.SeesAllGroups {
		t.Errorf("cluster: %s", marshal(t, d.Cluster))
	}
	h := group(t, d, "hidden")
	if h.Members != nil || h.Assignment.Members != nil || h.Assignment.Unassigned != nil || h.Lag.Records != nil || h.Lag.AssignedRecords != nil ||
		h.Lag.Seconds != nil || h.Lag.SecondsError != nil || h.Generation != nil || h.DescribedAt != nil || h.Reason != "denied" || h.Lag.Complete {
		t.Errorf("a denied group: %s", marshal(t, h))
	}
	if h.Partitions == nil || h.Findings == nil {
		t.Error("an empty list is null")
	}
	g := group(t, d, "ticker")
	if g.Generation == nil || g.Generation.Exact || g.Generation.Value != 3 || g.DrainSeconds != nil || g.Rates.Produced != nil {
		t.Errorf("ticker: %s", marshal(t, g))
	}
	if m := g.Members[2]; m.Target == nil || m.Epoch == nil || m.Assigned == nil || m.Lag == nil {
		t.Errorf("a member with a target it has not taken: %s", marshal(t, m))
	}
	if m := g.Members[3]; m.Target != nil || m.Epoch != nil || m.Lag != nil {
		t.Errorf("a member whose assignment cannot be read: %s", marshal(t, m))
	}
	e := g.Findings[0].Evidence
	if v, ok := e["ratio"]; !ok || v != nil || e["produced"] != 100.5 || e["who"] != `\xfe` {
		t.Errorf("evidence: %v", e)
	}
}

func TestRowsOfTheLagTable(t *testing.T) {
	g := group(t, decode(t, encode(t, everything(t), Options{})), "ticker")
	var got []string
	for _, p := range g.Partitions {
		got = append(got, strings.TrimSpace(marshal(t, map[string]any{"p": p.Partition, "lag": p.Lag, "s": p.Status, "ahead": p.AheadRecords, "sec": p.Seconds, "m": p.SecondsMethod, "owner": p.MemberID, "owners": p.MemberIDs})))
	}
	want := []string{
		`{"ahead":0,"lag":40,"m":"unknown","owner":"pod-1-a","owners":null,"p":0,"s":"ok","sec":null}`,
		`{"ahead":100,"lag":0,"m":"exact","owner":"pod-1-a","owners":["pod-1-a","pod-2-b"],"p":1,"s":"ahead","sec":0}`,
		`{"ahead":0,"lag":0,"m":"exact","owner":"pod-2-b","owners":null,"p":2,"s":"ok","sec":0}`,
		`{"ahead":0,"lag":100,"m":"unknown","owner":"","owners":null,"p":3,"s":"no_commit","sec":null}`,
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestAGroupsFindingsAreItsOwn(t *testing.T) {
	d := decode(t, encode(t, everything(t), Options{}))
	if len(d.Findings) != 1 || d.Findings[0].Code != "partially_denied" {
		t.Errorf("cluster findings: %s", marshal(t, d.Findings))
	}
	for _, g := range d.Groups {
		if want := g.Group == "ticker"; (len(g.Findings) == 1) != want {
			t.Errorf("%q has findings %s", g.Group, marshal(t, g.Findings))
		}
	}
}

func TestOnlySelectedGroupsAreWritten(t *testing.T) {
	d := decode(t, encode(t, everything(t), Options{Groups: func(g *collect.Group) bool { return g.Name == "ticker" || g.Name == "hidden" }}))
	if len(d.Groups) != 2 || d.Groups[0].Group != "hidden" || d.Groups[1].Group != "ticker" {
		t.Errorf("groups: %s", marshal(t, d.Groups))
	}
	d = decode(t, encode(t, everything(t), Options{Groups: func(*collect.Group) bool { return false }}))
	if d.Groups == nil || len(d.Groups) != 0 {
		t.Errorf("no group selected gives %v", d.Groups)
	}
}

// An old update shows no number that may stand no longer.
func TestTheSnapshotOfTheMomentIsWritten(t *testing.T) {
	u := everything(t)
	var b bytes.Buffer
	if err := Encode(&b, u, u.Snapshot.At(noon.Add(time.Hour)), Options{}); err != nil {
		t.Fatal(err)
	}
	d := decode(t, b.Bytes())
	g := group(t, d, "ticker")
	if d.Complete || g.Lag.Records != nil || g.Members != nil || g.Partitions[0].Lag != nil || g.Partitions[0].MemberID != "" || g.State != "Unknown" {
		t.Errorf("an hour later: %s", marshal(t, g))
	}
}

type pieces struct{ longest, total int }

func (p *pieces) Write(b []byte) (int, error) {
	p.longest, p.total = max(p.longest, len(b)), p.total+len(b)
	return len(b), nil
}

func TestADocumentIsHandedOnInPieces(t *testing.T) {
	var p pieces
	if err := Encode(&p, many(3, 2000), nil, Options{}); err != nil {
		t.Fatal(err)
	}
	if p.total < 1<<20 || p.longest > 2*flushAt {
		t.Errorf("%d bytes, the longest piece %d", p.total, p.longest)
	}
}

func TestAFailedWriteEndsTheDocument(t *testing.T) {
	closed := errors.New("closed")
	calls := 0
	err := Encode(writerFunc(func(b []byte) (int, error) { calls++; return 0, closed }), many(50, 500), nil, Options{})
	if !errors.Is(err, closed) || calls != 1 {
		t.Errorf("error %v after %d writes", err, calls)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func TestDecodeRefuses(t *testing.T) {
	for name, in := range map[string]string{
		"another schema":      `{"schema":"klagtop/v2"}`,
		"no schema":           `{"groups":[]}`,
		"half a document":     `{"schema":"klagtop/v1","groups":[`,
		"something after it":  `{"schema":"klagtop/v1"} {}`,
		"a key of wrong kind": `{"schema":"klagtop/v1","groups":{}}`,
		"nothing":             ``,
	} {
		if d, err := Decode(strings.NewReader(in)); err == nil {
			t.Errorf("%s is read as %s", name, marshal(t, d))
		}
	}
}

func TestAnEventIsWhatItsStructSays(t *testing.T) {
	for name, ev := range map[string]collect.Event{
		"bare": {At: noon, Seconds: nan, MembersBefore: -1, MembersAfter: -1, LagBefore: -1, LagAfter: -1, GenerationFrom: collect.Generation{Value: -1}, GenerationTo: collect.Generation{Value: -1}},
		"rebalance": {
			Seq: 4, Boot: "b", Cluster: "default", Group: "ticker\xff", Kind: collect.EventRebalance, At: noon, StartedAt: noon.Add(-time.Second), Seconds: 1,
			GenerationFrom: collect.Generation{Value: 3, Source: collect.SourceMemberMetadata}, GenerationTo: collect.Generation{Value: 4, Source: collect.SourceMemberMetadata}, Count: 1,
			MembersBefore: 2, MembersAfter: 3, Cause: collect.CauseMemberJoined, Style: collect.StyleEager,
			Joined:  []collect.MemberRef{{MemberID: "m", ClientID: "c", Host: "h"}},
			Offsets: []collect.OffsetChange{{Topic: "t", From: 9, To: 1}}, Moves: []collect.Move{{Topic: "t", Partition: 2, From: "a", To: "b"}}, Moved: 1, Kept: 5, LagBefore: 10, LagAfter: 25, Text: "<pod-3> joined",
		},
	} {
		var b bytes.Buffer
		if err := EncodeEvent(&b, ev); err != nil {
			t.Fatal(err)
		}
		var back Event
		if err := json.Unmarshal(b.Bytes(), &back); err != nil {
			t.Fatal(err)
		}
		if want := marshal(t, back); b.String() != want {
			t.Errorf("%s: written %s read and written again %s", name, b.String(), want)
		}
		if name == "bare" && (back.Generation != nil || back.Seconds != nil || back.StartedAt != nil || back.Lag.After != nil || back.Joined == nil) {
			t.Errorf("bare: %s", b.String())
		}
		if name == "rebalance" && (back.Group != `ticker\xff` || *back.Generation.To != 4 || back.Generation.Exact || *back.Members.After != 3) {
			t.Errorf("rebalance: %s", b.String())
		}
	}
}

// BenchmarkMillionRows is the contract's line: 1 M rows in 3 s of processor
// time and 50 MiB more memory.
func BenchmarkMillionRows(b *testing.B) {
	u := many(2000, 500)
	b.ReportAllocs()
	for b.Loop() {
		if err := Encode(io.Discard, u, nil, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
