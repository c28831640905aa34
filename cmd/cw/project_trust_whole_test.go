package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/lab"
)

// TestTrustSession is the whole program with a repository that says how it is set
// up: refused, looked at, trusted, worked on, changed, and asked again.
func TestTrustSession(t *testing.T) {
	t.Parallel()
	env, temp := realEnv(t)
	home := cw.Home(filepath.Join(temp, "home"))
	env = append(env, "CW_HOME="+string(home))
	t.Cleanup(func() { killDaemon(t, home) })
	repo, script, book := filepath.Join(temp, "shop"), filepath.Join(temp, "agent.sh"), filepath.Join(temp, "book")
	lab.NewRepo(t, repo)
	commit := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(repo, cw.ProjectFileName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		lab.Git(t, repo, "add", cw.ProjectFileName)
		lab.Git(t, repo, "commit", "-q", "-m", "How it is built")
	}
	if err := os.WriteFile(script, []byte(strings.Replace(committerScript, "echo x > x.txt", "echo $SHOP $CW_PORT_0 > x.txt", 1)), 0o700); err != nil {
		t.Fatal(err)
	}
	does := func(code int, says string, args ...string) string {
		t.Helper()
		out, stderr, got := cli(t, env, args...)
		if got != code || !strings.Contains(out+stderr, says) {
			t.Fatalf("cw %s: exit code %d, want %d and %q\n%s%s", strings.Join(args, " "), got, code, says, out, stderr)
		}
		return out
	}
	works := func(name string) []string {
		return []string{"run", "--provider", "script", "--script", script, "--name", name, "--project", "shop", "add x"}
	}
	does(0, "shop", "project", "add", repo)
	does(4, "has no cw.yaml", "project", "trust", "shop")
	commit("setup: ['echo up >> " + book + "']\nenv: {SHOP: open}\nports: 1\n")
	does(4, "cw project trust shop", works("brave-otter")...)
	does(0, "not trusted", "project", "show", "shop")
	does(7, "SHOP: open", "project", "trust", "shop")
	does(4, "another one than you mean", "project", "trust", "shop", "--digest", strings.Repeat("0", 64), "--yes")
	does(0, "SHOP: open", "project", "trust", "shop", "--yes")
	does(0, "trusted since", "project", "show", "shop")
	does(0, "agent/brave-otter", works("brave-otter")...)
	if got := lab.Git(t, repo, "show", "agent/brave-otter:x.txt"); !regexp.MustCompile(`^open [1-9]\d{4}$`).MatchString(got) {
		t.Errorf("the agent had %q", got)
	}
	if data, _ := os.ReadFile(book); string(data) != "up\n" {
		t.Errorf("the set-up did %q", data)
	}

	commit("setup: [exit 3]\n")
	does(4, "cw project trust shop", works("calm-heron")...)
	var view cw.ProjectFileView
	if err := json.Unmarshal([]byte(does(0, "", "project", "trust", "shop", "--yes", "--json")), &view); err != nil || !view.Trusted {
		t.Fatalf("%+v, %v", view, err)
	}
	does(1, "exit code 3", works("calm-heron")...)
	does(0, "no longer trusted", "project", "trust", "shop", "--revoke")
	does(4, "cw project trust shop", works("calm-heron")...)
}
