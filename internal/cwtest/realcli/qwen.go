package realcli

import (
	"path/filepath"
	"testing"
)

// QwenCLI is the installed qwen.
type QwenCLI struct {
	Path string // absolute path of the command, a script for node
}

// Qwen finds the qwen that e2e/package.json pins. Without it the test is
// skipped, or failed when CI=true.
func Qwen(t testing.TB) QwenCLI {
	t.Helper()
	return QwenCLI{Path: find(t, "e2e", "qwen")}
}

// qwenSettings keep qwen from asking which login to use, from updates and from
// statistics.
const qwenSettings = `{
 "general": {"enableAutoUpdate": false},
 "privacy": {"usageStatisticsEnabled": false},
 "security": {"auth": {"selectedType": "openai"}}
}
`

// Env is the whole environment for a qwen: its home and settings under home,
// where the settings are written, the model at url and nothing else to be
// reached. Append "KEY=value" to change a setting: the last one holds.
func (QwenCLI) Env(t testing.TB, home, url string) []string {
	t.Helper()
	dir := filepath.Join(home, ".qwen")
	write(t, filepath.Join(dir, "settings.json"), qwenSettings)
	return append(withNode(t, surroundings(home, url)),
		"QWEN_HOME="+dir,
		"OPENAI_BASE_URL="+url+"/v1",
		"OPENAI_API_KEY="+DummyKey,
		"OPENAI_MODEL=mock-model",
	)
}
