package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cw/internal/cw"
)

// toyCLI is a CLI in the manner of claude: it prints stream-json, and keeps what
// it was told in a file for each session. TOY says what it does wrong.
const toyCLI = `#!/bin/sh
set -eu
[ "$1" = --version ] && { echo "toy 1.2.3"; exit 0; }
how=$1 session=$2
prompt=$(cat)
[ "${TOY-}" = refused ] && { echo "invalid api key" >&2; exit 1; }
known=$HOME/$session
[ "$how" = --resume ] && [ "${TOY-}" = spent ] && { echo "usage limit reached" >&2; exit 1; }
[ "$how" = --resume ] && [ "${TOY-}" = forgets ] && { echo "No conversation found" >&2; exit 1; }
says() { printf '{"type":"assistant","session_id":"%s","message":{"id":"m1","role":"assistant","content":[%s]}}\n' "$session" "$1"; }
printf '{"type":"system","subtype":"init","session_id":"%s","model":"toy-1"}\n' "$session"
says '{"type":"text","text":"I look."}'
echo '{"type":"a line of another version"}'
word=$(printf '%s' "$prompt" | sed -n 's/.*"\(hello [a-z0-9]*\)".*/\1/p' | head -n 1)
file=hello.txt
case "$prompt" in
*"sleep 300"*)
	says '{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"sleep 300"}}'
	setsid sleep 300 &
	wait ;;
*again.txt*) file=again.txt ;; # in a new session it has the sentence from the hand-over
esac
[ -n "$word" ] || word=$(cat "$known") # of its session
echo "$word" > "$known"
[ "$how" = --resume ] && [ "${TOY-}" = invents ] && word="something else"
echo "$word" > "$file"
git add "$file"
git diff --cached --quiet || git commit -q -m "Add $file"
mkdir -p .cw/output
[ "${TOY-}" = mute ] || echo '{"status":"done","result":"it is there"}' > .cw/output/signal.json
printf '{"type":"result","subtype":"success","is_error":false,"session_id":"%s","result":"done","total_cost_usd":0.01,"usage":{"input_tokens":10,"output_tokens":5}}\n' "$session"
`

// toyPreset is its preset.
const toyPreset = `name: toy
title: Toy
command: {names: [toy], install: install it somehow}
version: {args: [--version], pattern: 'toy (\S+)'}
spawn: {args: [[--session, "{{sessionId}}"]], env: {TOY: %[1]q}}
resume: {args: [[--resume, "{{sessionId}}"]], env: {TOY: %[1]q}}
promptMode: stdin
resumeStyle: flag
sessionId: {choose: uuid}
structuredOutput: true
parser: claude
patterns: {limit: [usage limit reached], auth: [invalid api key], sessionGone: [No conversation found]}
account: {key: TOY_KEY}
stop: {grace: 2s}
`

// toyEnv is an environment with the toy on its PATH, and a home of cw's with its
// preset.
func toyEnv(t *testing.T, wrong string) (env []string, temp string) {
	t.Helper()
	env, temp = realEnv(t)
	bin, presets := filepath.Join(temp, "bin"), filepath.Join(temp, "home", "providers")
	for dir, file := range map[string][2]string{bin: {"toy", toyCLI}, presets: {"toy.yaml", fmt.Sprintf(toyPreset, wrong)}} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file[0]), []byte(file[1]), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	env[0] = "PATH=" + bin + ":" + os.Getenv("PATH")
	return append(env, "CW_HOME="+filepath.Join(temp, "home"), "TOY_KEY=swordfish-key"), temp
}

// TestProviderTest is the whole program: what a provider can do is seen, what it
// cannot is told, and nothing is left behind.
func TestProviderTest(t *testing.T) {
	t.Parallel()
	whole := []string{cw.TryStart, cw.TryStream, cw.TryWork, cw.TrySignal, cw.TrySession, cw.TryResume, cw.TryStop}
	for _, tc := range []struct {
		wrong string
		seen  []string
		hint  string
		code  int
	}{
		{"", whole, "", 0},
		{"forgets", slices.DeleteFunc(slices.Clone(whole), func(s string) bool { return s == cw.TryResume }), "cw provider show toy", 1},
		{"invents", slices.DeleteFunc(slices.Clone(whole), func(s string) bool { return s == cw.TryResume }), "cw provider show toy", 1},
		{"spent", []string{cw.TryStart, cw.TryStream, cw.TryWork, cw.TrySignal, cw.TrySession}, "not at its limit", 1},
		{"mute", []string{cw.TryStart, cw.TryStream, cw.TryWork, cw.TrySession}, "cw provider show toy", 1},
		{"refused", []string{cw.TrySession}, "log in to Toy", 1},
	} {
		t.Run("toy "+tc.wrong, func(t *testing.T) {
			t.Parallel()
			env, temp := toyEnv(t, tc.wrong)
			out, errOut, code := cli(t, env, "provider", "test", "toy", "--json")
			if code != tc.code || !strings.Contains(errOut, tc.hint) || !strings.Contains(errOut, "a few requests of your own account") {
				t.Errorf("exit code %d, want %d and %q\n%s", code, tc.code, tc.hint, errOut)
			}
			var got cw.ProviderTest
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatalf("%v\n%s\n%s", err, out, errOut)
			}
			var names, seen []string
			for _, s := range got.Steps {
				if names = append(names, s.Name); s.Seen {
					seen = append(seen, s.Name)
				}
				if s.Text == "" {
					t.Errorf("%s says nothing", s.Name)
				}
			}
			if !slices.Equal(names, cw.TrySteps()) || !slices.Equal(seen, tc.seen) || got.OK != (tc.code == 0) {
				t.Errorf("steps %q, seen %q, want %q\n%s\n%s", names, seen, tc.seen, out, errOut)
			}
			if got.Version != "1.2.3" || got.Command != filepath.Join(temp, "bin/toy") || got.OK && got.CostUSD < 0.019 {
				t.Errorf("%+v", got)
			}
			toyGone(t, temp)
		})
	}
}

// toyGone fails when a test left something behind: its folder, a process in it,
// or anything in the user's home of cw.
func toyGone(t *testing.T, temp string) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(temp, "cw-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	home, err := os.ReadDir(filepath.Join(temp, "home"))
	if err != nil || len(home) != 1 {
		t.Errorf("in the user's home of cw: %v %v", home, err)
	}
	nothingLeft(t, temp)
}

// TestProviderTestInterrupted: Ctrl-C in the middle of a task, and nothing is
// left of it.
func TestProviderTestInterrupted(t *testing.T) {
	t.Parallel()
	env, temp := toyEnv(t, "")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &cancelAt{word: cw.TrySession, cancel: cancel} // its next run is about to begin
	s := streams{in: strings.NewReader(""), out: out, err: out, width: func() int { return 80 }}
	if code := run(ctx, []string{"provider", "test", "toy"}, s, env); code != 130 {
		t.Errorf("exit code %d, want 130\n%s", code, out.String())
	}
	toyGone(t, temp)
}

// TestProviderTestNotThere: nothing is started for a provider that cannot work.
func TestProviderTestNotThere(t *testing.T) {
	t.Parallel()
	for name, hint := range map[string]string{"toy": "install it with: install it somehow", "nobody": "There are:", "bad": "mend the file"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, temp := toyEnv(t, "")
			if err := os.Remove(filepath.Join(temp, "bin/toy")); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(temp, "home/providers/bad.yaml"), []byte("nme: bad\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			_, errOut, code := cli(t, env, "provider", "test", name)
			if want := map[string]int{"toy": 3, "nobody": 3, "bad": 1}[name]; code != want || !strings.Contains(errOut, hint) || strings.Contains(errOut, "requests") {
				t.Errorf("exit code %d, want %d and %q\n%s", code, want, hint, errOut)
			}
			toyGone(t, temp)
		})
	}
}

// TestProvidersWhole: a file of the user's is taken at once, a bad one is told
// with its line while the last good one is used, and runs are counted with the
// lines that cw does not know.
func TestProvidersWhole(t *testing.T) {
	t.Parallel()
	env, temp := toyEnv(t, "")
	home := cw.Home(filepath.Join(temp, "home"))
	t.Cleanup(func() { killDaemon(t, home) })
	show := func(name string) (v cw.ProviderView) {
		t.Helper()
		out, errOut, code := cli(t, env, "provider", "show", name, "--json")
		if err := json.Unmarshal([]byte(out), &v); code != 0 || err != nil {
			t.Fatalf("exit code %d, %v\n%s", code, err, errOut)
		}
		return v
	}
	file := filepath.Join(home.Providers(), "toy.yaml")
	toy := show("toy")
	if !toy.Installed || toy.Version != "1.2.3" || toy.Origin != file || toy.Trouble != "" || !slices.Equal(toy.EnvNames, []string{"TOY"}) ||
		!slices.Equal(toy.ResumeArgv, []string{filepath.Join(temp, "bin/toy"), "--resume", "{{sessionId}}"}) {
		t.Errorf("%+v", toy)
	}
	repo := filepath.Join(temp, "repo")
	makeGit(t, repo)
	if _, errOut, code := cli(t, env, "run", "-C", repo, "--provider", "toy", `write "hello there" into hello.txt`); code != 0 {
		t.Fatalf("exit code %d\n%s", code, errOut)
	}
	writeFile(t, file, "name: toy\ncomand: {names: [toy]}\n")
	writeFile(t, filepath.Join(home.Providers(), "gate.yaml"), "extends: claude\nname: gate\nspawn: {args: [[--api-key, sk-swordfish-0123456789], [--session-id, \"{{sessionId}}\"]]}\n")
	writeFile(t, filepath.Join(home.Providers(), "new.yaml"), "extends: nobody\n")
	toy = show("toy")
	if !strings.HasPrefix(toy.Trouble, file+":2:1: unknown key") || toy.Version != "1.2.3" || toy.Runs != 1 || toy.UnknownLines != 1 {
		t.Errorf("a file that became bad: %+v", toy)
	}
	if v := show("gate"); v.Overrides != "claude" || !slices.Equal(v.Changes, []string{"spawn.args"}) || slices.ContainsFunc(v.SpawnArgv, func(s string) bool { return strings.Contains(s, "sword") }) {
		t.Errorf("a file that extends: %+v", v)
	}
	if v := show("new"); !strings.Contains(v.Trouble, "new.yaml:1:1") || v.Installed {
		t.Errorf("a file that never was good: %+v", v)
	}
	out, _, _ := cli(t, env, "provider", "list")
	for _, want := range []string{"toy.yaml:2:1: unknown key", "new.yaml:1:1", "script"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// makeGit makes a repository with one commit.
func makeGit(t *testing.T, dir string) {
	t.Helper()
	s := scratch{root: filepath.Dir(dir), env: environ{"PATH": os.Getenv("PATH"), "HOME": filepath.Dir(dir)}}
	if err := (&try{scratch: s}).makeRepo(t.Context()); err != nil {
		t.Fatal(err)
	}
}
