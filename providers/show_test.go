package providers

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestExample: every preset can be shown, whether its program is there or not,
// and no name of a value is lost.
func TestExample(t *testing.T) {
	t.Parallel()
	presets, _ := Load("")
	for _, p := range presets.All() {
		spawn, resume, _ := p.Example("/usr/bin/tool", "/bin/cw")
		line := strings.Join(spawn, " ")
		if len(spawn) == 0 || p.Command.From != FromScript && !slices.Contains(spawn, "/usr/bin/tool") || strings.Contains(line, hidden) {
			t.Errorf("%s: %q", p.Name, spawn)
		}
		if p.CanResume() != (len(resume) > 0) || p.CanResume() && !strings.Contains(strings.Join(resume, " "), "{{sessionId}}") && !envUses(p.ResumeForm.Env, "sessionId") {
			t.Errorf("%s goes on by %q", p.Name, resume)
		}
		if len(p.ModelArgs) > 0 && !strings.Contains(line, "{{model}}") && !envUses(p.SpawnForm.Env, "model") {
			t.Errorf("%s: no model in %q", p.Name, spawn)
		}
		if missing, _, _ := p.Example("", "/bin/cw"); slices.Contains(missing, notFound) || len(missing) != len(spawn) {
			t.Errorf("%s, not installed: %q", p.Name, missing)
		}
	}
}

func TestHideSecrets(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"--api-key swordfish":                              "--api-key [hidden]",
		"--api-key=swordfish1":                             "--api-key=[hidden]",
		"--token {{json}} x":                               "--token {{json}} x",
		"--token --verbose":                                "--token --verbose",
		"--max-tokens 100000000":                           "--max-tokens 100000000",
		"-c headers={Authorization=\"Bearer|swordfish1\"}": "-c headers={Authorization=\"Bearer|[hidden]\"}",
		"sk-ant-oat01-swordfish-AA":                        "[hidden]",
		"use sk-proj-swordfish-0123 here":                  "use [hidden] here",
		"use AIzaSySwordfish0123456 here":                  "use [hidden] here",
		"use ghs_swordfish01234567 here":                   "use [hidden] here",
		"--session-id {{sessionId}}":                       "--session-id {{sessionId}}",
		"-c analytics.enabled=false":                       "-c analytics.enabled=false",
	} {
		argv := strings.Fields(in)
		for i := range argv {
			argv[i] = strings.ReplaceAll(argv[i], "|", " ")
		}
		if got := strings.ReplaceAll(strings.Join(hideSecrets(argv), " "), "Bearer ", "Bearer|"); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
}

// TestOverridden: what a file of the user's changes is told by its keys.
func TestOverridden(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"careful": "extends: claude\nname: careful\nautoApproveArgs: [[--permission-mode, acceptEdits]]\npatience: {silence: 6m}\n",
		"codex":   "extends: codex\nname: codex\nstop: {signal: INT}\n",
		"same":    "extends: claude\nname: claude\n",
		"own":     "name: own\ncommand: {names: [own]}\nspawn: {args: [run]}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	presets, problems := Load(dir)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for name, want := range map[string]struct {
		of   string
		keys []string
	}{
		"careful": {"claude", []string{"autoApproveArgs", "patience.silence"}},
		"codex":   {"codex", []string{"stop.signal"}},
		"claude":  {"claude", nil}, "own": {"", nil}, "gemini": {"", nil},
	} {
		p, err := presets.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		of, keys := presets.Overridden(p)
		if of != want.of || !slices.Equal(keys, want.keys) {
			t.Errorf("%s changes %q of %q, want %q of %q", name, keys, of, want.keys, want.of)
		}
	}
}
