package kafka

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestParseBroker(t *testing.T) {
	for _, c := range []struct{ why, in, want string }{
		{"host and port", "kafka:9093", "kafka:9093"},
		{"blanks around it", " kafka:9093\t", "kafka:9093"},
		{"no port: Kafka's own", "kafka.example.com", "kafka.example.com:9092"},
		{"an IPv4 address", "10.0.0.1:9092", "10.0.0.1:9092"},
		{"an IPv6 address in brackets", "[::1]:9093", "[::1]:9093"},
		{"a bare IPv6 address", "::1", "[::1]:9092"},
		{"a security protocol in front", "SASL_SSL://kafka:9093", "kafka:9093"},
		{"a listener's name in front", "EXTERNAL://[::1]:9093", "[::1]:9093"},
	} {
		t.Run(c.why, func(t *testing.T) {
			if got, err := ParseBroker(c.in); got != c.want || err != nil {
				t.Errorf("ParseBroker(%q) = %q, %v; want %q", c.in, got, err, c.want)
			}
		})
	}
	for _, c := range []struct{ why, in string }{
		{"nothing", ""},
		{"no host", ":9092"},
		{"a port that is none", "kafka:http"},
		{"port zero", "kafka:0"},
		{"a port too large", "kafka:65536"},
		{"a web address", "https://kafka.example.com"},
		{"a path behind it", "kafka:9092/topic"},
		{"a user before it", "me@kafka:9092"},
		{"a list", "a:1,b:2"},
		{"two ports", "kafka:9092:9093"},
	} {
		t.Run(c.why, func(t *testing.T) {
			if got, err := ParseBroker(c.in); err == nil {
				t.Errorf("ParseBroker(%q) = %q, want an error", c.in, got)
			}
		})
	}
}

func TestValidateRefuses(t *testing.T) {
	ca := newPKI(t)
	id, other := ca.issue("client", nil), ca.issue("client", nil)
	empty := writeFile(t, "empty", "\n")
	encrypted := "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIF\n-----END ENCRYPTED PRIVATE KEY-----\n"
	old := "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\nMIIF\n-----END RSA PRIVATE KEY-----\n"
	secure := func(s TLS) Config { s.Enabled = true; return Config{Brokers: []string{"k"}, TLS: s} }
	with := func(s SASL) Config { return Config{Brokers: []string{"k"}, SASL: s} }

	for _, c := range []struct {
		why    string
		config Config
		field  string
		says   string
	}{
		{"no broker", Config{}, "brokers", "no broker"},
		{"an address that is none", Config{Brokers: []string{"a:1", "http://b"}}, "brokers", `"http://b"`},
		{"a client id too long for the protocol", Config{Brokers: []string{"k"}, ClientID: strings.Repeat("x", 257)}, "client-id", "256"},
		{"a negative dial timeout", Config{Brokers: []string{"k"}, DialTimeout: -1}, "dial-timeout", "below zero"},
		{"a request timeout that no answer can meet", Config{Brokers: []string{"k"}, RequestTimeout: time.Millisecond}, "request-timeout", "100ms"},
		{"a user without a mechanism", with(SASL{Username: "u", Password: "p"}), "sasl-mechanism", "no mechanism"},
		{"a mechanism that is not there", with(SASL{Mechanism: "GSSAPI", Username: "u", Password: "p"}), "sasl-mechanism", `"GSSAPI": not supported`},
		{"no user", with(SASL{Mechanism: "PLAIN", Password: "p"}), "sasl-username", "PLAIN"},
		{"no password", with(SASL{Mechanism: "PLAIN", Username: "u"}), "sasl-password", "no password"},
		{"a password file that is not there", with(SASL{Mechanism: "PLAIN", Username: "u", PasswordFile: "/nonexistent"}), "sasl-password-file", "no such file"},
		{"an empty password file", with(SASL{Mechanism: "PLAIN", Username: "u", PasswordFile: empty}), "sasl-password-file", "empty"},
		{"an authority file that is not there", secure(TLS{CAFile: "/nonexistent"}), "tls-ca", "no such file"},
		{"an authority file that holds none", secure(TLS{CAFile: empty}), "tls-ca", "no PEM certificate"},
		{"a certificate without its key", secure(TLS{Cert: id.cert}), "tls-key", "not its key"},
		{"a key without its certificate", secure(TLS{Key: Secret(id.key)}), "tls-cert", "not its certificate"},
		{"a key that is not the certificate's", secure(TLS{Cert: id.cert, Key: Secret(other.key)}), "tls-cert", "does not match"},
		{"an encrypted key", secure(TLS{Cert: id.cert, Key: Secret(encrypted)}), "tls-key", "encrypted"},
		{"an encrypted key of the old kind", secure(TLS{Cert: id.cert, KeyFile: writeFile(t, "key", old)}), "tls-key", "encrypted"},
	} {
		t.Run(c.why, func(t *testing.T) {
			err := c.config.Validate()
			fe, ok := errors.AsType[*FieldError](err)
			if !ok || fe.Field != c.field || !strings.Contains(fe.Error(), c.says) {
				t.Errorf("got %v, want field %s and %q", err, c.field, c.says)
			}
			if _, err := c.config.options(); err == nil {
				t.Error("options were built")
			}
			if m, _ := Explain(err); m != err.Error() {
				t.Errorf("explained as %q", m)
			}
		})
	}
}

func TestSecretIsNeverPrinted(t *testing.T) {
	c := Config{SASL: SASL{Password: "hunter2"}, TLS: TLS{Key: "hunter2"}}
	var logged bytes.Buffer
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("x", "password", c.SASL.Password, "config", c.SASL)
	slog.New(slog.NewTextHandler(&logged, nil)).Info("x", "password", c.SASL.Password, "config", c.SASL)
	j, err := json.Marshal(c.SASL)
	if err != nil {
		t.Fatal(err)
	}
	all := logged.String() + string(j)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		all += fmt.Sprintf(verb, c.SASL.Password) + fmt.Sprintf(verb, c.SASL) + fmt.Sprintf(verb, c.TLS)
	}
	for _, form := range []string{"hunter2", fmt.Sprintf("%x", "hunter2")} {
		if strings.Contains(all, form) {
			t.Errorf("the password shows in: %s", all)
		}
	}
	if got := fmt.Sprint(Secret("")); got != "" {
		t.Errorf("a missing password prints %q: it must not look set", got)
	}
}

func TestBrokersSeeWhoAsks(t *testing.T) {
	for _, c := range []struct{ why, version, want string }{
		{"its version", "1.2.3-rc.1", "1.2.3-rc.1"},
		{"a version that brokers would refuse", "(devel)", "unknown"},
		{"no version", "", "unknown"},
	} {
		t.Run(c.why, func(t *testing.T) {
			k, err := kfake.NewCluster(kfake.NumBrokers(1))
			if err != nil {
				t.Fatal(err)
			}
			defer k.Close()
			seen := make(chan *kmsg.ApiVersionsRequest, 16)
			k.ControlKey(int16(kmsg.ApiVersions), func(r kmsg.Request) (kmsg.Response, error, bool) {
				k.KeepControl()
				seen <- r.(*kmsg.ApiVersionsRequest)
				return nil, nil, false
			})
			if err := ping(t, Config{Brokers: k.ListenAddrs(), Version: c.version}); err != nil {
				t.Fatal(err)
			}
			if r := <-seen; r.ClientSoftwareName != "klagtop" || r.ClientSoftwareVersion != c.want {
				t.Errorf("got %q %q, want klagtop %q", r.ClientSoftwareName, r.ClientSoftwareVersion, c.want)
			}
		})
	}
}

func TestClientLogsOnlyWhereItIsTold(t *testing.T) {
	addr := fakeCluster(t)
	for _, c := range []struct {
		why    string
		level  slog.Level
		client kgo.LogLevel
		lines  bool
	}{
		{"everything at the lowest level", slog.LevelDebug - 4, kgo.LogLevelDebug, true},
		{"its notices at debug", slog.LevelDebug, kgo.LogLevelInfo, false},
		{"no notices at the usual level", slog.LevelInfo, kgo.LogLevelError, false},
		{"its errors as warnings", slog.LevelWarn, kgo.LogLevelError, false},
		{"nothing above", slog.LevelError, kgo.LogLevelNone, false},
	} {
		t.Run(c.why, func(t *testing.T) {
			var out bytes.Buffer
			log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: c.level}))
			if got := (clientLogger{log}).Level(); got != c.client {
				t.Errorf("level %v, want %v", got, c.client)
			}
			if err := ping(t, Config{Brokers: []string{addr}, Logger: log}); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(out.String(), "opening connection") != c.lines {
				t.Errorf("its lines: %q", out.String())
			}
		})
	}
	if log := (clientLogger{slog.New(slog.DiscardHandler)}); log.Level() != kgo.LogLevelNone {
		t.Error("a logger that discards everything asks for lines")
	}
	if slog.Default().Enabled(context.Background(), slogLevel(kgo.LogLevelWarn)) {
		t.Error("the client's warnings come through at the usual level: one for each try")
	}
}
