package config

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/klagtop/klagtop/collect/kafka"
)

// javaSettings are what a client.properties file sets, by the name of the flag that sets the same (or a name of
// its own where there is no such flag).
type javaSettings map[string]javaSetting

type javaSetting struct {
	text    string
	inline  bool   // text is PEM, not a file's name
	source  string // "client.properties:4: ssl.truststore.location"
	refused *Error // the file asks for something that is not supported; harmless where a flag says otherwise
}

// javaKeyOf names the key to look at for a setting that the file does not have.
var javaKeyOf = map[string]string{
	"brokers": "bootstrap.servers", "client-id": "client.id", "tls": "security.protocol",
	"tls-ca": "ssl.truststore.location", "tls-cert": "ssl.keystore.location", "tls-key": "ssl.keystore.location",
	"sasl-mechanism": "sasl.mechanism", "sasl-username": "sasl.jaas.config", "sasl-password": "sasl.jaas.config",
}

// javaFile reads one file. Keys that are asked for are taken out of the rest, which is named in notes.
type javaFile struct {
	path string
	last map[string]property
	used map[string]bool
	set  javaSettings
}

// readJava fills the Java layer. It refuses at once what Java would refuse; what only this program cannot do is
// refused when it turns out to be needed.
func (l *layers) readJava(path string) (notes []string, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, l.refuse("command-config", path, fileProblem(err), "")
	}
	props, err := parseProperties(text)
	if pe, ok := errors.AsType[*propertiesError](err); ok {
		return nil, &Error{Source: fmt.Sprintf("%s:%d", path, pe.line), Problem: pe.err.Error()}
	}
	f := &javaFile{path: path, last: map[string]property{}, used: map[string]bool{}, set: javaSettings{}}
	for _, p := range props {
		f.last[p.key] = p
	}
	for _, part := range []func(*javaFile) error{(*javaFile).general, (*javaFile).login, (*javaFile).trust, (*javaFile).identity, (*javaFile).nameCheck} {
		if err := part(f); err != nil {
			return nil, err
		}
	}
	l.java, l.file = f.set, path
	return f.notes(props), nil
}

// get gives a key's value, "" where the file does not have it.
func (f *javaFile) get(key string) string {
	f.used[key] = true
	return f.last[key].value
}

func (f *javaFile) source(key string) string {
	if p, ok := f.last[key]; ok {
		return fmt.Sprintf("%s:%d: %s", f.path, p.line, key)
	}
	return f.path + ": " + key
}

func (f *javaFile) refuse(key, value, problem, hint string) *Error {
	return &Error{Source: f.source(key), Value: value, Problem: problem, Hint: hint}
}

// take sets a setting from a key, where the file has that key.
func (f *javaFile) take(name, key string, inline bool) {
	if v := f.get(key); v != "" {
		f.set[name] = javaSetting{text: v, inline: inline, source: f.source(key)}
	}
}

func (f *javaFile) general() error {
	if f.get("config.providers") != "" {
		return f.refuse("config.providers", f.last["config.providers"].value, "not supported: values that Java would fetch from elsewhere would be taken as written",
			"write the values into the file, or give them by flag or environment variable")
	}
	f.take("brokers", "bootstrap.servers", false)
	f.take("client-id", "client.id", false)
	protocol := strings.ToUpper(f.get("security.protocol"))
	switch protocol {
	case "", "PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL":
	default:
		return f.refuse("security.protocol", f.last["security.protocol"].value, "no such protocol", "PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL")
	}
	f.set["tls"] = javaSetting{text: strconv.FormatBool(strings.HasSuffix(protocol, "SSL")), source: f.source("security.protocol")}
	f.set["sasl"] = javaSetting{text: strconv.FormatBool(strings.HasPrefix(protocol, "SASL")), source: f.source("security.protocol")}
	for name, key := range map[string]string{"request-timeout": "request.timeout.ms", "dial-timeout": "socket.connection.setup.timeout.ms"} {
		f.take(name, key, false)
		if v := f.get(key); v != "" {
			if n, err := strconv.ParseInt(v, 10, 32); err != nil || n <= 0 {
				return f.refuse(key, v, "not a number of milliseconds above zero", "30000 is 30 seconds")
			}
		}
	}
	return nil
}

func (f *javaFile) login() error {
	mechanism := f.get("sasl.mechanism")
	source := f.source("sasl.mechanism")
	if mechanism == "" && f.set["sasl"].text == "true" {
		mechanism, source = "GSSAPI", f.path+": sasl.mechanism (Java's default)"
	}
	if mechanism != "" {
		s := javaSetting{text: mechanism, source: source}
		if !slices.Contains(kafka.Mechanisms(), mechanism) {
			s.refused = &Error{Source: source, Value: mechanism, Problem: "this login is not supported", Hint: "one of " + strings.Join(kafka.Mechanisms(), ", ")}
		}
		f.set["sasl-mechanism"] = s
	}
	f.take("sasl-username", "sasl.jaas.config", false)
	if s, ok := f.set["sasl-username"]; ok {
		f.set["sasl-username"], f.set["sasl-password"] = f.credentials(s)
	}
	for _, key := range []string{"sasl.client.callback.handler.class", "sasl.login.callback.handler.class", "sasl.login.class"} {
		if v := f.get(key); v != "" {
			f.set["sasl-password"] = javaSetting{source: f.source(key), refused: f.refuse(key, v, "Java classes cannot be used", "give user and password by sasl.jaas.config, by flag or by environment variable")}
		}
	}
	return nil
}

// credentials reads a JAAS configuration. Which class it names does not matter as long as it is one of Kafka's
// two that hold a user and a password; shaded copies live in other packages.
func (f *javaFile) credentials(jaas javaSetting) (user, password javaSetting) {
	refuse := func(problem, hint string) (javaSetting, javaSetting) {
		s := javaSetting{source: jaas.source, refused: &Error{Source: jaas.source, Problem: problem, Hint: hint}}
		return s, s
	}
	m, err := parseJAAS(jaas.text)
	if err != nil {
		return refuse(err.Error(), `org.apache.kafka.common.security.plain.PlainLoginModule required username="…" password="…";`)
	}
	class := m.class[strings.LastIndexByte(m.class, '.')+1:]
	if class != "PlainLoginModule" && class != "ScramLoginModule" {
		return refuse("this login module is not supported: "+m.class, "PlainLoginModule or ScramLoginModule, with username and password")
	}
	if strings.EqualFold(m.options["tokenauth"], "true") {
		return refuse("delegation tokens (tokenauth) are not supported", "log in with a user and its password")
	}
	return javaSetting{text: m.options["username"], source: jaas.source}, javaSetting{text: m.options["password"], source: jaas.source}
}

func (f *javaFile) trust() error {
	kind := f.storeType("ssl.truststore.type", "ssl.truststore.certificates")
	location, inline := f.get("ssl.truststore.location"), f.get("ssl.truststore.certificates")
	f.get("ssl.truststore.password") // PEM has none; it matters to stores that are refused below
	class := f.get("ssl.engine.factory.class")
	switch {
	case class != "":
		f.set["tls-ca"] = javaSetting{
			source:  f.source("ssl.engine.factory.class"),
			refused: f.refuse("ssl.engine.factory.class", class, "Java classes cannot be used", "give the authorities as a PEM file by --tls-ca"),
		}
		return nil
	case location != "" && inline != "":
		return f.refuse("ssl.truststore.certificates", "", "given together with ssl.truststore.location", "give one of them")
	case location == "" && inline == "":
		return nil
	case kind != "PEM":
		f.set["tls-ca"] = f.store("truststore", kind, "tls-ca")
		return nil
	}
	f.take("tls-ca", "ssl.truststore.location", false)
	f.take("tls-ca", "ssl.truststore.certificates", true)
	return nil
}

func (f *javaFile) identity() error {
	kind := f.storeType("ssl.keystore.type", "ssl.keystore.certificate.chain", "ssl.keystore.key")
	location, chain, key := f.get("ssl.keystore.location"), f.get("ssl.keystore.certificate.chain"), f.get("ssl.keystore.key")
	f.get("ssl.keystore.password")
	f.get("ssl.key.password")
	switch {
	case location != "" && (chain != "" || key != ""):
		return f.refuse("ssl.keystore.location", location, "given together with ssl.keystore.certificate.chain or ssl.keystore.key", "give one of them")
	case location == "" && chain == "" && key == "":
		return nil
	case kind != "PEM":
		f.set["tls-cert"] = f.store("keystore", kind, "tls-cert and --tls-key")
		return nil
	}
	f.take("tls-cert", "ssl.keystore.location", false)
	f.take("tls-key", "ssl.keystore.location", false)
	f.take("tls-cert", "ssl.keystore.certificate.chain", true)
	f.take("tls-key", "ssl.keystore.key", true)
	return nil
}

// storeType is the type that the file gives, PEM where PEM text stands in it, else Java's default.
func (f *javaFile) storeType(key string, inline ...string) string {
	if kind := strings.ToUpper(f.get(key)); kind != "" {
		return kind
	}
	for _, k := range inline {
		if f.get(k) != "" {
			return "PEM"
		}
	}
	return "JKS"
}

func (f *javaFile) store(what, kind, flag string) javaSetting {
	key := "ssl." + what + ".location"
	e := f.refuse(key, f.last[key].value, kind+" stores are not supported",
		"convert it to PEM (JKS to PKCS#12: keytool -importkeystore -deststoretype PKCS12; PKCS#12 to PEM: openssl pkcs12 -nodes) and set ssl."+what+".type=PEM, or give PEM files by --"+flag)
	return javaSetting{source: e.Source, refused: e}
}

func (f *javaFile) nameCheck() error {
	const key = "ssl.endpoint.identification.algorithm"
	algorithm := f.get(key)
	if _, there := f.last[key]; !there || strings.EqualFold(algorithm, "https") {
		return nil
	}
	s := javaSetting{text: "off", source: f.source(key)}
	if algorithm != "" {
		s.refused = f.refuse(key, algorithm, "no such algorithm", "https, or empty for no check of the name")
	}
	f.set["tls-name-check"] = s
	return nil
}

// keyLike keeps what is no key out of notes: the second half of a value that was broken over two lines by mistake
// may be a secret.
var keyLike = regexp.MustCompile(`^[a-z][a-z0-9]*([._-][a-zA-Z0-9]+)+$`)

// notes names what the file has and this program does not use, each key once.
func (f *javaFile) notes(props []property) []string {
	var tuning, unknown, foreign []string
	seen := map[string]bool{}
	for _, p := range props {
		if seen[p.key] {
			continue
		}
		seen[p.key] = true
		switch {
		case f.used[p.key]:
			if f.last[p.key].foreign {
				foreign = append(foreign, p.key)
			}
		case irrelevant(p.key):
			tuning = append(tuning, p.key)
		case keyLike.MatchString(p.key):
			unknown = append(unknown, fmt.Sprintf("%s (line %d)", p.key, p.line))
		default:
			unknown = append(unknown, fmt.Sprintf("line %d", p.line))
		}
	}
	var notes []string
	say := func(what string, keys []string) {
		if len(keys) > 0 {
			notes = append(notes, f.path+": "+what+": "+strings.Join(keys, ", "))
		}
	}
	say("unknown keys, ignored", unknown)
	say("settings without effect here, ignored", tuning)
	say(`characters outside ASCII are read as ISO-8859-1, as Java does (write them as \uXXXX)`, foreign)
	return notes
}
