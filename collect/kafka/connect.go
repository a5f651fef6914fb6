package kafka

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"regexp"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// dialer opens a connection to a broker: TCP, and TLS with certificates read anew.
func (c Config) dialer() func(ctx context.Context, network, addr string) (net.Conn, error) {
	timeout := orDefault(c.DialTimeout, DefaultDialTimeout)
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		d := &net.Dialer{Timeout: timeout}
		if !c.TLS.Enabled {
			return d.DialContext(ctx, network, addr)
		}
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			return nil, fmt.Errorf("split broker address: %w", err)
		}
		tc, err := c.TLS.config(host)
		if err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		conn, err := d.DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		secure := tls.Client(conn, tc)
		if err := secure.HandshakeContext(ctx); err != nil {
			_ = conn.Close()
			return nil, &handshakeError{addr, err}
		}
		return secure, nil
	}
}

// config reads the certificates and gives the settings for one connection to the host.
func (t TLS) config(host string) (*tls.Config, error) {
	tc := &tls.Config{
		MinVersion:         tls.VersionTLS12, // as Kafka's own clients
		ServerName:         orDefault(t.ServerName, host),
		InsecureSkipVerify: t.InsecureSkipVerify, //nolint:gosec // the user asked for it
	}
	ca, err := t.roots()
	if err != nil {
		return nil, err
	}
	tc.RootCAs = ca
	if t.NoNameCheck && !t.InsecureSkipVerify {
		tc.InsecureSkipVerify = true //nolint:gosec // VerifyConnection checks the chain instead
		tc.VerifyConnection = func(s tls.ConnectionState) error { return verifyChain(s, ca) }
	}
	cert, err := t.certificate()
	if err != nil {
		return nil, err
	}
	if cert != nil {
		// Given even where the server's list of authorities does not name the issuer: Java's clients
		// leave it out then, and the broker's refusal says nothing that helps.
		tc.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return cert, nil }
	}
	return tc, nil
}

func verifyChain(s tls.ConnectionState, roots *x509.CertPool) error {
	between := x509.NewCertPool()
	for _, c := range s.PeerCertificates[1:] {
		between.AddCert(c)
	}
	if _, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between}); err != nil {
		return &tls.CertificateVerificationError{UnverifiedCertificates: s.PeerCertificates, Err: err}
	}
	return nil
}

// roots gives nil, the system's, where no authority is set.
func (t TLS) roots() (*x509.CertPool, error) {
	text, err := readPEM(t.CAFile, t.CA)
	if err != nil {
		return nil, &FieldError{Field: "tls-ca", Value: t.CAFile, Problem: err.Error()}
	}
	if text == nil {
		return nil, nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, &FieldError{Field: "tls-ca", Value: t.CAFile, Problem: "no PEM certificate in it", Hint: pemHint}
	}
	return pool, nil
}

const pemHint = `PEM is text with "-----BEGIN CERTIFICATE-----"; from a PKCS#12 or JKS store: keytool -exportcert -rfc`

// certificate gives nil where the client has none.
func (t TLS) certificate() (*tls.Certificate, error) {
	chain, err := readPEM(t.CertFile, t.Cert)
	if err != nil {
		return nil, &FieldError{Field: "tls-cert", Value: t.CertFile, Problem: err.Error()}
	}
	key, err := readPEM(t.KeyFile, string(t.Key))
	if err != nil {
		return nil, &FieldError{Field: "tls-key", Value: t.KeyFile, Problem: err.Error()}
	}
	switch {
	case chain == nil && key == nil:
		return nil, nil
	case key == nil:
		return nil, &FieldError{Field: "tls-key", Problem: "a client certificate is given, but not its key"}
	case chain == nil:
		return nil, &FieldError{Field: "tls-cert", Problem: "a client key is given, but not its certificate"}
	}
	if encryptedKey(key) {
		return nil, &FieldError{
			Field: "tls-key", Value: t.KeyFile, Problem: "the key is encrypted, which is not supported",
			Hint: "decrypt it: openssl pkey -in client.key -out client-plain.key",
		}
	}
	cert, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return nil, &FieldError{Field: "tls-cert", Value: t.CertFile, Problem: strings.TrimPrefix(err.Error(), "tls: ")}
	}
	return &cert, nil
}

func encryptedKey(text []byte) bool {
	for b, rest := pem.Decode(text); b != nil; b, rest = pem.Decode(rest) {
		if b.Type == "ENCRYPTED PRIVATE KEY" || strings.Contains(b.Headers["Proc-Type"], "ENCRYPTED") {
			return true
		}
	}
	return false
}

// readPEM gives nil where neither a file nor text is set.
func readPEM(file, text string) ([]byte, error) {
	if file != "" {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, fileProblem(err)
		}
		return b, nil
	}
	if text == "" {
		return nil, nil
	}
	return foldPEM(text), nil
}

var pemBlock = regexp.MustCompile(`(-----BEGIN [A-Z0-9 ]+-----)([^-]*)(-----END [A-Z0-9 ]+-----)`)

// foldPEM puts back the line breaks of PEM text that was written as one line, which Java's clients accept in
// a property.
func foldPEM(text string) []byte {
	return []byte(pemBlock.ReplaceAllStringFunc(text, func(block string) string {
		part := pemBlock.FindStringSubmatch(block)
		return part[1] + "\n" + strings.Join(strings.Fields(part[2]), "\n") + "\n" + part[3] + "\n"
	}))
}

// fileProblem drops the file's name from the error: the setting it belongs to is named beside it.
func fileProblem(err error) error {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return pe.Err
	}
	return err
}

// mechanism logs in anew at each connection, with the password as it is then.
func (s SASL) mechanism() (sasl.Mechanism, error) {
	scramAuth := func(context.Context) (scram.Auth, error) {
		p, err := s.password()
		return scram.Auth{User: s.Username, Pass: p}, err
	}
	switch strings.ToUpper(s.Mechanism) {
	case "PLAIN":
		return plain.Plain(func(context.Context) (plain.Auth, error) {
			p, err := s.password()
			return plain.Auth{User: s.Username, Pass: p}, err
		}), nil
	case "SCRAM-SHA-256":
		return scram.Sha256(scramAuth), nil
	case "SCRAM-SHA-512":
		return scram.Sha512(scramAuth), nil
	}
	return nil, &FieldError{
		Field: "sasl-mechanism", Value: s.Mechanism, Problem: "not supported",
		Hint: "one of " + strings.Join(Mechanisms(), ", "),
	}
}

func (s SASL) password() (string, error) {
	if s.PasswordFile != "" {
		b, err := os.ReadFile(s.PasswordFile)
		if err != nil {
			return "", &FieldError{Field: "sasl-password-file", Value: s.PasswordFile, Problem: fileProblem(err).Error()}
		}
		p := strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r")
		if p == "" {
			return "", &FieldError{Field: "sasl-password-file", Value: s.PasswordFile, Problem: "the file is empty"}
		}
		return p, nil
	}
	if s.Password == "" {
		return "", &FieldError{Field: "sasl-password", Problem: "no password is given for user " + s.Username}
	}
	return string(s.Password), nil
}

// clientLogger passes the client's own lines to slog, two steps lower than it thinks of them: what a failed
// connection means for the user is said once, by this program, and not again at each try.
type clientLogger struct{ *slog.Logger }

func slogLevel(l kgo.LogLevel) slog.Level {
	switch l {
	case kgo.LogLevelError:
		return slog.LevelWarn
	case kgo.LogLevelWarn, kgo.LogLevelInfo:
		return slog.LevelDebug
	default:
		return slog.LevelDebug - 4
	}
}

func (l clientLogger) Level() kgo.LogLevel {
	for _, k := range []kgo.LogLevel{kgo.LogLevelDebug, kgo.LogLevelInfo, kgo.LogLevelError} {
		if l.Enabled(context.Background(), slogLevel(k)) {
			return k
		}
	}
	return kgo.LogLevelNone
}

func (l clientLogger) Log(level kgo.LogLevel, msg string, keyvals ...any) {
	l.Logger.Log(context.Background(), slogLevel(level), msg, keyvals...)
}
