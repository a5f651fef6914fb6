package kafkatest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// The passwords of the users that a secure cluster knows, by PLAIN and (from Kafka 3.5 on) by SCRAM-SHA-256 and -512.
// mon and the client certificate may DESCRIBE every topic and group; lim only the topic "pub" and groups that begin
// with "ok-"; nil nothing at all. Clients of the plaintext and TLS listeners without SASL are super users.
const (
	MonUser, MonPassword = "mon", "mon-secret"
	LimUser, LimPassword = "lim", "lim-secret"
	NilUser, NilPassword = "nil", "nil-secret"
)

var secureListeners = []string{"SASL_PLAINTEXT", "SASL_SSL", "SSL", "MTLS"}

// Security is what a client needs for the secure listeners of a cluster. All files are PEM.
type Security struct {
	CAFile         string // that signed the brokers' certificates; they are valid for localhost and 127.0.0.1
	ClientCertFile string // for MTLS, which then knows the client as User:CN=client
	ClientKeyFile  string // PKCS #8, not encrypted
	serverFile     string // key and chain, as Kafka's PEM key store wants them
	addresses      map[string][]string
}

// SASLPlaintext returns host:port of every node's listener for SASL without TLS.
func (s *Security) SASLPlaintext() []string { return slices.Clone(s.addresses["SASL_PLAINTEXT"]) }

// SASLSSL returns host:port of every node's listener for SASL over TLS.
func (s *Security) SASLSSL() []string { return slices.Clone(s.addresses["SASL_SSL"]) }

// SSL returns host:port of every node's listener for TLS alone.
func (s *Security) SSL() []string { return slices.Clone(s.addresses["SSL"]) }

// MTLS returns host:port of every node's listener that refuses clients without a certificate.
func (s *Security) MTLS() []string { return slices.Clone(s.addresses["MTLS"]) }

// Security returns the secure side of a cluster that was started with Options.Secure, nil for any other.
func (c *Cluster) Security() *Security { return c.security }

// newSecurity makes a certificate authority and what it signed, in dir.
func newSecurity(dir string) (*Security, error) {
	s := &Security{
		CAFile: filepath.Join(dir, "ca.pem"), ClientCertFile: filepath.Join(dir, "client.pem"), ClientKeyFile: filepath.Join(dir, "client.key"),
		serverFile: filepath.Join(dir, "server.pem"), addresses: make(map[string][]string),
	}
	ca := &x509.Certificate{
		Subject: pkix.Name{CommonName: "klagtop test CA"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	caKey, caPEM, _, err := certify(ca, nil, nil)
	if err != nil {
		return nil, err
	}
	_, serverPEM, serverKey, err := certify(&x509.Certificate{
		Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, ca, caKey)
	if err != nil {
		return nil, err
	}
	_, clientPEM, clientKey, err := certify(&x509.Certificate{
		Subject: pkix.Name{CommonName: "client"}, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, ca, caKey)
	if err != nil {
		return nil, err
	}
	return s, errors.Join(
		os.WriteFile(s.CAFile, caPEM, 0o644),
		os.WriteFile(s.ClientCertFile, clientPEM, 0o644),
		os.WriteFile(s.ClientKeyFile, clientKey, 0o600),
		os.WriteFile(s.serverFile, slices.Concat(serverKey, serverPEM, caPEM), 0o600),
	)
}

// certify makes a key and a certificate for it, signed by parent, or by itself where parent is nil.
func certify(c, parent *x509.Certificate, parentKey *ecdsa.PrivateKey) (key *ecdsa.PrivateKey, certPEM, keyPEM []byte, err error) {
	if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, nil, nil, err
	}
	if parent == nil {
		parent, parentKey = c, key
	}
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	c.SerialNumber = new(big.Int).SetBytes([]byte(rand.Text()[:16]))
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, parentKey)
	if err != nil {
		return nil, nil, nil, err
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, nil, err
	}
	return key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}), nil
}

// properties are the broker's for its secure listeners and the authorizer. The brokers talk to each other in
// plaintext, as the super user that everybody on the plaintext listener is.
func (s *Security) properties() map[string]string {
	p := map[string]string{
		"listener.security.protocol.map":     "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL,SSL:SSL,MTLS:SSL",
		"inter.broker.listener.name":         "PLAINTEXT",
		"sasl.enabled.mechanisms":            "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
		"ssl.keystore.type":                  "PEM",
		"ssl.keystore.location":              s.serverFile,
		"ssl.truststore.type":                "PEM",
		"ssl.truststore.location":            s.CAFile,
		"listener.name.mtls.ssl.client.auth": "required",
		"authorizer.class.name":              "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
		"super.users":                        "User:ANONYMOUS",
	}
	for _, listener := range []string{"sasl_plaintext", "sasl_ssl"} {
		p["listener.name."+listener+".plain.sasl.jaas.config"] = fmt.Sprintf(
			"org.apache.kafka.common.security.plain.PlainLoginModule required user_%s=%q user_%s=%q user_%s=%q;",
			MonUser, MonPassword, LimUser, LimPassword, NilUser, NilPassword)
		for _, mechanism := range []string{"scram-sha-256", "scram-sha-512"} {
			p["listener.name."+listener+"."+mechanism+".sasl.jaas.config"] = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
		}
	}
	return p
}

// createUsers gives mon and lim their SCRAM passwords and their rights.
func (s *Security) createUsers(ctx context.Context, c *Cluster) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.brokers...))
	if err != nil {
		return err
	}
	defer cl.Close()
	adm := kadm.NewClient(cl)
	if c.AtLeast(3, 5) { // KRaft had no SCRAM before
		for _, mechanism := range []kadm.ScramMechanism{kadm.ScramSha256, kadm.ScramSha512} { // a broker refuses two of one user in one request
			altered, err := adm.AlterUserSCRAMs(ctx, nil, []kadm.UpsertSCRAM{
				{User: MonUser, Mechanism: mechanism, Iterations: 4096, Password: MonPassword},
				{User: LimUser, Mechanism: mechanism, Iterations: 4096, Password: LimPassword},
				{User: NilUser, Mechanism: mechanism, Iterations: 4096, Password: NilPassword},
			})
			if err := errors.Join(err, altered.Error()); err != nil {
				return fmt.Errorf("create SCRAM users: %w", err)
			}
		}
	}
	describe := func(user string, pattern kadm.ACLPattern, what *kadm.ACLBuilder) error {
		created, err := adm.CreateACLs(ctx, what.ResourcePatternType(pattern).Operations(kadm.OpDescribe).Allow("User:"+user).AllowHosts())
		for _, r := range created {
			err = errors.Join(err, r.Err)
		}
		return err
	}
	return errors.Join(
		describe(MonUser, kadm.ACLPatternLiteral, kadm.NewACLs().Topics("*").Groups("*")),
		describe("CN=client", kadm.ACLPatternLiteral, kadm.NewACLs().Topics("*").Groups("*")),
		describe(LimUser, kadm.ACLPatternLiteral, kadm.NewACLs().Topics("pub")),
		describe(LimUser, kadm.ACLPatternPrefixed, kadm.NewACLs().Groups("ok-")),
	)
}
