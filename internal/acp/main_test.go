package acp

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain makes the test binary the agent too: which one a variable says.
func TestMain(m *testing.M) {
	if name := os.Getenv(agentVariable); name != "" {
		os.Exit(beAgent(name))
	}
	goleak.VerifyTestMain(m)
}
