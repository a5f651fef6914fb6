package kafka

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
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
			if len(d.Brokers) != 3 || d.Cluster.Brokers != 3 || d.Cluster.ID == "" || d.Cluster.Controller == nil || d.Principal.Name != "User:ANONYMOUS" {
				t.Errorf("%+v", d.Cluster)
			}
			for _, b := range d.Brokers {
				if !b.Reached || b.ID == nil || b.TCP == nil || !b.TCP.OK || b.TLS != nil || b.SASL != nil || b.LatencySeconds == nil || !strings.Contains(b.Version, version[1:]) {
					t.Errorf("%+v", b)
				}
			}
			old := version == "v2.4" // has no DescribeTransactions
			want := "*+ DESCRIBE group *\n*+ DESCRIBE topic *\n + DESCRIBE cluster kafka-cluster\n + DESCRIBE_CONFIGS topic *\n + DESCRIBE_CONFIGS cluster kafka-cluster\n" +
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
	const rest = " - DESCRIBE cluster kafka-cluster\n - DESCRIBE_CONFIGS topic %s\n - DESCRIBE_CONFIGS cluster kafka-cluster\n - DESCRIBE transactional_id *\n - READ topic __consumer_offsets\n - READ topic %s\n"
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

// The classic: the bootstrap address answers, what it advertises does not.
func TestDoctorNamesAnAdvertisedAddressThatLeadsNowhere(t *testing.T) {
	nowhere := answering(t, func(net.Conn) {})
	for name, x := range map[string]struct {
		host, stage, says string
		port              int32
	}{
		"no such host":            {"kafka-2.invalid", stageDNS, "kafka-2.invalid:9092, which fails from here: no such host", 9092},
		"nobody listens":          {"127.0.0.1", stageTCP, "connection refused", portOf(t, refusing(t))},
		"something else is there": {"127.0.0.1", stageRequest, "closed the connection", portOf(t, nowhere)},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := kfake.NewCluster(kfake.NumBrokers(2))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			c.ControlKey(int16(kmsg.Metadata), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
				c.KeepControl()
				resp := kreq.ResponseKind().(*kmsg.MetadataResponse)
				for i, addr := range c.ListenAddrs() {
					br := kmsg.NewMetadataResponseBroker()
					br.NodeID, br.Host, br.Port = int32(i), "127.0.0.1", portOf(t, addr)
					if i == 1 {
						br.Host, br.Port = x.host, x.port
					}
					resp.Brokers = append(resp.Brokers, br)
				}
				return resp, nil, true
			})
			d := diagnose(t, Config{Brokers: c.ListenAddrs()[:1]}, DiagnosisOptions{})
			i := slices.IndexFunc(d.Problems, func(p DiagnosedProblem) bool { return p.Stage == x.stage })
			if d.OK || i < 0 || !strings.Contains(d.Problems[i].Error, "broker 1 tells clients to reach it at ") || !strings.Contains(d.Problems[i].Error, x.says) ||
				(x.stage != stageRequest) != strings.Contains(d.Problems[i].Hint, "advertised.listeners") {
				t.Errorf("%s", diagnosedText(d))
			}
			if b := d.Brokers[1]; b.Reached || b.Bootstrap || b.Failed != x.stage || *b.ID != 1 {
				t.Errorf("%+v", b)
			}
		})
	}
}

func refusing(t *testing.T) (addr string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// offering is a broker with these mechanisms, which it tells as Kafka does.
func offering(t *testing.T, mechanisms ...string) (addr string) {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	c.ControlKey(int16(kmsg.SASLHandshake), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		resp := req.ResponseKind().(*kmsg.SASLHandshakeResponse)
		resp.ErrorCode, resp.SupportedMechanisms = kerr.UnsupportedSaslMechanism.Code, mechanisms
		return resp, nil, true
	})
	return c.ListenAddrs()[0]
}

func portOf(t *testing.T, addr string) int32 {
	t.Helper()
	_, port, _ := net.SplitHostPort(addr)
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return int32(n)
}

// Each way that ends tells at which step, and why.
func TestDoctorSaysAtWhichStepAWayEnds(t *testing.T) {
	ca := newPKI(t)
	trusting := TLS{Enabled: true, CA: ca.pem}
	secure := fakeCluster(t, kfake.TLS(ca.server("127.0.0.1", nil)))
	expired := fakeCluster(t, kfake.TLS(ca.server("127.0.0.1", func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-25 * time.Hour) })))
	withLogin := fakeCluster(t, kfake.EnableSASL(), kfake.User("PLAIN", "viewer", "right"))
	refusingLogin := answeringLogin(t, func(r *kmsg.SASLAuthenticateResponse) { r.ErrorCode = kerr.SaslAuthenticationFailed.Code }, kfake.EnableSASL(), kfake.User("PLAIN", "viewer", "right"))
	for _, c := range []struct {
		why, addr, stage, says, hint string
		tls                          TLS
		sasl                         SASL
	}{
		{"no such host", "no-such-host.invalid:9092", stageDNS, "no such host", "check the name", TLS{}, SASL{}},
		{"nobody listens", refusing(t), stageTCP, "connection refused", "is the broker running", TLS{}, SASL{}},
		{"TLS to a plaintext port", kafkaPlaintext(t), stageTLS, "speaks no TLS", "--tls", trusting, SASL{}},
		{"a wrong authority", secure, stageTLS, "an authority that is not known", "--tls-ca", TLS{Enabled: true}, SASL{}},
		{"a certificate out of date", expired, stageTLS, "out of date", "renewed", trusting, SASL{}},
		{"a wrong password", refusingLogin, stageSASL, "refused the login", "--sasl-password", TLS{}, login("PLAIN", "hunter2")},
		{"a mechanism that is not offered", offering(t, "PLAIN"), stageSASL, "does not offer this login mechanism; this listener offers PLAIN", "--sasl-mechanism", TLS{}, login("SCRAM-SHA-512", "hunter2")},
		{"no login where one is wanted", withLogin, stageSASL, "wants a login: it offers PLAIN", "--sasl-mechanism", TLS{}, SASL{}},
	} {
		t.Run(c.why, func(t *testing.T) {
			d := diagnose(t, Config{Brokers: []string{c.addr}, TLS: c.tls, SASL: c.sasl}, DiagnosisOptions{})
			if d.OK || len(d.Problems) != 1 || d.Problems[0].Stage != c.stage || !strings.Contains(d.Problems[0].Error, c.says) || !strings.Contains(d.Problems[0].Hint, c.hint) {
				t.Errorf("ok %v\n%s", d.OK, diagnosedText(d))
			}
			if b := d.Brokers[0]; b.Failed != c.stage || b.Reached || len(d.Permissions) > 0 {
				t.Errorf("%+v", b)
			}
			switch tls := d.Brokers[0].TLS; c.addr {
			case expired:
				if tls.DaysLeft == nil || *tls.DaysLeft != -2 || len(tls.Chain) == 0 || tls.OK {
					t.Errorf("TLS %+v", tls)
				}
			case secure:
				if !slices.Equal(tls.Names, []string{"127.0.0.1"}) || tls.OK || tls.Verified {
					t.Errorf("TLS %+v", tls)
				}
			}
		})
	}
}

// A certificate that will soon be out of date is worth a word, once.
func TestDoctorWarnsOfACertificateThatEndsSoon(t *testing.T) {
	ca := newPKI(t)
	c, err := kfake.NewCluster(kfake.NumBrokers(3), kfake.TLS(ca.server("127.0.0.1", nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	for _, x := range []struct {
		why   string
		after time.Duration
		tls   TLS
		want  int
	}{
		{"it ends within the hour", 0, TLS{Enabled: true, CA: ca.pem}, 1},
		{"a year before", -365 * 24 * time.Hour, TLS{Enabled: true, CA: ca.pem}, 0},
		{"not checked", 0, TLS{Enabled: true, InsecureSkipVerify: true}, 1},
	} {
		d := diagnose(t, Config{Brokers: c.ListenAddrs(), TLS: x.tls}, DiagnosisOptions{Options: Options{Now: func() time.Time { return time.Now().Add(x.after) }}})
		if !d.OK || len(d.Problems) != x.want {
			t.Errorf("%s: ok %v, %s", x.why, d.OK, diagnosedText(d))
		}
		if tls := d.Brokers[0].TLS; !tls.OK || tls.Verified == x.tls.InsecureSkipVerify || tls.Version != "TLS 1.3" {
			t.Errorf("%s: %+v", x.why, tls)
		}
	}
}

// What a client certificate's owner is called, by Kafka's default rule.
func TestPrincipal(t *testing.T) {
	ca := newPKI(t)
	id := ca.issue("client", func(c *x509.Certificate) { c.Subject.OrganizationalUnit = []string{"ops"} })
	for want, c := range map[string]Config{
		"User:ANONYMOUS none":               {},
		"User:viewer sasl":                  {SASL: login("scram-sha-256", "x"), TLS: TLS{Enabled: true, Cert: id.cert, Key: Secret(id.key)}},
		"User:CN=client,OU=ops certificate": {TLS: TLS{Enabled: true, Cert: id.cert, Key: Secret(id.key)}},
		"User:PRINCIPAL ":                   {SASL: SASL{Mechanism: "GSSAPI"}},
	} {
		if p := c.principal(); p.Name+" "+p.From != want {
			t.Errorf("%+v, want %s", p, want)
		}
	}
}

// The policy is filled in as far as a broker's name tells.
func TestPolicyOfAnMSKCluster(t *testing.T) {
	dr := &doctor{checked: []*checkup{{BrokerCheck: BrokerCheck{Address: "b-2-public.orders.a1b2c3.c7.kafka.eu-central-1.amazonaws.com:9198"}}}}
	p := dr.policy([]Permission{{Resource: onTopic, Name: "pay", Pattern: prefixed, Operation: opDescribe}},
		[]Permission{{Resource: onCluster, Name: clusterName, Operation: opDescribeConfigs}, {Resource: onTopic, Name: "*", Operation: opDescribeConfigs, Missing: []string{"a", "b"}}})
	text, _ := json.Marshal(p)
	arn := "arn:aws:kafka:eu-central-1:ACCOUNT:"
	want := `{"Version":"2012-10-17","Statement":[` +
		`{"Sid":"Connect","Effect":"Allow","Action":["kafka-cluster:Connect"],"Resource":["` + arn + `cluster/orders/CLUSTER-UUID"]},` +
		`{"Sid":"NeededDescribeTopic","Effect":"Allow","Action":["kafka-cluster:DescribeTopic"],"Resource":["` + arn + `topic/orders/CLUSTER-UUID/pay*"]},` +
		`{"Sid":"OptionalDescribeClusterDynamicConfiguration","Effect":"Allow","Action":["kafka-cluster:DescribeClusterDynamicConfiguration"],"Resource":["` + arn + `cluster/orders/CLUSTER-UUID"]},` +
		`{"Sid":"OptionalDescribeTopicDynamicConfiguration","Effect":"Allow","Action":["kafka-cluster:DescribeTopicDynamicConfiguration"],"Resource":["` + arn + `topic/orders/CLUSTER-UUID/a","` + arn + `topic/orders/CLUSTER-UUID/b"]}]}`
	if string(text) != want {
		t.Errorf("%s", text)
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
