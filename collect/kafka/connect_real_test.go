package kafka

import (
	"strings"
	"testing"

	"github.com/klagtop/klagtop/internal/kafkatest"
)

// The fake's answers to a wrong connection are its own; what a real broker does is what people meet.
func TestConnectsAndExplainsOnARealKafka(t *testing.T) {
	k := kafkatest.Start(t, kafkatest.Options{Secure: true})
	s := k.Security()
	trusting := TLS{Enabled: true, CAFile: s.CAFile}
	own := TLS{Enabled: true, CAFile: s.CAFile, CertFile: s.ClientCertFile, KeyFile: s.ClientKeyFile}
	mon := func(mechanism, password string) SASL {
		return SASL{Mechanism: mechanism, Username: kafkatest.MonUser, Password: Secret(password)}
	}
	stranger := newPKI(t).issue("stranger", nil)

	for _, c := range []struct {
		why     string
		brokers []string
		tls     TLS
		sasl    SASL
		message string // "" where it connects
	}{
		{"PLAIN", s.SASLPlaintext(), TLS{}, mon("PLAIN", kafkatest.MonPassword), ""},
		{"SCRAM-SHA-256", s.SASLPlaintext(), TLS{}, mon("SCRAM-SHA-256", kafkatest.MonPassword), ""},
		{"SCRAM-SHA-512", s.SASLPlaintext(), TLS{}, mon("SCRAM-SHA-512", kafkatest.MonPassword), ""},
		{"SCRAM over TLS", s.SASLSSL(), trusting, mon("SCRAM-SHA-512", kafkatest.MonPassword), ""},
		{"TLS", s.SSL(), trusting, SASL{}, ""},
		{"TLS without a check of the name", s.SSL(), TLS{Enabled: true, CAFile: s.CAFile, NoNameCheck: true}, SASL{}, ""},
		{"mutual TLS", s.MTLS(), own, SASL{}, ""},

		{"wrong password, PLAIN", s.SASLPlaintext(), TLS{}, mon("PLAIN", "hunter2"), "refused the login"},
		{"wrong password, SCRAM over TLS", s.SASLSSL(), trusting, mon("SCRAM-SHA-256", "hunter2"), "refused the login"},
		{"no login", s.SASLPlaintext(), TLS{}, SASL{}, "most likely wants a login"},
		{"a login where none is wanted", k.Brokers(), TLS{}, mon("PLAIN", kafkatest.MonPassword), "expects no login"},
		{"TLS to a plaintext port", k.Brokers(), trusting, SASL{}, "speaks no TLS"},
		{"TLS to a plaintext port with login", s.SASLPlaintext(), trusting, mon("PLAIN", kafkatest.MonPassword), "speaks no TLS"},
		{"plaintext to a TLS port", s.SSL(), TLS{}, SASL{}, "speaks TLS"},
		{"plaintext with a login to a TLS port", s.SASLSSL(), TLS{}, mon("PLAIN", kafkatest.MonPassword), "speaks TLS"},
		{"unknown authority", s.SSL(), TLS{Enabled: true}, SASL{}, "an authority that is not known"},
		{"wrong name", s.SSL(), TLS{Enabled: true, CAFile: s.CAFile, ServerName: "nope.example"}, SASL{}, "not for nope.example but for localhost"},
		{"no client certificate", s.MTLS(), trusting, SASL{}, "refused this client's certificate"},
		{"a stranger's client certificate", s.MTLS(), TLS{Enabled: true, CAFile: s.CAFile, Cert: stranger.cert, Key: Secret(stranger.key)}, SASL{}, "refused this client's certificate"},
	} {
		t.Run(c.why, func(t *testing.T) {
			if strings.HasPrefix(c.sasl.Mechanism, "SCRAM") && !k.AtLeast(3, 5) {
				t.Skip("this version of Kafka has no SCRAM without ZooKeeper")
			}
			err := ping(t, Config{Brokers: c.brokers, TLS: c.tls, SASL: c.sasl})
			message, hint := Explain(err)
			switch {
			case c.message == "" && err != nil:
				t.Errorf("%v\nerror: %s\nhint: %s", err, message, hint)
			case !strings.Contains(message, c.message) || c.message != "" && hint == "":
				t.Errorf("%v\nerror: %s\nhint: %s\nwant %q and a hint", err, message, hint, c.message)
			}
		})
	}
}
