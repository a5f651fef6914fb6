package exporter

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// oneConn is a listener with a single connection.
type oneConn struct {
	conn   chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *oneConn) Accept() (net.Conn, error) {
	select {
	case c := <-l.conn:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *oneConn) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *oneConn) Addr() net.Addr { return &net.TCPAddr{} }

// Whoever says half of a request, or nothing more, must
// not hold a connection for ever.
func TestNoClientHoldsAConnectionForEver(t *testing.T) {
	for name, x := range map[string]struct {
		says string
		ends time.Duration // at most after this
	}{
		"nothing":                       {"", headerTimeout},
		"half a header":                 {"GET /metrics HTTP/1.1\r\nHost: x\r\n", headerTimeout},
		"a body that never comes":       {"GET /-/ready HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n", readTimeout},
		"one request, and then no more": {"GET /-/ready HTTP/1.1\r\nHost: x\r\n\r\n", idleTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := serve(t, Options{}, everything())
				l := &oneConn{conn: make(chan net.Conn, 1), closed: make(chan struct{})}
				client, server := net.Pipe()
				l.conn <- server
				ctx, stop := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- s.Serve(ctx, l, "") }()
				began := time.Now()
				go func() { _, _ = io.WriteString(client, x.says) }()
				_, _ = io.Copy(io.Discard, client) // until the server closes it
				if took := time.Since(began); took > x.ends {
					t.Errorf("closed after %v, want %v", took, x.ends)
				}
				stop()
				if err := <-ended; err != nil {
					t.Error(err)
				}
			})
		})
	}
}
