package realcli

import (
	"path/filepath"
	"testing"
)

// CopilotCLI is the installed copilot.
type CopilotCLI struct {
	Path string // absolute path of the command, a script for node that starts a native program
}

// Copilot finds the copilot that e2e/package.json pins. Without it the test is
// skipped, or failed when CI=true.
func Copilot(t testing.TB) CopilotCLI {
	t.Helper()
	return CopilotCLI{Path: find(t, "e2e", "copilot")}
}

// Env is the whole environment for a copilot without a login of GitHub's: its
// home under home, the model at url and nothing else to be reached. Append
// "KEY=value" to change a setting: the last one holds.
func (CopilotCLI) Env(t testing.TB, home, url string) []string {
	t.Helper()
	return append(withNode(t, surroundings(home, url)),
		"COPILOT_HOME="+filepath.Join(home, ".copilot"),
		"COPILOT_PROVIDER_BASE_URL="+url+"/v1",
		"COPILOT_PROVIDER_API_KEY="+DummyKey,
		"COPILOT_MODEL=gpt-4.1", // an unknown one has no limits that it could count with
		"COPILOT_OFFLINE=true",
	)
}
