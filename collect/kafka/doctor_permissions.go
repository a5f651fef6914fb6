package kafka

import (
	"context"
	"crypto/rand"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

// Permission is one thing that a user may or may not do, and what that means.
type Permission struct {
	Resource  string `json:"resource"` // topic, group, cluster or transactional_id
	Name      string `json:"name"`     // "*" for all of them
	Pattern   string `json:"pattern"`  // literal, or prefixed: all whose names begin so
	Operation string `json:"operation"`
	// Needed is that what was asked for cannot be had without it; the others
	// make numbers better.
	Needed  bool  `json:"needed"`
	Granted *bool `json:"granted"` // null where it cannot be found out
	// Missing are the names that lack it, where some have it and some have not.
	Missing      []string `json:"missing"`
	Buys         string   `json:"buys"`
	CostsWithout string   `json:"costs_without"`
	Grant        string   `json:"grant"` // the command that would give it; "" where it is granted or not known

	idle bool // it buys nothing beside what is granted
}

// What a permission can be about.
const (
	onTopic         = "topic"
	onGroup         = "group"
	onCluster       = "cluster"
	onTransactional = "transactional_id"

	literal  = "literal"
	prefixed = "prefixed"

	everything  = "*"
	clusterName = "kafka-cluster" // Kafka's own for the one cluster there is

	opDescribe        = "DESCRIBE"
	opDescribeConfigs = "DESCRIBE_CONFIGS"
	opRead            = "READ"
)

// scope is names that a pattern of the user's selects, as far as an ACL can
// say it: one, those with a prefix, or all.
type scope struct {
	name    string
	pattern string
}

// probe is a name within the scope that shows whether all of it may be seen:
// one that nobody has, where it is not one name.
func (s scope) probe(unused string) string {
	switch {
	case s.name == everything:
		return unused
	case s.pattern == prefixed:
		return s.name + unused
	}
	return s.name
}

// scopesOf gives what is to be seen; all where there is no pattern.
func scopesOf(patterns []collect.Pattern) []scope {
	all := []scope{{everything, literal}}
	if len(patterns) == 0 {
		return all
	}
	var out []scope
	for _, p := range patterns {
		s := scope{p.String(), literal}
		if _, exact := p.Exact(); !exact {
			prefix, glob := strings.CutSuffix(s.name, "*")
			if !glob || prefix == "" || strings.ContainsAny(prefix, "*?") || strings.HasPrefix(prefix, "/") {
				return all
			}
			s = scope{prefix, prefixed}
		}
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// examination is the asking for permissions, at one broker that was reached.
type examination struct {
	*doctor
	c *checkup

	unused        string // a name of a group, topic or transaction that nobody has
	groups        map[string]collect.Tri
	topics        map[string]collect.Tri
	cluster       int32 // authorised operations as bits, unset where not known
	described     int32 // the same from DescribeCluster
	listed        []topicRights
	transactional collect.Tri
	topicConfigs  collect.Tri // of one topic, where rights are not told

	blocked []*collect.Group // denied over a topic that nobody names

	used map[string]bool // topics that selected groups have rows on; nil where they are not all that matter
}

type topicRights struct {
	name       string
	operations int32
}

// unset is what brokers give for operations that they do not tell.
const unset int32 = math.MinInt32

func may(operations int32, op kmsg.ACLOperation) collect.Tri {
	switch {
	case operations == unset:
		return collect.Maybe
	case operations&(1<<uint(op)) != 0:
		return collect.Yes
	}
	return collect.No
}

// ask puts the questions that are one request each, side by side.
func (x *examination) ask(ctx context.Context) {
	x.unused = "klagtop-" + rand.Text()
	x.cluster, x.described = unset, unset
	ctx, cancel := shareOf(ctx, workShare)
	defer cancel()
	var wait sync.WaitGroup
	for _, question := range []func(context.Context){x.askGroups, x.askTopics, x.askCluster, x.askTransactional} {
		wait.Go(func() { question(ctx) })
	}
	wait.Wait()
	if x.described != unset {
		x.cluster = x.described
	}
	x.tryConfigs(ctx)
}

// tryConfigs reads a topic's settings where a broker does not tell what may be
// done, as old ones and some services do not.
func (x *examination) tryConfigs(ctx context.Context) {
	x.topicConfigs = collect.Maybe
	i := slices.IndexFunc(x.listed, func(t topicRights) bool { return t.operations == unset })
	if i < 0 {
		return
	}
	req := kmsg.NewPtrDescribeConfigsRequest()
	r := kmsg.NewDescribeConfigsRequestResource()
	r.ResourceType, r.ResourceName, r.ConfigNames = kmsg.ConfigResourceTypeTopic, x.listed[i].name, []string{"retention.ms"}
	req.Resources = append(req.Resources, r)
	resp, err := x.c.request(ctx, req)
	if err != nil {
		return
	}
	for _, r := range resp.(*kmsg.DescribeConfigsResponse).Resources {
		x.topicConfigs = mayTell(r.ErrorCode, 0)
	}
}

func (x *examination) askGroups(ctx context.Context) {
	x.groups = map[string]collect.Tri{}
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups = []string{x.unused}
	for _, s := range scopesOf(x.o.Filter.Groups) {
		if p := s.probe(x.unused); p != x.unused {
			req.Groups = append(req.Groups, p)
		}
	}
	resp, err := x.c.request(ctx, req)
	if err != nil {
		return
	}
	for _, g := range resp.(*kmsg.DescribeGroupsResponse).Groups {
		x.groups[g.Group] = mayTellGroup(g.ErrorCode)
	}
}

// askTopics asks about names, and about all that may be seen with what may be
// done to them.
func (x *examination) askTopics(ctx context.Context) {
	x.topics = map[string]collect.Tri{}
	names := []string{x.unused, offsetsTopicName}
	for _, s := range scopesOf(x.o.Filter.Topics) {
		if p := s.probe(x.unused); !slices.Contains(names, p) {
			names = append(names, p)
		}
	}
	byName := metadataOf(names)
	byName.IncludeClusterAuthorizedOperations = true // brokers below 2.8 have no DescribeCluster
	if resp, err := x.c.request(ctx, byName); err == nil {
		m := resp.(*kmsg.MetadataResponse)
		x.cluster = m.AuthorizedOperations
		for _, t := range m.Topics {
			if t.Topic != nil {
				x.topics[*t.Topic] = mayTell(t.ErrorCode, 0, kerr.UnknownTopicOrPartition.Code, kerr.LeaderNotAvailable.Code)
			}
		}
	}
	all := kmsg.NewPtrMetadataRequest()
	all.Topics = nil
	all.IncludeTopicAuthorizedOperations = true
	if resp, err := x.c.request(ctx, all); err == nil {
		for _, t := range resp.(*kmsg.MetadataResponse).Topics {
			if t.Topic != nil && t.ErrorCode == 0 {
				x.listed = append(x.listed, topicRights{*t.Topic, t.AuthorizedOperations})
			}
		}
	}
	slices.SortFunc(x.listed, func(a, b topicRights) int { return strings.Compare(a.name, b.name) })
}

func (x *examination) askCluster(ctx context.Context) {
	if x.c.atMost(kmsg.DescribeCluster, -1) {
		return
	}
	req := kmsg.NewPtrDescribeClusterRequest()
	req.IncludeClusterAuthorizedOperations = true
	if resp, err := x.c.request(ctx, req); err == nil {
		x.described = resp.(*kmsg.DescribeClusterResponse).ClusterAuthorizedOperations
	}
}

// askTransactional asks about a transaction that nobody has: whether it may be
// described is said before whether this is the broker to ask.
func (x *examination) askTransactional(ctx context.Context) {
	req := kmsg.NewPtrDescribeTransactionsRequest()
	req.TransactionalIDs = []string{x.unused}
	resp, err := x.c.request(ctx, req)
	if err != nil {
		return
	}
	for _, t := range resp.(*kmsg.DescribeTransactionsResponse).TransactionStates {
		x.transactional = mayTell(t.ErrorCode, 0, kerr.TransactionalIDNotFound.Code, kerr.NotCoordinator.Code, kerr.CoordinatorNotAvailable.Code, kerr.CoordinatorLoadInProgress.Code)
	}
}
