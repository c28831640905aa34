package realcli

import (
	"os"
	"path/filepath"
	"testing"
)

// ClaudeCLI is the installed claude.
type ClaudeCLI struct {
	Path string // absolute path of the executable
}

// Claude finds a claude in one of its versions; "" draws one. Without it the test is
// skipped, or failed when CI=true.
func Claude(t testing.TB, v Version) ClaudeCLI {
	t.Helper()
	return ClaudeCLI{Path: findVersion(t, "claude", v)}
}

// Env is the whole environment for a claude: its home and configuration under
// home, the model at url and nothing else to be reached, no updates, no side
// traffic. Append "KEY=value" to change a setting: the last one holds.
func (ClaudeCLI) Env(home, url string) []string {
	env := append(surroundings(home, url),
		"CLAUDE_CONFIG_DIR="+filepath.Join(home, ".claude"),
		"ANTHROPIC_BASE_URL="+url,
		"ANTHROPIC_API_KEY="+DummyKey,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_AUTOUPDATER=1",
	)
	if os.Geteuid() == 0 {
		env = append(env, "IS_SANDBOX=1") // as root claude refuses to skip permissions without it
	}
	return env
}
