package kafka

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

// The first two bytes of a key of __consumer_offsets say what it is of.
const (
	commitKeyVersion = 1 // and 0, of brokers before 0.9
	groupKeyVersion  = 2
)

// journal is a classic group as its coordinator wrote it down last.
type journal struct {
	generation int32
	leader     string   // member id
	members    []string // ids, sorted
}

func (j *journal) matches(members []collect.Member) bool {
	if len(members) != len(j.members) {
		return false
	}
	for i := range members {
		if _, ok := slices.BinarySearch(j.members, members[i].ID); !ok {
			return false
		}
	}
	return true
}

// decodeGroupRecord reads what a record says of a classic group. ok is false
// for a key that is none of a classic group. A nil journal says that nothing is
// told of the group any more: it is gone, or has become another type's, or is
// being born, which generation 0 without a protocol type means.
func decodeGroupRecord(key, value []byte) (name string, j *journal, ok bool) {
	var k kmsg.GroupMetadataKey
	if keyVersion(key) != groupKeyVersion || k.ReadFrom(key) != nil {
		return "", nil, false
	}
	if value == nil {
		return k.Group, nil, true
	}
	var v kmsg.GroupMetadataValue
	if v.ReadFrom(value) != nil || v.Version < 0 || v.Version > 4 {
		return k.Group, nil, true // of a form that is not known: the old word on it does not hold any more
	}
	if v.ProtocolType == "" || v.Generation < 0 {
		return k.Group, nil, true
	}
	j = &journal{generation: v.Generation, leader: text(v.Leader), members: make([]string, len(v.Members))}
	for i := range v.Members {
		j.members[i] = v.Members[i].MemberID
	}
	slices.SortFunc(j.members, cmp.Compare)
	return k.Group, j, true
}

// dated is a commit with the time at which its coordinator took it, Unix
// nanoseconds.
type dated struct{ offset, at int64 }

// partitionLimit is far above any partition count: a number beyond it comes
// from no broker, and must not make room for itself.
const partitionLimit = 1 << 17

// decodeCommitRecord reads what a record says of a commit. ok is false for a key
// that is none of a commit. Time 0 says that the commit is gone, or not to be
// understood.
func decodeCommitRecord(key, value []byte) (group, topic string, partition int32, d dated, ok bool) {
	var k kmsg.OffsetCommitKey
	if v := keyVersion(key); v < 0 || v > commitKeyVersion || k.ReadFrom(key) != nil || k.Partition < 0 || k.Partition > partitionLimit {
		return "", "", 0, d, false
	}
	var v kmsg.OffsetCommitValue
	if value != nil && v.ReadFrom(value) == nil && v.Version >= 0 && v.Version <= 4 && v.CommitTimestamp > 0 && v.CommitTimestamp < math.MaxInt64/int64(time.Millisecond) {
		d = dated{v.Offset, v.CommitTimestamp * int64(time.Millisecond)}
	}
	return k.Group, k.Topic, k.Partition, d, true
}

func keyVersion(key []byte) int16 {
	if len(key) < 2 {
		return -1
	}
	return int16(key[0])<<8 | int16(key[1])
}
