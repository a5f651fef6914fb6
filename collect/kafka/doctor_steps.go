package kafka

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math"
	"net"
	"net/http/httptrace"
	"sync"
	"time"
)

// steps is what the opening of a connection went through: of the newest try.
type steps struct {
	mu   sync.Mutex
	dns  *DNSCheck
	tcp  *TCPCheck
	tls  *TLSCheck
	peer []*x509.Certificate
	open bool // a connection was handed out

	verifies bool // the dialer checks certificates, with or without their name
}

// watch follows each connection that dial opens.
func (s *steps) watch(dial func(context.Context, string, string) (net.Conn, error)) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		s.mu.Lock()
		s.dns, s.tcp, s.tls, s.peer, s.open = nil, nil, nil, nil, false
		s.mu.Unlock()
		var connected time.Time
		conn, err := dial(httptrace.WithClientTrace(ctx, s.trace(&connected)), network, addr)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.open = err == nil
		if connected.IsZero() {
			return conn, err
		}
		s.handshake(conn, err, time.Since(connected).Seconds())
		return conn, err
	}
}

// trace hears of the steps below TLS.
func (s *steps) trace(connected *time.Time) *httptrace.ClientTrace {
	var looked, dialled time.Time
	with := func(f func()) {
		s.mu.Lock()
		defer s.mu.Unlock()
		f()
	}
	return &httptrace.ClientTrace{
		DNSStart: func(httptrace.DNSStartInfo) {
			with(func() { looked, s.dns = time.Now(), &DNSCheck{Addresses: []string{}} })
		},
		DNSDone: func(i httptrace.DNSDoneInfo) {
			with(func() {
				if s.dns == nil { // of a try that was given up
					return
				}
				s.dns.Seconds, s.dns.OK = time.Since(looked).Seconds(), i.Err == nil
				for _, a := range i.Addrs {
					s.dns.Addresses = append(s.dns.Addresses, a.String())
				}
			})
		},
		ConnectStart: func(string, string) {
			with(func() {
				if dialled.IsZero() {
					dialled = time.Now()
				}
			})
		},
		ConnectDone: func(_, addr string, err error) { // a name may have several addresses, tried side by side
			with(func() {
				if s.tcp != nil && s.tcp.OK {
					return
				}
				s.tcp = &TCPCheck{Address: addr, Seconds: time.Since(dialled).Seconds(), OK: err == nil}
				if err == nil {
					*connected = time.Now()
				}
			})
		},
	}
}

// handshake notes what TLS came to.
func (s *steps) handshake(conn net.Conn, err error, seconds float64) {
	t := &TLSCheck{Seconds: seconds, Names: []string{}, Chain: []Certificate{}}
	if tc, ok := conn.(*tls.Conn); ok && err == nil {
		state := tc.ConnectionState()
		t.OK, t.Version, t.Verified = true, tls.VersionName(state.Version), s.verifies
		s.tls, s.peer = t, state.PeerCertificates
		return
	}
	if _, ok := errors.AsType[*handshakeError](err); !ok {
		return
	}
	s.tls = t
	if v, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		s.peer = v.UnverifiedCertificates
	}
}

// failedAt is the step at which an error ended the way.
func (s *steps) failedAt(err error) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, fieldError := errors.AsType[*FieldError](err)
	switch {
	case s.open:
		return stageRequest
	case s.tls != nil, fieldError:
		return stageTLS
	case s.dns != nil && !s.dns.OK, isDNS(err):
		return stageDNS
	}
	return stageTCP
}

func isDNS(err error) bool {
	_, ok := errors.AsType[*net.DNSError](err)
	return ok
}

func (s *steps) into(b *BrokerCheck, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b.DNS, b.TCP, b.TLS = s.dns, s.tcp, s.tls
	if s.tls == nil || len(s.peer) == 0 {
		return
	}
	leaf := s.peer[0]
	days := int(math.Floor(leaf.NotAfter.Sub(now).Hours() / 24))
	b.TLS.NotAfter, b.TLS.DaysLeft = &leaf.NotAfter, &days
	b.TLS.Names = namesOf(leaf)
	for _, c := range s.peer {
		b.TLS.Chain = append(b.TLS.Chain, Certificate{Subject: c.Subject.String(), Issuer: c.Issuer.String(), NotAfter: c.NotAfter})
	}
}
