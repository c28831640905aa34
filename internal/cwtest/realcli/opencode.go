package realcli

import (
	"path/filepath"
	"strings"
	"testing"
)

// OpenCodeCLI is the installed opencode.
type OpenCodeCLI struct {
	Path string // absolute path of the executable
}

// OpenCode finds the opencode that e2e/package.json pins. Without it the test is
// skipped, or failed when CI=true.
func OpenCode(t testing.TB) OpenCodeCLI {
	t.Helper()
	return OpenCodeCLI{Path: find(t, "e2e", "opencode")}
}

// openCodeConfig leads every request to the model at a URL.
const openCodeConfig = `{
 "provider": {"mock": {
  "npm": "@ai-sdk/openai-compatible",
  "options": {"baseURL": "MODEL_URL/v1", "apiKey": "DUMMY_KEY"},
  "models": {"mock-model": {"tool_call": true}}
 }},
 "model": "mock/mock-model", "small_model": "mock/mock-model",
 "share": "disabled", "autoupdate": false
}`

// Env is the whole environment for an opencode: all its directories under home,
// the model at url and nothing else to be reached, though it asks npm's registry
// for its plug-ins at each start, in vain. Append "KEY=value" to change a
// setting: the last one holds.
func (OpenCodeCLI) Env(t testing.TB, home, url string) []string {
	t.Helper()
	return append(withNode(t, surroundings(home, url)),
		"XDG_CONFIG_HOME="+filepath.Join(home, ".config"),
		"XDG_DATA_HOME="+filepath.Join(home, ".local", "share"),
		"XDG_STATE_HOME="+filepath.Join(home, ".local", "state"),
		"XDG_CACHE_HOME="+filepath.Join(home, ".cache"),
		"OPENCODE_CONFIG_CONTENT="+strings.NewReplacer("MODEL_URL", url, "DUMMY_KEY", DummyKey).Replace(openCodeConfig),
		"OPENCODE_DISABLE_AUTOUPDATE=1",
		"OPENCODE_DISABLE_MODELS_FETCH=1",
	)
}
