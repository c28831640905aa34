package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
	"cw/internal/cwtest/lab"
)

// architects is an agent of every mode but execute: discuss asks before it
// suggests, refine suggests nothing, and the first plan fails.
const architects = `#!/bin/sh
set -eu
assignment=$(cat)
mode=$(sed -n 's/.*"mode": *"\([a-z]*\)".*/\1/p' .cw/input/manifest.json)
mkdir -p .cw/output
end() {
	printf '%s\n' "$1" > .cw/output/signal.tmp
	mv .cw/output/signal.tmp .cw/output/signal.json
	exit 0
}
suggest() { # FOLDER HEAD
	id=$(cw id)
	mkdir -p ".cw/output/$1"
	printf -- '---\nid: %s\n%b\n---\nSee prices/rule.go.\n' "$id" "$2" > ".cw/output/$1/$id.md"
}
case $mode in
discuss)
	case $assignment in
	*"Half up"*) suggest decisions 'title: Prices are rounded half up' ;;
	*) end '{"status":"questions","questions":[{"id":"rounding","question":"How are prices rounded?","options":[{"label":"Half up"},{"label":"Down"}]}]}' ;;
	esac
	;;
plan)
	if mkdir "${0%/*}/planned" 2>/dev/null; then
		end '{"status":"error","error":"there is no plan today"}'
	fi
	suggest phases 'title: Price rules'
	suggest phases 'title: Shop window'
	;;
detail)
	phase=$(sed -n 's/^id: *"*\([a-z2-7]*\).*/\1/p' .cw/input/phase.md)
	suggest tasks "title: Work on it\nphase: $phase"
	;;
esac
end '{"status":"done","result":"It is written."}'
`

// TestInitiativeRunSession walks with the whole program from a goal to tasks, with
// everything that comes between.
func TestInitiativeRunSession(t *testing.T) {
	t.Parallel()
	env, temp := realEnv(t)
	home := cw.Home(filepath.Join(temp, "home"))
	env = append(env, "CW_HOME="+string(home))
	t.Cleanup(func() { killDaemon(t, home) })
	lab.NewRepo(t, filepath.Join(temp, "shop"))
	script, answers := filepath.Join(temp, "architects.sh"), filepath.Join(temp, "answers.json")
	for path, text := range map[string]string{script: architects, answers: `{"rounding": "Half up"}`} {
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	walk := func(flags ...string) []string {
		return append([]string{"initiative", "run", "spring-sale", "--provider", "script", "--script", script}, flags...)
	}
	for _, s := range []struct {
		args []string
		code int
		says []string
	}{
		{[]string{"project", "add", filepath.Join(temp, "shop")}, 0, nil},
		{[]string{"initiative", "create", "Spring sale", "--project", "shop"}, 0, nil},
		{walk(), 7, []string{"waits for 1 answer", "How are prices rounded?", "go on with cw initiative run spring-sale"}},
		{walk("--yes"), 7, []string{"waits for 1 answer"}},
		{walk("--answers", answers), 7, []string{"create decision", "1 proposal of"}},
		{walk("--until", "refine"), 7, []string{"1 proposal of", "cw proposal accept --agent"}},
		{[]string{"proposal", "dismiss", "--all", "spring-sale", "--note", "it is known"}, 0, nil},
		{walk("--until", "refine"), 0, []string{"step 2 of 4: refine", "no phases yet"}},
		{walk("--yes"), 1, []string{"step 3 of 4: plan", "there is no plan today", "--from plan"}},
		{walk("--yes"), 1, []string{"there is no plan today"}},
		{walk("--yes", "--from", "plan"), 0, []string{"step 4 of 4: detail", "Price rules", "Shop window", "└─ Work on it"}},
		{walk("--yes"), 0, []string{"nothing is left to do"}},
		{[]string{"initiative", "archive", "spring-sale"}, 0, nil},
		{walk("--yes"), 4, []string{"is archived"}},
	} {
		out, stderr, code := cli(t, env, s.args...)
		if code != s.code {
			t.Fatalf("cw %s: exit code %d, want %d\n%s%s", strings.Join(s.args, " "), code, s.code, out, stderr)
		}
		for _, says := range s.says {
			if !strings.Contains(out+stderr, says) {
				t.Errorf("cw %s does not say %q:\n%s%s", strings.Join(s.args, " "), says, out, stderr)
			}
		}
	}
	out, _, _ := cli(t, env, "agent", "list", "--json")
	var agents []cw.AgentView
	if err := json.Unmarshal([]byte(out), &agents); err != nil {
		t.Fatal(err)
	}
	begun := map[cw.Mode]int{}
	for _, v := range agents {
		begun[v.Mode]++
	}
	want := map[cw.Mode]int{cw.ModeDiscuss: 1, cw.ModeRefine: 1, cw.ModePlan: 2, cw.ModeDetail: 2}
	if diff := cmp.Diff(want, begun); diff != "" {
		t.Errorf("agents (-want +got):\n%s", diff)
	}
	if _, stderr, code := cli(t, env, "stop"); code != 0 {
		t.Error(stderr)
	}
}
