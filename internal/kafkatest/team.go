package kafkatest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Team is many Java consumers in one process, of one group or of several. They read and commit nothing.
type Team struct {
	*Client
	mu sync.Mutex // subtests share a team
}

// JavaTeam starts the process, with nobody in it yet.
func (c *Cluster) JavaTeam(t testing.TB) *Team {
	t.Helper()
	return &Team{Client: c.javaClient(t, "the Java team", "Team.java", "bootstrap.servers="+c.Bootstrap())}
}

// Join has a consumer join and returns its name, for Leave. Commit and Max are not for teams.
func (m *Team) Join(t testing.TB, o ConsumerOptions) (name string) {
	t.Helper()
	name = o.Group + "/" + cmp.Or(o.ClientID, "consumer")
	m.tell(t, "join "+name+"\t"+strings.Join(o.java(), "\t"))
	return name
}

// Leave has a consumer leave its group, and waits until it has.
func (m *Team) Leave(t testing.TB, name string) {
	t.Helper()
	m.tell(t, "leave "+name)
	m.wait(t, "said that "+name+" left", func(lines []string) bool { return slices.Contains(lines, name+" left") })
}

func (m *Team) tell(t testing.TB, line string) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := fmt.Fprintln(m.stdin, line); err != nil {
		t.Fatalf("%s: %v", m.name, err)
	}
}
