package kafka

import (
	"encoding/binary"
	"reflect"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

// bytesOf joins the parts of a message: int16, int32, string (with its
// length) and []byte (as it is).
func bytesOf(parts ...any) []byte {
	var b []byte
	for _, p := range parts {
		switch p := p.(type) {
		case int16:
			b = binary.BigEndian.AppendUint16(b, uint16(p))
		case int32:
			b = binary.BigEndian.AppendUint32(b, uint32(p))
		case string:
			b = append(binary.BigEndian.AppendUint16(b, uint16(len(p))), p...)
		case []byte:
			b = append(b, p...)
		}
	}
	return b
}

func TestDecodeSubscription(t *testing.T) {
	kmsgMetadata := func(version int16, generation int32, rack string) []byte {
		m := kmsg.NewConsumerMemberMetadata()
		m.Version, m.Topics, m.Generation, m.Rack = version, []string{"notifications", "market-updates"}, generation, &rack
		m.OwnedPartitions = []kmsg.ConsumerMemberMetadataOwnedPartition{{Topic: "market-updates", Partitions: []int32{0, 4}}}
		return m.AppendTo(nil)
	}
	both := []string{"market-updates", "notifications"}
	head := func(version int16, userData ...any) []byte {
		return bytesOf(append([]any{version, int32(2), "market-updates", "notifications"}, userData...)...)
	}
	tests := map[string]struct {
		in       []byte
		assignor string
		want     subscription
	}{
		"hidden during a rebalance, no bytes":                         {nil, "", subscription{generation: -1}},
		"version 0 knows no generation":                               {kmsgMetadata(0, 7, "a"), "range", subscription{topics: both, generation: -1}},
		"version 1 neither":                                           {kmsgMetadata(1, 7, "a"), "range", subscription{topics: both, generation: -1, rejoined: collect.RejoinedHolding}},
		"version 2 has the generation":                                {kmsgMetadata(2, 7, "a"), "range", subscription{topics: both, generation: 7, rejoined: collect.RejoinedHolding}},
		"version 3 has the rack":                                      {kmsgMetadata(3, 7, "a"), "range", subscription{topics: both, generation: 7, rack: "a", rejoined: collect.RejoinedHolding}},
		"a new member has none":                                       {kmsgMetadata(3, -1, ""), "range", subscription{topics: both, generation: -1, rejoined: collect.RejoinedHolding}},
		"generation 0 is none":                                        {kmsgMetadata(3, 0, ""), "range", subscription{topics: both, generation: -1, rejoined: collect.RejoinedHolding}},
		"a later version's new fields are skipped":                    {append(kmsgMetadata(9, 7, "a"), 1, 2, 3), "range", subscription{topics: both, generation: 7, rack: "a", rejoined: collect.RejoinedHolding}},
		"KafkaJS' custom assigner claims version 1 and ends too soon": {head(1, int32(0)), "CoPartitionAssigner", subscription{topics: both, generation: -1}},
		"cut within the topics: not known":                            {head(1)[:20], "range", subscription{generation: -1}},
		"cut within the user data: the topics stand":                  {head(0, int32(9), []byte{1}), "range", subscription{topics: both, generation: -1}},
		"version below zero":                                          {head(-1, int32(0)), "range", subscription{generation: -1}},
		"more topics than bytes":                                      {bytesOf(int16(0), int32(0x7fffffff), "x"), "range", subscription{generation: -1}},
		"subscribed to nothing":                                       {bytesOf(int16(0), int32(0), int32(-1)), "range", subscription{topics: []string{}, generation: -1}},
		"Java 2.8 cooperative-sticky: a bare generation as user data": {head(1, int32(4), int32(5), int32(0)), "cooperative-sticky", subscription{topics: both, generation: 5, rejoined: collect.RejoinedEmptyHanded}},
		"the same of a new member":                                    {head(1, int32(4), int32(-1), int32(0)), "cooperative-sticky", subscription{topics: both, generation: -1, rejoined: collect.RejoinedEmptyHanded}},
		"an empty array as user data is no generation":                {head(1, int32(4), int32(0), int32(0)), "cooperative-sticky", subscription{topics: both, generation: -1, rejoined: collect.RejoinedEmptyHanded}},
		"four bytes of another assignor are no generation":            {head(1, int32(4), int32(5), int32(0)), "sticky", subscription{topics: both, generation: -1, rejoined: collect.RejoinedEmptyHanded}},
		"the subscription's generation wins over the user data's":     {head(2, int32(4), int32(3), int32(0), int32(6)), "cooperative-sticky", subscription{topics: both, generation: 6, rejoined: collect.RejoinedEmptyHanded}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := decodeSubscription(tt.in, tt.assignor); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestDecodeAssignment(t *testing.T) {
	pod1 := bytesOf(int16(1), int32(2), "notifications", int32(2), int32(4), int32(0), "market-updates", int32(2), int32(0), int32(4), int32(0))
	decoded := []collect.TopicPartitions{{Topic: "market-updates", Partitions: []int32{0, 4}}, {Topic: "notifications", Partitions: []int32{0, 4}}}
	later := slices.Clone(pod1)
	later[1] = 9
	later = append(later, 0xca, 0xfe)
	tests := map[string]struct {
		in   []byte
		want []collect.TopicPartitions
		as   collect.Decode
	}{
		"left out of the leader's plan":      {nil, nil, collect.DecodeEmpty},
		"no topics":                          {bytesOf(int16(0), int32(0), int32(-1)), nil, collect.DecodeEmpty},
		"no topics, null array":              {bytesOf(int16(0), int32(-1), int32(-1)), nil, collect.DecodeEmpty},
		"a topic without partitions":         {bytesOf(int16(0), int32(1), "x", int32(0), int32(0)), nil, collect.DecodeEmpty},
		"two topics, put in order":           {pod1, decoded, collect.DecodeOK},
		"a later version with more behind":   {later, decoded, collect.DecodeOK},
		"cut short":                          {pod1[:len(pod1)-6], nil, collect.DecodeUndecodable},
		"user data missing":                  {pod1[:len(pod1)-4], nil, collect.DecodeUndecodable},
		"one byte":                           {[]byte{0}, nil, collect.DecodeUndecodable},
		"JSON":                               {[]byte(`{"assigned":[1,2,3]}`), nil, collect.DecodeUndecodable},
		"more topics than bytes":             {bytesOf(int16(0), int32(0x7fffffff)), nil, collect.DecodeUndecodable},
		"a partition below zero":             {bytesOf(int16(0), int32(1), "x", int32(1), int32(-3), int32(0)), nil, collect.DecodeUndecodable},
		"a version below zero":               {bytesOf(int16(-1), int32(0), int32(0)), nil, collect.DecodeUndecodable},
		"a topic twice is one":               {bytesOf(int16(0), int32(2), "x", int32(1), int32(1), "x", int32(2), int32(1), int32(0), int32(0)), []collect.TopicPartitions{{Topic: "x", Partitions: []int32{0, 1}}}, collect.DecodeOK},
		"user data of the sticky assignor":   {bytesOf(int16(1), int32(1), "x", int32(1), int32(0), int32(2), []byte{1, 2}), []collect.TopicPartitions{{Topic: "x", Partitions: []int32{0}}}, collect.DecodeOK},
		"a topic name that is not text":      {bytesOf(int16(0), int32(1), "\xff\x1b[2J", int32(1), int32(0), int32(0)), []collect.TopicPartitions{{Topic: "\xff\x1b[2J", Partitions: []int32{0}}}, collect.DecodeOK},
		"an array that goes on past its end": {bytesOf(int16(0), int32(1), "x", int32(5), int32(0), int32(0)), nil, collect.DecodeUndecodable},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, as := decodeAssignment(tt.in)
			if !reflect.DeepEqual(got, tt.want) || as != tt.as {
				t.Errorf("got %v %s, want %v %s", got, as, tt.want, tt.as)
			}
		})
	}
}

// Whatever bytes a client writes, decoding ends, and what it gives is in order
// and was in the bytes.
func FuzzDecode(f *testing.F) {
	m := kmsg.NewConsumerMemberMetadata()
	m.Version, m.Topics, m.Generation = 3, []string{"market-updates"}, 4
	f.Add(m.AppendTo(nil))
	f.Add(bytesOf(int16(1), int32(2), "market-updates", "notifications", int32(0)))
	f.Add(bytesOf(int16(1), int32(1), "x", int32(2), int32(1), int32(0), int32(0)))
	f.Add([]byte(`{"a":1}`))
	f.Add(bytesOf(int16(0), int32(0x7fffffff)))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := decodeSubscription(b, cooperativeSticky)
		if !slices.IsSorted(s.topics) || len(s.topics)*2 > len(b) || s.generation == 0 || s.generation < -1 {
			t.Errorf("subscription %+v of %d bytes", s, len(b))
		}
		tps, as := decodeAssignment(b)
		if (as == collect.DecodeOK) != (len(tps) > 0) {
			t.Errorf("%s with %v", as, tps)
		}
		n := 0
		for i, tp := range tps {
			n += len(tp.Partitions)
			if i > 0 && tps[i-1].Topic >= tp.Topic || len(tp.Partitions) == 0 || tp.Partitions[0] < 0 || !slices.IsSorted(tp.Partitions) {
				t.Errorf("out of order: %v", tps)
			}
		}
		if n*4 > len(b) {
			t.Errorf("%d partitions of %d bytes", n, len(b))
		}
		// where kmsg, the client's own decoder, takes the bytes, both agree
		var k kmsg.ConsumerMemberAssignment
		if err := k.ReadFrom(b); err == nil && as == collect.DecodeUndecodable && k.Version >= 0 && !negative(k) {
			t.Errorf("kmsg reads %+v", k)
		}
	})
}

func negative(a kmsg.ConsumerMemberAssignment) bool {
	for _, t := range a.Topics {
		for _, p := range t.Partitions {
			if p < 0 {
				return true
			}
		}
	}
	return false
}
