package kafka

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/klagtop/klagtop/collect"
)

// diagnose runs a doctor that may take long: what it takes is not the matter.
func diagnose(t *testing.T, c Config, o DiagnosisOptions) *Diagnosis {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	d, err := Diagnose(ctx, c, o)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "hunter2") {
		t.Errorf("the password is in %s", text)
	}
	return d
}

// rightsText is the permissions, one a line: needed ones with a star, granted,
// denied or not known as + - ?.
func rightsText(d *Diagnosis) string {
	var b strings.Builder
	for _, p := range d.Permissions {
		sign := "?"
		if p.Granted != nil {
			sign = cond(*p.Granted, "+", "-")
		}
		fmt.Fprintf(&b, "%s%s %s %s %s", cond(p.Needed, "*", " "), sign, p.Operation, p.Resource, p.Name)
		if p.Pattern == prefixed {
			b.WriteString("...")
		}
		if len(p.Missing) > 0 {
			fmt.Fprintf(&b, " but %s", strings.Join(p.Missing, ","))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func diagnosedText(d *Diagnosis) string {
	var out []string
	for _, p := range d.Problems {
		out = append(out, fmt.Sprintf("%s %s: %s | %s", p.Severity, p.Stage, p.Error, p.Hint))
	}
	return strings.Join(out, "\n")
}

func filterOf(t *testing.T, groups, topics []string) (f collect.Filter) {
	t.Helper()
	for _, kind := range []struct {
		texts []string
		into  *[]collect.Pattern
	}{{groups, &f.Groups}, {topics, &f.Topics}} {
		for _, text := range kind.texts {
			p, err := collect.ParsePattern(text)
			if err != nil {
				t.Fatal(err)
			}
			*kind.into = append(*kind.into, p)
		}
	}
	return f
}

func TestDoctorOnAClusterWhereAllIsWell(t *testing.T) {
	for _, version := range []string{"v2.4", "v3.9", "v4.0"} {
		t.Run(version, func(t *testing.T) {
			c, err := kfake.NewCluster(kfake.NumBrokers(3), kfake.SeedTopics(2, "market-updates"), kfake.MaxVersions(kversion.FromString(version)))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			d := diagnose(t, Config{Brokers: c.ListenAddrs()[:1]}, DiagnosisOptions{})
			if !d.OK || len(d.Problems) > 0 || len(d.ACLCommands)+len(d.OptionalACLCommands) > 0 || d.MSKPolicy != nil {
				t.Errorf("ok %v, problems %s", d.OK, diagnosedText(d))
			}
			if len(d.Brokers) != 3 || d.Cluster.Brokers == nil || *d.Cluster.Brokers != 3 || d.Cluster.ID == "" || d.Cluster.Controller == nil || d.Principal.Name != "User:ANONYMOUS" {
				t.Errorf("%+v", d.Cluster)
			}
			for _, b := range d.Brokers {
				if !b.Reached || b.ID == nil || b.TCP == nil || !b.TCP.OK || b.TLS != nil || b.SASL != nil || b.LatencySeconds == nil || !strings.Contains(b.Version, version[1:]) {
					t.Errorf("%+v", b)
				}
			}
			old := version == "v2.4" // has no DescribeTransactions
			want := "*+ DESCRIBE group *\n*+ DESCRIBE topic *\n + DESCRIBE cluster kafka-cluster\n + DESCRIBE_CONFIGS topic *\n" +
				cond(old, " ?", " +") + " DESCRIBE transactional_id *\n ? READ topic __consumer_offsets\n + READ topic *\n"
			if got := rightsText(d); got != want {
				t.Errorf("permissions\n%s", got)
			}
		})
	}
}

// The commands grant what is missing for what is asked for, and no more.
func TestDoctorNamesWhatIsMissingAndWhatGrantsIt(t *testing.T) {
	b := newLimitedBed(t)
	b.topic("pub", 1)
	b.topic("secret", 1)
	b.commit("ok-1", "pub", map[int32]int64{0: 0})
	b.commit("ok-2", "secret", map[int32]int64{0: 0})
	b.commit("other", "pub", map[int32]int64{0: 0})
	cfg := Config{Brokers: b.c.ListenAddrs(), SASL: SASL{Mechanism: "PLAIN", Username: "lim", Password: "lim"}}
	const rest = " - DESCRIBE cluster kafka-cluster\n - DESCRIBE_CONFIGS topic %s\n - DESCRIBE transactional_id *\n - READ topic __consumer_offsets\n - READ topic %s\n"
	command := "kafka-acls --bootstrap-server " + b.c.ListenAddrs()[0] + " --command-config admin.properties --add --allow-principal User:lim --operation Describe "
	for name, c := range map[string]struct {
		groups, topics []string
		want, topicRow string
		grant          []string
		action         string
	}{
		"all is asked for": {
			nil, nil, "*- DESCRIBE group *\n*- DESCRIBE topic *\n", "*",
			[]string{command + "--group '*' --topic '*'"},
			"NeededDescribeGroup arn:aws:kafka:REGION:ACCOUNT:group/CLUSTER/CLUSTER-UUID/*",
		},
		"what may be seen is asked for": {
			[]string{"ok*"}, []string{"pub"}, "*+ DESCRIBE group ok...\n*+ DESCRIBE topic pub\n", "pub", []string{}, "",
		},
		"a name and a prefix that may not be seen": {
			[]string{"other", "it's-*"},
			[]string{"sec*"},
			"*- DESCRIBE group other\n*- DESCRIBE group it's-...\n*- DESCRIBE topic sec...\n", "sec...",
			[]string{command + "--group other", command + `--resource-pattern-type prefixed --group 'it'\''s-' --topic sec`},
			"NeededDescribeTopic arn:aws:kafka:REGION:ACCOUNT:topic/CLUSTER/CLUSTER-UUID/sec*",
		},
		"a regular expression is all": {[]string{"/^ok/"}, []string{"pub"}, "*- DESCRIBE group *\n*+ DESCRIBE topic pub\n", "pub", []string{command + "--group '*'"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := diagnose(t, cfg, DiagnosisOptions{Options: Options{Filter: filterOf(t, c.groups, c.topics)}})
			if d.OK != (len(c.grant) == 0) {
				t.Errorf("ok %v: %s", d.OK, diagnosedText(d))
			}
			want := c.want + fmt.Sprintf(rest, c.topicRow, c.topicRow)
			if c.topicRow == "sec..." { // no such topic is seen, so nobody can say
				want = strings.NewReplacer("- DESCRIBE_CONFIGS topic", "? DESCRIBE_CONFIGS topic", "- READ topic sec", "? READ topic sec").Replace(want)
			}
			if got := rightsText(d); got != want {
				t.Errorf("permissions\n%s want\n%s", got, want)
			}
			if !slices.Equal(d.ACLCommands, c.grant) {
				t.Errorf("grant\n%s", strings.Join(d.ACLCommands, "\n"))
			}
			policy, _ := json.Marshal(d.MSKPolicy)
			if sid, arn, _ := strings.Cut(c.action, " "); !strings.Contains(string(policy), `"`+sid) || !strings.Contains(string(policy), arn) {
				t.Errorf("policy %s", policy)
			}
			accepted := diagnose(t, cfg, DiagnosisOptions{Options: Options{Filter: filterOf(t, c.groups, c.topics)}, AcceptDenied: true})
			if !accepted.OK {
				t.Errorf("not ok although what is denied is not missed: %s", diagnosedText(accepted))
			}
		})
	}
}

// A topic that the selected group's commits or members tell of is needed, and
// named by itself.
func TestDoctorNamesTheTopicsOfTheSelectedGroups(t *testing.T) {
	b := newLimitedBed(t)
	b.topic("pub", 1)
	b.topic("secret", 1)
	b.commit("ok-1", "secret", map[int32]int64{0: 0})
	cfg := Config{Brokers: b.c.ListenAddrs(), SASL: SASL{Mechanism: "PLAIN", Username: "lim", Password: "lim"}}
	d := diagnose(t, cfg, DiagnosisOptions{Options: Options{Filter: filterOf(t, []string{"ok-1"}, nil)}})
	got := rightsText(d)
	if want := "*+ DESCRIBE group ok-1\n - DESCRIBE topic *\n*- DESCRIBE topic secret\n"; !strings.HasPrefix(got, want) || d.OK {
		t.Errorf("ok %v, permissions\n%s", d.OK, got)
	}
	if len(d.ACLCommands) != 1 || !strings.HasSuffix(d.ACLCommands[0], " --operation Describe --topic secret") {
		t.Errorf("grant %q", d.ACLCommands)
	}
}

// Where a rule denies one name, the grant alone does not mend it.
func TestDoctorHintsAtARuleThatDenies(t *testing.T) {
	acl := func(r kmsg.ACLResourceType, name string, allow bool) kfake.ACL {
		return kfake.ACL{Resource: r, Name: name, Pattern: kmsg.ACLResourcePatternTypeLiteral, Operation: kmsg.ACLOperationDescribe, Allow: allow}
	}
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.MaxVersions(kversion.FromString("v4.0")), kfake.EnableSASL(), kfake.EnableACLs(), kfake.Superuser("PLAIN", "admin", "admin"),
		kfake.User("PLAIN", "mon", "mon", acl(kmsg.ACLResourceTypeTopic, "*", true), acl(kmsg.ACLResourceTypeGroup, "*", true), acl(kmsg.ACLResourceTypeTopic, "secret", false)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	b := &bed{T: t, c: c}
	b.cl = b.client(kgo.SASL(plainAuth("admin")))
	t.Cleanup(b.cl.Close)
	b.topic("secret", 1)
	b.commit("ticker", "secret", map[int32]int64{0: 0})
	d := diagnose(t, Config{Brokers: c.ListenAddrs(), SASL: SASL{Mechanism: "PLAIN", Username: "mon", Password: "mon"}}, DiagnosisOptions{})
	if d.OK || len(d.Problems) != 1 || !strings.HasPrefix(d.Problems[0].Error, "User:mon may not describe topic secret: ") || !strings.HasSuffix(d.Problems[0].Hint, "kafka-acls --list --topic secret") {
		t.Errorf("ok %v\n%s\n%s", d.OK, diagnosedText(d), rightsText(d))
	}
}

// Only what is proved is said of a broker's clock.
func TestDoctorSaysOfClocksWhatCommitsProve(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	for _, x := range []struct {
		why           string
		first, second int64 // age of the newest commit in ms when we look, below zero in our future
		same          bool
		least, most   float64
		warns         bool
	}{
		{"an old commit proves nothing", 3_600_000, 3_600_000, true, -3600, 0, false},
		{"a commit from the future: the clock is ahead", -60_000, -60_000, true, 60, 0, true},
		{"a new commit bounds it from both sides", 2_000, 100, false, -0.1, -0.1, false},
		{"a new commit that is old already: the clock is behind", 90_000, 60_000, false, -60, -60, true},
	} {
		c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, offsetsTopicName))
		if err != nil {
			t.Fatal(err)
		}
		asked := 0
		c.ControlKey(int16(kmsg.ListOffsets), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
			c.KeepControl()
			req := kreq.(*kmsg.ListOffsetsRequest)
			if req.Topics[0].Topic != offsetsTopicName || req.Topics[0].Partitions[0].Timestamp != collect.TimestampNewest {
				return nil, nil, false
			}
			resp := req.ResponseKind().(*kmsg.ListOffsetsResponse)
			rt := kmsg.NewListOffsetsResponseTopic()
			rt.Topic = offsetsTopicName
			p := kmsg.NewListOffsetsResponseTopicPartition()
			p.Offset, p.Timestamp = 5, now.UnixMilli()-x.first
			if asked++; asked > 1 && !x.same {
				p.Offset, p.Timestamp = 6, now.UnixMilli()-x.second
			}
			rt.Partitions = append(rt.Partitions, p)
			resp.Topics = append(resp.Topics, rt)
			return resp, nil, true
		})
		d := diagnose(t, Config{Brokers: c.ListenAddrs()}, DiagnosisOptions{Options: Options{Now: func() time.Time { return now }}})
		c.Close()
		clock := d.Brokers[0].Clock
		if clock == nil || clock.AheadAtLeastSeconds == nil || *clock.AheadAtLeastSeconds != x.least || (clock.AheadAtMostSeconds == nil) != x.same ||
			!x.same && *clock.AheadAtMostSeconds != x.most || (len(d.Problems) > 0) != x.warns || !d.OK {
			t.Errorf("%s: %+v, %s", x.why, clock, diagnosedText(d))
		}
	}
}
