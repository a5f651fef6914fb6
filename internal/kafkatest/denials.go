package kafkatest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Denials returns what the brokers' authorizers have refused a user so far, a line of their logs each.
func (c *Cluster) Denials(t testing.TB, user string) []string {
	t.Helper()
	var out []string
	for _, n := range c.nodes {
		log, err := os.ReadFile(filepath.Join(n.dir, "log"))
		settle(t, err)
		for line := range strings.Lines(string(log)) {
			if strings.Contains(line, "kafka.authorizer.logger") && strings.Contains(line, "Denied") && strings.Contains(line, "User:"+user+" ") {
				out = append(out, strings.TrimSpace(line))
			}
		}
	}
	return out
}
