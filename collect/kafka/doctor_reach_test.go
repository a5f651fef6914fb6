package kafka

import (
	"crypto/x509"
	"encoding/json"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

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
			if b := d.Brokers[0]; b.Failed != c.stage || b.Reached || len(d.Permissions) > 0 || d.Cluster.Brokers != nil {
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
