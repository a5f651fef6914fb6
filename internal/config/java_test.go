package config

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klagtop/klagtop/collect/kafka"
)

const plainLogin = `sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="alice" password="hunter2";` + "\n"

// certificate gives a certificate and its key, as PEM.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "x"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	pk, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pk}))
}

// propertyValue escapes the line breaks of a value, as a properties file wants it.
func propertyValue(s string) string { return strings.ReplaceAll(s, "\n", `\n`) }

func loadJava(t *testing.T, file string, args []string, environ ...string) (Config, error) {
	t.Helper()
	return load(t, append(args, "--command-config="+writeFile(t, "client.properties", file)), environ...)
}

func TestClientProperties(t *testing.T) {
	cert, key := certificate(t)
	ca, both, flagCA := writeFile(t, "ca.pem", cert), writeFile(t, "both.pem", key+cert), writeFile(t, "flag.pem", cert)
	certFile, keyFile := writeFile(t, "cert.pem", cert), writeFile(t, "key.pem", key)
	alice := func(mechanism string) kafka.SASL {
		return kafka.SASL{Mechanism: mechanism, Username: "alice", Password: "hunter2"}
	}
	trust := "ssl.truststore.type=PEM\nssl.truststore.location=" + ca + "\n"

	for _, c := range []struct {
		why, file string
		args      []string
		environ   []string
		tls       kafka.TLS
		sasl      kafka.SASL
	}{
		{why: "nothing that matters"},
		{why: "PLAIN", file: "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n" + plainLogin, sasl: alice("PLAIN")},
		{why: "PLAIN over TLS with the system's authorities", file: "security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\n" + plainLogin, tls: kafka.TLS{Enabled: true}, sasl: alice("PLAIN")},
		{
			why: "SCRAM, over lines, with a class of another package", file: "security.protocol=sasl_plaintext\nsasl.mechanism=SCRAM-SHA-512\nsasl.jaas.config=shaded.ScramLoginModule required \\\n  username=\"alice\" \\\n  password=\"a\\\\\"b\\\\\\\\c\";\n",
			sasl: kafka.SASL{Mechanism: "SCRAM-SHA-512", Username: "alice", Password: `a"b\c`},
		},
		{why: "the last of a key counts", file: "security.protocol=SSL\nsecurity.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\nsasl.mechanism=PLAIN\n" + plainLogin, sasl: alice("PLAIN")},
		{why: "TLS", file: "security.protocol=SSL\n" + trust, tls: kafka.TLS{Enabled: true, CAFile: ca}},
		{why: "TLS with the authority in the file", file: "security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.certificates=" + propertyValue(cert), tls: kafka.TLS{Enabled: true, CA: strings.TrimSpace(cert)}},
		{why: "mutual TLS with one file", file: "security.protocol=SSL\nssl.keystore.type=pem\nssl.keystore.location=" + both, tls: kafka.TLS{Enabled: true, CertFile: both, KeyFile: both}},
		{
			why: "mutual TLS with certificate and key in the file", file: "security.protocol=SSL\nssl.keystore.type=PEM\nssl.keystore.certificate.chain=" + propertyValue(cert) + "\nssl.keystore.key=" + propertyValue(key),
			tls: kafka.TLS{Enabled: true, Cert: strings.TrimSpace(cert), Key: kafka.Secret(strings.TrimSpace(key))},
		},
		{why: "no check of the name", file: "security.protocol=SSL\nssl.endpoint.identification.algorithm=\n", tls: kafka.TLS{Enabled: true, NoNameCheck: true}},
		{why: "the usual check of the name", file: "security.protocol=SSL\nssl.endpoint.identification.algorithm=HTTPS\n", tls: kafka.TLS{Enabled: true}},

		{why: "a flag's password over the file's", file: "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n" + plainLogin, args: []string{"--sasl-password=other"}, sasl: kafka.SASL{Mechanism: "PLAIN", Username: "alice", Password: "other"}},
		{why: "a flag's password over a variable's file", file: "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n" + plainLogin, args: []string{"--sasl-password=other"}, environ: []string{"KLAGTOP_SASL_PASSWORD_FILE=" + ca}, sasl: kafka.SASL{Mechanism: "PLAIN", Username: "alice", Password: "other"}},
		{why: "a flag's password file over a variable's password", file: "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n" + plainLogin, args: []string{"--sasl-password-file=" + ca}, environ: []string{"KLAGTOP_SASL_PASSWORD=x"}, sasl: kafka.SASL{Mechanism: "PLAIN", Username: "alice", PasswordFile: ca}},
		{why: "a variable's password over the file's", file: "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n" + plainLogin, environ: []string{"KLAGTOP_SASL_PASSWORD=other"}, sasl: kafka.SASL{Mechanism: "PLAIN", Username: "alice", Password: "other"}},
		{why: "a flag's mechanism over one that is not supported", file: "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\n" + plainLogin, args: []string{"--sasl-mechanism=PLAIN"}, sasl: alice("PLAIN")},
		{why: "flags over a login of Java classes", file: "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.login.class=x.Y\n" + plainLogin, args: []string{"--sasl-password=other"}, sasl: kafka.SASL{Mechanism: "PLAIN", Username: "alice", Password: "other"}},
		{why: "a flag's authority over the file's", file: "security.protocol=SSL\n" + trust, args: []string{"--tls-ca=" + flagCA}, tls: kafka.TLS{Enabled: true, CAFile: flagCA}},
		{why: "a flag's authority over the file's inline one", file: "security.protocol=SSL\nssl.truststore.certificates=" + propertyValue(cert), args: []string{"--tls-ca=" + flagCA}, tls: kafka.TLS{Enabled: true, CAFile: flagCA}},
		{why: "a flag's authority over a store that is not supported", file: "security.protocol=SSL\nssl.truststore.location=x.jks\n", args: []string{"--tls-ca=" + flagCA}, tls: kafka.TLS{Enabled: true, CAFile: flagCA}},
		{why: "a flag's certificate over a store that is not supported", file: "security.protocol=SSL\nssl.keystore.location=x.jks\n", environ: []string{"KLAGTOP_TLS_CERT=" + certFile, "KLAGTOP_TLS_KEY=" + keyFile}, tls: kafka.TLS{Enabled: true, CertFile: certFile, KeyFile: keyFile}},
		{why: "TLS off by flag", file: "security.protocol=SSL\n" + trust, args: []string{"--tls=false"}},
		{why: "TLS on by flag", file: trust, args: []string{"--tls"}, tls: kafka.TLS{Enabled: true, CAFile: ca}},
		{why: "TLS on by another flag", args: []string{"--tls-server-name=x"}, tls: kafka.TLS{Enabled: true, ServerName: "x"}},
		{why: "TLS not on by a flag that says no", args: []string{"--tls-insecure-skip-verify=false"}},
		{why: "stores of a protocol without TLS are never opened", file: "security.protocol=PLAINTEXT\nssl.truststore.location=x.jks\nssl.keystore.location=x.jks\n"},
		{why: "a login that the protocol does not ask for", file: "sasl.mechanism=GSSAPI\n" + plainLogin},
		{why: "Java classes that nothing asks for", file: "ssl.engine.factory.class=x.Y\nsasl.login.class=x.Y\n"},
	} {
		t.Run(c.why, func(t *testing.T) {
			got, err := loadJava(t, c.file, c.args, c.environ...)
			if err != nil {
				t.Fatal(err)
			}
			if got.Kafka.TLS != c.tls {
				t.Errorf("TLS %+v\nwant %+v", got.Kafka.TLS, c.tls)
			}
			if got.Kafka.SASL != c.sasl {
				t.Errorf("SASL %+v\nwant %+v", got.Kafka.SASL, c.sasl)
			}
			if printed := fmt.Sprintf("%+v %#v", got, got); strings.Contains(printed, "hunter2") || strings.Contains(printed, "PRIVATE KEY") {
				t.Errorf("a secret shows: %s", printed)
			}
		})
	}
}

func TestClientPropertiesSetTheConnectionsLimits(t *testing.T) {
	for _, c := range []struct {
		why, file     string
		args          []string
		request, dial time.Duration
		client        string
	}{
		{"as they are", "request.timeout.ms=4000\nsocket.connection.setup.timeout.ms=2500\nclient.id=me\n", nil, 4 * time.Second, 2500 * time.Millisecond, "me"},
		{"never beyond a poll", "request.timeout.ms=30000\nsocket.connection.setup.timeout.ms=30000\n", nil, 10 * time.Second, 10 * time.Second, ""},
		{"without them, a second broker gets its turn", "", []string{"--timeout=2s"}, 2 * time.Second, 2 * time.Second / 3, ""},
		{"a poll too short for the client library", "", []string{"--timeout=50ms"}, 100 * time.Millisecond, 50 * time.Millisecond / 3, ""},
		{"a poll too long for it", "", []string{"--timeout=1h"}, 15 * time.Minute, 3 * time.Second, ""},
	} {
		t.Run(c.why, func(t *testing.T) {
			got, err := loadJava(t, c.file, c.args)
			if err != nil {
				t.Fatal(err)
			}
			if k := got.Kafka; k.RequestTimeout != c.request || k.DialTimeout != c.dial || k.ClientID != c.client {
				t.Errorf("request %v, dial %v, client %q; want %v, %v, %q", k.RequestTimeout, k.DialTimeout, k.ClientID, c.request, c.dial, c.client)
			}
		})
	}
}

func TestClientPropertiesRefuses(t *testing.T) {
	cert, key := certificate(t)
	ssl, sasl := "security.protocol=SSL\n", "security.protocol=SASL_PLAINTEXT\n"
	for _, c := range []struct{ why, file, err, hint string }{
		{"a line that Java refuses", "a=1\nb=C:\\users", `FILE:2: \u needs four hexadecimal digits (write \\ for a backslash)`, ""},
		{"a protocol that is none", "\nsecurity.protocol=TLS", `FILE:2: security.protocol "TLS": no such protocol`, "SSL"},
		{"values from elsewhere", "config.providers=file", `FILE:1: config.providers "file": not supported: values that Java would fetch from elsewhere would be taken as written`, "environment"},
		{"a broker that is none", "bootstrap.servers=a:1,b:x", `FILE:1: bootstrap.servers "b:x": the port is not a number from 1 to 65535`, ""},
		{"a time that is none", "request.timeout.ms=5s", `FILE:1: request.timeout.ms "5s": not a number of milliseconds above zero`, ""},
		{"no time", "socket.connection.setup.timeout.ms=0", `FILE:1: socket.connection.setup.timeout.ms "0": not a number of milliseconds above zero`, ""},

		{"Java's own default login", sasl, `FILE: sasl.mechanism (Java's default) "GSSAPI": this login is not supported`, "SCRAM-SHA-256"},
		{"Kerberos", sasl + "sasl.mechanism=GSSAPI", `FILE:2: sasl.mechanism "GSSAPI": this login is not supported`, "PLAIN"},
		{"OAuth", sasl + "sasl.mechanism=OAUTHBEARER", `FILE:2: sasl.mechanism "OAUTHBEARER": this login is not supported`, "PLAIN"},
		{"Amazon's login", sasl + "sasl.mechanism=AWS_MSK_IAM\nsasl.jaas.config=software.amazon.msk.auth.iam.IAMLoginModule required;\nsasl.client.callback.handler.class=x.Y", `FILE:2: sasl.mechanism "AWS_MSK_IAM": this login is not supported`, "PLAIN"},
		{"no user", sasl + "sasl.mechanism=PLAIN", `FILE: sasl.jaas.config: PLAIN needs a user name`, ""},
		{"no password", sasl + "sasl.mechanism=PLAIN\nsasl.jaas.config=PlainLoginModule required username=\"alice\";", `FILE:3: sasl.jaas.config: no password is given for user alice`, ""},
		{"a login that cannot be read", sasl + "sasl.mechanism=PLAIN\nsasl.jaas.config=PlainLoginModule required username=\"hunter2\" password=\"hunter2", `FILE:3: sasl.jaas.config: a quote is not closed`, "PlainLoginModule"},
		{"another login module", sasl + "sasl.mechanism=PLAIN\nsasl.jaas.config=com.sun.Krb5LoginModule required;", `FILE:3: sasl.jaas.config: this login module is not supported: com.sun.Krb5LoginModule`, "PlainLoginModule"},
		{"a delegation token", sasl + "sasl.mechanism=SCRAM-SHA-256\nsasl.jaas.config=ScramLoginModule required username=\"t\" password=\"hunter2\" tokenauth=true;", `FILE:3: sasl.jaas.config: delegation tokens (tokenauth) are not supported`, "password"},
		{"a login of Java classes", sasl + "sasl.mechanism=PLAIN\n" + plainLogin + "sasl.client.callback.handler.class=x.Y", `FILE:4: sasl.client.callback.handler.class "x.Y": Java classes cannot be used`, "sasl.jaas.config"},

		{"a store of Java's default kind", ssl + "ssl.truststore.location=/x.jks", `FILE:2: ssl.truststore.location "/x.jks": JKS stores are not supported`, "--tls-ca"},
		{"a PKCS#12 store", ssl + "ssl.truststore.type=PKCS12\nssl.truststore.location=/x.p12\nssl.truststore.password=hunter2", `FILE:3: ssl.truststore.location "/x.p12": PKCS12 stores are not supported`, "openssl pkcs12"},
		{"a key store of Java's default kind", ssl + "ssl.keystore.location=/x.jks\nssl.keystore.password=hunter2", `FILE:2: ssl.keystore.location "/x.jks": JKS stores are not supported`, "--tls-cert and --tls-key"},
		{"a file that is not there", ssl + "ssl.truststore.type=PEM\nssl.truststore.location=/nonexistent", `FILE:3: ssl.truststore.location "/nonexistent": no such file or directory`, ""},
		{"a key file that is not there", ssl + "ssl.keystore.type=PEM\nssl.keystore.location=/nonexistent", `FILE:3: ssl.keystore.location "/nonexistent": no such file or directory`, ""},
		{"two authorities", ssl + "ssl.truststore.type=PEM\nssl.truststore.location=/x\nssl.truststore.certificates=y", `FILE:4: ssl.truststore.certificates: given together with ssl.truststore.location`, "one"},
		{"two certificates", ssl + "ssl.keystore.type=PEM\nssl.keystore.location=/x\nssl.keystore.key=hunter2", `FILE:3: ssl.keystore.location "/x": given together with ssl.keystore.certificate.chain or ssl.keystore.key`, "one"},
		{"no PEM where there should be some", ssl + "ssl.truststore.certificates=hunter2", `FILE:2: ssl.truststore.certificates: no PEM certificate in it`, "BEGIN CERTIFICATE"},
		{"a key without its certificate", ssl + "ssl.keystore.key=" + propertyValue(key), `FILE: ssl.keystore.location: a client key is given, but not its certificate`, ""},
		{"an encrypted key", ssl + "ssl.keystore.certificate.chain=" + propertyValue(cert) + "\nssl.keystore.key=" + propertyValue("-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIF\n-----END ENCRYPTED PRIVATE KEY-----") + "\nssl.key.password=hunter2", `FILE:3: ssl.keystore.key: the key is encrypted, which is not supported`, "openssl"},
		{"TLS of Java classes", ssl + "ssl.engine.factory.class=x.Y", `FILE:2: ssl.engine.factory.class "x.Y": Java classes cannot be used`, "--tls-ca"},
		{"a check of the name that is none", ssl + "ssl.endpoint.identification.algorithm=none", `FILE:2: ssl.endpoint.identification.algorithm "none": no such algorithm`, "empty"},
	} {
		t.Run(c.why, func(t *testing.T) {
			path := writeFile(t, "client.properties", c.file)
			_, err := load(t, []string{"--command-config=" + path})
			e, ok := errors.AsType[*Error](err)
			if want := strings.ReplaceAll(c.err, "FILE", path); !ok || e.Error() != want || !strings.Contains(e.Hint, c.hint) {
				t.Fatalf("got %v\nwant %s\nwith a hint of %q", err, want, c.hint)
			}
			if strings.Contains(e.Error()+e.Hint, "hunter2") || strings.Contains(e.Error()+e.Hint, "PRIVATE KEY") {
				t.Error("a secret is in it")
			}
		})
	}
}

func TestClientPropertiesNotes(t *testing.T) {
	for _, c := range []struct {
		why, file string
		args      []string
		notes     []string
	}{
		{"nothing to say", "# all honoured\nbootstrap.servers=a:1\nclient.id=x\nsecurity.protocol=PLAINTEXT\nrequest.timeout.ms=1000\n", nil, nil},
		{
			"consumers' and producers' settings, each once", "group.id=g\nacks=all\ngroup.id=h\nkey.deserializer=x\nsasl.kerberos.service.name=kafka\nssl.cipher.suites=x\n", nil,
			[]string{"FILE: settings without effect here, ignored: group.id, acks, key.deserializer, sasl.kerberos.service.name, ssl.cipher.suites"},
		},
		{"unknown keys with their lines", "bootstrap.server=a:1\n\nschema.registry.url=http://x\n", nil, []string{"FILE: unknown keys, ignored: bootstrap.server (line 1), schema.registry.url (line 3)"}},
		{"what is no key is not repeated: it may be half a password", "sasl.jaas.config=PlainLoginModule required\n  username=\"u\" password=\"hunter2\";\nhunter2\\\";\n", nil, []string{
			"FILE: unknown keys, ignored: line 2, line 3",
			"not used: FILE:1: sasl.jaas.config (FILE: security.protocol: it asks for no login)",
		}},
		{"characters that Java reads otherwise", "client.id=caf\xc3\xa9\n", nil, []string{`FILE: characters outside ASCII are read as ISO-8859-1, as Java does (write them as \uXXXX): client.id`}},
		{"a login that is not asked for", "security.protocol=SSL\nsasl.mechanism=PLAIN\n" + plainLogin, nil, []string{"not used: FILE:2: sasl.mechanism, FILE:3: sasl.jaas.config (FILE:1: security.protocol: it asks for no login)"}},
		{"stores that are not asked for", "ssl.truststore.location=x.jks\nssl.keystore.location=y.jks\n", nil, []string{"not used: FILE:1: ssl.truststore.location, FILE:2: ssl.keystore.location (FILE: security.protocol: it asks for no TLS)"}},
		{"stores that a flag switches off", "security.protocol=SSL\nssl.truststore.location=x.jks\n", []string{"--tls=false"}, []string{"not used: FILE:2: ssl.truststore.location (--tls: it asks for no TLS)"}},
	} {
		t.Run(c.why, func(t *testing.T) {
			path := writeFile(t, "client.properties", c.file)
			got, err := load(t, append(c.args, "--command-config="+path, "--brokers=a:1"))
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, n := range c.notes {
				want = append(want, strings.ReplaceAll(n, "FILE", path))
			}
			if !slices.Equal(got.Notes, want) {
				t.Errorf("got  %q\nwant %q", got.Notes, want)
			}
			if strings.Contains(strings.Join(got.Notes, ""), "hunter2") {
				t.Error("the password is in it")
			}
		})
	}
}

// FuzzClientProperties loads anything: it must not panic, and no secret may come back in an error or a note.
func FuzzClientProperties(f *testing.F) {
	const secret = "s3cr3tpassw0rd"
	for _, s := range []string{
		"security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.jaas.config=PlainLoginModule required username=\"u\" password=\"%s\";",
		"sasl.jaas.config=M required password=%s!x;\nsecurity.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN", "ssl.key.password=%s\n", "sasl.jaas.config=\\\n%s\\u\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, file string) {
		file = strings.ReplaceAll(file, "%s", secret)
		c, err := loadJava(t, file, []string{"--brokers=a:1"})
		if err != nil {
			e, ok := errors.AsType[*Error](err)
			if !ok {
				t.Fatalf("not an *Error: %v", err)
			}
			if strings.HasSuffix(e.Source, "sasl.jaas.config") && !strings.Contains(e.Problem, "login module is not") && !strings.Contains(e.Problem, "for user") && strings.Contains(e.Error(), secret) {
				t.Fatalf("the password is in: %v", err)
			}
			return
		}
		if strings.Contains(fmt.Sprintf("%+v", c.Kafka.SASL.Password), secret) {
			t.Fatal("the password is printed")
		}
	})
}
