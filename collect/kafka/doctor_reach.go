package kafka

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// The steps to a broker's first answer, in order.
const (
	stageDNS     = "dns"
	stageTCP     = "tcp"
	stageTLS     = "tls"
	stageSASL    = "sasl"
	stageRequest = "request"
)

// BrokerCheck is what became of the way to one address. A step that was not
// reached, or is not part of this connection, is null.
type BrokerCheck struct {
	ID        *int32 `json:"id"` // null for a bootstrap address that no broker advertises
	Address   string `json:"address"`
	Bootstrap bool   `json:"bootstrap"` // one of the addresses given

	DNS  *DNSCheck  `json:"dns"` // null for an IP address
	TCP  *TCPCheck  `json:"tcp"`
	TLS  *TLSCheck  `json:"tls"`
	SASL *SASLCheck `json:"sasl"`

	Reached        bool        `json:"reached"`         // it answered a request
	Version        string      `json:"version"`         // guessed from the requests it knows; "" if not known
	LatencySeconds *float64    `json:"latency_seconds"` // least of three requests on an open connection
	Clock          *ClockCheck `json:"clock"`
	Failed         string      `json:"failed"` // step that failed, "" if none did
	Error          string      `json:"error"`
}

// DNSCheck is the look-up of a broker's name.
type DNSCheck struct {
	Addresses []string `json:"addresses"`
	Seconds   float64  `json:"seconds"`
	OK        bool     `json:"ok"`
}

// TCPCheck is the connection itself.
type TCPCheck struct {
	Address string  `json:"address"` // IP and port, of the last attempt
	Seconds float64 `json:"seconds"`
	OK      bool    `json:"ok"`
}

// TLSCheck is the handshake and what the broker proves itself with.
type TLSCheck struct {
	OK      bool    `json:"ok"`
	Version string  `json:"version"` // "TLS 1.3"; "" where none was agreed
	Seconds float64 `json:"seconds"`
	// Verified is that the certificate was checked and passed; not so with
	// --tls-insecure-skip-verify.
	Verified bool          `json:"verified"`
	Names    []string      `json:"names"`     // the certificate is good for
	NotAfter *time.Time    `json:"not_after"` // of the broker's own certificate
	DaysLeft *int          `json:"days_left"` // negative when it is out of date
	Chain    []Certificate `json:"chain"`     // as sent, the broker's own first
}

// Certificate is one of a chain.
type Certificate struct {
	Subject  string    `json:"subject"`
	Issuer   string    `json:"issuer"`
	NotAfter time.Time `json:"not_after"`
}

// SASLCheck is the login.
type SASLCheck struct {
	Mechanism string `json:"mechanism"` // "" where none is configured and the broker wants one
	OK        *bool  `json:"ok"`        // null where it was not reached
	// Offered are the broker's mechanisms, where it was asked because the
	// login failed over them.
	Offered []string `json:"offered"`
}

func (s *SASLCheck) offered() []string {
	if s == nil {
		return nil
	}
	return s.Offered
}

// checkup is the examination of one address.
type checkup struct {
	BrokerCheck
	cl       *kgo.Client
	broker   *kgo.Broker
	versions *kmsg.ApiVersionsResponse
	steps    steps
	err      error  // why it was not reached
	failed   string // the step
}

// silenceOfOne bounds one question to one address: of many, one that hangs must
// not take the time of all.
const silenceOfOne = 0.4

// check goes all the way to an address's answer.
func (dr *doctor) check(ctx context.Context, addr string) *checkup {
	c := &checkup{BrokerCheck: BrokerCheck{Address: addr}}
	if dr.cfg.SASL.Mechanism != "" {
		c.SASL = &SASLCheck{Mechanism: dr.cfg.SASL.Mechanism}
	}
	ctx, cancel := shareOf(ctx, silenceOfOne)
	defer cancel()
	c.steps.verifies = !dr.cfg.TLS.InsecureSkipVerify
	dial := c.steps.watch(dr.cfg.dialer())
	opts := append(dr.base[:len(dr.base):len(dr.base)], kgo.SeedBrokers(addr), kgo.Dialer(dial))
	if c.cl, c.err = kgo.NewClient(opts...); c.err != nil {
		c.failed = stageDNS
		return c
	}
	c.broker = c.cl.SeedBrokers()[0]
	for range 3 {
		req := kmsg.NewPtrApiVersionsRequest()
		req.ClientSoftwareName, req.ClientSoftwareVersion = softwareName, dr.cfg.softwareVersion()
		began := time.Now()
		resp, err := c.request(ctx, req)
		if err != nil {
			c.fail(err)
			dr.mechanisms(ctx, c)
			return c
		}
		took := time.Since(began).Seconds()
		if c.versions != nil && (c.LatencySeconds == nil || took < *c.LatencySeconds) { // the first opened the connection
			c.LatencySeconds = &took
		}
		c.versions = resp.(*kmsg.ApiVersionsResponse)
	}
	if err := kerr.ErrorForCode(c.versions.ErrorCode); err != nil {
		c.fail(err)
		return c
	}
	c.Version = guessed(c.versions)
	return c
}

// shareOf gives a context that ends after a part of the time left.
func shareOf(ctx context.Context, part float64) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithTimeout(ctx, time.Duration(part*float64(DefaultRequestTimeout)))
	}
	return context.WithTimeout(ctx, time.Duration(part*float64(time.Until(deadline))))
}

func (c *checkup) request(ctx context.Context, req kmsg.Request) (kmsg.Response, error) {
	resp, err := c.broker.Request(ctx, req)
	if err != nil && ctx.Err() != nil {
		err = context.DeadlineExceeded // and not what the cut connection said
	}
	return resp, err
}

func (c *checkup) close() {
	if c.cl != nil {
		c.cl.Close()
	}
}

// fail notes what ended the way, and at which step.
func (c *checkup) fail(err error) {
	c.err, c.failed = err, c.steps.failedAt(err)
	if c.failed == stageRequest && c.SASL != nil {
		for _, e := range []error{kerr.SaslAuthenticationFailed, kerr.UnsupportedSaslMechanism, kerr.IllegalSaslState} {
			if errors.Is(err, e) {
				no := false
				c.failed, c.SASL.OK = stageSASL, &no
			}
		}
	}
}

// finish writes the steps down.
func (c *checkup) finish(now time.Time) {
	c.steps.into(&c.BrokerCheck, now)
	c.Reached, c.Failed = c.err == nil, c.failed
	if c.err != nil {
		c.Error, _ = Explain(c.err)
		return
	}
	if c.SASL != nil {
		yes := true
		c.SASL.OK = &yes
	}
}

// mechanisms asks a broker that refused a login's kind, or hung up on a client
// that has none, which kinds it has.
func (dr *doctor) mechanisms(ctx context.Context, c *checkup) {
	hungUp := closed(c.err) || isFirstRead(c.err)
	if !errors.Is(c.err, kerr.UnsupportedSaslMechanism) && (!hungUp || c.SASL != nil || c.failed != stageRequest) {
		return
	}
	without := dr.cfg
	without.SASL = SASL{}
	opts, err := without.options()
	if err != nil {
		return
	}
	cl, err := kgo.NewClient(append(opts, kgo.SeedBrokers(c.Address))...)
	if err != nil {
		return
	}
	defer cl.Close()
	req := kmsg.NewPtrSASLHandshakeRequest()
	req.Mechanism = "klagtop-asks" // no broker has it, and so all name those they have
	resp, err := cl.SeedBrokers()[0].Request(ctx, req)
	if err != nil {
		return
	}
	offered := slices.Sorted(slices.Values(resp.(*kmsg.SASLHandshakeResponse).SupportedMechanisms))
	if len(offered) == 0 {
		return
	}
	if c.SASL == nil {
		no := false
		c.SASL, c.failed = &SASLCheck{OK: &no}, stageSASL
	}
	c.SASL.Offered = offered
}

// guessed is the Kafka version whose requests a broker knows: exactly, or
// "about" the one that comes nearest, as with services and proxies that leave
// some out.
func guessed(r *kmsg.ApiVersionsResponse) string {
	if exact, ok := strings.CutPrefix(kversion.FromApiVersionsResponse(r).VersionGuess(), "v"); ok {
		return exact
	}
	best, least := "", math.MaxInt
	for _, name := range kversion.VersionStrings() {
		if d := distance(r, kversion.FromString(name)); d < least {
			best, least = name, d
		}
	}
	return "about " + strings.TrimPrefix(best, "v")
}

// distance counts requests that a broker knows in another version than a
// release does; those that it lacks weigh less than those it should not have.
func distance(r *kmsg.ApiVersionsResponse, release *kversion.Versions) int {
	const differs = 100
	has := map[int16]bool{}
	d := 0
	for i := range r.ApiKeys {
		k := &r.ApiKeys[i]
		has[k.ApiKey] = true
		if highest, ok := release.LookupMaxKeyVersion(k.ApiKey); !ok || highest != k.MaxVersion {
			d += differs
		}
	}
	release.EachMaxKeyVersion(func(key, _ int16) {
		if !has[key] {
			d++
		}
	})
	return d
}

// atMost reports whether the broker knows a request in no newer version.
func (c *checkup) atMost(key kmsg.Key, version int16) bool {
	for i := range c.versions.ApiKeys {
		if k := &c.versions.ApiKeys[i]; k.ApiKey == int16(key) {
			return k.MaxVersion <= version
		}
	}
	return true
}

func (c *checkup) features() []Feature {
	out := make([]Feature, 0, len(c.versions.FinalizedFeatures))
	for i := range c.versions.FinalizedFeatures {
		f := &c.versions.FinalizedFeatures[i]
		out = append(out, Feature{f.Name, f.MaxVersionLevel})
	}
	slices.SortFunc(out, func(a, b Feature) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// expiresSoon is when a certificate that is still good is worth a warning.
const expiresSoon = 30

// tellCertificates warns of certificates that will be out of date soon, each
// once: brokers often share one.
func (dr *doctor) tellCertificates() {
	told := map[string]bool{}
	for _, c := range dr.checked {
		if c.TLS == nil || c.TLS.DaysLeft == nil || c.err != nil || *c.TLS.DaysLeft >= expiresSoon {
			continue
		}
		key := fmt.Sprint(c.TLS.Chain)
		if told[key] {
			continue
		}
		told[key] = true
		dr.tell(severityWarning, stageTLS, c, fmt.Sprintf("the certificate of %s ends in %d days, at %s", c.Address, *c.TLS.DaysLeft, c.TLS.NotAfter.UTC().Format(time.RFC3339)),
			"renew it on the broker before then: no client connects after")
	}
}
