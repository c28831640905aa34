package badinput

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

// keepPrompt is an agent that commits the prompt it was given.
const keepPrompt = `#!/bin/sh
set -e
cat > prompt.txt
git add prompt.txt
git commit -q -m "Keep the prompt"
printf '{"status":"done","result":"kept"}' > .cw/output/signal.json
`

// TestGoals: goals that are refused, by every way a goal can come.
func TestGoals(t *testing.T) {
	t.Parallel()
	l := started(t)
	blank := filepath.Join(root(l), "blank.md")
	must(t, os.WriteFile(blank, []byte(" \n\t\n"), 0o644))
	latin := filepath.Join(root(l), "latin.md")
	must(t, os.WriteFile(latin, []byte("caf\xe9"), 0o644))
	zero := filepath.Join(root(l), "zero.md")
	must(t, os.WriteFile(zero, []byte("a\x00b"), 0o644))
	huge := filepath.Join(root(l), "huge.md")
	must(t, os.WriteFile(huge, []byte(strings.Repeat("long ", 1<<20)), 0o644))
	run := func(args ...string) call { return call{args: append([]string{"run", "--provider", "fake"}, args...)} }
	spawn := func(args ...string) call {
		return call{args: append([]string{"agent", "spawn", "--provider", "fake", "--project", "."}, args...)}
	}
	refusedAll(t, l, []refusal{
		{"none", run(), exitUsage, []string{"goal", "empty"}, []string{"in quotes"}},
		{"none spawned", spawn(), exitUsage, []string{"goal", "empty"}, []string{"in quotes"}},
		{"empty", run(""), exitUsage, []string{"goal", "empty"}, []string{"in quotes"}},
		{"spaces", run("  \t\n "), exitUsage, []string{"goal", "empty"}, []string{"in quotes"}},
		{"empty stdin", run("-"), exitUsage, []string{"goal", "empty"}, []string{"in quotes"}},
		{"blank file", run("--prompt-file", blank), exitUsage, []string{"goal", "empty"}, []string{"in quotes"}},
		{"no such file", run("--prompt-file", "nowhere.md"), exitUsage, []string{"nowhere.md", "no such file"}, nil},
		{"a folder as file", run("--prompt-file", root(l)), exitUsage, []string{"is a directory"}, nil},
		{"words and file", run("--prompt-file", blank, "work"), exitUsage, []string{"--prompt-file"}, []string{"one of them"}},
		{"not UTF-8", run("--prompt-file", latin), exitUsage, []string{"UTF-8"}, []string{"iconv"}},
		{"zero byte", run("--prompt-file", zero), exitUsage, []string{"zero byte"}, []string{"plain text"}},
		{"too long", run("--prompt-file", huge), exitUsage, []string{"goal", "longer than"}, []string{"file of the repository"}},
		{"hyphen without --", run("-rf is what rm needs"), exitUsage, []string{"-rf is what rm needs"}, []string{"cw run -- "}},
		{"long hyphen without --", run("--force is ignored"), exitUsage, []string{"--force is ignored"}, []string{"cw run -- "}},
		{"hyphen without -- spawned", spawn("-x"), exitUsage, []string{"-x"}, []string{"cw agent spawn -- "}},
	}, l.Repo)
}

// TestJSONBehindBadFlag: --json counts wherever it stands, but not in a goal.
func TestJSONBehindBadFlag(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for _, args := range [][]string{
		{"run", "--bogus", "--json", "work"}, {"agent", "list", "extra", "--json"}, {"agent", "lits", "--json"}, {"project", "add", "--json"},
	} {
		a := ask(t, l, args...)
		f := decode[failure](t, a.stderr)
		if a.code != exitUsage || a.stdout != "" || f.Error.Code != "invalid" || f.Error.Hint == "" {
			t.Errorf("%s", a)
		}
	}
	if a := ask(t, l, "run", "--bogus", "--", "--json"); a.code != exitUsage || !strings.HasPrefix(a.stderr, "cw: ") {
		t.Errorf("%s", a)
	}
	noDaemon(t, l) // none is started for a line that is wrong
}

// TestOddGoalsWork: goals of every size and form arrive whole.
func TestOddGoalsWork(t *testing.T) {
	t.Parallel()
	l := started(t)
	script := executable(t, root(l), "keep.sh", keepPrompt)
	long := strings.Repeat("Look at this line of the log, it is one of very many.\n", 1<<20/54+1)[:1<<20]
	longFile := filepath.Join(root(l), "goal.md")
	must(t, os.WriteFile(longFile, []byte(long), 0o644))
	tests := []struct {
		name string
		goal string
		call call
	}{
		{"1 MiB by stdin", long, call{args: []string{"-"}, stdin: long}},
		{"1 MiB by file", long, call{args: []string{"--prompt-file", longFile}}},
		{"hyphen", "-rf is what rm needs", call{args: []string{"--", "-rf is what rm needs"}}},
		{"long hyphen", "--force is ignored", call{args: []string{"--", "--force is ignored"}}},
		{"only hyphens", "---", call{args: []string{"--", "---"}}},
		{"hyphen by stdin", "-v prints nothing", call{args: []string{"-"}, stdin: "-v prints nothing"}},
		{"odd letters", "Büßer 漢字 \u202e 🦦 %s $HOME `id` ' \" \\ ;", call{args: []string{"Büßer 漢字 \u202e 🦦 %s $HOME `id` ' \" \\ ;"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := tt.call
			c.args = append([]string{"run", "--json", "--provider", "script", "--script", script}, c.args...)
			a := worksAs(t, l, c)
			got := decode[report](t, a.stdout)
			if got.Commits != 1 || got.DirtyFiles != 0 {
				t.Fatalf("%s", a)
			}
			prompt := lab.Git(t, l.Repo, "show", got.Branch+":prompt.txt")
			if !strings.Contains(prompt, strings.TrimSpace(tt.goal)) {
				t.Errorf("the prompt of %d bytes lacks the goal of %d: %s", len(prompt), len(tt.goal), cut(prompt))
			}
		})
	}
}

// TestNames: names become folders, branches and arguments.
func TestNames(t *testing.T) {
	t.Parallel()
	l := started(t)
	got, a := runs(t, l, commits("first.txt"), "--name", "brave-otter")
	if a.code != exitOK || got.Branch != "agent/brave-otter" {
		t.Fatalf("%s", a)
	}
	goal := fakecli.Script{Book: l.Books, Signal: done}.Goal()
	run := func(name string) call {
		return call{args: []string{"run", "--provider", "fake", "--name=" + name, goal}}
	}
	refusals := []refusal{
		{"taken", run("brave-otter"), exitRefused, []string{"brave-otter", "taken"}, []string{"another"}},
		{"taken spawned", call{args: []string{"agent", "spawn", "--provider", "fake", "--name", "brave-otter", goal}}, exitRefused, []string{"brave-otter", "taken"}, []string{"another"}},
		{"like an id", run("abcdefghijkl"), exitUsage, []string{"looks like an id"}, []string{"another"}},
	}
	for name, odd := range map[string]string{
		"up": "../brave-fox", "only up": "..", "deep": "a/../../b", "absolute": "/tmp/x", "slash": "brave/otter",
		"space": "brave otter", "capital": "Brave-Otter", "umlaut": "süßer-otter", "hyphen first": "-otter", "hyphen last": "otter-",
		"dot": "brave.otter", "lock": "otter.lock", "line feed": "brave\notter", "escape": "\x1b[31motter", "star": "otter*", "at": "@{-1}",
		"digit first": "7-otters", "long": strings.Repeat("a", 41), "option": "--upload-pack=x", "semicolon": "otter;id",
	} {
		refusals = append(refusals, refusal{name, run(odd), exitUsage, []string{"cannot be an agent's name"}, []string{"small letters", "like brave-otter"}})
	}
	refusedAll(t, l, refusals, l.Repo)
}
