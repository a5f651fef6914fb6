package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/klagtop/klagtop/collect"
)

// Options choose what of an update goes into a document. The zero value is
// everything.
type Options struct {
	// Groups selects groups; nil for all.
	Groups func(*collect.Group) bool
	// GroupLevel leaves members and partitions null.
	GroupLevel bool
}

// flushAt is how much of a document is held before it is written.
const flushAt = 32 << 10

// Encode writes one document as one line that ends in a newline. s is what
// shall be shown of u: u.Snapshot, or u.Snapshot.At the present moment where
// the update may be an old one; nil stands for u.Snapshot. Memory does not grow
// with the number of groups. The only error is one of w's.
func Encode(w io.Writer, u *collect.Update, s *collect.Snapshot, o Options) error {
	if s == nil {
		s = u.Snapshot
	}
	e := &encoder{w: w}
	e.head(u, s)
	findings := byGroup(u.Findings)
	first := true
	for _, g := range s.Groups {
		if o.Groups != nil && !o.Groups(g) {
			continue
		}
		if !first {
			e.raw(",")
		}
		first = false
		e.group(g, findings[g.Name], o)
		if e.err != nil {
			return e.err
		}
	}
	e.raw("]}\n")
	e.flush()
	return e.err
}

// EncodeEvent writes one event as one line that ends in a newline.
func EncodeEvent(w io.Writer, ev collect.Event) error {
	e := &encoder{w: w}
	e.value(event(ev))
	e.raw("\n")
	e.flush()
	return e.err
}

// Decode reads exactly one document. One of another schema is refused; keys
// that are not known here are not.
func Decode(r io.Reader) (*Document, error) {
	dec := json.NewDecoder(r)
	var raw json.RawMessage
	if err := dec.Decode(&raw); err != nil {
		return nil, fmt.Errorf("read document: %w", err)
	}
	var head struct {
		Schema *string `json:"schema"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return nil, fmt.Errorf("read document: %w", err)
	}
	if head.Schema == nil || *head.Schema != Schema {
		return nil, fmt.Errorf("read document: not of schema %s", Schema)
	}
	d := new(Document)
	if err := json.Unmarshal(raw, d); err != nil {
		return nil, fmt.Errorf("read document: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("read document: something follows it")
	}
	return d, nil
}

// byGroup sorts findings by group. Those of the cluster name no group, and must
// not be given to the group whose name is empty.
func byGroup(findings []collect.Finding) map[string][]collect.Finding {
	out := map[string][]collect.Finding{}
	for _, f := range findings {
		if !f.Cluster {
			out[f.Group] = append(out[f.Group], f)
		}
	}
	return out
}

// encoder collects a document and hands it on in pieces.
type encoder struct {
	w   io.Writer
	b   []byte
	err error
	buf bytes.Buffer
	enc *json.Encoder // writes into buf
}

func (e *encoder) flush() {
	if e.err == nil && len(e.b) > 0 {
		_, e.err = e.w.Write(e.b)
	}
	e.b = e.b[:0]
}

func (e *encoder) raw(s string) { e.b = append(e.b, s...) }

// key begins a value that is not the first of its object.
func (e *encoder) key(name string) {
	e.b = append(e.b, ',', '"')
	e.b = append(e.b, name...)
	e.b = append(e.b, '"', ':')
}

func (e *encoder) text(name, value string) {
	e.key(name)
	e.b = appendString(e.b, value)
}

func (e *encoder) field(name string, v any) {
	e.key(name)
	e.value(v)
}

// value writes what is not many through encoding/json.
func (e *encoder) value(v any) {
	if e.enc == nil {
		e.enc = json.NewEncoder(&e.buf)
		e.enc.SetEscapeHTML(false)
	}
	e.buf.Reset()
	if err := e.enc.Encode(v); err != nil && e.err == nil {
		e.err = err
		return
	}
	e.b = append(e.b, bytes.TrimSuffix(e.buf.Bytes(), []byte("\n"))...)
}

func (e *encoder) head(u *collect.Update, s *collect.Snapshot) {
	e.raw(`{"schema":`)
	e.value(Schema)
	e.field("cluster", cluster(&s.Cluster))
	e.text("taken_at", timestamp(s.TakenAt))
	e.key("poll_seconds")
	e.b = appendFloat(e.b, s.Took.Seconds())
	e.key("commits_every_seconds")
	e.b = appendFloat(e.b, s.CommitsEvery.Seconds())
	e.field("complete", s.Complete)
	e.field("filtered", s.Filtered)
	e.field("problems", problems(s.Problems))
	e.field("findings", findings(u.ClusterFindings()))
	e.raw(`,"groups":[`)
}

func (e *encoder) group(g *collect.Group, raised []collect.Finding, o Options) {
	e.raw(`{"group":`)
	e.b = appendString(e.b, g.Name)
	e.text("type", string(g.Type))
	e.text("state", g.State)
	e.text("reason", g.Reason.String())
	e.text("first_seen_at", timestamp(g.FirstSeenAt))
	e.field("described_at", moment(g.DescribedAt))
	e.text("protocol_type", g.ProtocolType)
	e.text("assignor", g.Assignor)
	e.field("coordinator", broker(g.Coordinator))
	e.field("generation", generation(g.Generation))
	if g.Leader != "" {
		e.text("leader", g.Leader)
	}
	e.field("lag", lag(&g.Lag))
	e.field("rates", rates(g.Produced, g.Consumed))
	e.field("progress_at", moment(g.ProgressAt))
	e.field("drain_seconds", float(g.Drain))
	e.field("rebalances", rebalances(&g.Counters))
	e.field("assignment", assignment(g))
	if g.Topology != nil {
		e.field("topology", topology(g))
	}
	e.key("members")
	if o.GroupLevel || !g.MembersKnown {
		e.raw("null")
	} else {
		e.members(g)
	}
	e.key("partitions")
	if o.GroupLevel {
		e.raw("null")
	} else {
		e.partitions(g)
	}
	e.field("findings", findings(raised))
	e.raw("}")
	if len(e.b) >= flushAt {
		e.flush()
	}
}

func (e *encoder) members(g *collect.Group) {
	e.raw("[")
	totals := g.MemberTotals()
	for i := range g.Members {
		if i > 0 {
			e.raw(",")
		}
		e.value(member(&g.Members[i], &totals[i]))
		if len(e.b) >= flushAt {
			e.flush()
		}
	}
	e.raw("]")
}

func (e *encoder) partitions(g *collect.Group) {
	rows := rowEncoder{members: make([][]byte, len(g.Members))}
	for i := range g.Members {
		rows.members[i] = appendString(nil, g.Members[i].ID)
	}
	e.raw("[")
	first := true
	for _, gt := range g.Topics {
		rows.topic = appendString(rows.topic[:0], gt.Topic.Name)
		for i := range gt.Rows() {
			if !first {
				e.b = append(e.b, ',')
			}
			first = false
			r := gt.Row(i)
			e.b = rows.append(e.b, &r)
			if len(e.b) >= flushAt {
				e.flush()
			}
		}
	}
	e.raw("]")
}
