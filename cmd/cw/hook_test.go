package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"cw/internal/proc"
)

// stopAsked is what claude 2.1.197 puts on stdin of a Stop hook.
const stopAsked = `{"session_id":"s","transcript_path":"/t","cwd":"/elsewhere","permission_mode":"bypassPermissions","hook_event_name":"Stop","stop_hook_active":false}`

// hookBench is a bench inside a run whose agent works in dir.
func hookBench(t *testing.T) (b *bench, dir string) {
	t.Helper()
	b, dir = newBench(t), t.TempDir()
	b.env[proc.RunVariable], b.env["CW_AGENT_ID"] = "run1", "agent1"
	for _, d := range []string{".cw/output", ".cw/tmp"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return b, dir
}

// ask calls the hook and gives its answer, "" for none. It must never fail.
func (b *bench) ask(t *testing.T, input string, args ...string) string {
	t.Helper()
	b.in = strings.NewReader(input)
	b.stdout.Reset()
	code := b.execute(t.Context(), append([]string{"hook", "stop"}, args...))
	if code != 0 || b.stderr.String() != "" {
		t.Errorf("exit %d, stderr %q", code, b.stderr.String())
	}
	if b.stdout.Len() == 0 {
		return ""
	}
	var answer holdBack
	if err := json.Unmarshal(b.stdout.Bytes(), &answer); err != nil || answer.Decision != "block" {
		t.Errorf("%q: %v", b.stdout.String(), err)
	}
	return answer.Reason
}

// TestHookStop: an agent is held back while its signal cannot be read, and told
// what is wrong with it.
func TestHookStop(t *testing.T) {
	t.Parallel()
	signal := func(text string) func(string) error {
		return func(path string) error { return os.WriteFile(path, []byte(text), 0o600) }
	}
	for _, tt := range []struct {
		name string
		make func(path string) error
		says string // "": it may stop
	}{
		{"done", signal(`{"status":"done"}`), ""},
		{"questions", signal(`{"status":"questions","questions":["Which?"]}`), ""},
		{"error", signal(`{"status":"error","error":"no"}`), ""},
		{"nothing there", func(string) error { return nil }, "it is not there"},
		{"empty", signal(" \n"), "it is empty"},
		{"no JSON", signal(`{"status":`), "it is not one JSON object"},
		{"another status", signal(`{"status":"finished"}`), `"status" is "finished"`},
		{"questions without any", signal(`{"status":"questions"}`), `"questions" is missing or empty`},
		{"too large", signal(strings.Repeat(" ", 1<<20+1)), "larger than"},
		{"a folder", func(path string) error { return os.Mkdir(path, 0o700) }, "no regular file"},
		{"a pipe", func(path string) error { return syscall.Mkfifo(path, 0o600) }, "no regular file"},
		{"a link", func(path string) error { return os.Symlink("/dev/zero", path) }, "no regular file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b, dir := hookBench(t)
			if err := tt.make(filepath.Join(dir, ".cw/output/signal.json")); err != nil {
				t.Fatal(err)
			}
			reason := b.ask(t, stopAsked, dir)
			if (reason == "") != (tt.says == "") || !strings.Contains(reason, tt.says) {
				t.Errorf("%q", reason)
			}
			if reason != "" && !strings.Contains(reason, ".cw/output/signal.json") {
				t.Errorf("it does not name the file: %q", reason)
			}
		})
	}
}

// TestHookStopWaits: an agent whose sub-agents are at work is let go, and that is none
// of the times that it may be held back; other tasks are no reason.
func TestHookStopWaits(t *testing.T) {
	t.Parallel()
	b, dir := hookBench(t)
	tasks := func(list string) string {
		return strings.TrimSuffix(stopAsked, "}") + `,"background_tasks":[` + list + `]}`
	}
	const subagent, shell = `{"id":"1","type":"subagent","status":"running"}`, `{"id":"2","type":"shell","status":"running"}`
	for range 3 {
		if reason := b.ask(t, tasks(shell+","+subagent), dir); reason != "" {
			t.Errorf("held back while a sub-agent is at work: %q", reason)
		}
	}
	for _, list := range []string{shell, strings.Replace(subagent, "running", "completed", 1)} {
		if b.ask(t, tasks(list), dir) == "" {
			t.Errorf("let go with %s", list)
		}
	}
}

// TestHookStopLetsGo: an agent is held back twice in a run and not more, and
// never when anything is odd.
func TestHookStopLetsGo(t *testing.T) {
	t.Parallel()
	b, dir := hookBench(t)
	for n, held := range []bool{true, true, false, false} {
		if reason := b.ask(t, stopAsked, dir); (reason != "") != held {
			t.Errorf("ask %d: %q", n+1, reason)
		}
	}
	b.env[proc.RunVariable] = "run2"
	if b.ask(t, stopAsked, dir) == "" {
		t.Error("the next run is not held back")
	}
	for name, change := range map[string]func(b *bench, dir string) (input string, args []string){
		"outside of a run": func(b *bench, dir string) (string, []string) {
			delete(b.env, proc.RunVariable)
			return stopAsked, []string{dir}
		},
		"without an agent": func(b *bench, dir string) (string, []string) {
			delete(b.env, "CW_AGENT_ID")
			return stopAsked, []string{dir}
		},
		"a sub-agent": func(_ *bench, dir string) (string, []string) {
			return strings.Replace(stopAsked, `"Stop"`, `"SubagentStop"`, 1), []string{dir}
		},
		"no question":       func(_ *bench, dir string) (string, []string) { return "", []string{dir} },
		"a strange one":     func(_ *bench, dir string) (string, []string) { return "[1]", []string{dir} },
		"no folder named":   func(*bench, string) (string, []string) { return stopAsked, nil },
		"a relative folder": func(*bench, string) (string, []string) { return stopAsked, []string{"work"} },
		"flags":             func(_ *bench, dir string) (string, []string) { return stopAsked, []string{"--what", dir} },
		"help":              func(_ *bench, dir string) (string, []string) { return stopAsked, []string{"--help", dir} },
		"nowhere to count": func(_ *bench, dir string) (string, []string) {
			if err := os.RemoveAll(filepath.Join(dir, ".cw/tmp")); err != nil {
				panic(err)
			}
			return stopAsked, []string{dir}
		},
		"the folder is gone": func(_ *bench, dir string) (string, []string) { return stopAsked, []string{dir + "/gone"} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, dir := hookBench(t)
			input, args := change(b, dir)
			if reason := b.ask(t, input, args...); reason != "" {
				t.Errorf("%q", reason)
			}
		})
	}
}
