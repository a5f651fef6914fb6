package kafka

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/klagtop/klagtop/collect"
)

// Some services list no groups, or none but those with members, or refuse to. A
// group that the user names is found all the same, by asking for it.
func TestGroupsNamedWhereListsFail(t *testing.T) {
	without := kversion.Stable()
	without.SetMaxKeyVersion(int16(kmsg.ListGroups), -1)
	for _, c := range []struct {
		why      string
		opts     []kfake.Opt
		fault    *kerr.Error
		complete bool
	}{
		{"lists are no request that the brokers know", []kfake.Opt{kfake.MaxVersions(without)}, nil, true},
		{"lists are denied", nil, kerr.ClusterAuthorizationFailed, false},
		{"lists are refused", nil, kerr.InvalidRequest, false},
	} {
		t.Run(c.why, func(t *testing.T) {
			b := newBed(t, c.opts...)
			group := b.spread()[1]
			pattern, err := collect.ParsePattern(group)
			b.must(err)
			b.filter.Groups = []collect.Pattern{pattern}
			if c.fault != nil {
				b.c.ControlKey(int16(kmsg.ListGroups), func(r kmsg.Request) (kmsg.Response, error, bool) {
					b.c.KeepControl()
					resp := r.ResponseKind().(*kmsg.ListGroupsResponse)
					resp.ErrorCode = c.fault.Code
					return resp, nil, true
				})
			}
			for i := range 4 {
				if i == 2 { // where it moves to it is found by the poll after
					b.c.RehashCoordinators()
					b.poll()
				}
				s := b.poll()
				b.wantGroup(s, group, "classic Empty  members=0 lag=18/3 unknown=0 stale=0")
				if s.Complete != c.complete {
					t.Errorf("complete %v: %s", s.Complete, problemText(s))
				}
				if len(s.Problems) != 3 {
					t.Error("nothing is said of the lists")
				}
			}
		})
	}
}
