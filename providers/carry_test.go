package providers

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/safefile"
)

// put writes a file below a directory, with a time.
func put(t *testing.T, dir, name, text string, at time.Time) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

// tree gives the regular files below a directory with what they hold.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		out[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// where has the files of a session of each provider as the real ones wrote
// them, and one beside them that is not of the session.
var where = map[string][2]string{
	"claude":   {"projects/-w/" + aSession + ".jsonl", "projects/-w/22222222-2222-4222-8222-222222222222.jsonl"},
	"codex":    {"sessions/2026/11/21/rollout-2026-11-21T05-00-00-" + aSession + ".jsonl", "auth.json"},
	"gemini":   {".gemini/tmp/w/chats/session-2026-11-22T02-16-11111111.jsonl", ".gemini/tmp/w/chats/session-2026-11-22T02-16-22222222.jsonl"},
	"qwen":     {"projects/-w/chats/" + aSession + ".jsonl", "settings.json"},
	"copilot":  {"session-state/" + aSession + "/checkpoints/index.md", "session-store.db"},
	"pi":       {"sessions/--w--/2026-11-22T02-12-52-737Z_" + aSession + ".jsonl", "auth.json"},
	"continue": {"", "sessions/" + aSession + ".json"},
	"opencode": {"", "opencode/opencode.db"},
}

func TestCarrySession(t *testing.T) {
	t.Parallel()
	registry, _ := Load("")
	for name, files := range where {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, to := t.TempDir(), t.TempDir()
			p, err := registry.Get(name)
			if err != nil {
				t.Fatal(err)
			}
			if carried, err := p.CarrySession(from, to, aSession); carried || err != nil {
				t.Errorf("of nothing: %t, %v", carried, err)
			}
			at := time.Now().Add(-time.Hour).Truncate(time.Second)
			want := map[string]string{}
			if files[0] != "" {
				put(t, from, files[0], "history\n", at)
				want[files[0]] = "history\n"
			}
			put(t, from, files[1], "of others", at)
			for range 2 { // the second time changes nothing
				carried, err := p.CarrySession(from, to, aSession)
				if carried != (files[0] != "") || err != nil {
					t.Fatalf("%t, %v", carried, err)
				}
				got := tree(t, to)
				if len(got) != len(want) || got[files[0]] != want[files[0]] {
					t.Errorf("got %v, want %v", got, want)
				}
			}
			if files[0] == "" {
				return
			}
			info, err := os.Stat(filepath.Join(to, files[0]))
			if err != nil || info.Mode() != 0o600 || !info.ModTime().Equal(at) {
				t.Errorf("%v, %v", info, err)
			}
			if info, err := os.Stat(filepath.Dir(filepath.Join(to, files[0]))); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("its directory: %v, %v", info, err)
			}
		})
	}
}

// TestCarryKeepsTheLater: an agent that comes back to an account takes what
// happened meanwhile with it, and a copy of yesterday never wins.
func TestCarryKeepsTheLater(t *testing.T) {
	t.Parallel()
	p, name := claudePreset(t), where["claude"][0]
	early, late := time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour)
	tests := []struct {
		what, comes, is string
		comesAt, isAt   time.Time
		want            string
	}{
		{"longer and later comes", "one\ntwo\n", "one\n", late, early, "one\ntwo\n"},
		{"longer of the same time comes", "one\ntwo\n", "one\n", late, late, "one\ntwo\n"},
		{"shorter comes", "one\n", "one\ntwo\n", late, early, "one\ntwo\n"},
		{"as long", "two\n", "one\n", late, early, "one\n"},
		{"longer and earlier comes", "one\ntwo\n", "new\n", early, late, "new\n"},
	}
	for _, tt := range tests {
		from, to := t.TempDir(), t.TempDir()
		put(t, from, name, tt.comes, tt.comesAt)
		put(t, to, name, tt.is, tt.isAt)
		carried, err := p.CarrySession(from, to, aSession)
		if got := tree(t, to)[name]; !carried || err != nil || got != tt.want {
			t.Errorf("%s: %q, %t, %v", tt.what, got, carried, err)
		}
	}
}

// TestCarryFollowsNoLink: neither out of a directory nor into another.
func TestCarryFollowsNoLink(t *testing.T) {
	t.Parallel()
	p, name := claudePreset(t), where["claude"][0]
	now := time.Now()
	link := func(target, path string) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
	}
	outside := t.TempDir()
	put(t, outside, "secret", "secret", now)
	put(t, outside, filepath.Base(name), "secret", now)

	from, to := t.TempDir(), t.TempDir()
	link(filepath.Join(outside, "secret"), filepath.Join(from, name))
	link(outside, filepath.Join(from, "projects", "linked"))
	put(t, from, "elsewhere/"+filepath.Base(name), "inside", now)
	link("../elsewhere", filepath.Join(from, "projects", "inside"))
	if carried, err := p.CarrySession(from, to, aSession); carried || err != nil || len(tree(t, to)) != 0 {
		t.Errorf("from a link: %t, %v, %v", carried, err, tree(t, to))
	}

	from, to = t.TempDir(), t.TempDir()
	put(t, from, name, "history", now)
	link(filepath.Join(outside, "secret"), filepath.Join(to, name))
	if carried, err := p.CarrySession(from, to, aSession); carried || err == nil {
		t.Errorf("onto a link: %t, %v", carried, err)
	}
	from, to = t.TempDir(), t.TempDir()
	put(t, from, name, "", now)
	if err := os.Truncate(filepath.Join(from, name), carryFileBytes+1); err != nil {
		t.Fatal(err)
	}
	if carried, err := p.CarrySession(from, to, aSession); carried || !errors.Is(err, safefile.ErrTooLarge) || len(tree(t, to)) != 0 {
		t.Errorf("of a file without end: %t, %v", carried, err)
	}
	from, to = t.TempDir(), t.TempDir()
	put(t, from, name, "history", now)
	link(outside, filepath.Join(to, "projects"))
	if carried, err := p.CarrySession(from, to, aSession); carried || err == nil {
		t.Errorf("through a link out of the directory: %t, %v", carried, err)
	}
	if got := tree(t, outside); got["secret"] != "secret" || len(got) != 2 {
		t.Errorf("outside there is %v", got)
	}
}

// TestCarryAfterACrash: what a copy that was cut short left is in nobody's way.
func TestCarryAfterACrash(t *testing.T) {
	t.Parallel()
	p, name := claudePreset(t), where["claude"][0]
	from, to := t.TempDir(), t.TempDir()
	put(t, from, name, "history", time.Now())
	part := filepath.Join(filepath.Dir(name), ".cw-"+filepath.Base(name)+".part")
	put(t, to, part, "hist", time.Now())
	carried, err := p.CarrySession(from, to, aSession)
	if got := tree(t, to); !carried || err != nil || len(got) != 1 || got[name] != "history" {
		t.Errorf("%v, %t, %v", got, carried, err)
	}
}

func TestCarryRefusals(t *testing.T) {
	t.Parallel()
	p := claudePreset(t)
	from, to := t.TempDir(), t.TempDir()
	put(t, from, where["claude"][0], "history", time.Now())
	for _, id := range []string{"", "*", "../x", "a/b", strings.Repeat("x", 200)} {
		if carried, err := p.CarrySession(from, to, id); carried || cw.ErrorCode(err) != cw.CodeInvalid {
			t.Errorf("%q: %t, %v", id, carried, err)
		}
	}
	if carried, err := p.CarrySession(filepath.Join(from, "gone"), to, aSession); carried || err != nil {
		t.Errorf("from nowhere: %t, %v", carried, err)
	}
	if carried, err := p.CarrySession(from, filepath.Join(to, "gone"), aSession); carried || err == nil {
		t.Errorf("to nowhere: %t, %v", carried, err)
	}
	for _, files := range []string{"/abs/{{sessionId}}", "../{{sessionId}}", "sessions/*.jsonl", "[{{sessionId}}"} {
		text := "name: x\ncommand: {names: [x]}\naccount: {session: {files: ['" + files + "']}}\n"
		if _, problem := decodePreset([]byte(text), embeddedText); problem == nil || !strings.Contains(problem.Message, "account.session.files") || problem.Line != 3 {
			t.Errorf("%s: %v", files, problem)
		}
	}
}
