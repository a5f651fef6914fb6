package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/klagtop/klagtop/collect/kafka"
	"github.com/klagtop/klagtop/internal/document"
	"github.com/klagtop/klagtop/internal/kafkatest"
)

// lockedKafka is a broker with an authorizer, and groups on a topic that
// everybody here may see and on one that only some may.
func lockedKafka(t *testing.T) *kafkatest.Cluster {
	t.Helper()
	c := kafkatest.Start(t, kafkatest.Options{Secure: true})
	for _, topic := range []string{"pub", "secret"} {
		c.CreateTopic(t, topic, 2)
		c.Produce(t, topic, 10, 0, 1)
	}
	both := []string{"pub", "secret"}
	c.Commit(t, "ok-solo", "pub", map[int32]int64{0: 4})
	c.Commit(t, "ok-away", "secret", map[int32]int64{0: 4})
	c.Commit(t, "hidden", "pub", map[int32]int64{0: 4})
	members := []*kafkatest.Client{c.JavaConsumer(t, kafkatest.ConsumerOptions{Group: "ok-classic", Topics: both, ClientID: "pod-1", Max: 1, Commit: 100 * time.Millisecond})}
	if c.AtLeast(4, 0) {
		members = append(members, c.JavaConsumer(t, kafkatest.ConsumerOptions{Group: "ok-quotes", Topics: both, ClientID: "pod-2", Protocol: "consumer", Max: 1, Commit: 100 * time.Millisecond}))
	}
	if c.AtLeast(4, 2) {
		queue := c.Client(t, kgo.ShareGroup("ok-queue"), kgo.ConsumeTopics(both...), kgo.ClientID("pod-3"))
		go func() {
			for !queue.PollFetches(t.Context()).IsClientClosed() && t.Context().Err() == nil {
			}
		}()
		c.JavaStreams(t, kafkatest.StreamsOptions{App: "ok-streams", Topics: both, Protocol: "streams"})
	}
	for _, m := range members {
		m.WaitAssigned(t, 4)
		m.WaitCommitted(t, 1)
	}
	if c.AtLeast(4, 2) {
		mon := as(t, c, kafkatest.MonUser, kafkatest.MonPassword)
		eventually(t, func() error { // their members are there
			d, err := document.Decode(strings.NewReader(klagtop(t, append([]string{"describe", "-o=json"}, mon...)...).stdout))
			if err != nil {
				return err
			}
			for _, name := range []string{"ok-queue", "ok-streams"} {
				if g := group(d, name); g == nil || g.State != "Stable" || g.Assignment.Assigned == nil || *g.Assignment.Assigned < 4 {
					return fmt.Errorf("%s is not at work: %+v", name, g)
				}
			}
			return nil
		})
	}
	return c
}

// as logs in over TLS.
func as(t *testing.T, c *kafkatest.Cluster, user, password string) []string {
	mechanism := "PLAIN"
	if c.AtLeast(3, 5) { // KRaft had no SCRAM before
		mechanism = "SCRAM-SHA-512"
	}
	return []string{
		"--brokers=" + c.Security().SASLSSL()[0], "--tls-ca=" + c.Security().CAFile, "--timeout=1m",
		"--sasl-mechanism=" + mechanism, "--sasl-username=" + user, "--sasl-password-file=" + write(t, "password", password),
	}
}

// What one user may see, what another may not, and what each is told of it; and
// that one who may describe everything leaves no denial in the authorizer's log.
func TestPermissions(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a Kafka and two consumers")
	}
	t.Parallel()
	c := lockedKafka(t)
	mon := as(t, c, kafkatest.MonUser, kafkatest.MonPassword)
	lim := as(t, c, kafkatest.LimUser, kafkatest.LimPassword)
	nobody := as(t, c, kafkatest.NilUser, kafkatest.NilPassword)

	t.Run("a run of every command leaves no denial", func(t *testing.T) { runEverything(t, c, mon) })
	t.Run("what is denied is shown as denied", func(t *testing.T) { showsDenied(t, c, lim) })
	if len(c.Denials(t, kafkatest.LimUser)) == 0 {
		t.Error("the authorizer's log tells of no denial at all: that of mon proves nothing")
	}
	t.Run("nothing may be seen", func(t *testing.T) {
		o := klagtop(t, append([]string{"describe", "-o=json"}, nobody...)...)
		d, err := document.Decode(strings.NewReader(o.stdout))
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Groups) != 0 || isTrue(d.Cluster.SeesAllGroups) || isTrue(d.Cluster.SeesAllTopics) {
			t.Errorf("%s", o.stdout)
		}
		o = klagtop(t, append([]string{"describe", "-o=json", "--group=ok-classic"}, nobody...)...)
		if o.code != 1 || !strings.Contains(o.stdout, `"reason":"denied"`) || strings.Contains(o.stderr, "there is no group") {
			t.Errorf("exit code %d: %s%s", o.code, o.stdout, o.stderr)
		}
	})
	t.Run("doctor", func(t *testing.T) {
		checkDoctor(t, mon, true, "+group:*:DESCRIBE +topic:*:DESCRIBE -cluster:kafka-cluster:DESCRIBE -topic:*:DESCRIBE_CONFIGS "+
			"-transactional_id:*:DESCRIBE -topic:__consumer_offsets:READ -topic:*:READ")
		checkDoctor(t, lim, false, "-group:*:DESCRIBE -topic:*:DESCRIBE -cluster:kafka-cluster:DESCRIBE -topic:*:DESCRIBE_CONFIGS "+
			"-transactional_id:*:DESCRIBE -topic:__consumer_offsets:READ -topic:*:READ")
		blocked := "" // ok-quotes is, over the topic secret
		if c.AtLeast(4, 0) {
			blocked = "-topic:*:DESCRIBE "
		}
		checkDoctor(t, append(lim, "--group=ok-*", "--topic=pub"), blocked == "", "+group:ok-:DESCRIBE +topic:pub:DESCRIBE "+blocked+"-cluster:kafka-cluster:DESCRIBE -topic:pub:DESCRIBE_CONFIGS "+
			"-transactional_id:*:DESCRIBE -topic:__consumer_offsets:READ -topic:pub:READ")
		checkDoctor(t, nobody, false, "-group:*:DESCRIBE -topic:*:DESCRIBE -cluster:kafka-cluster:DESCRIBE ?topic:*:DESCRIBE_CONFIGS "+
			"-transactional_id:*:DESCRIBE -topic:__consumer_offsets:READ ?topic:*:READ")
		admin := []string{"--brokers=" + c.Brokers()[0], "--timeout=1m"}
		d := checkDoctor(t, admin, true, "+group:*:DESCRIBE +topic:*:DESCRIBE +cluster:kafka-cluster:DESCRIBE +topic:*:DESCRIBE_CONFIGS "+
			"+transactional_id:*:DESCRIBE +topic:__consumer_offsets:READ +topic:*:READ")
		if clock := d.Brokers[0].Clock; c.AtLeast(3, 0) && (clock == nil || clock.AheadAtLeastSeconds == nil || *clock.AheadAtLeastSeconds > 0.1) {
			t.Errorf("clock %+v", clock)
		}
		if v := d.Brokers[0].Version; !strings.HasPrefix(c.Version(), v) {
			t.Errorf("Kafka %s taken for %q", c.Version(), v)
		}
	})
	t.Run("what doctor prints grants what was missing", func(t *testing.T) { grantsWhatItSays(t, c, nobody) })
}

// runEverything runs each command as its users do, but the doctor: it asks for
// what may be denied.
func runEverything(t *testing.T, c *kafkatest.Cluster, login []string) {
	before := len(c.Denials(t, kafkatest.MonUser))
	everyCommand("ok-classic").run(t, login, "doctor")
	if denials := c.Denials(t, kafkatest.MonUser); len(denials) != before {
		t.Errorf("%d denials: %s", len(denials)-before, strings.Join(denials, "\n"))
	}
}

func isTrue(b *bool) bool { return b == nil || *b }

// showsDenied is what a user sees who may describe groups that begin with ok-
// and the topic pub.
func showsDenied(t *testing.T, c *kafkatest.Cluster, login []string) {
	o := klagtop(t, append([]string{"describe", "-o=json"}, login...)...)
	d, err := document.Decode(strings.NewReader(o.stdout))
	if err != nil {
		t.Fatal(err)
	}
	if o.code != 1 || d.Complete || isTrue(d.Cluster.SeesAllGroups) || isTrue(d.Cluster.SeesAllTopics) || !strings.Contains(o.stderr, "klagtop: error: ") {
		t.Errorf("exit code %d, complete %v, %s", o.code, d.Complete, o.stderr)
	}
	if group(d, "hidden") != nil {
		t.Error("a group that may not be described is there")
	}
	if g := group(d, "ok-solo"); g == nil || g.Lag.Records == nil || *g.Lag.Records != 6 || !g.Lag.Complete {
		t.Errorf("ok-solo: %+v", g)
	}
	g := group(d, "ok-classic")
	if g == nil || g.Lag.Complete || g.Lag.Known != 2 || g.Lag.Unknown != 2 || g.Reason != "" {
		t.Fatalf("ok-classic: %+v", g)
	}
	for _, p := range g.Partitions {
		denied := p.Topic == "secret"
		if denied != (p.Status == "unknown" && p.Reason == "denied" && p.Lag == nil && p.MemberID != "") {
			t.Errorf("ok-classic: %+v", p)
		}
	}
	if g := group(d, "ok-quotes"); c.AtLeast(4, 0) && (g == nil || g.Reason != "denied" || g.State != "Stable" || g.Type != "consumer" || g.Lag.Complete || g.Assignment.Members != nil) {
		t.Errorf("ok-quotes: %+v", g)
	}
	for _, name := range []string{"ok-queue", "ok-streams"} {
		g := group(d, name)
		if !c.AtLeast(4, 2) {
			break
		}
		if g == nil || g.Reason != "denied" || g.State != "Stable" || g.Lag.Complete || g.Lag.SecondsMethod == "exact" || g.Assignment.Members != nil {
			t.Fatalf("%s: %+v", name, g)
		}
		for _, p := range g.Partitions { // what is told without a describe
			if p.Topic != "pub" || p.MemberID != "" {
				t.Errorf("%s: %+v", name, p)
			}
		}
	}
	_, terminal, screen := onScreen(t, login...)
	screen.until(t, "what may be hidden", func(text string) bool { return strings.Contains(text, "not all groups visible") })
	_, _ = terminal.WriteString("q")
	if o := klagtop(t, append([]string{"describe", "-o=json", "--accept-denied"}, login...)...); o.code != 0 || !strings.Contains(o.stdout, `"complete":true`) {
		t.Errorf("with --accept-denied: exit code %d, %s", o.code, o.stderr)
	}
	// a topic that may not be described is neither empty nor absent
	if o := klagtop(t, append([]string{"describe", "--topic=secret", "--group=ok-away"}, login...)...); o.code != 1 || !strings.Contains(o.stderr, "topic secret") {
		t.Errorf("--topic secret: exit code %d, %s", o.code, o.stderr)
	}
	if o := klagtop(t, append([]string{"describe", "--topic=nosuch", "--group=ok-solo"}, login...)...); !strings.Contains(o.stderr, "topic nosuch") {
		t.Errorf("a name that may not be asked for is denied, whether there is such a topic or not: exit code %d, %s", o.code, o.stderr)
	}
	page := klagtop(t, append([]string{"describe", "-o=prom"}, login...)...).stdout
	for _, sample := range []string{`klagtop_sees_all{kafka_cluster="default",what="groups"} 0`, `klagtop_sees_all{kafka_cluster="default",what="topics"} 0`, `what="topics"} 1`, `klagtop_poll_complete{kafka_cluster="default"} 0`} {
		if !strings.Contains(page, sample) {
			t.Errorf("the page has no %s", sample)
		}
	}
}

// checkDoctor runs the doctor and compares what it says of permissions.
func checkDoctor(t *testing.T, login []string, ok bool, want string) *kafka.Diagnosis {
	t.Helper()
	o := klagtop(t, append([]string{"doctor", "-o=json"}, login...)...)
	var d kafka.Diagnosis
	if err := json.Unmarshal([]byte(o.stdout), &d); err != nil {
		t.Fatalf("%v: %s%s", err, o.stdout, o.stderr)
	}
	var got []string
	for _, p := range d.Permissions {
		sign := "?"
		if p.Granted != nil {
			sign = map[bool]string{true: "+", false: "-"}[*p.Granted]
		}
		got = append(got, sign+p.Resource+":"+p.Name+":"+p.Operation)
	}
	if strings.Join(got, " ") != want {
		t.Errorf("%v: permissions\n%s want\n%s", login[4:], strings.Join(got, " "), want)
	}
	if d.OK != ok || (o.code == 0) != ok || (strings.Contains(o.stderr, "klagtop: error: ") == ok) {
		t.Errorf("%v: ok %v, exit code %d: %s", login[4:], d.OK, o.code, o.stderr)
	}
	return &d
}

// grantsWhatItSays runs the commands that the doctor prints for what is needed,
// and asks it again.
func grantsWhatItSays(t *testing.T, c *kafkatest.Cluster, login []string) {
	o := klagtop(t, append([]string{"doctor", "-o=json"}, login...)...)
	var d kafka.Diagnosis
	if err := json.Unmarshal([]byte(o.stdout), &d); err != nil {
		t.Fatal(err)
	}
	if len(d.ACLCommands) != 1 {
		t.Fatalf("commands %q", d.ACLCommands)
	}
	line := strings.NewReplacer("kafka-acls --bootstrap-server "+c.Security().SASLSSL()[0]+" --command-config admin.properties ", "", "'", "").Replace(d.ACLCommands[0])
	c.ACLs(t, strings.Fields(line)...)
	eventually(t, func() error {
		o := klagtop(t, append([]string{"doctor"}, login...)...)
		if o.code != 0 || strings.Contains(o.stdout, "NO ") {
			return fmt.Errorf("exit code %d: %s%s", o.code, o.stdout, o.stderr)
		}
		return nil
	})
}
