package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/lab"
)

// committerScript commits a file and says that it is done.
const committerScript = `#!/bin/sh
set -eu
cat > /dev/null
echo x > x.txt
git add x.txt
git -c user.name=Ada -c user.email=ada@example.com commit -qm "Add x"
mkdir -p .cw/output
printf '%s\n' '{"status":"done","result":"x is there"}' > .cw/output/signal.tmp
mv .cw/output/signal.tmp .cw/output/signal.json
`

// TestRemoteSession is the whole program with a remote repository: from its URL
// to a branch in somebody's checkout, with the remote away in the middle, and
// everything that is refused on the way.
func TestRemoteSession(t *testing.T) {
	t.Parallel()
	env, temp := realEnv(t)
	home := cw.Home(filepath.Join(temp, "home"))
	env = append(env, "CW_HOME="+string(home))
	t.Cleanup(func() { killDaemon(t, home) })
	repo, bare, script := filepath.Join(temp, "shop"), filepath.Join(temp, "shop.git"), filepath.Join(temp, "committer.sh")
	lab.NewRepo(t, repo)
	lab.Git(t, temp, "clone", "-q", "--bare", repo, bare)
	if err := os.WriteFile(script, []byte(committerScript), 0o700); err != nil {
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
	works := func(name string, more ...string) []string {
		return append([]string{"run", "--provider", "script", "--script", script, "--name", name, "add x"}, more...)
	}
	url := "file://" + strings.ReplaceAll(bare, " ", "%20")
	does(2, "no URL", "project", "add", "ext::sh")
	does(2, "no credentials", "project", "add", "https://me:s3cret@forge.example/shop")
	does(1, "cannot be fetched", "project", "add", url+".none")
	does(0, "shop", "project", "add", url)
	does(0, "shop", "project", "add", url+"/")
	does(0, "shop-2", "project", "add", repo)
	does(0, url, "project", "list")
	var p cw.Project
	if err := json.Unmarshal([]byte(does(0, "", "project", "show", url, "--json")), &p); err != nil || p.Path != "" || p.RemoteURL != url {
		t.Fatalf("%+v, %v", p, err)
	}

	does(0, "git fetch "+p.GitDir+" agent/brave-otter", works("brave-otter", "--project", "shop")...)
	does(0, "+x", "agent", "diff", "brave-otter")
	does(0, "git fetch "+p.GitDir+" agent/brave-otter", "agent", "show", "brave-otter")
	if refs := lab.Git(t, bare, "for-each-ref", "refs/heads"); strings.Contains(refs, "agent") {
		t.Errorf("it was pushed:\n%s", refs)
	}
	lab.Git(t, repo, "fetch", "-q", p.GitDir, "agent/brave-otter")
	if got := lab.Git(t, repo, "show", "FETCH_HEAD:x.txt"); got != "x" {
		t.Errorf("fetched %q", got)
	}

	if err := os.Rename(bare, bare+".away"); err != nil {
		t.Fatal(err)
	}
	does(0, "the agent starts from what was fetched", works("calm-fox", "--project", url)...)
	does(3, "not known", works("wise-owl", "--project", "shop", "--base", "not-there")...)
	does(0, "stopped", "stop")
	does(4, "", "project", "remove", "shop")
	for _, name := range []string{"brave-otter", "calm-fox"} {
		does(0, "", "agent", "remove", name)
	}
	does(4, "branch -D", "project", "remove", "shop")
	lab.Git(t, p.GitDir, "branch", "-qD", "agent/brave-otter", "agent/calm-fox")
	does(0, "is as it was", "project", "remove", "shop")
	if left, err := filepath.Glob(filepath.Join(home.Repos(), "shop-"+p.Mirror[len("shop-"):len("shop-")+4]+"*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
	does(0, "stopped", "stop")
}
