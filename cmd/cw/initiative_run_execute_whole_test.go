package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/lab"
)

// workers is an agent that does any of the tasks below. One asks before, and two
// write the same file, though only one of them says so: whichever is merged last
// brings them together when it is told.
const workers = `#!/bin/sh
set -eu
assignment=$(cat)
end() {
	mkdir -p .cw/output
	printf '%s\n' "$1" > .cw/output/signal.tmp
	mv .cw/output/signal.tmp .cw/output/signal.json
	exit 0
}
keep() { # FILE TEXT
	printf '%s\n' "$2" > "$1"
	git add "$1"
	git commit -qm "Write $1"
}
case $assignment in
*"conflicts with what was merged"*)
	git merge -q cw/spring-sale > .cw/tmp/merge.log || true
	keep price.txt "100"
	;;
*"Half up"*) keep rounding.txt "half up" ;;
*"Round it"*) end '{"status":"questions","questions":[{"id":"rounding","question":"How are prices rounded?"}]}' ;;
*"Lower it"*) keep price.txt "99" ;;
*"Raise it"*) keep price.txt "101" ;;
*"Paint it"*) keep colour.txt "blue" ;;
esac
end '{"status":"done","result":"It is written."}'
`

// TestExecuteSession goes with the whole program from tasks to a landed branch,
// with a question, a conflict and a decision on the way.
func TestExecuteSession(t *testing.T) {
	t.Parallel()
	env, temp := realEnv(t)
	home := cw.Home(filepath.Join(temp, "home"))
	env = append(env, "CW_HOME="+string(home))
	t.Cleanup(func() { killDaemon(t, home) })
	shop := filepath.Join(temp, "shop")
	lab.NewRepo(t, shop)
	script := filepath.Join(temp, "workers.sh")
	if err := os.WriteFile(script, []byte(workers), 0o700); err != nil {
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
	id := func(args ...string) string {
		t.Helper()
		return field(t, does(0, "", append(args, "--json")...), "id")
	}
	walk := []string{"initiative", "run", "spring-sale", "--from", "execute", "--provider", "script", "--script", script}
	does(0, "", "project", "add", shop)
	does(0, "", "initiative", "create", "Spring sale", "--project", "shop")
	phase := id("phase", "create", "spring-sale", "Rules")
	lower := id("task", "create", "--phase", phase, "Lower it", "--path", "price.txt")
	id("task", "create", "--phase", phase, "Round it", "--path", "rounding.txt")
	id("task", "create", "--phase", phase, "Raise it", "--path", "prices/**")
	colour := id("task", "create", "--phase", phase, "Choose the colour", "--type", "checkpoint:decision", "--depends-on", lower)
	paint := id("task", "create", "--phase", phase, "Paint it", "--path", "colour.txt", "--depends-on", colour)
	does(0, "project: the initiative spring-sale is held", "dispatch", "status", "spring-sale")
	does(4, "nobody", "task", "diff", lower)
	does(4, "not done", "merge", "spring-sale")
	does(0, "", "initiative", "start", "spring-sale")
	does(0, "wait for cw initiative start", "initiative", "edit", "spring-sale", "--hold")
	does(0, "assumed", "dispatch", "plan", "spring-sale")
	does(7, "How are prices rounded?", walk...)
	does(0, "1 conflict", "merge", "list", "spring-sale")
	answers := filepath.Join(temp, "answers.json")
	if err := os.WriteFile(answers, []byte(`{"rounding": "Half up"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	does(7, "Choose the colour", append(walk, "--answers", answers)...)
	does(0, "person", "dispatch", "status", "spring-sale")
	does(0, "1 waits for you", "status")
	does(2, "what was decided?", "task", "done", colour)
	does(0, "done", "task", "done", colour, "--comment", "blue")
	does(0, "every task is done", walk...)
	does(0, "+blue", "task", "diff", paint)
	does(0, "3 files", "initiative", "diff", "spring-sale", "--stat")
	does(0, "merged", "merge", "list", "spring-sale")
	if _, err := os.Stat(filepath.Join(shop, "price.txt")); err == nil {
		t.Error("the user's files changed before the landing")
	}
	does(0, "nothing was done", "merge", "spring-sale", "--dry-run")
	does(0, "main", "merge", "spring-sale")
	for file, want := range map[string]string{"price.txt": "100\n", "rounding.txt": "half up\n", "colour.txt": "blue\n"} {
		if got, err := os.ReadFile(filepath.Join(shop, file)); string(got) != want {
			t.Errorf("%s: %q, %v", file, got, err)
		}
	}
	does(0, "already", "merge", "spring-sale")
	does(0, "paused", "dispatch", "pause")
	does(0, "every task is done", walk...)
	if _, stderr, code := cli(t, env, "stop"); code != 0 {
		t.Error(stderr)
	}
}

// field is a field of one JSON object.
func field(t *testing.T, text, name string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, `"`+name+`": "`)
	value, _, ended := strings.Cut(rest, `"`)
	if !found || !ended {
		t.Fatalf("no %s in %s", name, text)
	}
	return value
}
