package realcli

import (
	"fmt"
	"path/filepath"
	"testing"
)

// ContinueCLI is the installed cn.
type ContinueCLI struct {
	Path string // absolute path of the command, a script for node
}

// Continue finds the cn that e2e/package.json pins. Without it the test is
// skipped, or failed when CI=true.
func Continue(t testing.TB) ContinueCLI {
	t.Helper()
	return ContinueCLI{Path: find(t, "e2e", "cn")}
}

// continueConfig leads every request to the model at a URL.
const continueConfig = `name: test
version: 1.0.0
schema: v1
models:
  - name: mock
    provider: openai
    model: mock-model
    apiBase: %s/v1
    apiKey: %s
    roles: [chat]
`

// Env is the whole environment for a cn: its directory with the configuration
// under home, where it is written, the model at url and nothing else to be
// reached. Append "KEY=value" to change a setting: the last one holds.
func (ContinueCLI) Env(t testing.TB, home, url string) []string {
	t.Helper()
	dir := filepath.Join(home, ".continue")
	write(t, filepath.Join(dir, "config.yaml"), fmt.Sprintf(continueConfig, url, DummyKey))
	return append(withNode(t, surroundings(home, url)),
		"CONTINUE_GLOBAL_DIR="+dir,
		"CONTINUE_TELEMETRY_ENABLED=0",
		"CONTINUE_METRICS_ENABLED=0",
		"CONTINUE_CLI_ENABLE_TELEMETRY=0",
	)
}
