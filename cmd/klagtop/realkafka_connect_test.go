package main

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/klagtop/klagtop/internal/document"
	"github.com/klagtop/klagtop/internal/kafkatest"
)

// secret stands for a password that must not be seen anywhere.
const secret = "hunter2-the-secret"

// What people do wrong when they connect, against a broker with a listener of
// each kind: one message that says what it is and one hint, at once and not
// after the timeout, exit code 1, no stack trace, no secret. What they do right
// then works, and leaves no trace on a cluster that nobody has used yet.
func TestWaysToConnect(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t, kafkatest.Options{Secure: true})
	s := c.Security()
	one := func(addresses []string) string { return "--brokers=" + addresses[0] }
	ca := "--tls-ca=" + s.CAFile
	login := func(mechanism string) []string {
		return []string{"--sasl-mechanism=" + mechanism, "--sasl-username=" + kafkatest.MonUser}
	}
	t.Run("wrong", func(t *testing.T) {
		passwordFile := write(t, "password", secret)
		wrong := "--sasl-password-file=" + passwordFile
		properties := write(t, "client.properties", "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"+
			`sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="mon" password="`+secret+`";`+"\n")
		for name, x := range map[string]struct {
			args []string
			says string
		}{
			"nobody listens":                {[]string{"--brokers=" + freeAddress(t)}, "connection refused"},
			"no such host":                  {[]string{"--brokers=kafka.invalid:9092"}, "kafka.invalid"},
			"a web server":                  {[]string{"--brokers=" + webServer(t)}, "an HTTP server answers there"},
			"wrong password":                {append(login("PLAIN"), one(s.SASLPlaintext()), wrong), "refused the login"},
			"wrong password in a Java file": {[]string{one(s.SASLPlaintext()), "--command-config=" + properties}, "refused the login"},
			"wrong password over TLS":       {append(login("PLAIN"), one(s.SASLSSL()), ca, wrong), "refused the login"},
			"no login":                      {[]string{one(s.SASLPlaintext())}, "most likely wants a login"},
			"a login where none is wanted":  {append(login("PLAIN"), one(c.Brokers()), wrong), "expects no login"},
			"TLS to a plaintext port":       {[]string{one(c.Brokers()), ca}, "speaks no TLS"},
			"plaintext to a TLS port":       {[]string{one(s.SSL())}, "speaks TLS"},
			"an unknown authority":          {[]string{one(s.SSL()), "--tls"}, "an authority that is not known"},
			"a wrong name":                  {[]string{one(s.SSL()), ca, "--tls-server-name=nope.example"}, "not for nope.example"},
			"no client certificate":         {[]string{one(s.MTLS()), ca}, "refused this client's certificate"},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				// The timeout is longer than klagtop's run may last.
				o := klagtop(t, append([]string{"describe", "--timeout=10m"}, x.args...)...)
				if o.code != 1 || o.stdout != "" {
					t.Errorf("exit code %d, output %q", o.code, o.stdout)
				}
				if lines := strings.Split(strings.TrimSpace(o.stderr), "\n"); len(lines) != 2 || !strings.HasPrefix(lines[0], "klagtop: error: cannot reach the cluster: ") ||
					!strings.Contains(lines[0], x.says) || !strings.HasPrefix(lines[1], "klagtop: hint: ") {
					t.Errorf("an error that says %q and a hint are wanted:\n%s", x.says, o.stderr)
				}
				if strings.Contains(o.stderr, secret) || regexp.MustCompile(`goroutine \d|panic:|\.go:\d`).MatchString(o.stderr) {
					t.Errorf("secrets and stack traces are no messages:\n%s", o.stderr)
				}
			})
		}
	})

	t.Run("right", func(t *testing.T) {
		right := "--sasl-password-file=" + write(t, "password", kafkatest.MonPassword+"\n")
		scram := "PLAIN"
		if c.AtLeast(3, 5) { // KRaft had no SCRAM before
			scram = "SCRAM-SHA-512"
		}
		for name, args := range map[string][]string{
			"plaintext":         {"list", one(c.Brokers())},
			"TLS":               {"describe", "-o=json", one(s.SSL()), ca},
			"a login":           append(login("PLAIN"), "describe", "--state", "--members", "--offsets", one(s.SASLPlaintext()), right),
			"a login over TLS":  append(login(scram), "check", "--group=*", "--max-lag=0", one(s.SASLSSL()), ca, right),
			"a certificate":     {"list", "-o=json", one(s.MTLS()), ca, "--tls-cert=" + s.ClientCertFile, "--tls-key=" + s.ClientKeyFile},
			"a Java properties": {"list", one(s.SSL()), "--command-config=" + write(t, "client.properties", "security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.location="+s.CAFile+"\n")},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				if o := klagtop(t, append(args, "--timeout=1m")...); o.code != 0 || strings.Contains(o.stderr, "error") {
					t.Errorf("exit code %d: %s", o.code, o.stderr)
				}
			})
		}
	})

	// FindCoordinator and a careless Metadata would create topics.
	w := watch(t, "--brokers", c.Bootstrap(), "--interval=100ms", "--group=ticker")
	for range 3 {
		n := len(w.seen())
		w.until(t, "another poll", func(d *document.Document) bool { n--; return n < 0 && d.Complete })
	}
	topics, err := kadm.NewClient(c.Client(t)).ListTopicsWithInternal(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if names := topics.Names(); len(names) != 0 {
		t.Errorf("klagtop has created the topics %v", slices.Sorted(slices.Values(names)))
	}
}

// write writes a file of the test's own.
func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// webServer answers what is no HTTP as most web servers do.
func webServer(t testing.TB) (address string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 1024))
			_, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 11\r\n\r\nBad Request"))
			_ = c.Close()
		}
	}()
	return l.Addr().String()
}
