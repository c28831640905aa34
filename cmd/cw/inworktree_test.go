package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

// exitsWith is what a command tells that ended with a code.
func exitsWith(t *testing.T, code string) error {
	t.Helper()
	err := exec.CommandContext(t.Context(), "/bin/sh", "-c", "exit "+code).Run()
	if err == nil {
		t.Fatal("it ended well")
	}
	return err
}

// TestInWorktree: shells and editors run in the agent's folder, without cw's
// words to agents, and their exit codes are passed on.
func TestInWorktree(t *testing.T) {
	t.Parallel()
	idle := ended("brave-otter")
	for _, c := range []struct {
		name    string
		args    []string
		env     map[string]string
		exit    string
		notes   []string
		works   bool
		command []string // nil: none is run
		code    int
		says    []string
	}{
		{
			name: "shell", args: []string{"shell"}, env: map[string]string{"SHELL": "/bin/zsh"}, command: []string{"/bin/zsh"},
			says: []string{idle.AgentCwd, "agent/brave-otter"},
		},
		{name: "no SHELL", args: []string{"shell"}, command: []string{"/bin/sh"}},
		{name: "the shell's exit code", args: []string{"shell"}, exit: "42", command: []string{"/bin/sh"}, code: 42},
		{name: "a working agent", args: []string{"shell"}, works: true, command: []string{"/bin/sh"}, says: []string{"is running: both of you change the same files"}},
		{name: "notes", args: []string{"shell"}, notes: []string{"it is made again"}, command: []string{"/bin/sh"}, says: []string{"it is made again"}},
		{name: "shell as JSON", args: []string{"shell", "--json"}, code: 2, says: []string{"cw agent open --print --json"}},
		{
			name: "VISUAL before EDITOR", args: []string{"open"}, env: map[string]string{"VISUAL": "code -n", "EDITOR": "vi"},
			command: []string{"/bin/sh", "-c", `code -n "$@"`, "cw", idle.AgentCwd},
		},
		{name: "EDITOR", args: []string{"open"}, env: map[string]string{"EDITOR": "vi"}, command: []string{"/bin/sh", "-c", `vi "$@"`, "cw", idle.AgentCwd}},
		{name: "no editor", args: []string{"open"}, env: map[string]string{"VISUAL": " "}, code: 2, says: []string{"neither VISUAL nor EDITOR", "--print"}},
		{name: "print", args: []string{"open", "--print"}, says: []string{"-- stdout\n" + idle.AgentCwd + "\n", "before 2026-01-02 15:14"}},
		{name: "JSON", args: []string{"open", "--json"}, env: map[string]string{"EDITOR": "vi"}, says: []string{`"path": "` + idle.AgentCwd + `"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			view := idle
			if c.works {
				view = running("brave-otter")
			}
			b.fake.add(view, nil)
			b.fake.openNotes = c.notes
			for name, value := range c.env {
				b.env[name] = value
			}
			b.env["CW_TOKEN"], b.env["CW_AGENT_ID"], b.env["CW_HOME"] = "secret", "aaaaaaaaaaaa", "/home/lead/.cw"
			if c.exit != "" {
				b.runs = func() error { return exitsWith(t, c.exit) }
			}
			text, code := b.session(t.Context(), append([]string{"agent"}, append(c.args, "brave-otter")...)...)
			if code != c.code {
				t.Errorf("exit code %d\n%s", code, text)
			}
			for _, want := range c.says {
				if !strings.Contains(text, want) {
					t.Errorf("%q is missing in\n%s", want, text)
				}
			}
			if c.exit != "" && strings.Contains(text, "cw:") {
				t.Errorf("the shell has said all itself:\n%s", text)
			}
			if c.command == nil {
				if len(b.commands) > 0 {
					t.Errorf("run: %+v", b.commands)
				}
				return
			}
			if len(b.commands) != 1 || b.commands[0].dir != idle.AgentCwd {
				t.Fatalf("run: %+v", b.commands)
			}
			if diff := cmp.Diff(c.command, b.commands[0].command); diff != "" {
				t.Error(diff)
			}
			cws := slices.DeleteFunc(slices.Clone(b.commands[0].env), func(kv string) bool { return !strings.HasPrefix(kv, "CW_") })
			if diff := cmp.Diff([]string{"CW_HOME=/home/lead/.cw"}, cws); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestCommandEndedBySignal: a shell that a signal ends has the exit code that
// shells give such a command, and one that is not there is told of.
func TestCommandEndedBySignal(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fake.add(ended("brave-otter"), nil)
	b.runs = func() error { return exec.CommandContext(t.Context(), "/bin/sh", "-c", "kill -TERM $$").Run() }
	if text, code := b.session(t.Context(), "agent", "shell", "brave-otter"); code != 128+15 || strings.Contains(text, "cw:") {
		t.Errorf("exit code %d\n%s", code, text)
	}
	b.env["SHELL"] = "/no/shell"
	b.runs = func() error { return exec.CommandContext(t.Context(), "/no/shell").Run() }
	text, code := b.session(t.Context(), "agent", "shell", "brave-otter")
	if code != 1 || !strings.Contains(text, "/no/shell cannot be started") || !strings.Contains(text, "SHELL=/bin/sh cw agent shell brave-otter") {
		t.Errorf("exit code %d\n%s", code, text)
	}
}

// TestWorktreeIsRenewed: as long as the shell runs, the worktree is kept.
func TestWorktreeIsRenewed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		view := ended("brave-otter")
		b.fake.add(view, nil)
		b.runs = func() error { time.Sleep(2*cw.HoldTime + time.Second); return nil }
		if text, code := b.session(t.Context(), "agent", "shell", "brave-otter"); code != 0 {
			t.Error(text)
		}
		if n, want := len(b.fake.opened), 1+int(2*cw.HoldTime/cw.HoldRenew); n != want {
			t.Errorf("opened %d times, want %d", n, want)
		}
	})
}

// TestEditorWords: the words of an editor are those that a shell makes of them.
func TestEditorWords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	editor := filepath.Join(dir, "my editor")
	if err := os.WriteFile(editor, []byte("#!/bin/sh\nprintf '%s|' \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	argv := editorCommand("'"+editor+`' --a "b c" $D`, "/work/it is")
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "D=x")
	out, err := cmd.CombinedOutput()
	if string(out) != "--a|b c|x|/work/it is|" {
		t.Errorf("%s %v", out, err)
	}
}
