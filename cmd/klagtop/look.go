package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/klagtop/klagtop/collect"
	"github.com/klagtop/klagtop/internal/config"
)

// problemsShown is how many of a poll's problems are told one by one.
const problemsShown = 10

// look is what a one-shot command has seen of a cluster.
type look struct {
	*collect.Update
	cfg config.Config
	hub *collect.Hub
}

// once polls a cluster once.
func (p *program) once(ctx context.Context, cfg config.Config) (*look, error) {
	c, err := p.open(cfg, quiet(cfg, p.stderr))
	if err != nil {
		return nil, err
	}
	defer c.source.Close()
	u := c.collector.Once(ctx)
	if ctx.Err() != nil {
		// Not the clean stop of a command that runs until it is told: a probe
		// that was cut off must not look like good news.
		return nil, &failure{code: exitFailed, err: context.Cause(ctx)}
	}
	return &look{Update: u, cfg: cfg, hub: c.collector.Hub()}, nil
}

// oneLook loads the configuration and polls once.
func (p *program) oneLook(cmd *cobra.Command) (*look, error) {
	cfg, err := p.load(cmd)
	if err != nil {
		return nil, err
	}
	return p.once(cmd.Context(), cfg)
}

// conclude says what was not seen and gives the exit code for it.
func (p *program) conclude(l *look) error {
	s := l.Snapshot
	switch {
	case !s.Reached:
		p.unreachable(l.cfg, s)
		return &failure{code: exitFailed}
	case !s.Complete:
		p.partial(s)
		_ = p.absent(l)
		return &failure{code: exitFailed}
	}
	return p.absent(l)
}

// unreachable says that no broker answered, and why.
func (p *program) unreachable(cfg config.Config, s *collect.Snapshot) {
	if len(s.Problems) == 0 {
		p.tell("error", "no broker of "+strings.Join(cfg.Kafka.Brokers, ", ")+" can be reached")
	}
	p.problems(s)
	if !p.mend(s) {
		p.hint("check --brokers, the TLS and login settings, and --timeout (" + cfg.Timeout.String() + ")")
	}
}

// mend gives the hints that problems come with, each once; false without any.
func (p *program) mend(s *collect.Snapshot) bool {
	told := map[string]bool{}
	for i := range s.Problems {
		if h := s.Problems[i].Hint; h != "" && !told[h] {
			told[h] = true
			p.hint(h)
		}
	}
	return len(told) > 0
}

// partial says what is missing from numbers that are shown.
func (p *program) partial(s *collect.Snapshot) {
	if len(s.Problems) > 0 {
		p.problems(s)
		p.mend(s)
		return
	}
	p.tell("error", incomplete(s))
}

// incomplete says what is not complete of a snapshot that has no problems.
func incomplete(s *collect.Snapshot) string {
	var groups int
	for _, g := range s.Groups {
		if !g.Lag.Complete {
			groups++
		}
	}
	return "the numbers of " + counted(groups, "group") + " are not complete"
}

// counted is how many there are of something, in words.
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// problems tells a poll's problems, one line each.
func (p *program) problems(s *collect.Snapshot) {
	problems := gathered(s.Problems)
	for i := range problems {
		if i == problemsShown {
			p.tell("error", "and "+counted(len(problems)-i, "more problem")+" (-o json has them all)")
			return
		}
		p.tell("error", problemText(&problems[i]))
	}
}

// gathered makes one problem of all brokers that cannot be reached for the same
// reason: to people, a cluster that is down is one thing.
func gathered(all []collect.Problem) []collect.Problem {
	type cause struct {
		reason collect.Reason
		hint   string
	}
	var out []collect.Problem
	first, alike := map[cause]int{}, map[int]int{}
	for _, pr := range all {
		c := cause{pr.Reason, pr.Hint}
		if at, ok := first[c]; ok && pr.Stage == collect.StageConnect {
			alike[at]++
			continue
		}
		if pr.Stage == collect.StageConnect {
			first[c] = len(out)
		}
		out = append(out, pr)
	}
	for at, n := range alike {
		out[at].Error = because(&out[at]) + ", and " + counted(n, "more broker") + " likewise"
	}
	return out
}

// because is why a problem is one.
func because(pr *collect.Problem) string {
	if pr.Error == "" {
		return strings.ReplaceAll(pr.Reason.String(), "_", " ")
	}
	return pr.Error
}

// problemText is a problem as a sentence.
func problemText(pr *collect.Problem) string {
	var about []string
	if pr.Broker >= 0 {
		about = append(about, fmt.Sprintf("broker %d", pr.Broker))
	}
	if pr.Group != "" {
		about = append(about, "group "+pr.Group)
	}
	if pr.Topic != "" {
		topic := "topic " + pr.Topic
		if pr.Partition >= 0 {
			topic += fmt.Sprintf("/%d", pr.Partition)
		}
		about = append(about, topic)
	}
	text := because(pr)
	what := "cannot " + stageText(pr.Stage)
	if len(about) == 0 {
		return what + ": " + text
	}
	return what + " (" + strings.Join(about, ", ") + "): " + text
}

// stageText is what a stage was to do.
func stageText(s collect.Stage) string {
	switch s {
	case collect.StageConnect:
		return "reach the cluster"
	case collect.StageMetadata:
		return "read the list of topics"
	case collect.StageListGroups:
		return "list groups"
	case collect.StageDescribe:
		return "describe groups"
	case collect.StageCommits:
		return "read commits"
	case collect.StageShareOffsets:
		return "read share group offsets"
	case collect.StageLogStart:
		return "read log starts"
	case collect.StageLogEnd:
		return "read log ends"
	case collect.StageLastStable:
		return "read last stable offsets"
	case collect.StageTimeSearch:
		return "search for times"
	}
	return "read " + strings.ReplaceAll(string(s), "_", " ")
}

// absent says which exactly named groups are not there, and fails for them; a
// pattern that selects nothing is worth a hint.
func (p *program) absent(l *look) error {
	s, f := l.Snapshot, l.cfg.Filter
	names, _ := f.ExactGroups()
	missing := false
	for _, name := range names {
		if _, ok := s.Group(name); ok {
			continue
		}
		missing = true
		switch {
		case !s.Complete:
			p.tell("error", fmt.Sprintf("group %q was not found, but not everything could be read", name))
		case f.FiltersTopics():
			p.tell("error", fmt.Sprintf("there is no group %q with rows on the selected topics", name))
		default:
			p.tell("error", fmt.Sprintf("there is no group %q", name))
		}
	}
	switch {
	case missing && f.FiltersTopics():
		p.hint("klagtop describe without --topic and --exclude-topic shows the topics of a group")
		return &failure{code: exitFailed}
	case missing:
		p.hint("klagtop list shows the groups there are; a pattern such as 'tick*' or '/^tick/' selects several")
		return &failure{code: exitFailed}
	case len(s.Groups) == 0 && f.Active():
		p.hint("the filters select no group")
	case len(s.Groups) == 0:
		p.hint("the cluster has no consumer groups that this user can see")
	}
	return nil
}
