package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/klagtop/klagtop/collect"
	"github.com/klagtop/klagtop/collect/kafka"
)

// What a person reads: names of the cluster's obey nobody, what is not known is
// a question mark, what is missing says what it costs and what grants it.
func TestDiagnosisForPeople(t *testing.T) {
	yes, no, id, controller, days, brokers, groups, topics := true, false, int32(1), int32(2), 12, 2, 3, 4
	latency, ahead := 0.0021, 7.5
	until := time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)
	d := &kafka.Diagnosis{
		Cluster: kafka.DiagnosedCluster{
			Name: "prod", ID: "abc", Brokers: &brokers, Controller: &controller, SeesAllGroups: &no, SeesAllTopics: &yes,
			Groups: &groups, Topics: &topics, DeniedGroups: []string{"x\x1b"}, DeniedTopics: []string{},
		},
		Principal: kafka.Principal{Name: "User:mon", From: "sasl"},
		Features:  []kafka.Feature{{Name: "group.version", Level: 1}},
		Brokers: []kafka.BrokerCheck{
			{
				ID: &id, Address: "broker-1:9094", Bootstrap: true, Reached: true, Version: "4.3", LatencySeconds: &latency,
				DNS: &kafka.DNSCheck{OK: true, Seconds: 0.0004}, TCP: &kafka.TCPCheck{OK: true, Seconds: 0.001},
				TLS: &kafka.TLSCheck{
					OK: true, Version: "TLS 1.3", Verified: true, Names: []string{"broker-1"}, NotAfter: &until, DaysLeft: &days,
					Chain: []kafka.Certificate{{Subject: "CN=broker-1", Issuer: "CN=ca", NotAfter: until}},
				},
				SASL: &kafka.SASLCheck{Mechanism: "PLAIN", OK: &yes}, Clock: &kafka.ClockCheck{AheadAtLeastSeconds: &ahead},
			},
			{Address: "broker-2:9094", DNS: &kafka.DNSCheck{}, SASL: &kafka.SASLCheck{Mechanism: "PLAIN"}, Failed: "dns"},
		},
		Permissions: []kafka.Permission{
			{Resource: "group", Name: "pay-", Pattern: "prefixed", Operation: "DESCRIBE", Needed: true, Granted: &no, Buys: "lag itself", CostsWithout: "no lag"},
			{Resource: "topic", Name: "*", Operation: "READ", Granted: &no, Missing: []string{"a", "b\x1b"}, Buys: "proof", CostsWithout: "no proof"},
			{Resource: "transactional_id", Name: "*", Operation: "DESCRIBE", Buys: "names"},
			{Resource: "cluster", Name: "kafka-cluster", Operation: "DESCRIBE", Granted: &yes, Buys: "all names"},
		},
		ACLCommands: []string{"kafka-acls --add"},
		MSKPolicy:   &kafka.Policy{Version: "2012-10-17"},
	}
	want := `cluster   prod (abc), 2 brokers, controller 2
user      User:mon, by its login
features  group.version 1
sees      3 groups on 4 topics; denied: 1 group, 0 topics; more groups may be hidden

BROKER  ADDRESS        DNS     TCP     TLS               LOGIN  KAFKA  LATENCY  CLOCK
1       broker-1:9094  0.4 ms  1.0 ms  TLS 1.3, 12 days  PLAIN  4.3    2.1 ms   at least +7.5 s
-       broker-2:9094  FAILED          -                 ?      ?      ?        ?

certificate of broker-1:9094, for broker-1
  CN=broker-1, signed by CN=ca, good until 2027-01-02

GRANTED  PERMISSION                             WHAT IT BUYS
NO       DESCRIBE group pay-*         needed    lag itself
         without it: no lag
no       READ topic *                 optional  proof
         without it: no proof
         missing on: a, b\x1b
?        DESCRIBE transactional id *  optional  names
yes      DESCRIBE cluster             optional  all names

to grant what is needed and missing:
  kafka-acls --add

the same for AWS MSK with IAM: klagtop doctor -o json | jq .msk_policy
`
	var out bytes.Buffer
	if err := writeDiagnosis(&out, d, collect.Filter{}); err != nil {
		t.Fatal(err)
	}
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	d.Brokers[0].Address = "b-1.prod.a1.c2.kafka.eu-central-1.amazonaws.com:9098"
	out.Reset()
	if err := writeDiagnosis(&out, d, collect.Filter{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), `"Version": "2012-10-17"`) {
		t.Errorf("on MSK the policy is shown:\n%s", out.String())
	}
}
