package kafka

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/klagtop/klagtop/collect"
)

func TestReasonOfCode(t *testing.T) {
	for code, want := range map[int16]collect.Reason{
		0:  collect.ReasonNone,
		3:  collect.ReasonTopicMissing,
		5:  collect.ReasonNoLeader,
		6:  collect.ReasonNoLeader,
		7:  collect.ReasonTimeout,
		13: collect.ReasonBrokerDown,
		14: collect.ReasonLoading,
		15: collect.ReasonLoading,
		16: collect.ReasonLoading,
		29: collect.ReasonDenied,
		30: collect.ReasonDenied,
		31: collect.ReasonDenied,
		35: collect.ReasonUnsupported,
		42: collect.ReasonError,
		58: collect.ReasonDenied,
		78: collect.ReasonNoLeader, 100: collect.ReasonTopicMissing,
		-1:    collect.ReasonError,
		32000: collect.ReasonError, // a code that this client does not know yet
	} {
		if got := reasonOfCode(code); got != want {
			t.Errorf("code %d: %v, want %v", code, got, want)
		}
	}
}

func dialError(err error) error {
	addr := &net.TCPAddr{IP: net.IPv4(10, 0, 0, 9), Port: 9092}
	return fmt.Errorf("unable to dial: %w", &net.OpError{Op: "dial", Net: "tcp", Addr: addr, Err: err})
}

func readError(err error) error { return &net.OpError{Op: "read", Net: "tcp", Err: err} }

func TestExplainAndReasonOf(t *testing.T) {
	for _, c := range []struct {
		why           string
		err           error
		message, hint string
		reason        collect.Reason
	}{
		{"no error", nil, "", "", collect.ReasonNone},
		{"an answer's error, wrapped", fmt.Errorf("describe group: %w", kerr.GroupAuthorizationFailed), "Not authorized to access group", "DESCRIBE", collect.ReasonDenied},
		{"packets that are dropped on the way", dialError(os.ErrDeadlineExceeded), "no answer from 10.0.0.9:9092", "--brokers", collect.ReasonBrokerDown},
		{"no way to the network", dialError(os.NewSyscallError("connect", syscall.ENETUNREACH)), "cannot connect to 10.0.0.9:9092: network is unreachable", "--brokers", collect.ReasonBrokerDown},
		{"a name server that does not answer", dialError(&net.DNSError{Err: "server misbehaving", Name: "kafka", IsTemporary: true}), "looking up kafka failed: server misbehaving", "", collect.ReasonBrokerDown},
		{"the poll's deadline", fmt.Errorf("read: %w", context.DeadlineExceeded), "no answer in time", "is a Kafka listener", collect.ReasonTimeout},
		{"the client's own limit for an answer", readError(os.ErrDeadlineExceeded), "no answer in time", "is a Kafka listener", collect.ReasonTimeout},
		{"a broker that dies while it answers", readError(os.NewSyscallError("read", syscall.ECONNRESET)), "the broker closed the connection", "", collect.ReasonBrokerDown},
		{"an answer cut short", io.ErrUnexpectedEOF, "the broker closed the connection", "", collect.ReasonBrokerDown},
		{"a broker that has left the cluster", errors.New("unknown broker"), "unknown broker", "", collect.ReasonBrokerDown},
		{"a connection that another request broke", errors.New("the broker connection has died and the request will be retried on a new connection"), "connection has died", "", collect.ReasonBrokerDown},
		{"a request that the broker does not have", errors.New("broker is too old; the broker has already indicated it will not know how to handle the request"), "too old", "", collect.ReasonUnsupported},
		{"a certificate for clients only", &tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Reason: x509.IncompatibleUsage}}, "the broker's certificate is not valid", "", collect.ReasonError},
		{"a certificate that cannot be checked", &tls.CertificateVerificationError{Err: errors.New("x509: odd")}, "could not be checked: odd", "--tls-ca", collect.ReasonError},
		{"no TLS version in common", fmt.Errorf("unable to dial: %w", &net.OpError{Op: "remote error", Err: errors.New("tls: protocol version not supported")}), "ended the TLS handshake: protocol version not supported", "", collect.ReasonError},
		{"what nobody thought of", errors.New("odd"), "odd", "", collect.ReasonError},
	} {
		t.Run(c.why, func(t *testing.T) {
			message, hint := Explain(c.err)
			if !strings.Contains(message, c.message) || !strings.Contains(hint, c.hint) {
				t.Errorf("error: %s\nhint: %s\nwant %q and %q", message, hint, c.message, c.hint)
			}
			if got := ReasonOf(c.err); got != c.reason {
				t.Errorf("reason %v, want %v", got, c.reason)
			}
		})
	}
}
