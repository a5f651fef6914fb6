package kafkatest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// Every way in that klagtop offers must be there to be tested, with the rights that Security promises.
func TestSecure(t *testing.T) {
	t.Parallel()
	c := Start(t, Options{Secure: true})
	s := c.Security()
	c.CreateTopic(t, "pub", 1)
	c.CreateTopic(t, "secret", 1)
	ca, err := os.ReadFile(s.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	pair, err := tls.LoadX509KeyPair(s.ClientCertFile, s.ClientKeyFile)
	if err != nil {
		t.Fatal(err)
	}
	withTLS := func(certs ...tls.Certificate) kgo.Opt {
		return kgo.DialTLSConfig(&tls.Config{RootCAs: roots, Certificates: certs})
	}
	mon, lim := plain.Auth{User: MonUser, Pass: MonPassword}, plain.Auth{User: LimUser, Pass: LimPassword}
	monScram := scram.Auth{User: MonUser, Pass: MonPassword}
	for name, tc := range map[string]struct {
		opts    []kgo.Opt
		want    []string
		refused bool
	}{
		"PLAIN sees all that it may describe": {[]kgo.Opt{kgo.SeedBrokers(s.SASLPlaintext()...), kgo.SASL(mon.AsMechanism())}, []string{"pub", "secret"}, false},
		"PLAIN of the limited user":           {[]kgo.Opt{kgo.SeedBrokers(s.SASLPlaintext()...), kgo.SASL(lim.AsMechanism())}, []string{"pub"}, false},
		"SCRAM-SHA-256 over TLS":              {[]kgo.Opt{kgo.SeedBrokers(s.SASLSSL()...), withTLS(), kgo.SASL(monScram.AsSha256Mechanism())}, []string{"pub", "secret"}, false},
		"SCRAM-SHA-512 over TLS":              {[]kgo.Opt{kgo.SeedBrokers(s.SASLSSL()...), withTLS(), kgo.SASL(monScram.AsSha512Mechanism())}, []string{"pub", "secret"}, false},
		"TLS alone":                           {[]kgo.Opt{kgo.SeedBrokers(s.SSL()...), withTLS()}, []string{"pub", "secret"}, false},
		"client certificate":                  {[]kgo.Opt{kgo.SeedBrokers(s.MTLS()...), withTLS(pair)}, []string{"pub", "secret"}, false},
		"no client certificate":               {[]kgo.Opt{kgo.SeedBrokers(s.MTLS()...), withTLS()}, nil, true},
		"wrong password":                      {[]kgo.Opt{kgo.SeedBrokers(s.SASLPlaintext()...), kgo.SASL(plain.Auth{User: MonUser, Pass: "x"}.AsMechanism())}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.HasPrefix(name, "SCRAM") && !c.AtLeast(3, 5) {
				t.Skip("KRaft has SCRAM from Kafka 3.5 on")
			}
			cl, err := kgo.NewClient(append(tc.opts, kgo.RequestRetries(1))...)
			if err != nil {
				t.Fatal(err)
			}
			defer cl.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			topics, err := kadm.NewClient(cl).ListTopics(ctx)
			if (err != nil) != tc.refused || errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("refused: %v, want %v", err, tc.refused)
			}
			if name == "wrong password" && !errors.Is(err, kerr.SaslAuthenticationFailed) {
				t.Errorf("refused with %v, want SASL_AUTHENTICATION_FAILED", err)
			}
			if got := topics.Names(); !slices.Equal(got, tc.want) && !tc.refused {
				t.Errorf("sees %q, want %q", got, tc.want)
			}
		})
	}
}
