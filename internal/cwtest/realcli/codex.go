package realcli

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// CodexCLI is the installed codex.
type CodexCLI struct {
	Path   string // absolute path of the command, a script for node that starts Native
	Native string // absolute path of the program itself
}

// Codex finds a codex in one of its versions; "" draws one. Without it the test is
// skipped, or failed when CI=true.
func Codex(t testing.TB, v Version) CodexCLI {
	t.Helper()
	path := findVersion(t, "codex", v)
	pattern := filepath.Join(filepath.Dir(path), "..", "@openai", "codex-*", "vendor", "*", "bin", "codex")
	native, err := filepath.Glob(pattern)
	if err != nil || len(native) != 1 {
		t.Fatalf("%d native programs of codex match %s (%v), want 1", len(native), pattern, err)
	}
	return CodexCLI{Path: path, Native: native[0]}
}

// codexConfig leads the provider that codex has built in to the model at a URL,
// and keeps it from every request beside: those for plug-ins, the news and the
// statistics go out even where nothing answers. Bodies are left uncompressed
// for a login, too: the model server reads no zstd.
const codexConfig = `openai_base_url = "%s/v1"
check_for_update_on_startup = false

[analytics]
enabled = false

[features]
apps = false
plugins = false
enable_request_compression = false
`

// Env is the whole environment for a codex: its home and configuration under
// home, where the configuration is written, the model at url and nothing else to
// be reached. Append "KEY=value" to change a setting: the last one holds.
func (CodexCLI) Env(t testing.TB, home, url string) []string {
	t.Helper()
	dir := filepath.Join(home, ".codex")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.toml"), fmt.Appendf(nil, codexConfig, url), 0o600); err != nil {
		t.Fatal(err)
	}
	return append(surroundings(home, url),
		"CODEX_HOME="+dir,
		"CODEX_API_KEY="+DummyKey,
	)
}
