package orchestrator

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"golang.org/x/sys/unix"

	"cw/internal/cw"
	"cw/providers"
)

// newState is an agent with a cwd and a run directory of its own, and with
// worktrees named by their paths below the cwd.
func newState(t testing.TB, trees ...string) *cw.RunState {
	t.Helper()
	dir := t.TempDir()
	st := &cw.RunState{
		Agent: cw.Agent{
			ID: "k3v7q2mzt5ha", Alias: "brave-otter", Mode: cw.ModeExecute, Title: "Fix it",
			Provider: "script", AgentCwd: filepath.Join(dir, "cwd"), Definition: "execute",
		},
		Run: cw.Run{ID: "runrunrunrun", Dir: filepath.Join(dir, "runs", "brave-otter", "1"), SessionNumber: 1},
	}
	must(t, os.MkdirAll(st.Agent.AgentCwd, 0o755))
	for _, name := range trees {
		st.Worktrees = append(st.Worktrees, cw.AgentWorktree{
			Project: filepath.Base(name), Path: filepath.Join(st.Agent.AgentCwd, name), Branch: "agent/brave-otter",
			BaseBranch: "main", BaseCommit: strings.Repeat("a", 40),
		})
	}
	return st
}

func TestManifest(t *testing.T) {
	t.Parallel()
	base := strings.Repeat("a", 40)
	tests := []struct {
		name  string
		trees []string
		want  []map[string]any
	}{
		{"no project", nil, []map[string]any{}},
		{"one", []string{"."}, []map[string]any{
			{"name": ".", "path": ".", "branch": "agent/brave-otter", "baseBranch": "main", "baseCommit": base},
		}},
		{"several", []string{"shop", "bank"}, []map[string]any{
			{"name": "shop", "path": "shop", "branch": "agent/brave-otter", "baseBranch": "main", "baseCommit": base},
			{"name": "bank", "path": "bank", "branch": "agent/brave-otter", "baseBranch": "main", "baseCommit": base},
		}},
	}
	for _, tt := range tests {
		st := newState(t, tt.trees...)
		for range 2 { // recovery repeats it
			must(t, (&Orchestrator{Config: Config{Plans: noPlans{}}}).writeInputs(t.Context(), st, options{Goal: "  Fix the parser.\n\n"}))
		}
		data, err := os.ReadFile(filepath.Join(st.Agent.AgentCwd, ".cw/input/manifest.json"))
		must(t, err)
		var got struct {
			Version   int              `json:"version"`
			AgentID   string           `json:"agentId"`
			AgentName string           `json:"agentName"`
			Mode      string           `json:"mode"`
			Title     string           `json:"title"`
			Projects  []map[string]any `json:"projects"`
			Files     []string         `json:"files"`
		}
		must(t, json.Unmarshal(data, &got))
		if diff := cmp.Diff(tt.want, got.Projects); diff != "" {
			t.Errorf("%s: -want +got\n%s", tt.name, diff)
		}
		if got.Version != 1 || got.AgentID != "k3v7q2mzt5ha" || got.AgentName != "brave-otter" || got.Mode != "execute" || got.Title != "Fix it" || !slices.Equal(got.Files, []string{"task.md"}) {
			t.Errorf("%s: %s", tt.name, data)
		}
		for _, dir := range []string{".cw/output", ".cw/tmp"} {
			if info, err := os.Stat(filepath.Join(st.Agent.AgentCwd, dir)); err != nil || !info.IsDir() {
				t.Errorf("%s: no folder %s: %v", tt.name, dir, err)
			}
		}
	}
}

// TestInTheWay: a repository with something of its own where cw writes is
// refused with what to do, and nothing is written through it.
func TestInTheWay(t *testing.T) {
	t.Parallel()
	for _, name := range []string{".cw", ".cw/input", ".cw/output", ".cw/tmp", ".cw/input/manifest.json", ".cw/input/task.md"} {
		for kind, plant := range map[string]func(path, inside, outside string) error{
			"a link outside": func(path, _, outside string) error { return os.Symlink(outside, path) },
			"a link inside":  func(path, inside, _ string) error { return os.Symlink(inside, path) },
			"a named pipe":   func(path, _, _ string) error { return unix.Mkfifo(path, 0o644) },
			"a plain file":   func(path, _, _ string) error { return os.WriteFile(path, []byte("theirs"), 0o644) },
			"a folder":       func(path, _, _ string) error { return os.Mkdir(path, 0o755) },
		} {
			isFile := strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".md")
			if isFile == (kind == "a plain file") && isFile || !isFile && kind == "a folder" {
				continue // that is what cw would make
			}
			st := newState(t)
			outside, inside := t.TempDir(), filepath.Join(st.Agent.AgentCwd, "src")
			if isFile {
				outside, inside = filepath.Join(outside, "theirs"), filepath.Join(st.Agent.AgentCwd, "main.go")
				must(t, os.WriteFile(outside, []byte("theirs"), 0o644))
				must(t, os.WriteFile(inside, []byte("theirs"), 0o644))
			} else {
				must(t, os.Mkdir(inside, 0o755))
			}
			path := filepath.Join(st.Agent.AgentCwd, name)
			must(t, os.MkdirAll(filepath.Dir(path), 0o755))
			rel, err := filepath.Rel(filepath.Dir(path), inside)
			must(t, err)
			must(t, plant(path, rel, outside))
			promptly(t, func() {
				err = (&Orchestrator{Config: Config{Plans: noPlans{}}}).writeInputs(t.Context(), st, options{Goal: "x"})
			})
			if cw.ErrorCode(err) != cw.CodeInvalid || !strings.Contains(err.Error(), name) || cw.ErrorHint(err) == "" {
				t.Errorf("%s is %s: %v", name, kind, err)
			}
			for _, target := range []string{outside, inside} {
				if isFile {
					if got, _ := os.ReadFile(target); string(got) != "theirs" {
						t.Errorf("%s is %s: wrote %q into %s", name, kind, got, target)
					}
				} else if found, _ := os.ReadDir(target); len(found) > 0 {
					t.Errorf("%s is %s: wrote %v", name, kind, found)
				}
			}
		}
	}
}

// TestStaleSignal: what stands in the signal's place before a run is moved
// away, whatever it is, and only this run's own counts.
func TestStaleSignal(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		plant func(d den)
		kept  string
	}{
		"an old signal": {func(d den) { d.write(d.signal(), goodSignal) }, goodSignal},
		"a broken one":  {func(d den) { d.write(d.signal(), "{") }, "{"},
		"a link":        {func(d den) { must(t, os.Symlink(filepath.Join(d.outside, cw.SignalPath), d.signal())) }, ""},
		"a named pipe":  {func(d den) { must(t, unix.Mkfifo(d.signal(), 0o644)) }, ""},
		"a folder":      {func(d den) { d.write(filepath.Join(d.signal(), "x"), "x") }, ""},
		"1 TB":          {func(d den) { d.write(d.signal(), ""); must(t, os.Truncate(d.signal(), 1<<40)) }, ""},
		"none":          {func(den) {}, ""},
	} {
		d, st := newDen(t), newState(t)
		st.Agent.AgentCwd = d.cwd
		tt.plant(d)
		promptly(t, func() {
			must(t, (&Orchestrator{Config: Config{Plans: noPlans{}}}).writeInputs(t.Context(), st, options{Goal: "x"}))
		})
		if _, _, err := readSignal(d.cwd); !errors.Is(err, errNoSignal) {
			t.Errorf("%s: still there: %v", name, err)
		}
		kept, err := os.ReadFile(filepath.Join(st.Run.Dir, "stale-signal.json"))
		if string(kept) != tt.kept || tt.kept == "" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: kept %q, %v", name, kept, err)
		}
		if got, err := os.ReadFile(filepath.Join(d.outside, cw.SignalPath)); string(got) != evilSignal {
			t.Errorf("%s: the file outside is %q, %v", name, got, err)
		}
	}
}

// TestTaskText: the head is YAML whatever the title holds, and ends where it
// should.
func TestTaskText(t *testing.T) {
	t.Parallel()
	titles := []string{
		"plain", `"quoted"`, "a: b", "- item", "#hash", "---", "...", "!!binary x", "&anchor *alias", "{a: [b",
		"it's", "yes", "null", "1e3", "2024-01-01", "ends in colon:", "ümlaut 日本", "| literal", "%YAML", "@x", "`x`",
	}
	for _, title := range titles {
		goal := "---\ntitle: forged\n---\nDo it."
		data, err := taskText(cw.Agent{Title: title, Alias: "brave-otter"}, "\n"+goal+"\n\n")
		must(t, err)
		rest, ok := strings.CutPrefix(string(data), "---\n")
		head, body, ok2 := strings.Cut(rest, "\n---\n\n")
		if !ok || !ok2 {
			t.Fatalf("%q: no head in %q", title, data)
		}
		got := map[string]any{}
		if err := yaml.Unmarshal([]byte(head), &got); err != nil {
			t.Errorf("%q: %v\n%s", title, err, head)
		}
		if diff := cmp.Diff(map[string]any{"kind": "task", "title": title, "agent": "brave-otter"}, got); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
		if body != goal+"\n" {
			t.Errorf("%q: body %q", title, body)
		}
	}
}

// TestAgentEnv: the environment of a run is what it needs and nothing of the
// daemon's.
func TestAgentEnv(t *testing.T) {
	t.Parallel()
	presets, problems := providers.Load("")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	preset, err := presets.Get("script")
	must(t, err)
	const canary = "CANARY-7f3a"
	o := New(Config{
		Home: "/home/of/cw", Binary: "/home/of/cw/bin/b/cw", Socket: "/home/of/cw/run/cw.sock",
		Environ: []string{
			"HOME=/home/ada", "PATH=/daemon/bin", "SECRET_KEY=" + canary, "AWS_SECRET_ACCESS_KEY=" + canary,
			"CW_TOKEN=" + canary, "CW_RUN=" + canary, "CLAUDECODE=" + canary, "GIT_DIR=" + canary, "LD_PRELOAD=" + canary,
			"ANTHROPIC_API_KEY=" + canary,
		},
	})
	st := newState(t)
	var around projectEnv
	env := func(opts options) map[string]string {
		out := map[string]string{}
		for _, kv := range o.agentEnv(preset, st, opts, providers.Command{Env: map[string]string{"FROM_PRESET": "1"}}, "cwa_token", around) {
			name, value, _ := strings.Cut(kv, "=")
			if _, twice := out[name]; twice {
				t.Errorf("%s is there twice", name)
			}
			if strings.Contains(kv, canary) {
				t.Errorf("leaks %s", kv)
			}
			out[name] = value
		}
		return out
	}
	got := env(options{Identity: true, Env: map[string]string{"PATH": "/caller/bin", "LANG": "de_DE.UTF-8", "CW_SOCKET": "/forged", "EDITOR": "vi"}})
	for name, want := range map[string]string{
		"CW_HOME": "/home/of/cw", "CW_RUN": "runrunrunrun", "CW_AGENT_ID": "k3v7q2mzt5ha", "CW_TOKEN": "cwa_token",
		"CW_SOCKET": "/home/of/cw/run/cw.sock", "CW_LISTEN_FILE": st.Agent.AgentCwd + "/.cw/tmp/listen.json",
		"PATH": "/home/of/cw/bin/b:/caller/bin", "HOME": "/home/ada", "LANG": "de_DE.UTF-8", "FROM_PRESET": "1",
		"EDITOR": "", "GIT_AUTHOR_NAME": "", "GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": "true",
		"GIT_CEILING_DIRECTORIES": "/home/of/cw",
	} {
		if got[name] != want {
			t.Errorf("%s=%q, want %q", name, got[name], want)
		}
	}
	around = projectEnv{
		file:  map[string]string{"LANG": "C", "SHOP": "open", "CW_TOKEN": "forged", "GIT_DIR": "/forged", "HOME": "/forged", "PATH": "/forged", "CLAUDECODE": "1"},
		ports: map[string]string{"CW_PORT_0": "20000"},
	}
	got = env(options{Identity: false})
	for name, want := range map[string]string{
		"GIT_AUTHOR_NAME": "cw agent brave-otter", "GIT_COMMITTER_NAME": "cw agent brave-otter",
		"GIT_AUTHOR_EMAIL": "brave-otter@cw.invalid", "GIT_COMMITTER_EMAIL": "brave-otter@cw.invalid",
		"PATH": "/home/of/cw/bin/b:/daemon/bin", "HOME": "/home/ada", "LANG": "C", "SHOP": "open", "CW_PORT_0": "20000", "CW_TOKEN": "cwa_token", "GIT_DIR": "", "CLAUDECODE": "",
	} {
		if got[name] != want {
			t.Errorf("%s=%q, want %q", name, got[name], want)
		}
	}
}
