package realcli

import (
	"fmt"
	"path/filepath"
	"testing"
)

// ClineCLI is the installed cline.
type ClineCLI struct {
	Path string // absolute path of the executable
}

// Cline finds the cline that e2e/package.json pins. Without it the test is
// skipped, or failed when CI=true.
func Cline(t testing.TB) ClineCLI {
	t.Helper()
	return ClineCLI{Path: find(t, "e2e", "cline")}
}

// clineProviders is what `cline auth -p openai` writes (seen in 3.0.65).
const clineProviders = `{
 "version": 1, "lastUsedProvider": "openai-compatible", "modes": {},
 "providers": {"openai-compatible": {
  "settings": {"provider": "openai-compatible", "apiKey": "%s", "model": "mock-model", "baseUrl": "%s/v1"},
  "updatedAt": "2026-11-22T00:00:00.000Z", "tokenSource": "manual"
 }}
}
`

// clineSettings keep cline from updates and statistics.
const clineSettings = `{"telemetryOptOut": true, "autoUpdateEnabled": false}
`

// Env is the whole environment for a cline: its settings under home, where they
// are written, the model at url and nothing else to be reached, though it asks its
// maker's server for its switches, in vain, opted out of statistics or not.
// Append "KEY=value" to change a setting: the last one holds.
func (ClineCLI) Env(t testing.TB, home, url string) []string {
	t.Helper()
	dir := filepath.Join(home, ".cline", "data", "settings")
	write(t, filepath.Join(dir, "providers.json"), fmt.Sprintf(clineProviders, DummyKey, url))
	write(t, filepath.Join(dir, "global-settings.json"), clineSettings)
	return append(withNode(t, surroundings(home, url)),
		// Over ACP these count, not the last used provider.
		"CLINE_API_KEY="+DummyKey,
		"CLINE_PROVIDER=openai-compatible",
		"CLINE_MODEL=mock-model",
	)
}
