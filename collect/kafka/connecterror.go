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

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/klagtop/klagtop/collect"
)

// handshakeError is a TCP connection on which TLS could not be agreed.
type handshakeError struct {
	addr string
	err  error
}

func (e *handshakeError) Error() string { return "tls handshake with " + e.addr + ": " + e.err.Error() }
func (e *handshakeError) Unwrap() error { return e.err }

// ReasonOf classifies what a request ended with: an answer's Kafka error, or a connection's.
// It gives ReasonNone for nil.
func ReasonOf(err error) collect.Reason {
	if err == nil {
		return collect.ReasonNone
	}
	if ke, ok := errors.AsType[*kerr.Error](err); ok {
		return reasonOfKafka(ke)
	}
	switch {
	case refusesClientCertificate(err):
		return collect.ReasonDenied
	case untrusted(err):
		return collect.ReasonError
	case says(err, "broker is too old", "request key is unknown"):
		return collect.ReasonUnsupported
	case cannotDial(err), closed(err), says(err, "broker connection has died", "unknown broker"):
		return collect.ReasonBrokerDown
	case timedOut(err):
		return collect.ReasonTimeout
	}
	return collect.ReasonError
}

// reasonOfCode classifies the error code of an answer or of a part of it.
func reasonOfCode(code int16) collect.Reason {
	if code == 0 {
		return collect.ReasonNone
	}
	return ReasonOf(kerr.ErrorForCode(code))
}

func reasonOfKafka(err *kerr.Error) collect.Reason {
	switch err {
	case kerr.TopicAuthorizationFailed, kerr.GroupAuthorizationFailed, kerr.ClusterAuthorizationFailed,
		kerr.TransactionalIDAuthorizationFailed, kerr.SaslAuthenticationFailed, kerr.UnsupportedSaslMechanism, kerr.IllegalSaslState:
		return collect.ReasonDenied
	case kerr.UnknownTopicOrPartition, kerr.UnknownTopicID, kerr.InconsistentTopicID:
		return collect.ReasonTopicMissing
	case kerr.LeaderNotAvailable, kerr.NotLeaderForPartition, kerr.OffsetNotAvailable,
		kerr.ReplicaNotAvailable, kerr.ListenerNotFound, kerr.FencedLeaderEpoch, kerr.UnknownLeaderEpoch:
		return collect.ReasonNoLeader
	// A coordinator that has moved, or is about to, is one that loads somewhere else.
	case kerr.CoordinatorLoadInProgress, kerr.CoordinatorNotAvailable, kerr.NotCoordinator:
		return collect.ReasonLoading
	case kerr.RequestTimedOut:
		return collect.ReasonTimeout
	case kerr.NetworkException, kerr.BrokerNotAvailable:
		return collect.ReasonBrokerDown
	case kerr.UnsupportedVersion:
		return collect.ReasonUnsupported
	}
	return collect.ReasonError
}

// Explain says in one sentence, without a final stop, why a cluster or a broker could not be asked, and what to change.
// The hint names flags; it is empty where there is nothing to say beyond the message. Neither holds a secret.
func Explain(err error) (message, hint string) {
	if err == nil {
		return "", ""
	}
	if fe, ok := errors.AsType[*FieldError](err); ok {
		return fe.Error(), fe.Hint
	}
	for _, explain := range []func(error) (string, string){explainLogin, explainFirstRead, explainCertificate, explainAddress, explainSilence} {
		if message, hint := explain(err); message != "" {
			return message, hint
		}
	}
	return err.Error(), ""
}

const (
	loginFlags = "--sasl-mechanism, --sasl-username and --sasl-password-file or KLAGTOP_SASL_PASSWORD (or security.protocol and sasl.* in the file of --command-config)"
	tlsFlags   = "--tls, with --tls-ca for a private authority (or security.protocol and ssl.* in the file of --command-config)"
	noTLS      = "leave out --tls (security.protocol without SSL in the file of --command-config), or name the port of a TLS listener in --brokers"
)

func explainLogin(err error) (message, hint string) {
	switch {
	case errors.Is(err, kerr.SaslAuthenticationFailed):
		return "the broker refused the login: wrong user or password, or the user has none for this mechanism",
			"check --sasl-username, the password (--sasl-password-file, KLAGTOP_SASL_PASSWORD, or sasl.jaas.config in the file of --command-config) and --sasl-mechanism"
	case errors.Is(err, kerr.UnsupportedSaslMechanism):
		return "the broker does not offer this login mechanism", "change --sasl-mechanism (sasl.mechanism in the file of --command-config) to one that its listener has"
	case errors.Is(err, kerr.IllegalSaslState):
		return "the broker expects no login on this port, but one was sent",
			"leave out --sasl-mechanism (security.protocol without SASL in the file of --command-config), or name the port of a SASL listener in --brokers"
	case errors.Is(err, kerr.TopicAuthorizationFailed), errors.Is(err, kerr.GroupAuthorizationFailed), errors.Is(err, kerr.ClusterAuthorizationFailed):
		return err.Error(), "this user needs the DESCRIBE permission on it"
	}
	return "", ""
}

func explainFirstRead(err error) (message, hint string) {
	switch {
	case says(err, "tls alert record"):
		return "this port speaks TLS, the connection does not", "add " + tlsFlags
	case says(err, "HTTP' in ascii"):
		return "an HTTP server answers there, not a Kafka broker", "check the port in --brokers"
	case says(err, "invalid large response size", "invalid negative response size"):
		return "what answers there is not a Kafka broker", "check host and port in --brokers"
	}
	// A broker that reads a TLS greeting as a request closes the connection; with bytes left unread, that is a reset.
	if _, ok := errors.AsType[*handshakeError](err); ok && closed(err) {
		return "the broker closed the connection during the TLS handshake: this port most likely speaks no TLS", noTLS
	}
	if fr, ok := errors.AsType[*kgo.ErrFirstReadEOF](err); ok {
		switch {
		case says(fr, "TLS missing"):
			// So does a load balancer without a broker behind it: a guess, not a finding.
			return "the broker closed the connection at once: it is not up, or this port wants TLS", "if it never worked, add " + tlsFlags
		}
		return "the broker closed the connection at the first request: it most likely wants a login, or TLS", "add " + loginFlags + "; or " + tlsFlags
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return "what answers there does not speak TLS", noTLS
	}
	return "", ""
}

func explainCertificate(err error) (message, hint string) {
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "the broker's certificate is signed by an authority that is not known here", "name the authority's PEM file with --tls-ca (ssl.truststore.location in the file of --command-config)"
	}
	if he, ok := errors.AsType[x509.HostnameError](err); ok {
		return fmt.Sprintf("the broker's certificate is not for %s but for %s", he.Host, namesIn(he.Certificate)),
			"use a name of the certificate in --brokers (and in the brokers' advertised.listeners), or give it as --tls-server-name"
	}
	if ci, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		if ci.Reason == x509.Expired {
			return "the broker's certificate is out of date: " + strings.TrimPrefix(ci.Error(), "x509: certificate has expired or is not yet valid: "),
				"the certificate must be renewed on the broker; check this machine's clock, too"
		}
		return "the broker's certificate is not valid: " + strings.TrimPrefix(ci.Error(), "x509: "), ""
	}
	if untrusted(err) {
		return "the broker's certificate could not be checked: " + innermost(err), "check --tls-ca"
	}
	switch {
	case refusesClientCertificate(err):
		return "the broker refused this client's certificate: " + innermost(err),
			"give a certificate that the broker's truststore knows, with --tls-cert and --tls-key (ssl.keystore.* in the file of --command-config)"
	case says(err, "remote error: tls:", "tls: no supported versions", "tls: server selected"):
		return "the broker ended the TLS handshake: " + innermost(err), ""
	}
	return "", ""
}

func namesIn(c *x509.Certificate) string {
	names := namesOf(c)
	if len(names) == 0 {
		return "no name at all (its subject does not count)"
	}
	return strings.Join(names, ", ")
}

// namesOf are the names and addresses that a certificate is good for.
func namesOf(c *x509.Certificate) []string {
	names := append([]string{}, c.DNSNames...)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	return names
}

func explainAddress(err error) (message, hint string) {
	if de, ok := errors.AsType[*net.DNSError](err); ok {
		if de.IsNotFound {
			return "no such host: " + de.Name, "check the name in --brokers; if it is not one of those, the broker advertises it (advertised.listeners) and this machine cannot look it up"
		}
		return fmt.Sprintf("looking up %s failed: %s", de.Name, de.Err), ""
	}
	if !cannotDial(err) {
		return "", ""
	}
	addr := dialled(err)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens on " + addr + " (connection refused)", "is the broker running, and are host and port in --brokers right?"
	case timedOut(err):
		return "no answer from " + addr, "check the address in --brokers and firewalls on the way; on a slow network, a longer --timeout"
	}
	return "cannot connect to " + addr + ": " + innermost(err), "check the address in --brokers"
}

func explainSilence(err error) (message, hint string) {
	if !timedOut(err) {
		if closed(err) {
			return "the broker closed the connection", "it may be starting or stopping; if it never worked, check the login and TLS settings"
		}
		return "", ""
	}
	if he, ok := errors.AsType[*handshakeError](err); ok {
		return "no answer to the TLS handshake from " + he.addr, noTLS
	}
	// A Go web server, for one, waits in silence for a line that never ends.
	return "no answer in time", "a longer --timeout, if the cluster is slow; if it never worked, check that the port in --brokers is a Kafka listener"
}

// cannotDial reports whether there was no TCP connection at all.
func cannotDial(err error) bool {
	oe, ok := errors.AsType[*net.OpError](err)
	return ok && oe.Op == "dial"
}

// dialled gives the address, as a name where the connection was to have one.
func dialled(err error) string {
	if oe, ok := errors.AsType[*net.OpError](err); ok && oe.Addr != nil {
		return oe.Addr.String()
	}
	return "the broker"
}

func closed(err error) bool {
	for _, e := range []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE, syscall.ECONNABORTED} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

func timedOut(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		return true
	}
	ne, ok := errors.AsType[net.Error](err)
	return ok && ne.Timeout()
}

// untrusted reports whether the broker's certificate did not pass.
func untrusted(err error) bool {
	_, ok := errors.AsType[*tls.CertificateVerificationError](err)
	return ok
}

// refusesClientCertificate goes by the alert's text: its type is not exported.
func refusesClientCertificate(err error) bool {
	return says(err, "remote error: tls: certificate required", "remote error: tls: bad certificate", "remote error: tls: unknown certificate",
		"remote error: tls: expired certificate", "remote error: tls: revoked certificate", "remote error: tls: unsupported certificate", "remote error: tls: access denied")
}

// says looks for what the client library tells in words only.
func says(err error, texts ...string) bool {
	all := err.Error()
	for _, t := range texts {
		if strings.Contains(all, t) {
			return true
		}
	}
	return false
}

// innermost gives the text of the error that all others wrap, without its package's prefix.
func innermost(err error) string {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return strings.TrimPrefix(strings.TrimPrefix(err.Error(), "tls: "), "x509: ")
		}
		err = next
	}
}
