package demo

import (
	"encoding/binary"
	"net"
	"slices"
	"strings"
	"sync"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// wire stands between kfake and its clients and corrects those answers in which kfake differs from a real
// broker so that a client notices. Everything else passes untouched.
type wire struct {
	mu     sync.Mutex
	topics map[[16]byte]string // names by topic id, learned from metadata answers on their way out
}

func newWire() *wire { return &wire{topics: map[[16]byte]string{}} }

// listen is net.Listen whose connections are corrected.
func (w *wire) listen(network, address string) (net.Listener, error) {
	l, err := net.Listen(network, address)
	if err != nil {
		return nil, err
	}
	return &wireListener{Listener: l, wire: w}, nil
}

// corrects tells whether answers to this request are looked into.
func corrects(key int16) bool {
	switch kmsg.Key(key) {
	case kmsg.Metadata, kmsg.ListGroups, kmsg.DescribeGroups, kmsg.ConsumerGroupDescribe:
		return true
	default:
		return false
	}
}

// correct makes an answer what a real broker's would be.
func (w *wire) correct(answer kmsg.Response) {
	switch r := answer.(type) {
	case *kmsg.MetadataResponse:
		w.learn(r)
		inOrder(r)
	case *kmsg.ListGroupsResponse:
		nameProtocol(r)
	case *kmsg.DescribeGroupsResponse:
		hideOtherTypes(r)
		for _, g := range r.Groups {
			for i := range g.Members {
				g.Members[i].ClientHost = host(g.Members[i].ClientHost)
			}
		}
	case *kmsg.ConsumerGroupDescribeResponse:
		w.nameTopics(r)
		for _, g := range r.Groups {
			for i := range g.Members {
				g.Members[i].ClientHost = host(g.Members[i].ClientHost)
			}
		}
	}
}

func (w *wire) learn(r *kmsg.MetadataResponse) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, t := range r.Topics {
		if t.Topic != nil && t.ErrorCode == 0 {
			w.topics[t.TopicID] = *t.Topic
		}
	}
}

// inOrder sorts topics and partitions, which kfake gives in the order of a Go map: KafkaJS' assignor deals
// partitions in the order in which they come, another one each time.
func inOrder(r *kmsg.MetadataResponse) {
	slices.SortStableFunc(r.Topics, func(a, b kmsg.MetadataResponseTopic) int {
		return strings.Compare(deref(a.Topic), deref(b.Topic))
	})
	for _, t := range r.Topics {
		slices.SortFunc(t.Partitions, func(a, b kmsg.MetadataResponseTopicPartition) int {
			return int(a.Partition) - int(b.Partition)
		})
	}
}

// nameProtocol gives KIP-848 groups their protocol type, without which they look like somebody who commits
// without ever joining.
func nameProtocol(r *kmsg.ListGroupsResponse) {
	for i := range r.Groups {
		if g := &r.Groups[i]; g.GroupType == "consumer" && g.ProtocolType == "" {
			g.ProtocolType = "consumer"
		}
	}
}

// hideOtherTypes answers the classic describe of a KIP-848 group as a real broker does: no such group. kfake
// calls it Stable and without members, which no classic group can be.
func hideOtherTypes(r *kmsg.DescribeGroupsResponse) {
	for i := range r.Groups {
		g := &r.Groups[i]
		if g.ErrorCode != 0 || len(g.Members) > 0 || g.State == "Empty" || g.State == "Dead" {
			continue
		}
		g.State = "Dead"
		if r.Version >= 6 {
			g.ErrorCode = kerr.GroupIDNotFound.Code
		}
	}
}

// nameTopics fills in the topic names that kfake leaves empty; Java's admin client asks for the offsets of
// a topic without a name otherwise, and fails.
func (w *wire) nameTopics(r *kmsg.ConsumerGroupDescribeResponse) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, g := range r.Groups {
		for _, m := range g.Members {
			for _, assigned := range [][]kmsg.AssignmentTopicPartition{m.Assignment.TopicPartitions, m.TargetAssignment.TopicPartitions} {
				for i := range assigned {
					if assigned[i].Topic == "" {
						assigned[i].Topic = w.topics[assigned[i].TopicID]
					}
				}
			}
		}
	}
}

// host is a client's host as brokers print it, "/127.0.0.1". kfake gives "127.0.0.1:52100", and the port makes
// another host of a client that comes back.
func host(address string) string {
	if h, _, err := net.SplitHostPort(address); err == nil {
		return "/" + h
	}
	return address
}

// foldFilters has ListGroups compare states and types without regard to case, as brokers do: Java asks for
// types "Classic" and "Consumer", which kfake has as "classic" and "consumer".
func foldFilters(kafka *kfake.Cluster) {
	kafka.ControlKey(int16(kmsg.ListGroups), func(r kmsg.Request) (kmsg.Response, error, bool) {
		kafka.KeepControl()
		list := r.(*kmsg.ListGroupsRequest)
		for i, name := range list.TypesFilter {
			list.TypesFilter[i] = strings.ToLower(name)
		}
		for i, name := range list.StatesFilter {
			list.StatesFilter[i] = canonical(name)
		}
		return nil, nil, false
	})
}

func canonical(state string) string {
	for _, known := range []string{
		"Empty", "Stable", "PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling", "Dead",
	} {
		if strings.EqualFold(known, state) {
			return known
		}
	}
	return state
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

type wireListener struct {
	net.Listener
	wire *wire
}

func (l *wireListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &wireConn{Conn: conn, wire: l.wire, asked: map[int32]question{}}, nil
}

// question is what has to be known of a request to read its answer.
type question struct{ key, version int16 }

// wireConn is a broker's side of one connection. It reads along which requests come in, frame by frame, and
// corrects their answers, each of which kfake writes in one piece.
type wireConn struct {
	net.Conn
	wire *wire

	// head and skip are the reader's alone: the first bytes of a request, and how much of it is left.
	head []byte
	skip int

	mu    sync.Mutex
	asked map[int32]question // by correlation id
}

// requestHead is size, key, version and correlation id.
const requestHead = 4 + 2 + 2 + 4

func (c *wireConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	for read := p[:n]; len(read) > 0; {
		if c.skip > 0 {
			passed := min(c.skip, len(read))
			c.skip -= passed
			read = read[passed:]
			continue
		}
		wanted := min(requestHead-len(c.head), len(read))
		c.head = append(c.head, read[:wanted]...)
		read = read[wanted:]
		if len(c.head) == requestHead {
			c.request(c.head)
			c.head = c.head[:0]
		}
	}
	return n, err
}

func (c *wireConn) request(head []byte) {
	r := kbin.Reader{Src: head}
	size, q, correlation := r.Int32(), question{r.Int16(), r.Int16()}, r.Int32()
	c.skip = max(0, int(size)-(requestHead-4))
	if corrects(q.key) {
		c.mu.Lock()
		c.asked[correlation] = q
		c.mu.Unlock()
	}
}

func (c *wireConn) Write(p []byte) (int, error) {
	corrected := c.answer(p)
	if corrected == nil {
		return c.Conn.Write(p)
	}
	if _, err := c.Conn.Write(corrected); err != nil {
		return 0, err
	}
	return len(p), nil
}

// answer is the corrected frame, or nil where p goes out as it is.
func (c *wireConn) answer(p []byte) []byte {
	const sizeAndCorrelation = 8
	if len(p) < sizeAndCorrelation {
		return nil
	}
	correlation := int32(binary.BigEndian.Uint32(p[4:]))
	c.mu.Lock()
	q, ok := c.asked[correlation]
	delete(c.asked, correlation)
	c.mu.Unlock()
	if !ok {
		return nil
	}
	answer := kmsg.ResponseForKey(q.key)
	answer.SetVersion(q.version)
	head := sizeAndCorrelation
	if answer.IsFlexible() {
		head++ // the empty tags
	}
	if len(p) < head || answer.ReadFrom(p[head:]) != nil {
		return nil
	}
	c.wire.correct(answer)
	corrected := answer.AppendTo(slices.Clone(p[:head]))
	binary.BigEndian.PutUint32(corrected, uint32(len(corrected)-4))
	return corrected
}
