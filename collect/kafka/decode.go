package kafka

import (
	"encoding/binary"
	"slices"

	"github.com/klagtop/klagtop/collect"
)

// The bytes that members of classic groups send each other through the
// coordinator, in ConsumerProtocolSubscription and ConsumerProtocolAssignment.
// Clients write them, and some write them wrong: what cannot be read is said
// to be so, and what was read before stands.

type subscription struct {
	topics     []string // sorted; nil if not known
	rack       string
	generation int32 // -1 if not told
	rejoined   collect.Rejoined
}

// cooperativeSticky is the assignor whose Java form puts a bare generation
// into its user data.
const cooperativeSticky = "cooperative-sticky"

// decodeSubscription reads a member's metadata: version, topics, user data,
// from version 1 owned partitions, from 2 the generation, from 3 the rack.
// Later versions may add to the end, which is skipped. KafkaJS' custom
// assigners claim version 1 and end after the user data.
func decodeSubscription(b []byte, assignor string) subscription {
	s := subscription{generation: -1}
	r := reader{b: b}
	version := r.int16()
	topics := r.strings()
	if r.bad || version < 0 {
		return s
	}
	slices.Sort(topics)
	s.topics = topics
	user := r.bytes()
	if version >= 1 {
		owned := 0
		for range r.arrayLen(6) {
			r.string()
			owned += len(r.int32s())
		}
		switch {
		case r.bad:
		case owned > 0:
			s.rejoined = collect.RejoinedHolding
		default:
			s.rejoined = collect.RejoinedEmptyHanded
		}
	}
	if version >= 2 {
		if g := r.int32(); !r.bad && g >= 1 {
			s.generation = g
		}
	}
	if version >= 3 {
		if rack := r.string(); !r.bad {
			s.rack = rack
		}
	}
	// Java before 3.4 has the generation only here. Other clients begin their
	// user data with an array, which for a new member reads as 0.
	if s.generation < 0 && assignor == cooperativeSticky && len(user) == 4 {
		if g := int32(binary.BigEndian.Uint32(user)); g >= 1 {
			s.generation = g
		}
	}
	return s
}

// decodeAssignment reads what the leader gave a member: version, topics with
// partitions, user data; all versions so far are alike. No bytes at all is what
// a member gets that the leader's plan leaves out.
func decodeAssignment(b []byte) ([]collect.TopicPartitions, collect.Decode) {
	if len(b) == 0 {
		return nil, collect.DecodeEmpty
	}
	r := reader{b: b}
	version := r.int16()
	var tps []collect.TopicPartitions
	for range r.arrayLen(6) {
		topic := r.string()
		parts := r.int32s()
		if r.bad {
			break
		}
		tps = append(tps, collect.TopicPartitions{Topic: topic, Partitions: parts})
	}
	r.bytes()
	if r.bad || version < 0 {
		return nil, collect.DecodeUndecodable
	}
	for _, tp := range tps {
		for _, p := range tp.Partitions {
			if p < 0 {
				return nil, collect.DecodeUndecodable
			}
		}
	}
	tps = tidy(tps)
	return tps, decodeOf(tps)
}

// reader reads big-endian fields until it runs out of bytes; then it is bad
// for good and gives zeros. It never allocates more than the bytes can hold.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) take(n int) []byte {
	if r.bad || n < 0 || n > len(r.b) {
		r.bad = true
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) int16() int16 {
	if b := r.take(2); b != nil {
		return int16(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (r *reader) int32() int32 {
	if b := r.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

// string gives "" for a null one.
func (r *reader) string() string {
	n := r.int16()
	if n < 0 {
		return ""
	}
	return string(r.take(int(n)))
}

func (r *reader) bytes() []byte {
	n := r.int32()
	if n < 0 {
		return nil
	}
	return r.take(int(n))
}

// arrayLen gives the length of an array whose elements take least bytes each
// or more; 0 for a null one.
func (r *reader) arrayLen(least int) int {
	n := int(r.int32())
	if n > len(r.b)/least {
		r.bad = true
	}
	if r.bad || n < 0 {
		return 0
	}
	return n
}

func (r *reader) strings() []string {
	n := r.arrayLen(2)
	out := make([]string, 0, n)
	for range n {
		out = append(out, r.string())
	}
	return out
}

func (r *reader) int32s() []int32 {
	n := r.arrayLen(4)
	out := make([]int32, 0, n)
	for range n {
		out = append(out, r.int32())
	}
	return out
}
