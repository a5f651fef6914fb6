package kafka

import (
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Defaults of a Config whose fields are left empty.
const (
	DefaultBroker         = "localhost:9092"
	DefaultPort           = "9092"
	DefaultClientID       = "klagtop"
	DefaultRequestTimeout = 10 * time.Second

	// DefaultDialTimeout is well below a poll's usual deadline: of several brokers the first may
	// be one that swallows packets, and the others must still get their turn in the same poll.
	DefaultDialTimeout = 3 * time.Second
)

// Config says how to reach one cluster. The zero Config, with Brokers filled, is a plaintext connection
// without authentication. Files are read at each new connection, so a rotated certificate or password
// needs no restart. A Config is not changed once it is in use, and then is safe for concurrent use.
type Config struct {
	Brokers  []string // host:port; at least one
	ClientID string   // DefaultClientID if empty
	Version  string   // of this program, told to the brokers (KIP-511); may be empty

	TLS  TLS
	SASL SASL

	DialTimeout    time.Duration // TCP and TLS handshake together; DefaultDialTimeout if 0
	RequestTimeout time.Duration // silence after which a connection counts as dead; DefaultRequestTimeout if 0

	Logger *slog.Logger // nil: the client says nothing. Nothing here ever writes to the terminal by itself
	Opts   []kgo.Opt    // applied last: request metrics, and what tests need
}

// TLS says how the brokers prove who they are, and how this client does. Of a file and its inline form
// (PEM text) at most one is set.
type TLS struct {
	Enabled bool

	CAFile, CA     string // PEM; the system's roots if neither is set
	CertFile, Cert string // PEM chain of the client, leaf first
	KeyFile        string // may be the same file as CertFile
	Key            Secret // an encrypted key is refused

	ServerName         string // name expected in the certificate; the broker's host if empty
	NoNameCheck        bool   // the chain is verified, the name is not (Java's empty endpoint identification algorithm)
	InsecureSkipVerify bool   // nothing is verified
}

// SASL is the client's login. It is off while Mechanism is empty.
type SASL struct {
	Mechanism    string // PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512
	Username     string
	Password     Secret
	PasswordFile string // holds the password, a final line break is not part of it; wins over Password
}

// Secret is text that is never printed: not by fmt, slog, JSON or text marshalling. Use string(s) where
// the text itself is needed.
type Secret string

const masked = "***"

func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return masked
}

// Format covers every verb, %#v and %x too.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// MarshalText covers JSON, and YAML too.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue covers slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// FieldError is a setting that Validate refuses. Field is the setting's flag without its dashes
// ("sasl-mechanism"), so that a caller can say where the value came from. Value is empty for secrets.
type FieldError struct{ Field, Value, Problem, Hint string }

func (e *FieldError) Error() string {
	if e.Value == "" {
		return e.Field + ": " + e.Problem
	}
	return fmt.Sprintf("%s %q: %s", e.Field, e.Value, e.Problem)
}

// Mechanisms lists the SASL mechanisms a Config can hold.
func Mechanisms() []string { return []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"} }

// Validate refuses, with a *FieldError, a Config that could not work on any cluster: no broker, an address
// that is none, a mechanism it does not know, a missing or unreadable certificate, key or password.
// It reads files but does not touch the network.
func (c Config) Validate() error {
	if len(c.Brokers) == 0 {
		return &FieldError{Field: "brokers", Problem: "no broker is given"}
	}
	for _, b := range c.Brokers {
		if _, err := ParseBroker(b); err != nil {
			return &FieldError{Field: "brokers", Value: b, Problem: err.Error(), Hint: "write host:port, such as localhost:9092"}
		}
	}
	// limits of the protocol's header and of the client library
	if len(c.ClientID) > 256 {
		return &FieldError{Field: "client-id", Value: c.ClientID, Problem: "longer than 256 bytes"}
	}
	if c.DialTimeout < 0 {
		return &FieldError{Field: "dial-timeout", Value: c.DialTimeout.String(), Problem: "below zero"}
	}
	if c.RequestTimeout != 0 && (c.RequestTimeout < 100*time.Millisecond || c.RequestTimeout > 15*time.Minute) {
		return &FieldError{Field: "request-timeout", Value: c.RequestTimeout.String(), Problem: "not between 100ms and 15m"}
	}
	if err := c.SASL.validate(); err != nil {
		return err
	}
	if !c.TLS.Enabled {
		return nil
	}
	_, err := c.TLS.config("")
	return err
}

func (s SASL) validate() error {
	switch {
	case s.Mechanism == "" && s.Username == "" && s.Password == "" && s.PasswordFile == "":
		return nil
	case s.Mechanism == "":
		return &FieldError{Field: "sasl-mechanism", Problem: "a user or a password is given, but no mechanism", Hint: "one of " + strings.Join(Mechanisms(), ", ")}
	}
	if _, err := s.mechanism(); err != nil {
		return err
	}
	if s.Username == "" {
		return &FieldError{Field: "sasl-username", Problem: s.Mechanism + " needs a user name"}
	}
	_, err := s.password()
	return err
}

// ParseBroker gives the address as host:port, with Kafka's own port where none is named. It accepts what the
// Java clients accept: a security protocol or listener name in front (SASL_SSL://host:port), and brackets
// around an IPv6 address.
func ParseBroker(s string) (string, error) {
	addr := strings.TrimSpace(s)
	if scheme, rest, ok := strings.Cut(addr, "://"); ok {
		if strings.HasPrefix(strings.ToLower(scheme), "http") {
			return "", fmt.Errorf("an HTTP address, not a Kafka broker")
		}
		addr = rest
	}
	if ip, err := netip.ParseAddr(strings.Trim(addr, "[]")); err == nil && ip.Is6() {
		return net.JoinHostPort(ip.String(), DefaultPort), nil
	}
	if addr != "" && !strings.Contains(addr, ":") {
		addr += ":" + DefaultPort
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil || host == "" || strings.ContainsAny(host, " \t/,;@\"'") {
		return "", fmt.Errorf("not an address")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", fmt.Errorf("the port is not a number from 1 to 65535")
	}
	return net.JoinHostPort(host, port), nil
}

// softwareVersion is what a broker accepts as a client's version: any other text makes it refuse the
// connection with INVALID_REQUEST.
var softwareVersion = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9.-]{0,253}[a-zA-Z0-9])?$`)

const softwareName = "klagtop"

func (c Config) softwareVersion() string {
	if !softwareVersion.MatchString(c.Version) {
		return "unknown"
	}
	return c.Version
}

// options builds the client's options. It fails as Validate does.
func (c Config) options() ([]kgo.Opt, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	seeds := make([]string, len(c.Brokers))
	for i, b := range c.Brokers {
		seeds[i], _ = ParseBroker(b) // Validate has proved it
	}
	opts := []kgo.Opt{
		kgo.SeedBrokers(seeds...),
		kgo.ClientID(orDefault(c.ClientID, DefaultClientID)),
		kgo.SoftwareNameAndVersion(softwareName, c.softwareVersion()),
		kgo.Dialer(c.dialer()),
		kgo.RequestTimeoutOverhead(orDefault(c.RequestTimeout, DefaultRequestTimeout)),
		// One retry outlives a connection that the broker closed as idle just now. More would spend
		// the poll's deadline on a broker that is down; the next poll is the retry.
		kgo.RequestRetries(1),
		kgo.RetryBackoffFn(func(int) time.Duration { return 100 * time.Millisecond }),
		// A reader that leaves no trace: no telemetry subscription on the brokers (KIP-714).
		kgo.DisableClientMetrics(),
		// The poll asks for metadata itself; the client's own refresh must not lag behind it by its 5 s.
		kgo.MetadataMinAge(250 * time.Millisecond),
		// Connections live across slow intervals (the client's default is 30 s) so that a poll costs no
		// new login, but end before the broker's own limit of 10 minutes: the client may take twice this.
		kgo.ConnIdleTimeout(4 * time.Minute),
	}
	if c.SASL.Mechanism != "" {
		m, err := c.SASL.mechanism()
		if err != nil {
			return nil, err
		}
		opts = append(opts, kgo.SASL(m))
	}
	if c.Logger != nil {
		opts = append(opts, kgo.WithLogger(clientLogger{c.Logger}))
	}
	return append(opts, c.Opts...), nil
}

func orDefault[T comparable](v, fallback T) T {
	var zero T
	if v == zero {
		return fallback
	}
	return v
}
