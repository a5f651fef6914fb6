package kafka

import (
	"encoding/base64"
	"encoding/binary"
	"slices"

	"github.com/klagtop/klagtop/collect"
)

// streamsTime reads what Kafka Streams commits beside an offset: base64 of a
// version, 1 or 2, and the largest timestamp that it has taken a record of the
// partition to have, in milliseconds since 1970 (TopicPartitionMetadata; version
// 2 may go on with what processors keep). Unknown where the bytes are nothing of
// the kind, or name no time.
//
// An application may take its timestamps from anywhere: the number says which
// question to ask of the log, and proves nothing.
func streamsTime(metadata string) int64 {
	const head = 12 // characters: a version and eight bytes of time
	if len(metadata) < head || len(metadata)%4 != 0 {
		return collect.Unknown
	}
	var b [9]byte
	if n, err := base64.StdEncoding.Decode(b[:], []byte(metadata[:head])); err != nil || n != len(b) {
		return collect.Unknown
	}
	if version := b[0]; version != 2 && (version != 1 || len(metadata) != head) {
		return collect.Unknown
	}
	return max(collect.Unknown, int64(binary.BigEndian.Uint64(b[1:])))
}

// streamsTimes reads those of one topic; nil where there is none.
func streamsTimes(metadata []string) (times []int64) {
	for i := range metadata {
		t := streamsTime(metadata[i])
		if t == collect.Unknown {
			continue
		}
		if times == nil {
			times = slices.Repeat([]int64{collect.Unknown}, len(metadata))
		}
		times[i] = t
	}
	return times
}
