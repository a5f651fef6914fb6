package kafka

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A broker that has not noticed that a group moved lists it, and the one it
// moved to lists nothing yet: the group is found where it is, at the first look
// and at later ones.
func TestGroupListedByTheWrongBrokerOnly(t *testing.T) {
	b := newBed(t, kfake.NumBrokers(3))
	groups := b.spread()
	b.c.ControlKey(int16(kmsg.DescribeGroups), func(r kmsg.Request) (kmsg.Response, error, bool) {
		b.c.KeepControl()
		if b.c.CurrentNode() == 1 {
			return nil, nil, false
		}
		req := r.(*kmsg.DescribeGroupsRequest)
		resp := req.ResponseKind().(*kmsg.DescribeGroupsResponse)
		for _, name := range req.Groups {
			if name != groups[1] {
				return nil, nil, false
			}
			g := kmsg.NewDescribeGroupsResponseGroup()
			g.Group, g.ErrorCode = name, kerr.NotCoordinator.Code
			resp.Groups = append(resp.Groups, g)
		}
		return resp, nil, true
	})
	b.rewriteLists(func(node int32, r *kmsg.ListGroupsResponse) {
		r.Groups = nil
		if node == 0 {
			g := kmsg.NewListGroupsResponseGroup()
			g.Group, g.GroupType, g.GroupState = groups[1], "classic", "Stable"
			r.Groups = append(r.Groups, g)
		}
	})
	for range 3 {
		s := b.poll()
		b.wantGroup(s, groups[1], "classic Empty  members=0 lag=18/3 unknown=0 stale=0")
		b.wantProblems(s, "")
	}
}
