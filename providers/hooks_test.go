package providers

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

// TestHookFile: the file is what claude reads, and a shell gets the words of the
// command as they are, whatever the home is called.
func TestHookFile(t *testing.T) {
	t.Parallel()
	presets, _ := Load("")
	claude, err := presets.Get("claude")
	if err != nil {
		t.Fatal(err)
	}
	for _, home := range []string{"/home/lead/.cw", `/tmp/a "b" 'c' $(d) \e`} {
		in := Invocation{CW: home + "/bin/1/cw", Cwd: home + "/work", RunDir: home + "/runs/brave-otter/1"}
		path, text := claude.HookFile(in)
		if path != in.RunDir+"/hooks.json" {
			t.Errorf("path %q", path)
		}
		var file struct {
			Hooks map[string][]struct {
				Hooks []struct{ Type, Command string }
			}
		}
		if err := json.Unmarshal([]byte(text), &file); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if len(file.Hooks) != 1 || len(file.Hooks["Stop"]) != 1 || len(file.Hooks["Stop"][0].Hooks) != 1 {
			t.Fatalf("%s", text)
		}
		hook := file.Hooks["Stop"][0].Hooks[0]
		out, err := exec.Command("sh", "-c", "printf '%s\\n' "+hook.Command).Output()
		if want := strings.Join([]string{in.CW, "hook", "stop", in.Cwd, ""}, "\n"); err != nil || hook.Type != "command" || string(out) != want {
			t.Errorf("a shell reads %q as %q, want %q: %v", hook.Command, out, want, err)
		}
	}
}

// TestNoHookFile: who has no hooks gets no file, and neither does a run that
// could not call cw.
func TestNoHookFile(t *testing.T) {
	t.Parallel()
	presets, _ := Load("")
	whole := Invocation{CW: "/bin/cw", Cwd: "/work", RunDir: "/run"}
	for name, in := range map[string]Invocation{"codex": whole, "script": whole, "claude": {Cwd: "/work", RunDir: "/run"}} {
		p, err := presets.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		if path, text := p.HookFile(in); path != "" || text != "" {
			t.Errorf("%s: %q %q", name, path, text)
		}
	}
}

// TestPatienceByDefault: a preset that says nothing waits five minutes for
// output; a script may be silent for long.
func TestPatienceByDefault(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "mine.yaml", "name: mine\ncommand:\n  names: [mine]\n")
	presets, problems := Load(dir)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for name, want := range map[string]string{"mine": "5m0s 1h0m0s 0s", "script": "1h0m0s 1h0m0s 0s"} {
		p, err := presets.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join([]string{p.Patience.Silence.String(), p.Patience.ToolSilence.String(), p.Patience.Retrying.String()}, " ")
		if got != want {
			t.Errorf("%s waits %s, want %s", name, got, want)
		}
	}
}
