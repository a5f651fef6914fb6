package assign

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/klagtop/klagtop/collect"
)

// fewTopics is up to how many topics of equal partition counts are taken to be
// made for each other: a join has two sides, sometimes three.
const fewTopics = 3

// A partition is hot when it alone gets hotShare times what a member would get
// on average. Short looks measure slow topics badly: below hotLeast records per
// second in all, nothing is said.
const (
	hotShare = 2
	hotLeast = 50
)

// question is what a recommendation is drawn from.
type question struct {
	protocol collect.GroupType
	own      string // one of Names, "" for another or none
	// foreign is true where members cannot use Kafka's own assignors: KafkaJS.
	foreign bool
	members int
	counts  []int32 // partitions by topic
	alike   bool    // members subscribe to the same topics

	now   collect.Plan
	plans []collect.Plan

	hot      string // topic/partition with most of the records, "" if none stands out
	hotShare float64
}

func (s *situation) question(w *collect.WhatIf) question {
	q := question{
		protocol: s.protocol, own: s.ownWord, members: len(s.members), alike: s.alike(), now: w.Now, plans: w.Plans,
		foreign: slices.ContainsFunc(w.Plans, func(p collect.Plan) bool { return p.Assignor == kafkaJS }),
	}
	sum, most := 0.0, 0.0
	for i := range s.topics {
		t := &s.topics[i]
		q.counts = append(q.counts, t.then)
		for p := range t.then {
			r := t.rate(int(p))
			if sum += r; r > most { // NaN spoils the sum, and then nothing is said
				most, q.hot = r, fmt.Sprintf("%s/%d", t.name, p)
			}
		}
	}
	q.hotShare = most / sum
	if !(sum >= hotLeast && q.hotShare*float64(len(s.members)) >= hotShare) {
		q.hot = ""
	}
	return q
}

// plan finds a plan of the group's own protocol.
func (q *question) plan(name string) *collect.Plan {
	for i := range q.plans {
		if q.plans[i].Assignor == name && q.plans[i].Protocol == q.protocol {
			return &q.plans[i]
		}
	}
	return nil
}

// even and together are the assignors that a group can have for balance and for
// co-location.
func (q *question) even() *collect.Plan {
	switch {
	case q.protocol == collect.TypeConsumer:
		return q.plan(uniform)
	case q.foreign:
		return q.plan(kafkaJS)
	}
	return q.plan(cooperative)
}

func (q *question) together() *collect.Plan {
	if q.foreign {
		return q.plan(byIndex)
	}
	return q.plan(rangeName)
}

// recommend chooses an assignor and says why. It knows what balance, movement,
// co-location and pause cost, and not whether an application joins its topics:
// where that decides, it says so.
func recommend(q question) collect.Advice {
	even, together := q.even(), q.together()
	if q.members == 0 || even == nil || together == nil {
		return collect.Advice{}
	}
	best, why := even, ""
	switch {
	case q.members == 1:
		why = "One member gets everything under any assignor. " + q.calm(even, together)
	case len(q.counts) == 1:
		why = "One topic: every assignor deals it out alike, " + each(even) + ", and there is nothing to co-locate. " + q.calm(even, together)
	case together.Assignment.Copartitioned > 0 && q.joins():
		best, why = together, q.forJoins(together, even)
	case together.Assignment.Copartitioned > 0:
		why = q.forBalance(even, together) + fmt.Sprintf(" Where the application joins topics by key, %s is the one: %s of the partition indexes on one member, against %s.",
			q.label(together), located(together), located(even))
	default:
		why = q.forBalance(even, together)
	}
	if best.Own {
		why = "It is what the group has. " + why
	}
	why += q.ceiling(best) + q.hotSentence()
	return collect.Advice{Assignor: best.Assignor, Protocol: best.Protocol, Reason: why}
}

// joins reports whether the topics look as if they were joined by key, or are
// co-located today, which an application may rely on.
func (q *question) joins() bool {
	if a := q.now.Assignment; a.Copartitioned > 0 && a.Colocated == a.Copartitioned && q.now.Most > 0 && len(q.now.Members) > 1 {
		return true
	}
	return len(q.counts) <= fewTopics && slices.Min(q.counts) == slices.Max(q.counts)
}

func (q *question) forJoins(together, even *collect.Plan) string {
	why := fmt.Sprintf("The %d topics have equal partition counts, as topics have that are joined by key: %s puts %s of the partition indexes on one member", len(q.counts), q.label(together), located(together))
	if slices.Min(q.counts) != slices.Max(q.counts) {
		why = fmt.Sprintf("Topics with equal partition counts are co-located today, and the application may rely on it: %s puts %s of the partition indexes on one member", q.label(together), located(together))
	}
	if a := q.now.Assignment; a.Copartitioned > 0 && len(q.now.Members) > 0 {
		why += fmt.Sprintf(" (now %s)", located(&q.now))
	}
	switch {
	case together.Most > even.Most || together.Fewest < even.Fewest:
		why += fmt.Sprintf(". The price is balance: %s, where %s gives %s", each(together), even.Assignor, each(even))
	default:
		why += ", at no price in balance: " + each(together)
	}
	if together.Style == collect.StyleEager && together.Stopped > 0 {
		why += fmt.Sprintf("; and a pause: all %s stop in a rebalance", partitions(together.Stopped))
	}
	why += ". "
	if even.Assignment.Colocated < together.Assignment.Colocated {
		why += fmt.Sprintf("If nothing is joined, take %s", even.Assignor)
		if even.Style != collect.StyleEager {
			why += ", which stops only what moves"
		}
		why += "."
	}
	return strings.TrimSpace(why)
}

func (q *question) forBalance(even, together *collect.Plan) string {
	if q.foreign {
		return fmt.Sprintf("%s deals %s; every assignor of KafkaJS is eager.", even.Assignor, each(even))
	}
	switch {
	case !q.alike && even.Most < together.Most:
		return fmt.Sprintf("Members subscribe to different topics: %s weighs them all together, %s, where %s looks at each topic by itself, %s. ",
			even.Assignor, each(even), q.label(together), each(together)) + q.calm(even, together)
	case even.Most < together.Most:
		return fmt.Sprintf("%s begins each of the %d topics with the same members, %s; %s gives %s. ",
			capital(q.label(together)), len(q.counts), each(together), even.Assignor, each(even)) + q.calm(even, together)
	}
	return "Balance does not decide: " + each(even) + " either way. " + q.calm(even, together)
}

// calm compares movement and pause.
func (q *question) calm(even, together *collect.Plan) string {
	if q.foreign {
		return "Every assignor of KafkaJS is eager."
	}
	kind := "where an eager assignor stops all of them in every rebalance"
	if q.protocol == collect.TypeConsumer {
		kind = "as always under this protocol"
	}
	if even.Moved < 0 || len(q.now.Members) == 0 {
		return fmt.Sprintf("%s keeps what members have, and only what moves stops, %s.", capital(even.Assignor), kind)
	}
	s := fmt.Sprintf("%s moves %d", capital(even.Assignor), even.Moved)
	if together.Moved != even.Moved {
		s += fmt.Sprintf(" (%s %d)", q.label(together), together.Moved)
	}
	return s + ", and only what moves stops, " + kind + "."
}

// ceiling says that members without work are no matter of the assignor.
func (q *question) ceiling(p *collect.Plan) string {
	idle := p.Assignment.Idle
	if idle <= 0 {
		return ""
	}
	total := int64(0)
	for _, n := range q.counts {
		total += int64(n)
	}
	verb := "stay"
	if idle == 1 {
		verb = "stays"
	}
	if total >= int64(q.members) {
		return fmt.Sprintf(" %s of %d %s idle: it gives no more members work than the largest topic has partitions, %d.", numbered(idle, "member"), q.members, verb, slices.Max(q.counts))
	}
	return fmt.Sprintf(" %s of %d %s idle under any assignor: %s the ceiling. More partitions would help, more members do not.", numbered(idle, "member"), q.members, verb, are(total))
}

func (q *question) hotSentence() string {
	if q.hot == "" {
		return ""
	}
	return fmt.Sprintf(" %s alone gets %.0f %% of the records: no assignor divides a partition, other keys or more partitions do.", q.hot, 100*q.hotShare)
}

// label is a plan's assignor as a sentence names it.
func (q *question) label(p *collect.Plan) string {
	if p.Assignor == byIndex {
		return "dealing by index (" + byIndex + ")"
	}
	return p.Assignor
}

// each says how many partitions members get.
func each(p *collect.Plan) string {
	switch {
	case p.Fewest == p.Most:
		return partitions(p.Most) + " a member"
	}
	return fmt.Sprintf("%d to %s a member", p.Fewest, partitions(p.Most))
}

func located(p *collect.Plan) string {
	return fmt.Sprintf("%d of %d", p.Assignment.Colocated, p.Assignment.Copartitioned)
}

func partitions(n int64) string { return numbered(n, "partition") }

func are(n int64) string {
	if n == 1 {
		return "1 partition is"
	}
	return partitions(n) + " are"
}

func numbered(n int64, what string) string { return plural(int(min(n, math.MaxInt32)), what) }

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
