package kafka

import (
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// listed is a topic of a Metadata answer: its id, its error, its leaders.
func listed(name string, id byte, err *kerr.Error, leaders ...int32) kmsg.MetadataResponseTopic {
	t := kmsg.MetadataResponseTopic{Topic: &name, TopicID: [16]byte{id}}
	if err != nil {
		t.ErrorCode = err.Code
	}
	for p, l := range leaders {
		t.Partitions = append(t.Partitions, kmsg.MetadataResponseTopicPartition{Partition: int32(p), Leader: l})
	}
	return t
}

// What one broker does not know, or not yet, is not gone for that.
func TestOneListOfTopicsIsNoProof(t *testing.T) {
	tests := []struct {
		name string
		then []kmsg.MetadataResponseTopic
		want []int32 // leaders of "ticks"; nil when it is listed no more
		byID string  // the name that id 1 has
	}{
		{"as before", []kmsg.MetadataResponseTopic{listed("ticks", 1, nil, 0, 1, 2)}, []int32{0, 1, 2}, "ticks"},
		{"leaders moved", []kmsg.MetadataResponseTopic{listed("ticks", 1, nil, 2, 1, 2)}, []int32{2, 1, 2}, "ticks"},
		{"an error that passes, and no partitions", []kmsg.MetadataResponseTopic{listed("ticks", 1, kerr.LeaderNotAvailable)}, []int32{0, 1, 2}, "ticks"},
		{"a passing error that hides the id", []kmsg.MetadataResponseTopic{listed("ticks", 0, kerr.UnknownServerError)}, []int32{0, 1, 2}, "ticks"},
		{"fewer partitions under the same id", []kmsg.MetadataResponseTopic{listed("ticks", 1, nil, 5)}, []int32{5, 1, 2}, "ticks"},
		{"fewer partitions under another id: another topic", []kmsg.MetadataResponseTopic{listed("ticks", 2, nil, 5)}, []int32{5}, ""},
		{"not listed: its commits still have a name", nil, nil, "ticks"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var v view
			now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
			v.replace([]kmsg.MetadataResponseTopic{listed("ticks", 1, nil, 0, 1, 2)}, now)
			v.replace(tt.then, now)
			if got := v.topics["ticks"].leaders; !reflect.DeepEqual(got, tt.want) {
				t.Errorf("leaders %v, want %v", got, tt.want)
			}
			if got := v.nameOf([16]byte{1}); got != tt.byID {
				t.Errorf("id 1 is named %q, want %q", got, tt.byID)
			}
			v.replace(nil, now.Add(2*partedFor))
			v.replace(nil, now.Add(4*partedFor))
			if len(v.parted) > 0 {
				t.Errorf("%d names are kept for ever", len(v.parted))
			}
		})
	}
}

// A broker, or a proxy before it, that names no brokers has not read what topics
// there are: "unknown" from it is no proof.
func TestTopicUnknownToOneThatKnowsNoBrokers(t *testing.T) {
	b := newBed(t, kfake.MaxVersions(kversion.FromString("v4.0"))) // names topics in OffsetFetch
	group := b.spread()[0]
	b.poll()
	var starts atomic.Bool
	b.beforeCommitsOf(group, func() {
		b.topic("young", 1)
		b.produce("young", 0, 3)
		b.commit(group, "young", map[int32]int64{0: 1})
		starts.Store(true)
	})
	b.c.ControlKey(int16(kmsg.Metadata), func(r kmsg.Request) (kmsg.Response, error, bool) {
		b.c.KeepControl()
		if !starts.Load() {
			return nil, nil, false
		}
		resp := r.ResponseKind().(*kmsg.MetadataResponse)
		for _, t := range r.(*kmsg.MetadataRequest).Topics {
			resp.Topics = append(resp.Topics, listed(*t.Topic, 0, kerr.UnknownTopicOrPartition))
		}
		return resp, nil, true
	})
	s := b.poll()
	if got, want := rowText(s, group, "young", 0), "-1/-1/1 lag=-1 unknown loading stale=false"; got != want || s.Complete {
		t.Errorf("got %s complete %v, want %s, and not complete", got, s.Complete, want)
	}
	b.wantProblems(s, "metadata broker=-1 group= topic=/-1 loading: the answer names no broker, not even the one that gave it")
	starts.Store(false)
	if got, want := rowText(b.poll(), group, "young", 0), "0/3/1 lag=2 ok  stale=false"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// The client adds a request's own time limit to the silence after which a
// connection is dead: one lost answer must not cost half a minute.
func TestLostAnswerCostsSeconds(t *testing.T) {
	if got := (offsetQuery{}).request(nil).TimeoutMillis; got > 2000 {
		t.Errorf("a lost answer keeps the broker unread for %d ms more", got)
	}
}
