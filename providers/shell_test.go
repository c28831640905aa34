package providers

import (
	"os/exec"
	"testing"
)

// TestShellFile: what claude reads before each command puts cw first on PATH, once,
// whatever the home is called.
func TestShellFile(t *testing.T) {
	t.Parallel()
	presets, _ := Load("")
	claude, err := presets.Get("claude")
	if err != nil {
		t.Fatal(err)
	}
	for _, home := range []string{"/home/lead/.cw", `/tmp/a "b" 'c' $(d) * [e] \f`} {
		in := Invocation{Binary: "/bin/claude", CW: home + "/bin/1/cw", Cwd: home + "/work", RunDir: home + "/runs/brave-otter/1", SessionID: aSession}
		path, text := claude.ShellFile(in)
		if path != in.RunDir+"/shell.sh" {
			t.Errorf("path %q", path)
		}
		for before, want := range map[string]string{
			"/usr/bin":                          home + "/bin/1:/usr/bin",
			"/usr/bin:" + home + "/bin/1:/bin":  "/usr/bin:" + home + "/bin/1:/bin",
			"/usr/bin:" + home + "/bin/12:/bin": home + "/bin/1:/usr/bin:" + home + "/bin/12:/bin",
		} {
			cmd := exec.Command("/bin/sh", "-c", text+"\nprintf %s \"$PATH\"")
			cmd.Env = []string{"PATH=" + before}
			if out, err := cmd.Output(); err != nil || string(out) != want {
				t.Errorf("PATH %q becomes %q, want %q: %v", before, out, want, err)
			}
		}
		cmd, err := claude.Spawn(in)
		if err != nil || cmd.Env["CLAUDE_ENV_FILE"] != path {
			t.Errorf("the file is made known as %q, %v", cmd.Env["CLAUDE_ENV_FILE"], err)
		}
	}
	if path, text := claude.ShellFile(Invocation{RunDir: "/run"}); path != "" || text != "" {
		t.Errorf("without a binary: %q %q", path, text)
	}
	if cmd, err := claude.Spawn(Invocation{Binary: "/bin/claude", RunDir: "/run", SessionID: aSession}); err != nil || cmd.Env["CLAUDE_ENV_FILE"] != "" {
		t.Errorf("a file that is not there is made known: %q, %v", cmd.Env, err)
	}
	codex, _ := presets.Get("codex")
	if path, _ := codex.ShellFile(Invocation{CW: "/bin/cw", RunDir: "/run"}); path != "" {
		t.Errorf("codex: %q", path)
	}
}
