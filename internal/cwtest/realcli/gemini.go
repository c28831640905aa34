package realcli

import (
	"path/filepath"
	"testing"
)

// GeminiCLI is the installed gemini.
type GeminiCLI struct {
	Path string // absolute path of the command, a script for node
}

// Gemini finds the gemini that e2e/package.json pins. Without it the test is
// skipped, or failed when CI=true.
func Gemini(t testing.TB) GeminiCLI {
	t.Helper()
	return GeminiCLI{Path: find(t, "e2e", "gemini")}
}

// geminiSettings keep gemini from asking which login to use, from updates and
// from statistics.
const geminiSettings = `{
 "general": {"enableAutoUpdate": false},
 "privacy": {"usageStatisticsEnabled": false},
 "security": {"auth": {"selectedType": "gemini-api-key"}}
}
`

// Env is the whole environment for a gemini: its home and settings under home,
// where the settings are written, the model at url and nothing else to be
// reached. Append "KEY=value" to change a setting: the last one holds.
func (GeminiCLI) Env(t testing.TB, home, url string) []string {
	t.Helper()
	write(t, filepath.Join(home, ".gemini", "settings.json"), geminiSettings)
	return append(withNode(t, surroundings(home, url)),
		"GEMINI_CLI_HOME="+home,
		"GOOGLE_GEMINI_BASE_URL="+url,
		"GEMINI_API_KEY="+DummyKey,
	)
}
