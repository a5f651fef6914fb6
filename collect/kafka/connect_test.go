package kafka

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func fakeCluster(t *testing.T, opts ...kfake.Opt) (addr string) {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c.ListenAddrs()[0]
}

func client(t *testing.T, c Config) *kgo.Client {
	t.Helper()
	opts, err := c.options()
	if err != nil {
		t.Fatalf("options: %v", err)
	}
	cl, err := kgo.NewClient(opts...)
	if err != nil {
		t.Fatalf("NewClient: %v", err)
	}
	t.Cleanup(cl.Close)
	return cl
}

// ping connects once. The limit is far above what any of it takes.
func ping(t *testing.T, c Config) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	return client(t, c).Ping(ctx)
}

func login(mechanism, password string) SASL {
	return SASL{Mechanism: mechanism, Username: "viewer", Password: Secret(password)}
}

func TestConnects(t *testing.T) {
	ca := newPKI(t)
	caFile := writeFile(t, "ca.pem", ca.pem)
	client := ca.issue("client", nil)
	both := writeFile(t, "client.pem", client.key+client.cert)

	plaintext := fakeCluster(t)
	secure := fakeCluster(t, kfake.TLS(ca.server("127.0.0.1", nil)))
	otherName := fakeCluster(t, kfake.TLS(ca.server("kafka.example", nil)))
	mutualTLS := ca.server("127.0.0.1", nil)
	mutualTLS.ClientAuth, mutualTLS.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
	mutualTLS.ClientCAs.AddCert(ca.cert)
	mutual := fakeCluster(t, kfake.TLS(mutualTLS))
	users := []kfake.Opt{
		kfake.EnableSASL(), kfake.User("PLAIN", "viewer", "plain pass"),
		kfake.User("SCRAM-SHA-256", "viewer", "pass 256"), kfake.User("SCRAM-SHA-512", "viewer", "pass 512"),
	}
	withLogin := fakeCluster(t, users...)
	secureLogin := fakeCluster(t, append(users, kfake.TLS(ca.server("127.0.0.1", nil)))...)

	for _, c := range []struct {
		why  string
		addr string
		tls  TLS
		sasl SASL
	}{
		{"plaintext", plaintext, TLS{}, SASL{}},
		{"TLS with the authority in a file", secure, TLS{Enabled: true, CAFile: caFile}, SASL{}},
		{"TLS with the authority in the configuration", secure, TLS{Enabled: true, CA: ca.pem}, SASL{}},
		{"TLS with the authority on one line, as Java reads it", secure, TLS{Enabled: true, CA: strings.ReplaceAll(ca.pem, "\n", " ")}, SASL{}},
		{"TLS without any check", secure, TLS{Enabled: true, InsecureSkipVerify: true}, SASL{}},
		{"TLS to a certificate of another name that is expected", otherName, TLS{Enabled: true, CAFile: caFile, ServerName: "kafka.example"}, SASL{}},
		{"TLS without a check of the name", otherName, TLS{Enabled: true, CAFile: caFile, NoNameCheck: true}, SASL{}},
		{"mutual TLS, certificate and key in one file", mutual, TLS{Enabled: true, CAFile: caFile, CertFile: both, KeyFile: both}, SASL{}},
		{"mutual TLS, certificate and key in the configuration", mutual, TLS{Enabled: true, CAFile: caFile, Cert: client.cert, Key: Secret(client.key)}, SASL{}},
		{"PLAIN", withLogin, TLS{}, login("PLAIN", "plain pass")},
		{"mechanism in small letters", withLogin, TLS{}, login("plain", "plain pass")},
		{"SCRAM-SHA-256", withLogin, TLS{}, login("SCRAM-SHA-256", "pass 256")},
		{"SCRAM-SHA-512", withLogin, TLS{}, login("SCRAM-SHA-512", "pass 512")},
		{"SCRAM over TLS", secureLogin, TLS{Enabled: true, CAFile: caFile}, login("SCRAM-SHA-512", "pass 512")},
		{"password in a file with a line break", withLogin, TLS{}, SASL{Mechanism: "PLAIN", Username: "viewer", PasswordFile: writeFile(t, "pass", "plain pass\r\n")}},
	} {
		t.Run(c.why, func(t *testing.T) {
			if err := ping(t, Config{Brokers: []string{c.addr}, TLS: c.tls, SASL: c.sasl}); err != nil {
				m, h := Explain(err)
				t.Errorf("%v\nerror: %s\nhint: %s", err, m, h)
			}
		})
	}
}

// kafkaPlaintext answers TLS as a plaintext port of a real broker does: it closes the connection when the first four bytes
// make no sense as a size. (The fake broker waits for the rest.)
func kafkaPlaintext(t *testing.T) (addr string) {
	t.Helper()
	return answering(t, func(conn net.Conn) { _, _ = conn.Read(make([]byte, 4)) })
}

// answering listens, and closes each connection after answer returns.
func answering(t *testing.T, answer func(net.Conn)) (addr string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			answer(conn)
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = ln.Close(); <-done })
	return ln.Addr().String()
}

// answeringHandshake is a broker that refuses the first step of a login.
func answeringHandshake(t *testing.T, refusal *kerr.Error) (addr string) {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	c.ControlKey(int16(kmsg.SASLHandshake), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		resp := req.ResponseKind().(*kmsg.SASLHandshakeResponse)
		resp.ErrorCode = refusal.Code
		return resp, nil, true
	})
	return c.ListenAddrs()[0]
}

// answeringLogin is a broker that gives its own answer to each login.
func answeringLogin(t *testing.T, answer func(*kmsg.SASLAuthenticateResponse), opts ...kfake.Opt) (addr string) {
	t.Helper()
	c, err := kfake.NewCluster(append(opts, kfake.NumBrokers(1))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	c.ControlKey(int16(kmsg.SASLAuthenticate), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		resp := req.ResponseKind().(*kmsg.SASLAuthenticateResponse)
		answer(resp)
		return resp, nil, true
	})
	return c.ListenAddrs()[0]
}

func TestExplainsWhyItCannotConnect(t *testing.T) {
	ca := newPKI(t)
	caFile := writeFile(t, "ca.pem", ca.pem)
	trusting := TLS{Enabled: true, CAFile: caFile}
	stranger := newPKI(t).issue("stranger", nil)

	secure := fakeCluster(t, kfake.TLS(ca.server("127.0.0.1", nil)))
	otherName := fakeCluster(t, kfake.TLS(ca.server("kafka.example", nil)))
	expired := fakeCluster(t, kfake.TLS(ca.server("127.0.0.1", func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) })))
	mutualTLS := ca.server("127.0.0.1", nil)
	mutualTLS.ClientAuth, mutualTLS.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
	mutualTLS.ClientCAs.AddCert(ca.cert)
	mutual := fakeCluster(t, kfake.TLS(mutualTLS))
	withLogin := fakeCluster(t, kfake.EnableSASL(), kfake.User("PLAIN", "viewer", "right"))
	// The fake hangs up on a wrong login; a real broker says why. These do.
	refusing := answeringLogin(t, func(r *kmsg.SASLAuthenticateResponse) {
		r.ErrorCode, r.ErrorMessage = kerr.SaslAuthenticationFailed.Code, kmsg.StringPtr("Authentication failed: Invalid username or password")
	}, kfake.EnableSASL(), kfake.User("PLAIN", "viewer", "right"), kfake.User("SCRAM-SHA-256", "viewer", "right"))
	noLogin := answeringHandshake(t, kerr.IllegalSaslState)
	otherLogin := answeringHandshake(t, kerr.UnsupportedSaslMechanism)
	alert := answering(t, func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 1024))
		_, _ = conn.Write([]byte{0x15, 3, 3, 0, 2, 2, 0x50})
	})
	web := answering(t, func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 1024))
		_, _ = conn.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
	})
	closedPort := answering(t, func(net.Conn) {})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refused := ln.Addr().String()
	_ = ln.Close()

	for _, c := range []struct {
		why, addr string
		tls       TLS
		sasl      SASL
		message   string
		hint      string
		reason    collect.Reason
	}{
		{"wrong password, SCRAM", refusing, TLS{}, login("SCRAM-SHA-256", "hunter2"), "refused the login", "--sasl-password", collect.ReasonDenied},
		{"wrong password, PLAIN", refusing, TLS{}, login("PLAIN", "hunter2"), "refused the login", "--sasl-password", collect.ReasonDenied},
		{"wrong password, and a broker that only hangs up", withLogin, TLS{}, login("PLAIN", "hunter2"), "closed the connection", "login", collect.ReasonBrokerDown},
		{"a mechanism that the broker does not have", otherLogin, TLS{}, login("SCRAM-SHA-512", "hunter2"), "does not offer this login", "--sasl-mechanism", collect.ReasonDenied},
		{"no login where one is wanted", withLogin, TLS{}, SASL{}, "wants a login", "--sasl-mechanism", collect.ReasonBrokerDown},
		{"a login where none is wanted", noLogin, TLS{}, login("PLAIN", "hunter2"), "expects no login", "--sasl-mechanism", collect.ReasonDenied},
		{"TLS to a plaintext port", kafkaPlaintext(t), trusting, SASL{}, "this port most likely speaks no TLS", "--tls", collect.ReasonBrokerDown},
		{"plaintext to a TLS port that hangs up", secure, TLS{}, SASL{}, "this port wants TLS", "--tls-ca", collect.ReasonBrokerDown},
		{"plaintext to a TLS port", alert, TLS{}, SASL{}, "this port speaks TLS", "--tls-ca", collect.ReasonError},
		{"plaintext with a login to a TLS port", alert, TLS{}, login("PLAIN", "hunter2"), "this port speaks TLS", "--tls-ca", collect.ReasonError},
		{"a certificate of an unknown authority", secure, TLS{Enabled: true}, SASL{}, "an authority that is not known", "--tls-ca", collect.ReasonError},
		{"the same without a check of the name", secure, TLS{Enabled: true, NoNameCheck: true}, SASL{}, "an authority that is not known", "--tls-ca", collect.ReasonError},
		{"a certificate for another name", otherName, trusting, SASL{}, "not for 127.0.0.1 but for kafka.example", "--tls-server-name", collect.ReasonError},
		{"a certificate for another name than the expected", otherName, TLS{Enabled: true, CAFile: caFile, ServerName: "nope.example"}, SASL{}, "not for nope.example", "--tls-server-name", collect.ReasonError},
		{"a certificate out of date", expired, trusting, SASL{}, "out of date", "renewed", collect.ReasonError},
		{"no client certificate where one is wanted", mutual, trusting, SASL{}, "refused this client's certificate", "--tls-cert", collect.ReasonDenied},
		{"a client certificate of a stranger", mutual, TLS{Enabled: true, CAFile: caFile, Cert: stranger.cert, Key: Secret(stranger.key)}, SASL{}, "refused this client's certificate", "--tls-cert", collect.ReasonDenied},
		{"nobody listens", refused, TLS{}, SASL{}, "nothing listens on " + refused, "--brokers", collect.ReasonBrokerDown},
		{"nobody listens, with TLS", refused, trusting, SASL{}, "nothing listens on " + refused, "--brokers", collect.ReasonBrokerDown},
		{"no such host", "no-such-host.invalid:9092", TLS{}, SASL{}, "no-such-host.invalid", "", collect.ReasonBrokerDown},
		{"a web server", web, TLS{}, SASL{}, "an HTTP server", "--brokers", collect.ReasonError},
		{"a web server, with TLS", web, trusting, SASL{}, "does not speak TLS", "--tls", collect.ReasonError},
		{"a server that hangs up", closedPort, TLS{}, SASL{}, "closed the connection", "if it never worked", collect.ReasonBrokerDown},
	} {
		t.Run(c.why, func(t *testing.T) {
			err := ping(t, Config{Brokers: []string{c.addr}, TLS: c.tls, SASL: c.sasl})
			if err == nil {
				t.Fatal("connected")
			}
			message, hint := Explain(err)
			if !strings.Contains(message, c.message) || !strings.Contains(hint, c.hint) {
				t.Errorf("%v\nerror: %s\nhint: %s\nwant a message with %q and a hint with %q", err, message, hint, c.message, c.hint)
			}
			if got := ReasonOf(err); got != c.reason {
				t.Errorf("reason %v, want %v", got, c.reason)
			}
			if strings.Contains(message+hint+err.Error(), "hunter2") {
				t.Error("the password is in it")
			}
		})
	}
}

func TestGivesUpATLSHandshakeThatNobodyAnswers(t *testing.T) {
	hold := make(chan struct{})
	addr := answering(t, func(net.Conn) { <-hold })
	defer close(hold)
	err := ping(t, Config{Brokers: []string{addr}, TLS: TLS{Enabled: true}, DialTimeout: 50 * time.Millisecond})
	message, hint := Explain(err)
	if want := "no answer to the TLS handshake from " + addr; message != want || !strings.Contains(hint, "--tls") {
		t.Errorf("%v\nerror: %s\nhint: %s\nwant %q and a hint with --tls", err, message, hint, want)
	}
	if ReasonOf(err) != collect.ReasonTimeout {
		t.Errorf("reason %v", ReasonOf(err))
	}
}

func TestNewConnectionReadsThePasswordAgain(t *testing.T) {
	addr := fakeCluster(t, kfake.EnableSASL(), kfake.User("SCRAM-SHA-256", "viewer", "new"))
	file := writeFile(t, "password", "old\n")
	cl := client(t, Config{Brokers: []string{addr}, SASL: SASL{Mechanism: "SCRAM-SHA-256", Username: "viewer", PasswordFile: file}})
	if err := cl.Ping(t.Context()); err == nil {
		t.Fatal("connected with the old password")
	}
	if err := os.WriteFile(file, []byte("new\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := cl.Ping(t.Context()); err != nil {
		t.Fatalf("with the new password: %v", err)
	}
}

func TestNewConnectionReadsCertificatesAgain(t *testing.T) {
	ca, before := newPKI(t), newPKI(t)
	server := ca.server("127.0.0.1", nil)
	server.ClientAuth, server.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
	server.ClientCAs.AddCert(ca.cert)
	addr := fakeCluster(t, kfake.TLS(server))

	old := before.issue("client", nil)
	caFile, certFile, keyFile := writeFile(t, "ca", before.pem), writeFile(t, "cert", old.cert), writeFile(t, "key", old.key)
	cl := client(t, Config{Brokers: []string{addr}, TLS: TLS{Enabled: true, CAFile: caFile, CertFile: certFile, KeyFile: keyFile}})
	if err := cl.Ping(t.Context()); err == nil {
		t.Fatal("trusted the old authority's word for the new certificate")
	}
	id := ca.issue("client", nil)
	for file, text := range map[string]string{caFile: ca.pem, certFile: id.cert, keyFile: id.key} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := cl.Ping(t.Context()); err != nil {
		t.Fatalf("with the new files: %v", err)
	}
}

func TestConnectionFailsWhileItsFilesAreGone(t *testing.T) {
	addr := fakeCluster(t, kfake.EnableSASL(), kfake.User("PLAIN", "viewer", "right"))
	file := writeFile(t, "password", "right")
	cl := client(t, Config{Brokers: []string{addr}, SASL: SASL{Mechanism: "PLAIN", Username: "viewer", PasswordFile: file}})
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	message, _ := Explain(cl.Ping(t.Context()))
	if !strings.Contains(message, "sasl-password-file") || !strings.Contains(message, "no such file") {
		t.Errorf("message %q does not name the file", message)
	}
}
