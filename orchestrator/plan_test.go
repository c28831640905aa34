package orchestrator

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"cw/internal/cw"
	"cw/providers"
)

func TestCheckRequest(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		req  cw.SpawnRequest
		want string // in the error; "" for none
	}{
		{"plain", cw.SpawnRequest{Goal: "fix it"}, ""},
		{"a goal that begins with a dash", cw.SpawnRequest{Goal: "--help me"}, ""},
		{"1 MiB", cw.SpawnRequest{Goal: strings.Repeat("x", 1<<20)}, ""},
		{"as long as may be", cw.SpawnRequest{Goal: strings.Repeat("x", cw.GoalMax)}, ""},
		{"execute by name", cw.SpawnRequest{Goal: "x", Mode: cw.ModeExecute}, ""},
		{"the default account", cw.SpawnRequest{Goal: "x", AccountID: "default"}, ""},
		{"a good name", cw.SpawnRequest{Goal: "x", Name: "brave-otter"}, ""},
		{"empty", cw.SpawnRequest{}, "empty"},
		{"blank", cw.SpawnRequest{Goal: " \n\t"}, "empty"},
		{"too long", cw.SpawnRequest{Goal: strings.Repeat("x", cw.GoalMax+1)}, "at most"},
		{"not UTF-8", cw.SpawnRequest{Goal: "caf\xe9"}, "UTF-8"},
		{"a zero byte", cw.SpawnRequest{Goal: "a\x00b"}, "zero byte"},
		{"no mode", cw.SpawnRequest{Goal: "x", Mode: "sing"}, `"sing" is no mode`},
		{"a task without a goal", cw.SpawnRequest{TaskID: "t"}, ""},
		{"an initiative without a goal", cw.SpawnRequest{InitiativeID: "i"}, "empty"},
		{"an architect's request that is no text", cw.SpawnRequest{Goal: "caf\xe9", Mode: cw.ModePlan}, "UTF-8"},
		{"another account", cw.SpawnRequest{Goal: "x", AccountID: "work"}, ""},
		{"a name that leaves the folder", cw.SpawnRequest{Goal: "x", Name: "../../etc"}, "cannot be an agent's name"},
		{"a name with a slash", cw.SpawnRequest{Goal: "x", Name: "a/b"}, "cannot be an agent's name"},
		{"a name like an option", cw.SpawnRequest{Goal: "x", Name: "-rf"}, "cannot be an agent's name"},
		{"a name like an id", cw.SpawnRequest{Goal: "x", Name: "abcdefghijkl"}, "looks like an id"},
		{"a name too long", cw.SpawnRequest{Goal: "x", Name: strings.Repeat("a", cw.AliasMax+1)}, "cannot be an agent's name"},
		{"a name with a line end", cw.SpawnRequest{Goal: "x", Name: "otter\n"}, "cannot be an agent's name"},
	}
	for _, tt := range tests {
		err := checkRequest(&tt.req)
		switch {
		case tt.want == "":
			if err != nil || tt.req.Mode != cw.ModeExecute {
				t.Errorf("%s: mode %q, %v", tt.name, tt.req.Mode, err)
			}
		case cw.ErrorCode(err) != cw.CodeInvalid || !strings.Contains(err.Error(), tt.want) || cw.ErrorHint(err) == "":
			t.Errorf("%s: %v, hint %q", tt.name, err, cw.ErrorHint(err))
		}
	}
}

func TestTitleOf(t *testing.T) {
	t.Parallel()
	for goal, want := range map[string]string{
		"fix it":                         "fix it",
		"\n\n  ## Fix it \nnow":          "Fix it",
		"#\n##\nreal":                    "real",
		"":                               "",
		"###":                            "",
		"a\tb \x1b[31mred\r\nb":          "a b [31mred",
		"x\r\nb":                         "x",
		strings.Repeat("ü", 80):          strings.Repeat("ü", 80),
		strings.Repeat("ü", 81):          strings.Repeat("ü", 79) + "…",
		"# " + strings.Repeat("x", 4000): strings.Repeat("x", 79) + "…",
	} {
		if got := titleOf(goal); got != want {
			t.Errorf("%.20q: %q, want %q", goal, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		goal := rapid.String().Draw(t, "goal")
		got := titleOf(goal)
		if n := utf8.RuneCountInString(got); n > titleMax || strings.ContainsFunc(got, unicode.IsControl) || strings.TrimSpace(got) != got {
			t.Fatalf("%q is no title", got)
		}
	})
}

func TestChooseTree(t *testing.T) {
	t.Parallel()
	one := []cw.AgentWorktree{{Project: "shop", ProjectID: "aaaaaaaaaaaa"}}
	two := append(one[:1:1], cw.AgentWorktree{Project: "bank", ProjectID: "bbbbbbbbbbbb"})
	for _, tt := range []struct {
		name    string
		trees   []cw.AgentWorktree
		project string
		want    string
		code    cw.Code
	}{
		{"the only one", one, "", "shop", ""},
		{"by name", two, "bank", "bank", ""},
		{"by id", two, "aaaaaaaaaaaa", "shop", ""},
		{"none at all", nil, "", "", cw.CodeRefused},
		{"none at all, by name", nil, "shop", "", cw.CodeRefused},
		{"which", two, "", "", cw.CodeInvalid},
		{"another", two, "mill", "", cw.CodeNotFound},
		{"not the only one", one, "bank", "", cw.CodeNotFound},
	} {
		got, err := chooseTree(cw.AgentView{Agent: cw.Agent{Alias: "brave-otter"}, Projects: tt.trees}, tt.project)
		if got.Project != tt.want || cw.ErrorCode(err) != tt.code || tt.code != "" && cw.ErrorHint(err) == "" {
			t.Errorf("%s: %q, %v", tt.name, got.Project, err)
		}
	}
}

func TestProjectName(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/home/ada/shop": "shop", "/home/ada/.config": "config", "/x/we ird%2F": "we-ird-2F", "/x/日本語": "project", "/": "project",
		"/x/abcdefghijkl": "abcdefghijkl-project", "/x/--flag": "flag", "/x/..": "project", "/x/a.git": "a.git",
	} {
		if got := projectName(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// TestFreeNames: whatever a repository's folder is called, and however many of
// them there are, each project's name is a safe folder of its own.
func TestFreeNames(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z2-7]{12}`), rapid.StringMatching(`[-._A-Za-z ]{30,60}`), rapid.SampledFrom([]string{"shop", "Shop", "shop-2", "..", ".git"}))
		var known []cw.Project
		for range rapid.IntRange(1, 8).Draw(t, "projects") {
			name := freeName(projectName("/home/ada/"+base.Draw(t, "folder")), known)
			switch {
			case name == "", name == ".", name == "..", strings.HasPrefix(name, "-"), strings.HasPrefix(name, "."):
				t.Fatalf("%q is no safe name", name)
			case notInName.MatchString(name), len(name) > projectNameMax+10, filepath.Base(name) != name:
				t.Fatalf("%q is no safe name", name)
			case cw.IsID(name):
				t.Fatalf("%q looks like an id", name)
			}
			for _, p := range known {
				if strings.EqualFold(p.Name, name) {
					t.Fatalf("%q is given twice", name)
				}
			}
			known = append(known, cw.Project{Name: name})
		}
	})
}

// TestChoosePreset: the one that was named, else the first installed of those
// that people expect.
func TestChoosePreset(t *testing.T) {
	t.Parallel()
	presets, _ := providers.Load("")
	bin, empty := t.TempDir(), t.TempDir()
	must(t, os.WriteFile(filepath.Join(bin, "claude"), []byte("#!/bin/sh\n"), 0o755))
	o := New(Config{Presets: presets, Environ: []string{"HOME=" + t.TempDir(), "PATH=" + empty}})
	for _, tt := range []struct {
		name       string
		req        cw.SpawnRequest
		path       string
		want, says string
		code       cw.Code
	}{
		{"by name", cw.SpawnRequest{Provider: "claude"}, empty, "claude", "", ""},
		{"by alias", cw.SpawnRequest{Provider: "cn"}, empty, "continue", "", ""},
		{"unknown", cw.SpawnRequest{Provider: "claud"}, bin, "", "claud", cw.CodeNotFound},
		{"installed", cw.SpawnRequest{}, bin, "claude", "", ""},
		{"none installed", cw.SpawnRequest{}, empty, "", "no provider CLI is installed", cw.CodeNotFound},
		{"the daemon's PATH", cw.SpawnRequest{}, "", "", "no provider CLI is installed", cw.CodeNotFound},
		{"a script", cw.SpawnRequest{Script: "/x"}, bin, "script", "", ""},
		{"a script by name", cw.SpawnRequest{Provider: "script", Script: "/x"}, bin, "script", "", ""},
		{"no script", cw.SpawnRequest{Provider: "script"}, bin, "", "needs an executable", cw.CodeInvalid},
		{"a script for claude", cw.SpawnRequest{Provider: "claude", Script: "/x"}, bin, "", "--provider script only", cw.CodeInvalid},
	} {
		tt.req.Env = map[string]string{"PATH": tt.path}
		p, err := o.choosePreset(&tt.req)
		if cw.ErrorCode(err) != tt.code || err == nil && p.Name != tt.want {
			t.Errorf("%s: %q, %v", tt.name, p.Name, err)
		}
		if err != nil && (!strings.Contains(err.Error(), tt.says) || cw.ErrorHint(err) == "") {
			t.Errorf("%s: %v, hint %q", tt.name, err, cw.ErrorHint(err))
		}
	}
}

// TestChooseDefaults: what a spawn names wins over what is configured, which
// wins over what is installed; a model goes with its provider only.
func TestChooseDefaults(t *testing.T) {
	t.Parallel()
	presets, _ := providers.Load("")
	both, codex := t.TempDir(), t.TempDir()
	for _, path := range []string{filepath.Join(both, "claude"), filepath.Join(both, "codex"), filepath.Join(codex, "codex")} {
		must(t, os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755))
	}
	for _, tt := range []struct {
		name     string
		defaults Defaults
		req      cw.SpawnRequest
		path     string
		want     cw.SpawnRequest // Provider: the preset's name
		says     string
	}{
		{name: "claude goes first", path: both, want: cw.SpawnRequest{Provider: "claude"}},
		{name: "codex is next", path: codex, want: cw.SpawnRequest{Provider: "codex"}},
		{name: "configured", defaults: Defaults{Provider: "codex", Model: "m"}, path: both, want: cw.SpawnRequest{Provider: "codex", Model: "m"}},
		{name: "configured by its alias", defaults: Defaults{Provider: "cn", Model: "m"}, req: cw.SpawnRequest{Provider: "continue"}, path: both, want: cw.SpawnRequest{Provider: "continue", Model: "m"}},
		{name: "configured and unknown", defaults: Defaults{Provider: "cdex"}, path: both, says: "run.provider is"},
		{name: "named", defaults: Defaults{Provider: "codex", Model: "m"}, req: cw.SpawnRequest{Provider: "claude"}, path: both, want: cw.SpawnRequest{Provider: "claude"}},
		{name: "a model of its own", defaults: Defaults{Provider: "codex", Model: "m"}, req: cw.SpawnRequest{Model: "n"}, path: both, want: cw.SpawnRequest{Provider: "codex", Model: "n"}},
		{name: "a model for whatever is there", defaults: Defaults{Model: "m"}, path: codex, want: cw.SpawnRequest{Provider: "codex", Model: "m"}},
		{name: "a model for nobody in particular", defaults: Defaults{Model: "m"}, req: cw.SpawnRequest{Provider: "codex"}, path: codex, want: cw.SpawnRequest{Provider: "codex"}},
		{name: "a script has no model", defaults: Defaults{Provider: "codex", Model: "m"}, req: cw.SpawnRequest{Script: "/x"}, path: both, want: cw.SpawnRequest{Provider: "script"}},
		{name: "a sandbox", defaults: Defaults{Provider: "codex", Sandbox: cw.SandboxWorkspace}, path: both, want: cw.SpawnRequest{Provider: "codex", Sandbox: cw.SandboxWorkspace}},
		{name: "a sandbox switched off", defaults: Defaults{Sandbox: cw.SandboxWorkspace}, req: cw.SpawnRequest{Sandbox: cw.SandboxOff}, path: both, want: cw.SpawnRequest{Provider: "claude"}},
		{name: "no model to choose", req: cw.SpawnRequest{Provider: "continue", Model: "m"}, path: both, says: "takes no model"},
		{name: "a sandbox that is not there", req: cw.SpawnRequest{Sandbox: cw.SandboxWorkspace}, path: both, says: "Claude Code has no sandbox"},
		{name: "a configured sandbox that is not there", defaults: Defaults{Sandbox: cw.SandboxWorkspace}, path: both, says: "the configuration asks for one"},
		{name: "no sandbox at all", req: cw.SpawnRequest{Sandbox: "cage"}, path: codex, says: `"cage" is no sandbox`},
	} {
		o := New(Config{Presets: presets, Environ: []string{"HOME=" + t.TempDir()}, Defaults: tt.defaults})
		tt.req.Env = map[string]string{"PATH": tt.path}
		p, err := o.choosePreset(&tt.req)
		if tt.says != "" {
			if err == nil || !strings.Contains(err.Error(), tt.says) || cw.ErrorHint(err) == "" {
				t.Errorf("%s: %v, hint %q", tt.name, err, cw.ErrorHint(err))
			}
			continue
		}
		tt.want.Sandbox = orDefault(tt.want.Sandbox, cw.SandboxOff)
		if err != nil || p.Name != tt.want.Provider || tt.req.Model != tt.want.Model || tt.req.Sandbox != tt.want.Sandbox {
			t.Errorf("%s: %s %q %q, %v", tt.name, p.Name, tt.req.Model, tt.req.Sandbox, err)
		}
	}
}

// TestNothingInstalled: both lines that install one are in the hint.
func TestNothingInstalled(t *testing.T) {
	t.Parallel()
	presets, _ := providers.Load("")
	o := New(Config{Presets: presets, Environ: []string{"HOME=" + t.TempDir(), "PATH=" + t.TempDir()}})
	_, err := o.choosePreset(&cw.SpawnRequest{})
	hint := cw.ErrorHint(err)
	if cw.ErrorCode(err) != cw.CodeNotFound || !strings.Contains(hint, "npm install -g @anthropic-ai/claude-code") || !strings.Contains(hint, "npm install -g @openai/codex") {
		t.Errorf("%v, hint %q", err, hint)
	}
}

func TestFindScript(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good, plain := filepath.Join(dir, "work.sh"), filepath.Join(dir, "notes.txt")
	must(t, os.WriteFile(good, []byte("#!/bin/sh\n"), 0o755))
	must(t, os.WriteFile(plain, nil, 0o644))
	for name, says := range map[string]string{
		good: "", "work.sh": "not absolute", plain: "not executable", dir: "not executable", filepath.Join(dir, "none"): "there is no script",
	} {
		var opts options
		err := findScript(name, &opts)
		if says == "" && (err != nil || opts.Script != name || opts.Command != name) {
			t.Errorf("%s: %+v, %v", name, opts, err)
		}
		if says != "" && (cw.ErrorCode(err) != cw.CodeInvalid || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestVersionTrouble: a CLI that hangs or cannot be started is not told as an
// exit code, and one that says nothing leaves no colon behind.
func TestVersionTrouble(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		want       string
	}{
		{"an exit code", "#!/bin/sh\nexit 3\n", "does not tell its version (exit code 3)"},
		{"words", "#!/bin/sh\necho oh; exit 3\n", "does not tell its version (exit code 3): oh"},
		{"a signal", "#!/bin/sh\nkill -9 $$\n", "does not tell its version (a signal ended it)"},
		{"no program", "words\n", "exec format error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "claude")
			must(t, os.WriteFile(file, []byte(tt.text), 0o700))
			e := newEngine(t)
			req := e.request(hangs())
			req.Provider, req.Env = "claude", map[string]string{"PATH": filepath.Dir(file) + ":" + os.Getenv("PATH")}
			_, err := e.Spawn(t.Context(), req)
			if err == nil || !strings.HasSuffix(err.Error(), tt.want) {
				t.Errorf("%v, want %q at its end", err, tt.want)
			}
		})
	}
}

// TestVersionLate: a CLI that is slow to tell its version is run all the same.
func TestVersionLate(t *testing.T) {
	t.Parallel()
	e := newEngine(t, func(c *Config) { c.VersionWait = time.Millisecond })
	v := e.mustSpawn(e.sessions(does(), "promptMode: stdin", "promptMode: stdin\nversion: {args: [--version], pattern: '(\\d+)'}"))
	if v = e.idleAfter(v.Alias, 1); !slices.ContainsFunc(v.Warnings, func(w string) bool { return strings.Contains(w, "did not tell it in time") }) {
		t.Errorf("warnings %q", v.Warnings)
	}
}
