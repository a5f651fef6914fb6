package kafka

import (
	"context"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

// DiagnosisSchema names the form of a Diagnosis in JSON. Keys are added under
// the same name, never taken away or given another meaning.
const DiagnosisSchema = "klagtop/doctor/v1"

// A Diagnosis is what was found out about the way to a cluster and about what
// its user may do there. It is a document of its own: keys are always there,
// what is not known is null.
type Diagnosis struct {
	Schema      string           `json:"schema"`
	At          time.Time        `json:"at"`
	Cluster     DiagnosedCluster `json:"cluster"`
	Principal   Principal        `json:"principal"`
	Brokers     []BrokerCheck    `json:"brokers"` // bootstrap addresses first, then the brokers by id
	Features    []Feature        `json:"features"`
	Permissions []Permission     `json:"permissions"`
	// ACLCommands grant the needed permissions that are missing, and nothing
	// else; OptionalACLCommands likewise the others.
	ACLCommands         []string `json:"acl_commands"`
	OptionalACLCommands []string `json:"optional_acl_commands"`
	// MSKPolicy is the same for AWS MSK with IAM, where ACLs do not bind; nil
	// where nothing is missing.
	MSKPolicy *Policy            `json:"msk_policy"`
	Problems  []DiagnosedProblem `json:"problems"`
	// OK is that every broker can be reached and no needed permission is known
	// to be missing: no problem but warnings.
	OK bool `json:"ok"`
}

// DiagnosedCluster is what the first broker that answered says of its cluster.
type DiagnosedCluster struct {
	Name          string `json:"name"` // the caller's
	ID            string `json:"id"`   // "" if not known
	Brokers       *int   `json:"brokers"`
	Controller    *int32 `json:"controller"`
	SeesAllGroups *bool  `json:"sees_all_groups"`
	SeesAllTopics *bool  `json:"sees_all_topics"`
	// Groups and Topics are what one poll saw with the filters; DeniedGroups
	// and DeniedTopics are names that it came upon and may not describe.
	Groups       *int     `json:"groups"`
	Topics       *int     `json:"topics"`
	DeniedGroups []string `json:"denied_groups"`
	DeniedTopics []string `json:"denied_topics"`
}

// Feature is a finalized feature of the cluster, such as group.version.
type Feature struct {
	Name  string `json:"name"`
	Level int16  `json:"level"`
}

// DiagnosedProblem is one thing that is wrong. A warning does not make the
// diagnosis a bad one.
type DiagnosedProblem struct {
	Severity string `json:"severity"` // error or warning
	Stage    string `json:"stage"`    // dns, tcp, tls, sasl, request, clock or permission
	Broker   *int32 `json:"broker"`
	Address  string `json:"address"`
	Error    string `json:"error"`
	Hint     string `json:"hint"`
}

// DiagnosisOptions are what Diagnose is told beside how to reach the cluster.
type DiagnosisOptions struct {
	Options
	ClusterName string
	// AcceptDenied is that what this user may not see is not missed.
	AcceptDenied bool
	// ProbeRecords is that records are to be read, as by collect.Options.
	ProbeRecords bool
}

// A diagnosis under way.
type doctor struct {
	cfg     Config
	o       DiagnosisOptions
	base    []kgo.Opt
	checked []*checkup // in the order of the report
	d       *Diagnosis
}

// Diagnose reaches each bootstrap address and each broker by itself, and asks
// what the user may do. It only reads. What goes wrong is in the diagnosis; the
// error is one of Validate. Unlike polls it asks for what may be denied, which
// writes lines into the brokers' authorizer logs. It ends with ctx.
func Diagnose(ctx context.Context, cfg Config, o DiagnosisOptions) (*Diagnosis, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	base, err := cfg.options()
	if err != nil {
		return nil, err
	}
	base = append(base, kgo.MetadataMaxAge(time.Hour), kgo.RequestRetries(0))
	dr := &doctor{cfg: cfg, o: o, base: append(base, o.Extra...), d: &Diagnosis{
		Schema: DiagnosisSchema, At: o.Now(), Principal: cfg.principal(),
		Cluster:  DiagnosedCluster{Name: o.ClusterName, DeniedGroups: []string{}, DeniedTopics: []string{}},
		Features: []Feature{}, Permissions: []Permission{}, ACLCommands: []string{}, OptionalACLCommands: []string{}, Problems: []DiagnosedProblem{},
	}}
	defer func() {
		for _, c := range dr.checked {
			c.close()
		}
	}()
	if err := dr.run(ctx); err != nil {
		return nil, err
	}
	return dr.d, nil
}

func (dr *doctor) run(ctx context.Context) error {
	var seeds []string
	for _, b := range dr.cfg.Brokers {
		if addr, _ := ParseBroker(b); !slices.Contains(seeds, addr) { // Validate has proved it
			seeds = append(seeds, addr)
		}
	}
	dr.checkAll(ctx, seeds)
	for _, c := range dr.checked {
		c.Bootstrap = true
	}
	guide := dr.reached()
	if guide == nil {
		dr.conclude()
		return nil
	}
	if m := dr.meet(ctx, guide); m != nil {
		clock := dr.beginClocks(ctx, m)
		if err := dr.permissions(ctx, guide); err != nil {
			return err
		}
		dr.endClocks(ctx, clock)
	}
	dr.conclude()
	return nil
}

// reached is a checkup whose broker answered, nil without one.
func (dr *doctor) reached() *checkup {
	i := slices.IndexFunc(dr.checked, func(c *checkup) bool { return c.err == nil })
	if i < 0 {
		return nil
	}
	return dr.checked[i]
}

// checkAll reaches addresses side by side.
func (dr *doctor) checkAll(ctx context.Context, addresses []string) {
	all := make([]*checkup, len(addresses))
	var crew crew
	for i, addr := range addresses {
		crew.Go(func() { all[i] = dr.check(ctx, addr) })
	}
	crew.Wait()
	dr.checked = append(dr.checked, all...)
}

// meet asks for the cluster's brokers and reaches those that it tells of.
func (dr *doctor) meet(ctx context.Context, guide *checkup) *kmsg.MetadataResponse {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{}
	if guide.atMost(kmsg.Metadata, 0) { // then no topics are all topics: nothing smaller can be asked for
		req.Topics = metadataOf([]string{"klagtop"}).Topics
	}
	resp, err := guide.request(ctx, req)
	if err != nil {
		guide.fail(err)
		dr.mechanisms(ctx, guide)
		return nil
	}
	m := resp.(*kmsg.MetadataResponse)
	c := &dr.d.Cluster
	brokers := len(m.Brokers)
	c.Brokers = &brokers
	if m.ClusterID != nil {
		c.ID = *m.ClusterID
	}
	if m.ControllerID >= 0 {
		c.Controller = &m.ControllerID
	}
	dr.d.Features = guide.features()
	slices.SortFunc(m.Brokers, func(a, b kmsg.MetadataResponseBroker) int { return int(a.NodeID) - int(b.NodeID) })
	var others []string
	for _, b := range m.Brokers {
		if addr := addressOf(b); dr.at(addr) == nil && !slices.Contains(others, addr) {
			others = append(others, addr)
		}
	}
	dr.checkAll(ctx, others)
	for _, b := range m.Brokers {
		if c := dr.at(addressOf(b)); c != nil {
			c.ID = &b.NodeID
		}
	}
	return m
}

func addressOf(b kmsg.MetadataResponseBroker) string {
	return net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port)))
}

func (dr *doctor) at(addr string) *checkup {
	i := slices.IndexFunc(dr.checked, func(c *checkup) bool { return c.Address == addr })
	if i < 0 {
		return nil
	}
	return dr.checked[i]
}

// permissions finds out what the user may do; while questions are on their way
// one poll tells what klagtop would see.
func (dr *doctor) permissions(ctx context.Context, guide *checkup) error {
	look := dr.o.Options
	look.OffsetsTopic = false // whether it may be read is asked, not tried
	source, err := New(dr.cfg, look)
	if err != nil {
		return err
	}
	defer source.Close()
	var s *collect.Snapshot
	var wait sync.WaitGroup
	wait.Go(func() {
		s = source.Poll(ctx, collect.Ask{Lists: true, Build: collect.BuildOptions{Filter: dr.o.Filter, StaleAfter: time.Minute}})
	})
	x := examination{doctor: dr, c: guide}
	x.ask(ctx)
	wait.Wait()
	x.seen(ctx, s)
	dr.d.Permissions = x.permissions()
	return nil
}

// conclude gathers the problems and what would mend them.
func (dr *doctor) conclude() {
	for _, c := range dr.checked {
		c.finish(dr.o.Now())
		dr.d.Brokers = append(dr.d.Brokers, c.BrokerCheck)
	}
	dr.tellUnreached()
	dr.tellCertificates()
	dr.tellClocks()
	dr.tellMissing()
	dr.grant()
	dr.d.OK = !slices.ContainsFunc(dr.d.Problems, func(p DiagnosedProblem) bool { return p.Severity == severityError })
}

const (
	severityError   = "error"
	severityWarning = "warning"
)

func (dr *doctor) tell(severity, stage string, c *checkup, text, hint string) {
	p := DiagnosedProblem{Severity: severity, Stage: stage, Error: text, Hint: hint}
	if c != nil {
		p.Broker, p.Address = c.ID, c.Address
	}
	dr.d.Problems = append(dr.d.Problems, p)
}

// tellUnreached says why addresses could not be reached. A broker behind a
// bootstrap address that answered is one whose advertised address does not lead
// to it from here: the classic of Kafka in containers and clouds.
func (dr *doctor) tellUnreached() {
	guide := dr.reached()
	for _, c := range dr.checked {
		if c.err == nil {
			continue
		}
		text, hint := Explain(c.err)
		if len(c.SASL.offered()) > 0 {
			text += "; this listener offers " + strings.Join(c.SASL.Offered, ", ")
			if c.SASL.Mechanism == "" {
				text, hint = "this port wants a login: it offers "+strings.Join(c.SASL.Offered, ", "), "add "+loginFlags
			}
		}
		if !strings.Contains(text, c.Address) {
			text = c.Address + ": " + text
		}
		if !c.Bootstrap && guide != nil {
			text = "broker " + strconv.Itoa(int(*c.ID)) + " tells clients to reach it at " + c.Address + ", which fails from here: " + strings.TrimPrefix(text, c.Address+": ")
			if c.failed == stageDNS || c.failed == stageTCP {
				hint = "the address comes from advertised.listeners of that broker, of the listener that " + guide.Address + " belongs to: it must be one that this machine can look up and connect to" + ofLoopback(c.Address, guide.Address)
			}
		}
		dr.tell(severityError, c.failed, c, text, hint)
	}
}

// ofLoopback adds what an address of the machine itself means to others.
func ofLoopback(advertised, guide string) string {
	local := func(addr string) bool {
		host, _, _ := net.SplitHostPort(addr)
		ip := net.ParseIP(host)
		return host == "localhost" || ip != nil && ip.IsLoopback()
	}
	if local(advertised) && !local(guide) {
		return "; the advertised one means, to every client, the client's own machine"
	}
	return ""
}
