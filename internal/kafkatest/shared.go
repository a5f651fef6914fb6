package kafkatest

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// Shared is one Kafka for all tests of a package, started by the first that asks for it:
//
//	var kafka = kafkatest.Shared{Options: kafkatest.Options{Nodes: 1}}
//
//	func TestMain(m *testing.M) { os.Exit(kafka.Run(m)) }
//
//	func TestLag(t *testing.T) { c := kafka.Cluster(t); topic := kafkatest.Name("lag"); … }
//
// Tests that share it use names of their own (Name), and leave its nodes running.
type Shared struct {
	Options Options

	once    sync.Once
	cluster *Cluster
	err     error
}

// Cluster starts the Kafka, or returns the one that runs; it skips and fails like Start.
func (s *Shared) Cluster(t testing.TB) *Cluster {
	t.Helper()
	s.once.Do(func() { s.cluster, s.err = start(s.Options) })
	settle(t, s.err)
	return s.cluster
}

// Run runs the tests and then ends the Kafka, if any asked for it. It returns what to exit with.
func (s *Shared) Run(m *testing.M) int {
	code := m.Run()
	if s.cluster != nil {
		if kept := s.cluster.close(code != 0); kept != "" {
			fmt.Fprintf(os.Stderr, "Kafka's logs are kept in %s\n", kept)
		}
	}
	return code
}
