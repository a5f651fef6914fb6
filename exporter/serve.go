package exporter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/exporter-toolkit/web"
)

// How long a server waits.
const (
	headerTimeout = 10 * time.Second // for a request's headers
	readTimeout   = time.Minute      // for a request as a whole: one may announce a body that never comes
	answerTimeout = time.Minute      // for a client to take an answer
	idleTimeout   = 2 * time.Minute  // for another request on a connection
	graceTimeout  = 2 * time.Second  // for answers under way when it shall stop
)

// Serve answers on a listener until ctx ends, counts polls meanwhile, and
// closes the listener. webConfigFile is exporter-toolkit's file for TLS and
// basic authentication, "" for none; it is read again at each connection. Serve
// returns nil after ctx, or why it cannot serve. Call it once: two would count
// each poll twice.
func (e *Exporter) Serve(ctx context.Context, l net.Listener, webConfigFile string) error {
	defer l.Close()
	ctx, cancel := context.WithCancel(ctx)
	server := &http.Server{
		Handler:           e.Handler(),
		ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: answerTimeout, IdleTimeout: idleTimeout,
		ErrorLog: slog.NewLogLogger(e.log.Handler(), slog.LevelWarn),
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() { e.Run(ctx) })
	stopped := make(chan struct{})
	wg.Go(func() {
		defer close(stopped)
		<-ctx.Done()
		grace, done := context.WithTimeout(context.WithoutCancel(ctx), graceTimeout)
		defer done()
		if server.Shutdown(grace) != nil {
			_ = server.Close() // whoever has not read its answer by now
		}
	})
	err := web.Serve(l, server, &web.FlagConfig{WebConfigFile: &webConfigFile}, e.log)
	if errors.Is(err, http.ErrServerClosed) {
		<-stopped
		return nil
	}
	return fmt.Errorf("serve HTTP on %s: %w", l.Addr(), err)
}
