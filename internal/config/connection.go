package config

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/klagtop/klagtop/collect/kafka"
)

func loadConnection(l *layers, c *Config) error {
	for _, part := range []func(*layers, *Config) error{loadBrokers, loadTLS, loadSASL, loadTimeouts} {
		if err := part(l, c); err != nil {
			return err
		}
	}
	return l.named(c.Kafka.Validate())
}

func loadBrokers(l *layers, c *Config) error {
	var err error
	if c.Kafka.ClientID, err = l.text("client-id"); err != nil {
		return err
	}
	addrs := l.list("brokers")
	if j, ok := l.java["brokers"]; ok && !l.has("brokers") {
		addrs = []string{j.text}
	}
	for _, a := range strings.Split(strings.Join(addrs, ","), ",") {
		if a = strings.TrimSpace(a); a == "" {
			continue
		}
		broker, err := kafka.ParseBroker(a)
		if err != nil {
			return l.refuse("brokers", a, err.Error(), "write host:port, such as "+kafka.DefaultBroker)
		}
		c.Kafka.Brokers = append(c.Kafka.Brokers, broker)
	}
	if len(c.Kafka.Brokers) > 0 {
		return nil
	}
	if l.has("brokers") {
		return l.refuse("brokers", "", "no broker is given", "write host:port, such as "+kafka.DefaultBroker)
	}
	c.Kafka.Brokers = []string{kafka.DefaultBroker}
	c.Notes = append(c.Notes, "no brokers given (--brokers, "+Variable("brokers")+", or bootstrap.servers of --command-config): using "+kafka.DefaultBroker)
	return nil
}

func loadTLS(l *layers, c *Config) error {
	on, err := l.tlsEnabled()
	if err != nil {
		return err
	}
	if !on {
		l.dropUnused(c, "it asks for no TLS", "tls-ca", "tls-cert", "tls-key")
		return nil
	}
	t := &c.Kafka.TLS
	t.Enabled = true
	t.ServerName = l.plain("tls-server-name")
	t.InsecureSkipVerify, _ = l.values.GetBool("tls-insecure-skip-verify")
	if _, err := l.text("tls-name-check"); err != nil {
		return err
	}
	t.NoNameCheck = l.java["tls-name-check"].text == "off"

	if t.CAFile, err = l.text("tls-ca"); err != nil {
		return err
	}
	if j := l.java["tls-ca"]; j.inline && !l.has("tls-ca") {
		t.CAFile, t.CA = "", j.text
	}
	// A certificate and its key come from one place: half from a flag and half from the Java file would
	// never belong together.
	if l.has("tls-cert") || l.has("tls-key") {
		t.CertFile, t.KeyFile = l.plain("tls-cert"), l.plain("tls-key")
		return nil
	}
	if t.CertFile, err = l.text("tls-cert"); err != nil {
		return err
	}
	if t.KeyFile, err = l.text("tls-key"); err != nil {
		return err
	}
	if l.java["tls-cert"].inline {
		t.CertFile, t.Cert = "", t.CertFile
	}
	if l.java["tls-key"].inline {
		t.KeyFile, t.Key = "", kafka.Secret(t.KeyFile)
	}
	return nil
}

// tlsEnabled is what --tls says, else yes where another flag asks for it, else what the Java file says.
func (l *layers) tlsEnabled() (bool, error) {
	if l.has("tls") {
		return l.values.GetBool("tls")
	}
	for _, name := range []string{"tls-ca", "tls-cert", "tls-key", "tls-server-name", "tls-insecure-skip-verify"} {
		if v := l.plain(name); l.has(name) && v != "" && v != "false" {
			return true, nil
		}
	}
	v, err := l.text("tls")
	return v == "true", err
}

// dropUnused takes settings of the Java file out of use and says so.
func (l *layers) dropUnused(c *Config, because string, names ...string) {
	var unused []string
	for _, name := range names {
		if j, ok := l.java[name]; ok && !slices.Contains(unused, j.source) {
			unused = append(unused, j.source)
		}
		delete(l.java, name)
	}
	if len(unused) > 0 {
		c.Notes = append(c.Notes, "not used: "+strings.Join(unused, ", ")+" ("+l.source("tls")+": "+because+")")
	}
}

func loadSASL(l *layers, c *Config) error {
	// Java ignores the sasl.* keys unless security.protocol asks for a login.
	if l.java["sasl"].text != "true" && !l.has("sasl-mechanism") {
		l.dropUnused(c, "it asks for no login", "sasl-mechanism", "sasl-username", "sasl-password")
	}
	var err error
	s := &c.Kafka.SASL
	if s.Mechanism, err = l.text("sasl-mechanism"); err != nil {
		return err
	}
	s.Mechanism = strings.ToUpper(s.Mechanism)
	if s.Username, err = l.text("sasl-username"); err != nil {
		return err
	}
	word, file := l.given["sasl-password"], l.given["sasl-password-file"]
	switch {
	case word.source != "" && file.source != "" && word.byFlag == file.byFlag:
		return l.refuse("sasl-password", "", "given together with "+file.source, "give one of them")
	case file.source != "" && !word.byFlag:
		s.PasswordFile = l.plain("sasl-password-file")
		return nil
	}
	password, err := l.text("sasl-password")
	s.Password = kafka.Secret(password)
	return err
}

// loadTimeouts fits the connection's time limits into a poll's: a broker that does not answer must be given up, and
// another one asked, before the poll ends. Two attempts to connect fit into it, so that the error of a host that swallows
// packets is its own, with its address, and not the poll's deadline.
func loadTimeouts(l *layers, c *Config) error {
	request, err := l.milliseconds("request-timeout", c.Timeout)
	if err != nil {
		return err
	}
	dial, err := l.milliseconds("dial-timeout", min(kafka.DefaultDialTimeout, c.Timeout/3))
	if err != nil {
		return err
	}
	c.Kafka.RequestTimeout = min(max(min(request, c.Timeout), 100*time.Millisecond), 15*time.Minute)
	c.Kafka.DialTimeout = min(dial, c.Timeout)
	return nil
}

func (l *layers) milliseconds(name string, otherwise time.Duration) (time.Duration, error) {
	j, ok := l.java[name]
	if !ok {
		return otherwise, nil
	}
	if j.refused != nil {
		return 0, j.refused
	}
	return time.ParseDuration(j.text + "ms")
}

// fileProblem drops the file's name from the error: the setting is named beside it.
func fileProblem(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}
