package kafkatest

import (
	"errors"
	"os"
	"testing"
)

// unavailable is why this machine, not the code under test, cannot give the test what it wants.
type unavailable struct{ reason string }

func (u unavailable) Error() string { return u.reason }

// settle ends the test for err: skipped where something is missing on this machine, unless the
// environment says that it must be there, and failed for everything else.
func settle(t testing.TB, err error) {
	t.Helper()
	var missing unavailable
	switch {
	case err == nil:
	case errors.As(err, &missing) && os.Getenv("KLAGTOP_TEST_KAFKA") != "required":
		t.Skipf("real Kafka tests cannot run: %v", err)
	case errors.As(err, &missing):
		t.Fatalf("real Kafka tests cannot run: %v (and KLAGTOP_TEST_KAFKA=required)", err)
	default:
		t.Fatalf("real Kafka: %v", err)
	}
}
