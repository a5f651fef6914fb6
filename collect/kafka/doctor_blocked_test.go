package kafka

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/klagtop/klagtop/collect"
)

// A group that is denied as a whole over a topic of its members' is not to be
// seen, whatever may be done to the topics that a filter names.
func TestDoctorSaysWhichGroupsAreDeniedOverATopic(t *testing.T) {
	b := newLimitedBed(t)
	b.block("ok-streams")
	cfg := Config{Brokers: b.c.ListenAddrs(), SASL: SASL{Mechanism: "PLAIN", Username: "lim", Password: "lim"}}
	for _, c := range []struct {
		why    string
		topics []string
		want   string
	}{
		{"no topic is named", nil, "*+ DESCRIBE group ok-streams\n*- DESCRIBE topic *\n"},
		{"a topic is named that may be seen", []string{"pub"}, "*+ DESCRIBE group ok-streams\n*+ DESCRIBE topic pub\n*- DESCRIBE topic *\n"},
	} {
		d := diagnose(t, cfg, DiagnosisOptions{Options: Options{Filter: filterOf(t, []string{"ok-streams"}, c.topics)}})
		got := rightsText(d)
		if !strings.HasPrefix(got, c.want) || strings.Count(got, " DESCRIBE topic *\n") != 1 || d.OK {
			t.Errorf("%s: ok %v, permissions\n%s", c.why, d.OK, got)
		}
		if told := diagnosedText(d); !strings.Contains(told, "group ok-streams is denied as a whole") || !strings.Contains(told, "changelog") {
			t.Errorf("%s: %s", c.why, told)
		}
		if len(d.ACLCommands) != 1 || !strings.HasSuffix(d.ACLCommands[0], " --operation Describe --topic '*'") {
			t.Errorf("%s: grant %q", c.why, d.ACLCommands)
		}
	}
}

// Where all topics may be seen, a rule that denies one is what is left.
func TestDoctorSaysThatARuleDeniesATopicOfAGroup(t *testing.T) {
	allow := func(r kmsg.ACLResourceType) kfake.ACL {
		return kfake.ACL{Resource: r, Name: "*", Pattern: kmsg.ACLResourcePatternTypeLiteral, Operation: kmsg.ACLOperationDescribe, Allow: true}
	}
	b := newBedOn(t, []kgo.Opt{kgo.SASL(plainAuth("admin"))}, kfake.MaxVersions(kversion.FromString("v4.0")), kfake.EnableSASL(), kfake.EnableACLs(), kfake.Superuser("PLAIN", "admin", "admin"),
		kfake.User("PLAIN", "mon", "mon", allow(kmsg.ACLResourceTypeTopic), allow(kmsg.ACLResourceTypeGroup)))
	b.block("app")
	d := diagnose(t, Config{Brokers: b.c.ListenAddrs(), SASL: SASL{Mechanism: "PLAIN", Username: "mon", Password: "mon"}}, DiagnosisOptions{})
	if told := diagnosedText(d); d.OK || !strings.Contains(told, "group app is denied as a whole") || !strings.Contains(told, "a rule denies one of them: kafka-acls --list") || len(d.ACLCommands) > 0 {
		t.Errorf("ok %v\n%s\n%s%q", d.OK, told, rightsText(d), d.ACLCommands)
	}
}

// block makes a streams group that is denied over a topic of its members'.
func (b *bed) block(group string) {
	b.topic("pub", 1)
	b.commit(group, "pub", map[int32]int64{0: 0})
	b.retype(group, collect.TypeStreams)
	b.offer(kmsg.StreamsGroupDescribe)
	b.c.ControlKey(int16(kmsg.StreamsGroupDescribe), func(req kmsg.Request) (kmsg.Response, error, bool) {
		b.c.KeepControl()
		resp := req.ResponseKind().(*kmsg.StreamsGroupDescribeResponse)
		for _, name := range req.(*kmsg.StreamsGroupDescribeRequest).Groups {
			resp.Groups = append(resp.Groups, kmsg.StreamsGroupDescribeResponseGroup{Group: name, ErrorCode: kerr.TopicAuthorizationFailed.Code})
		}
		return resp, nil, true
	})
}
