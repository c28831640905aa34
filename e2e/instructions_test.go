package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/draw"
	"cw/internal/cwtest/lab"
	"cw/internal/cwtest/model"
	"cw/internal/cwtest/realcli"
)

// instructed are all files in which people tell agents how to work, by their
// places, each with a word of its own. Those of the user lie in the home.
var instructed = map[string]string{
	"~/.claude/CLAUDE.md":  "quince",
	"~/.claude/AGENTS.md":  "medlar",
	"CLAUDE.md":            "rowan",
	".claude/CLAUDE.md":    "sorrel",
	"AGENTS.md":            "tansy",
	".claude/AGENTS.md":    "yarrow",
	".github/AGENTS.md":    "fennel",
	".claude/rules/one.md": "lovage",
	"CLAUDE.local.md":      "borage", // in the user's checkout, not committed
}

// TestInstructions: whatever a CLI reads by itself, its agent is told each word
// once: what the preset says of it is true.
func TestInstructions(t *testing.T) {
	t.Parallel()
	atOnce := make(chan struct{}, 2) // a CLI takes up to 1.2 GB
	var all []provider
	for _, p := range []provider{claude, codex} {
		for _, p.version = range realcli.Versions(t) {
			all = append(all, p)
		}
	}
	for _, p := range furtherProviders {
		all = append(all, p.provider)
	}
	claudes := []string{"CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"} // AGENTS.md takes their place
	type files struct {
		name    string
		of      []string // providers; none: all
		without []string // files that are not there
		account bool     // one of cw's own, with a configuration directory in which nothing of the user's is
		away    bool     // cw's home is not below the user's
		linked  bool     // CLAUDE.md names AGENTS.md, which names another one
		brought bool     // the private file is in the worktree
	}
	type reader struct {
		files
		p provider
	}
	var readers []reader
	for _, tt := range []files{
		{name: "all files"},
		{name: "no AGENTS.md", of: []string{"opencode", "copilot", "continue"}, without: []string{"AGENTS.md"}},
		{name: "AGENTS.md alone", of: []string{"claude"}, without: claudes},
		{name: "AGENTS.md alone, another account", of: []string{"claude"}, without: claudes, account: true},
		{name: "AGENTS.md alone, another account and home", of: []string{"claude"}, without: claudes, account: true, away: true},
		{name: "AGENTS.md names another one", of: []string{"claude"}, without: claudes, linked: true},
		{name: "another account", of: []string{"claude", "codex"}, account: true},
		{name: "another account and home", of: []string{"claude", "codex"}, account: true, away: true},
		// copilot reads it as often as it is named, whatever cw does.
		{name: "one names another", of: []string{"claude", "codex", "gemini", "qwen"}, linked: true},
		{name: "private file brought along", of: []string{"claude"}, brought: true},
	} {
		of := slices.DeleteFunc(slices.Clone(all), func(p provider) bool { return tt.of != nil && !slices.Contains(tt.of, p.name) })
		for _, p := range of {
			readers = append(readers, reader{tt, p})
		}
	}
	for _, tt := range draw.Some(readers, 4) {
		p := tt.p
		t.Run(p.label()+" "+tt.name, func(t *testing.T) {
			t.Parallel()
			p.ready(t, p.version, t.TempDir(), "") // skips before it waits
			atOnce <- struct{}{}
			defer func() { <-atOnce }()
			l, srv := newLab(t, p, givesUp)
			home := filepath.Dir(l.Repo)
			if tt.away {
				home = t.TempDir()
				l.Env = p.environ(t, home, srv.URL)
			}
			if tt.linked {
				if !slices.Contains(tt.without, "CLAUDE.md") {
					greeting(t, l.Repo, "CLAUDE.md", "@AGENTS.md\n")
				}
				greeting(t, l.Repo, "AGENTS.md", "See @.github/AGENTS.md\n")
			}
			if tt.brought {
				greeting(t, l.Repo, ".gitignore", "*.local.md\n")
				greeting(t, l.Repo, ".worktreeinclude", "*.local.md\n")
			}
			words := instruct(t, l, home, tt.without)
			args := []string{goal}
			if tt.account {
				l.Start()
				p.addAccount(t, l, srv.URL, "other")
				args = []string{"--account", "other", goal}
			}
			a, stderr, _ := p.run(t, l, args...)
			if a.Agent.Reason != cw.ReasonAgentError || len(srv.Requests()) == 0 {
				t.Fatalf("status %s %s: %s\n%s\n%s", a.Agent.Status, a.Agent.Reason, a.Agent.Error, stderr, l.DaemonLog())
			}
			toldOnce(t, srv, words, p.echoes)
		})
	}
}

// instruct writes the files, those of the project into the repository of a lab.
func instruct(t *testing.T, l *lab.Lab, home string, without []string) map[string]string {
	t.Helper()
	words := map[string]string{}
	for name, word := range instructed {
		if slices.Contains(without, name) {
			continue
		}
		words[name] = word
		path, users := strings.CutPrefix(name, "~/")
		dir := l.Repo
		if users {
			dir = home
		}
		greeting(t, dir, path, "Say "+word+" when you greet.\n")
	}
	lab.Git(t, l.Repo, "add", ".")
	lab.Git(t, l.Repo, "rm", "-q", "--cached", "--ignore-unmatch", "CLAUDE.local.md")
	lab.Git(t, l.Repo, "commit", "-qm", "Say how to greet")
	return words
}

// greeting adds a line to a file.
func greeting(t *testing.T, dir, name, line string) {
	t.Helper()
	name = filepath.Join(dir, name)
	must(t, os.MkdirAll(filepath.Dir(name), 0o755))
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	must(t, err)
	_, err = f.WriteString(line)
	must(t, errors.Join(err, f.Close()))
}

// toldOnce checks the first request of an agent for words. A CLI that echoes
// says its prompt in the system prompt again.
func toldOnce(t *testing.T, srv *model.Server, words map[string]string, echoes bool) {
	t.Helper()
	first := srv.Requests()[0]
	if _, ok := first.Prompt().Block("task"); !ok {
		t.Fatalf("the first prompt has the blocks %v", first.Prompt().Tags())
	}
	text := string(first.Raw)
	if echoes {
		own, _, echoed := strings.Cut(first.System, "<system-reminder>")
		if text = own + strings.Join(first.Conversation.Notes(), "\n"); !echoed {
			t.Error("it does not say its prompt twice any more")
		}
	}
	for name, word := range words {
		if n := strings.Count(text, word); n != 1 {
			t.Errorf("%s is told %d times", name, n)
		}
	}
}
