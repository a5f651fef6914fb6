package kafka

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Principal is who a broker takes this client for, as far as the client can
// tell.
type Principal struct {
	Name string `json:"name"` // "User:mon"; a placeholder where it is not known
	From string `json:"from"` // what it was read from: sasl, certificate, none, or "" where it is not known
}

// unknownPrincipal stands where only the broker knows.
const unknownPrincipal = "User:PRINCIPAL"

// principal is Kafka's default: the login's user, else the client certificate's
// subject as Java writes it, else ANONYMOUS. A broker with rules of its own for
// names may call it otherwise.
func (c Config) principal() Principal {
	switch mechanism := strings.ToUpper(c.SASL.Mechanism); {
	case mechanism == "PLAIN", strings.HasPrefix(mechanism, "SCRAM-"):
		return Principal{"User:" + c.SASL.Username, "sasl"}
	case mechanism != "": // a token's or a ticket's: the broker's to read
		return Principal{unknownPrincipal, ""}
	case c.TLS.Enabled:
		cert, err := c.TLS.certificate()
		switch {
		case err != nil:
			return Principal{unknownPrincipal, ""}
		case cert != nil && cert.Leaf != nil:
			return Principal{"User:" + cert.Leaf.Subject.String(), "certificate"}
		}
	}
	return Principal{"User:ANONYMOUS", "none"}
}

// grant writes the commands and the policy that would give what is missing.
func (dr *doctor) grant() {
	d := dr.d
	var needed, optional []Permission
	for i := range d.Permissions {
		p := &d.Permissions[i]
		if p.Granted == nil || *p.Granted {
			continue
		}
		p.Grant = strings.Join(dr.aclCommands([]Permission{*p}), "\n")
		switch {
		case p.Needed:
			needed = append(needed, *p)
		case p.Operation != opRead && !p.idle: // only asked for by flags of their own: a monitor is not given READ unasked
			optional = append(optional, *p)
		}
	}
	d.ACLCommands = dr.aclCommands(needed)
	d.OptionalACLCommands = dr.aclCommands(optional)
	d.MSKPolicy = dr.policy(needed, optional)
}

// aclCommands merges what one command can give: one operation and kind of
// pattern on any resources.
func (dr *doctor) aclCommands(missing []Permission) []string {
	type kind struct{ operation, pattern string }
	var order []kind
	resources := map[kind][]string{}
	for i := range missing {
		p := &missing[i]
		k := kind{p.Operation, p.Pattern}
		if _, ok := resources[k]; !ok {
			order = append(order, k)
		}
		for _, flag := range p.aclFlags() {
			if !slices.Contains(resources[k], flag) {
				resources[k] = append(resources[k], flag)
			}
		}
	}
	out := make([]string, 0, len(order))
	for _, k := range order {
		command := "kafka-acls --bootstrap-server " + dr.bootstrap()
		if dr.cfg.TLS.Enabled || dr.cfg.SASL.Mechanism != "" {
			command += " --command-config admin.properties"
		}
		command += " --add --allow-principal " + quoted(dr.d.Principal.Name) + " --operation " + javaOperation(k.operation)
		if k.pattern == prefixed {
			command += " --resource-pattern-type prefixed"
		}
		out = append(out, command+" "+strings.Join(resources[k], " "))
	}
	return out
}

func (p *Permission) aclFlags() []string {
	names := p.Missing
	if len(names) == 0 {
		names = []string{p.Name}
	}
	var out []string
	for _, name := range names {
		switch p.Resource {
		case onCluster:
			out = append(out, "--cluster")
		case onTransactional:
			out = append(out, "--transactional-id "+quoted(name))
		default:
			out = append(out, "--"+p.Resource+" "+quoted(name))
		}
	}
	return out
}

// javaOperation is an operation as Kafka's tool writes it.
func javaOperation(op string) string {
	switch op {
	case opDescribe:
		return "Describe"
	case opDescribeConfigs:
		return "DescribeConfigs"
	}
	return "Read"
}

func (dr *doctor) bootstrap() string {
	if c := dr.reached(); c != nil {
		return c.Address
	}
	addr, _ := ParseBroker(dr.cfg.Brokers[0])
	return addr
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_.,:=/@+-]+$`)

// quoted is a word for a POSIX shell.
func quoted(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Policy is an AWS IAM policy.
type Policy struct {
	Version   string      `json:"Version"`
	Statement []Statement `json:"Statement"`
}

// Statement is one part of a Policy.
type Statement struct {
	Sid      string   `json:"Sid"`
	Effect   string   `json:"Effect"`
	Action   []string `json:"Action"`
	Resource []string `json:"Resource"`
}

// policy grants on MSK what is missing: the names of its actions are those of
// AWS' service authorization reference for Apache Kafka APIs.
func (dr *doctor) policy(needed, optional []Permission) *Policy {
	if len(needed)+len(optional) == 0 {
		return nil
	}
	p := &Policy{Version: "2012-10-17"}
	add := func(sid string, action []string, resource []string) {
		for i := range p.Statement {
			if s := &p.Statement[i]; s.Sid == sid {
				s.Resource = append(s.Resource, resource...)
				return
			}
		}
		p.Statement = append(p.Statement, Statement{Sid: sid, Effect: "Allow", Action: action, Resource: resource})
	}
	arn := dr.arn()
	add("Connect", []string{"kafka-cluster:Connect"}, []string{arn(onCluster, "")}) // every other action asks for it
	for i, m := range slices.Concat(needed, optional) {
		action := mskAction(&m)
		names := m.Missing
		if len(names) == 0 {
			names = []string{m.Name}
		}
		if m.Resource == onCluster {
			names = []string{""}
		}
		var on []string
		for _, name := range names {
			if m.Pattern == prefixed {
				name += "*"
			}
			on = append(on, arn(m.Resource, name))
		}
		add(cond(i < len(needed), "Needed", "Optional")+strings.TrimPrefix(action, "kafka-cluster:"), []string{action}, on)
	}
	return p
}

func mskAction(p *Permission) string {
	what := map[string]string{onTopic: "Topic", onGroup: "Group", onCluster: "Cluster", onTransactional: "TransactionalId"}[p.Resource]
	switch p.Operation {
	case opDescribe:
		return "kafka-cluster:Describe" + what
	case opDescribeConfigs:
		return "kafka-cluster:Describe" + what + "DynamicConfiguration"
	}
	return "kafka-cluster:ReadData"
}

// mskHost is the name of a broker of a provisioned MSK cluster:
// b-1[-public].NAME.HASH.c1.kafka.REGION.amazonaws.com.
var mskHost = regexp.MustCompile(`^b-\d+(?:-public)?\.([^.]+)\.[^.]+\.c\d+\.kafka\.([a-z0-9-]+)\.amazonaws\.com`)

// OnMSK reports whether a broker's name, or the login, is one of AWS MSK.
func (d *Diagnosis) OnMSK() bool {
	return slices.ContainsFunc(d.Brokers, func(b BrokerCheck) bool {
		return strings.Contains(b.Address, ".amazonaws.com") || b.SASL != nil && strings.EqualFold(b.SASL.Mechanism, "AWS_MSK_IAM")
	})
}

// arn names resources, with placeholders in capitals for what no broker tells.
func (dr *doctor) arn() func(resource, name string) string {
	cluster, region := "CLUSTER", "REGION"
	for _, c := range dr.checked {
		if m := mskHost.FindStringSubmatch(c.Address); m != nil {
			cluster, region = m[1], m[2]
		}
	}
	return func(resource, name string) string {
		kind := strings.ReplaceAll(resource, "_", "-")
		out := fmt.Sprintf("arn:aws:kafka:%s:ACCOUNT:%s/%s/%s", region, kind, cluster, "CLUSTER-UUID")
		return out + cmp.Or(strings.TrimSuffix("/"+name, "/"), "")
	}
}
