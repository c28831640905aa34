package main

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

// sameOptions compares options without the app in them.
func sameOptions(t *testing.T, want, got any) {
	t.Helper()
	skipApp := cmp.FilterPath(func(p cmp.Path) bool {
		field, ok := p.Last().(cmp.StructField)
		return ok && (field.Name() == "app" || field.Name() == "root")
	}, cmp.Ignore())
	if diff := cmp.Diff(want, got, skipApp, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
		t.Errorf("options differ (-want +got):\n%s", diff)
	}
}

func TestRunOptions(t *testing.T) {
	t.Parallel()
	cmd := func(a *app, runF func(context.Context, *runOptions) error) runner { return newRunCmd(a, runF) }
	execute := spawnFlags{mode: "execute"}
	withWords := func(words ...string) spawnFlags {
		f := execute
		f.words = words
		return f
	}
	for _, tc := range []struct {
		args []string
		want runOptions
	}{
		{[]string{"fix", "the", "bug"}, runOptions{spawnFlags: withWords("fix", "the", "bug")}},
		{[]string{"fix it", "-C", "/x"}, runOptions{spawnFlags: withWords("fix it"), repo: "/x"}},
		{[]string{"--", "-C is", "ignored"}, runOptions{spawnFlags: withWords("-C is", "ignored")}},
		{[]string{"-"}, runOptions{spawnFlags: withWords("-")}},
		{
			[]string{"--provider", "script", "--script", "./x.sh", "--model", "m", "--mode", "plan", "--base", "dev", "--name", "calm-fox", "--prompt-file", "-"},
			runOptions{spawnFlags: spawnFlags{
				words: []string{}, provider: "script", script: "./x.sh", model: "m", mode: "plan", base: "dev",
				name: "calm-fox", promptFile: "-",
			}},
		},
		{
			[]string{"x", "--detach", "--timeout", "90s", "--no-wait-parked"},
			runOptions{spawnFlags: withWords("x"), detach: true, timeout: 90 * time.Second, noWaitParked: true},
		},
	} {
		got, err := parsed(t, tc.args, cmd)
		if err != nil {
			t.Errorf("%q: %v", tc.args, err)
			continue
		}
		sameOptions(t, &tc.want, got)
	}
	for _, args := range [][]string{{"x", "--wait", "--detach"}, {"x", "--timeout", "soon"}, {"x", "--no-such-flag"}} {
		if _, err := parsed(t, args, cmd); err == nil {
			t.Errorf("%q was taken", args)
		}
	}
}

// words are a few stream events, as claude gives them.
func words() []cw.StreamEvent {
	return []cw.StreamEvent{
		{Kind: cw.StreamInit, SessionID: "5c5b", Model: "sonnet"},
		{Kind: cw.StreamText, Text: "I look at the parser first.\n"},
		{Kind: cw.StreamToolCall, ToolUseID: "t1", Tool: "Bash", Input: []byte(`{"command":"go test ./parser/..."}`)},
		{Kind: cw.StreamToolResult, ToolUseID: "t1", IsError: true, Text: "FAIL parser 0.01s\nmore"},
		{Kind: cw.StreamToolCall, ToolUseID: "t2", Tool: "Edit", Input: []byte(`{"file_path":"parser/parse.go"}`)},
		{Kind: cw.StreamFileChange, ToolUseID: "t2", Path: "parser/parse.go", Change: "modify"},
		{Kind: cw.StreamText, Text: "The parser's tests pass.\n"},
		{Kind: cw.StreamResult, Text: "The parser's tests pass.", CostUSD: 0.4212, Turns: 4},
	}
}

// clockOf gives a time that moves by step whenever it is read.
func clockOf(step time.Duration) func() time.Time {
	now := epoch
	return func() time.Time {
		now = now.Add(step)
		return now
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	question := cw.Question{
		ID: "qqqqqqqqqqqq", AgentID: "aaaaaaaaaaaa", Header: "Scope", Text: "Which parser do you mean?", Seq: 1,
		Options: []cw.QuestionOption{{Label: "The old one", Description: "parser/"}, {Label: "The new one"}}, Status: cw.QuestionOpen, CreatedAt: epoch,
	}
	retryAt := epoch.Add(2 * time.Hour)
	otter := running("brave-otter")
	comesTo := func(end *cw.AgentView) func(*bench) {
		return func(b *bench) {
			b.now = clockOf(83 * time.Second)
			b.fake.add(otter, end, words()...)
			b.fake.diffs["brave-otter"] = cw.Diff{Commits: []cw.Commit{
				{ID: "2222222222222222222222222222222222222222", Subject: "Parse empty input", Author: "Lead", At: epoch},
				{ID: "3333333333333333333333333333333333333333", Subject: "Test\x1b[31m it", Author: "Lead", At: epoch},
			}}
		}
	}
	done := ended("brave-otter")
	sessions(t, "run", []sessionCase{
		{"idle", []string{"run", "fix it"}, comesTo(&done), 0},
		{"words", []string{"run", "agent", "list"}, nil, 2},
		{"words confirmed", []string{"run", "fix", "it"}, func(b *bench) { comesTo(&done)(b); terminal(b, "y\n") }, 0},
		{"words not confirmed", []string{"run", "fix", "it"}, func(b *bench) { terminal(b, "no\n") }, 130},
		{"json", []string{"run", "--json", "fix it"}, comesTo(&done), 0},
		{"elsewhere", []string{"run", "-C", "/work/my site", "fix it"}, comesTo(&done), 0},
		{"detached head", []string{"run", "fix it"}, comesTo(with(ended("brave-otter"), func(v *cw.AgentView) {
			v.BaseBranch, v.Projects[0].BaseBranch = "", ""
		})), 0},
		{"other ref", []string{"run", "fix it"}, comesTo(with(ended("brave-otter"), func(v *cw.AgentView) {
			v.Projects[0].HandedOver = "refs/remotes/cw/agent/brave-otter"
			v.Warnings = []string{"agent/brave-otter is checked out; the branch is in refs/remotes/cw/agent/brave-otter"}
		})), 0},
		{"remote", []string{"run", "--project", "site", "fix it"}, comesTo(with(ended("brave-otter"), func(v *cw.AgentView) {
			v.Projects[0].FetchFrom = "/work/home/repos/site-pppp.remote.git"
		})), 0},
		{"two places", []string{"run", "-C", "x", "--project", "site", "fix it"}, nil, 2},
		{"no changes", []string{"run", "fix it"}, comesTo(with(running("brave-otter"), func(v *cw.AgentView) {
			v.Status, v.NoChanges = cw.StatusIdle, "the tests pass already"
		})), 0},
		{"no commit", []string{"run", "fix it"}, comesTo(with(running("brave-otter"), func(v *cw.AgentView) {
			v.Status = cw.StatusIdle
		})), 1},
		{"not handed over", []string{"run", "fix it"}, comesTo(with(ended("brave-otter"), func(v *cw.AgentView) {
			v.Projects[0].HandedOver = ""
			v.Warnings = []string{"the branch is not in your repository: /work/repo is gone"}
		})), 1},
		{"not handed over json", []string{"run", "--json", "fix it"}, comesTo(with(ended("brave-otter"), func(v *cw.AgentView) {
			v.Projects[0].HandedOver = ""
		})), 1},
		{"not looked at", []string{"run", "fix it"}, comesTo(with(running("brave-otter"), func(v *cw.AgentView) {
			v.Status, v.NoChanges = cw.StatusIdle, "the tests pass already"
			v.Warnings = []string{"the worktree of repo could not be looked at, so its branch was not handed over: no index"}
		})), 1},
		{"uncommitted", []string{"run", "fix it"}, comesTo(with(ended("brave-otter"), func(v *cw.AgentView) {
			v.Projects[0].Dirty = 1
		})), 1},
		{"crashed", []string{"run", "fix it"}, comesTo(with(running("brave-otter"), func(v *cw.AgentView) {
			v.Status, v.Reason, v.Error = cw.StatusCrashed, cw.ReasonUsageLimit, "the limit is reached\nsecond line"
			v.RetryAt = &retryAt
		})), 1},
		{"crashed json", []string{"run", "--json", "fix it"}, comesTo(with(running("brave-otter"), func(v *cw.AgentView) {
			v.Status, v.Reason, v.Error = cw.StatusCrashed, cw.ReasonNoSignal, "it wrote no signal"
		})), 1},
		{"stopped", []string{"run", "fix it"}, comesTo(with(running("brave-otter"), func(v *cw.AgentView) {
			v.Status, v.Reason = cw.StatusStopped, cw.ReasonUser
		})), 1},
		{"waiting", []string{"run", "fix it"}, comesTo(with(running("brave-otter"), func(v *cw.AgentView) {
			v.Status, v.PendingQuestions = cw.StatusWaitingForInput, []cw.Question{question}
		})), 7},
		{"waiting json", []string{"run", "--json", "fix it"}, comesTo(with(running("brave-otter"), func(v *cw.AgentView) {
			v.Status, v.PendingQuestions = cw.StatusWaitingForInput, []cw.Question{question}
		})), 7},
		{"a call waits", []string{"run", "fix it"}, func(b *bench) { b.fake.add(blocked(question), nil) }, 7},
		{"a call waits json", []string{"run", "--json", "fix it"}, func(b *bench) { b.fake.add(blocked(question), nil) }, 7},
		{"detach", []string{"run", "--detach", "fix it"}, comesTo(nil), 0},
		{"detach json", []string{"run", "--detach", "--json", "fix it"}, comesTo(nil), 0},
		{"timeout", []string{"run", "--timeout", "20ms", "fix it"}, comesTo(nil), 6},
		{"timeout json", []string{"run", "--json", "--timeout", "20ms", "fix it"}, comesTo(nil), 6},
		{"parked", []string{"run", "--no-wait-parked", "fix it"}, func(b *bench) {
			b.fake.add(*with(otter, func(v *cw.AgentView) { v.Status, v.RetryAt = cw.StatusParked, &retryAt }), nil)
			b.fake.events = []cw.Event{{Seq: 7, Type: "agent:parked", AgentID: otter.ID}}
		}, 6},
		{"empty goal", []string{"run"}, nil, 2},
		{"blank goal", []string{"run", "", "  "}, nil, 2},
		{"wait and detach", []string{"run", "--wait", "--detach", "x"}, nil, 2},
		{"bad time", []string{"run", "--timeout", "soon", "x"}, nil, 2},
		{"no directory", []string{"run", "x"}, func(b *bench) { b.dir = "" }, 1},
		{"two goals", []string{"run", "--prompt-file", "x.md", "fix it"}, nil, 2},
		{"no such file", []string{"run", "--prompt-file", "/no/such/goal.md"}, nil, 2},
		{"refused", []string{"run", "fix it"}, func(b *bench) {
			b.fake.errs["Spawn"] = cw.Errorf(cw.CodeInvalid, "/work/repo is not a git repository").WithHint("git init makes one")
		}, 2},
		{"stream fails", []string{"run", "fix it"}, func(b *bench) {
			b.fake.add(otter, nil)
			b.fake.errs["OutputEvents"] = cw.Errorf(cw.CodeGone, "the output is past its retention")
		}, 4},
	})
}

// blocked is an agent of which a call waits for people.
func blocked(questions ...cw.Question) cw.AgentView {
	return *with(running("brave-otter"), func(v *cw.AgentView) {
		v.Runs = []cw.Run{{ID: "nnnnnnnnnnnn", AgentID: v.ID, SessionNumber: 1}}
		for _, q := range questions {
			q.Source, q.RunID = cw.AskedByTool, "nnnnnnnnnnnn"
			v.PendingQuestions = append(v.PendingQuestions, q)
		}
	})
}

// TestRunAsksForACall: where there is a terminal, a call's questions are asked
// while the agent runs, and it is watched on.
func TestRunAsksForACall(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	end := with(running("brave-otter"), func(v *cw.AgentView) { v.Status, v.NoChanges = cw.StatusIdle, "it was there" })
	b.fake.add(blocked(asked()[:2]...), end)
	terminal(b, "2\n1,3\n")
	text, code := b.session(t.Context(), "run", "fix it")
	if code != 0 || len(b.fake.answers) != 1 {
		t.Fatalf("exit code %d, answers %v\n%s", code, b.fake.answers, text)
	}
	want := map[cw.QuestionID]string{"qqqqqqqqqqqq": "The new one", "rrrrrrrrrrrr": `["Linux","Plan 9"]`}
	if diff := cmp.Diff(want, b.fake.answers[0].Answers); diff != "" {
		t.Error(diff)
	}
}

// TestRunLeavesOldQuestions: what an earlier run asked is no reason to stop.
func TestRunLeavesOldQuestions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	old := blocked(asked()[0])
	old.PendingQuestions[0].RunID = "mmmmmmmmmmmm"
	b.fake.add(old, with(old, func(v *cw.AgentView) { v.Status, v.NoChanges = cw.StatusIdle, "it was there" }))
	if text, code := b.session(t.Context(), "run", "fix it"); code != 0 {
		t.Errorf("exit code %d\n%s", code, text)
	}
}

// TestRunSpawns looks at what is asked of the daemon.
func TestRunSpawns(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 1<<20)
	dir := t.TempDir()
	file := filepath.Join(dir, "goal.md")
	if err := os.WriteFile(file, []byte("from a file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "x.sh"), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"PATH": "/bin:/usr/bin", "LANG": "C.UTF-8"}
	for _, tc := range []struct {
		name  string
		args  []string
		stdin string
		want  cw.SpawnRequest
	}{
		{"quoted", []string{"fix it"}, "", cw.SpawnRequest{Goal: "fix it", Projects: []string{dir}}},
		{"hyphen", []string{"--", "--fix -it"}, "", cw.SpawnRequest{Goal: "--fix -it", Projects: []string{dir}}},
		{"stdin", []string{"-"}, big, cw.SpawnRequest{Goal: big, Projects: []string{dir}}},
		{"stdin by flag", []string{"--prompt-file", "-"}, "do\nthis", cw.SpawnRequest{Goal: "do\nthis", Projects: []string{dir}}},
		{"file", []string{"--prompt-file", "goal.md"}, "", cw.SpawnRequest{Goal: "from a file\n", Projects: []string{dir}}},
		{"repo", []string{"-C", "sub/../other", "x"}, "", cw.SpawnRequest{Goal: "x", Projects: []string{filepath.Join(dir, "other")}}},
		{"script here", []string{"--script", "x.sh", "x"}, "", cw.SpawnRequest{Goal: "x", Script: filepath.Join(dir, "x.sh"), Projects: []string{dir}}},
		{"script by path", []string{"--script", "./no.sh", "x"}, "", cw.SpawnRequest{Goal: "x", Script: filepath.Join(dir, "no.sh"), Projects: []string{dir}}},
		{"script without a slash", []string{"--script", "prettier", "x"}, "", cw.SpawnRequest{Goal: "x", Script: filepath.Join(dir, "prettier"), Projects: []string{dir}}},
		{
			"flags", []string{"--base", "dev", "--name", "calm-fox", "--provider", "p", "--model", "m", "--sandbox", "workspace", "--mode", "plan", "x"}, "",
			cw.SpawnRequest{Goal: "x", Base: "dev", Name: "calm-fox", Provider: "p", Model: "m", Sandbox: cw.SandboxWorkspace, Mode: cw.ModePlan, Projects: []string{dir}},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.dir, b.in = dir, strings.NewReader(tc.stdin)
			b.fake.add(running("brave-otter"), nil)
			if text, code := b.session(t.Context(), append([]string{"run", "--detach"}, tc.args...)...); code != 0 {
				t.Fatal(text)
			}
			got := b.fake.spawns[0]
			if !cw.IsID(got.RequestKey) {
				t.Errorf("request key %q is no id", got.RequestKey)
			}
			tc.want.RequestKey, tc.want.Env = got.RequestKey, env
			if tc.want.Mode == "" {
				tc.want.Mode = cw.ModeExecute
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("request differs (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCrashHints: what to do about a crash is said by its reason, and nobody is
// sent to a log that holds nothing.
func TestCrashHints(t *testing.T) {
	t.Parallel()
	at := epoch.Add(time.Hour)
	for _, tc := range []struct {
		reason cw.Reason
		retry  *time.Time
		want   string
	}{
		{cw.ReasonAuth, nil, "log in to codex again, or give it a key that is good, then cw agent resume brave-otter"},
		{cw.ReasonUsageLimit, nil, "cw agent resume brave-otter when the limit is over, or start the work anew with another --provider"},
		{cw.ReasonUsageLimit, &at, "cw agent resume brave-otter after " + at.Local().Format("2006-01-02 15:04") + ", or start the work anew with another --provider"},
		{cw.ReasonStartFailed, nil, "cw agent show brave-otter has all that codex said; cw doctor looks at the rest"},
		{cw.ReasonNoSignal, nil, "cw agent logs brave-otter shows what it did, cw agent resume brave-otter lets it go on"},
		{cw.ReasonKilled, nil, "cw agent logs brave-otter shows what it did, cw agent resume brave-otter lets it go on"},
	} {
		v := running("brave-otter")
		v.Provider, v.Status, v.Reason, v.RetryAt = "codex", cw.StatusCrashed, tc.reason, tc.retry
		why, verdict := judge(v)
		if why != exitCrashed || verdict.Hint != tc.want {
			t.Errorf("%s: %s, hint %q", tc.reason, why, verdict.Hint)
		}
		for _, step := range nextSteps(newReport(v, why, 0), "", "") {
			if tc.reason == cw.ReasonStartFailed && strings.Contains(step, "agent logs") {
				t.Errorf("%s: next %q", tc.reason, step)
			}
		}
	}
}

// TestRefusedCredentialsOnce: on a terminal, a run whose login was refused says so once
// at its end, and first of all how to log in; what was warned of at its start is not
// repeated. Where standard output goes elsewhere, standard error says why as well.
func TestRefusedCredentialsOnce(t *testing.T) {
	t.Parallel()
	for _, terminal := range []bool{true, false} {
		b := newBench(t)
		b.outTTY, b.errTTY, b.env["NO_COLOR"] = terminal, true, "1"
		b.fake.accounts = []cw.AccountView{{Account: cw.Account{ID: "default-claude", Provider: "claude"}, LogIn: "claude /login"}}
		start := *with(running("brave-otter"), func(v *cw.AgentView) {
			v.AccountID, v.Warnings = "default-claude", []string{"2 changed files are not seen"}
		})
		end := start
		end.Status, end.Reason, end.Result = cw.StatusCrashed, cw.ReasonAuth, "Not logged in"
		end.Error = "the provider refused the credentials: Not logged in"
		end.Warnings = []string{"2 changed files are not seen", "its worktree stays"}
		b.fake.add(start, &end)
		text, code := b.session(t.Context(), "run", "fix it")
		if code != 1 {
			t.Errorf("exit code %d", code)
		}
		reasons := 1
		if !terminal {
			reasons = 2
		}
		for part, want := range map[string]int{
			"Not logged in": reasons, "2 changed files": 1, "its worktree stays": 1, "claude /login": 2,
			"next:\n  claude /login\n  cw agent resume brave-otter\n": 1, "hint: claude /login; then cw agent resume brave-otter": 1,
		} {
			if got := strings.Count(text, part); got != want {
				t.Errorf("terminal %t: %q is said %d times, want %d:\n%s", terminal, part, got, want, text)
			}
		}
	}
}

// TestErrorIsNotRepeated: a result that only repeats the last error is not shown.
func TestErrorIsNotRepeated(t *testing.T) {
	t.Parallel()
	r := &renderer{}
	show := func(kind cw.StreamKind, text string) string {
		return strings.Join(r.render(cw.OutputEvent{Session: 1, Event: cw.StreamEvent{Kind: kind, Text: text, IsError: kind == cw.StreamResult}}), "\n")
	}
	for _, step := range []struct {
		kind       cw.StreamKind
		text, want string
	}{
		{cw.StreamError, "Not logged in", "error: Not logged in"},
		{cw.StreamResult, "Not logged in ", ""},
		{cw.StreamResult, "it broke", "ended with an error: it broke"},
	} {
		if got := show(step.kind, step.text); got != step.want {
			t.Errorf("%s %q shows %q, want %q", step.kind, step.text, got, step.want)
		}
	}
}

// TestSpawnPassesCredentials: what an agent of any provider may get from the
// person who starts it reaches the daemon, and nothing else does. Without it a
// run would take the credentials that a daemon happened to be started with.
func TestSpawnPassesCredentials(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"PATH": "/bin", "LC_ALL": "C", "HTTPS_PROXY": "http://proxy", "SSL_CERT_FILE": "/ca.pem",
		"CODEX_HOME": "/other/codex", "CODEX_API_KEY": "sk-codex", "CLAUDE_CONFIG_DIR": "/other/claude", "ANTHROPIC_BASE_URL": "http://gateway",
	}
	b := newBench(t)
	b.env = maps.Clone(want)
	for _, name := range []string{"SECRET", "CW_TOKEN", "GIT_DIR", "CODEX_THREAD_ID", "CLAUDECODE", "AWS_SECRET_ACCESS_KEY"} {
		b.env[name] = "no"
	}
	b.fake.add(running("brave-otter"), nil)
	if text, code := b.session(t.Context(), "agent", "spawn", "fix it"); code != 0 {
		t.Fatal(text)
	}
	if diff := cmp.Diff(want, b.fake.spawns[0].Env); diff != "" {
		t.Errorf("environment differs (-want +got):\n%s", diff)
	}
}

// TestRunGoalTooLong needs an endless stdin to show that reading ends.
func TestRunGoalTooLong(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.in = endless{}
	text, code := b.session(t.Context(), "run", "-")
	if code != 2 || !strings.Contains(text, "longer than 4.0 MiB") {
		t.Errorf("got %s", text)
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

// TestRunAsksAgain: the daemon goes away while the agent is being made.
func TestRunAsksAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fake.add(running("brave-otter"), nil)
	b.fake.errs["Spawn"] = cw.Errorf(cw.CodeUnreachable, "the connection to the daemon broke")
	b.fake.failures["Spawn"] = 2
	if text, code := b.session(t.Context(), "run", "--detach", "x"); code != 0 {
		t.Fatal(text)
	}
	if len(b.fake.spawns) != 3 {
		t.Fatalf("asked %d times, want 3", len(b.fake.spawns))
	}
	for _, req := range b.fake.spawns[1:] {
		if req.RequestKey != b.fake.spawns[0].RequestKey {
			t.Error("asked again with another request key: that makes a second agent")
		}
	}
}

// TestRunAsksUntilItIsBack: the daemon is away for a while, and says so itself.
func TestRunAsksUntilItIsBack(t *testing.T) {
	t.Parallel()
	ending := cw.Errorf(cw.CodeUnreachable, "the daemon is ending")
	for _, tc := range []struct {
		name string
		away time.Duration
		code int
		says string
	}{
		{"back", 20 * time.Second, 0, "brave-otter"},
		{"away for good", time.Hour, 5, "cw agent list"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.fake.add(running("brave-otter"), nil)
				b.fake.errs["Spawn"] = cw.Errorf(cw.CodeInterrupted, "the caller let go")
				b.fake.failures["Spawn"] = 1
				begin := time.Now()
				b.connect = func(context.Context) (cw.Services, error) {
					if now := time.Since(begin); now > 0 && now < tc.away {
						return nil, ending
					}
					return b.fake, nil
				}
				if text, code := b.session(t.Context(), "run", "--detach", "x"); code != tc.code || !strings.Contains(text, tc.says) {
					t.Errorf("want exit code %d and %q:\n%s", tc.code, tc.says, text)
				}
			})
		})
	}
}

// TestRunWatchesOn: the daemon ends between the spawn and the first look.
func TestRunWatchesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		end := ended("brave-otter")
		b.fake.add(running("brave-otter"), &end)
		b.fake.errs["OutputEvents"] = gone()
		b.fake.failures["OutputEvents"] = 20
		text, code := b.session(t.Context(), "run", "x")
		if code != 0 || strings.Count(text, "the daemon is away") != 1 || !strings.Contains(text, "git merge agent/brave-otter") {
			t.Error(text)
		}
	})
}

// TestRunCannotWatch: the name of an agent that runs on is told all the same.
func TestRunCannotWatch(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fake.add(running("brave-otter"), nil)
	b.fake.errs["OutputEvents"] = cw.Errorf(cw.CodeUnreachable, "another version").WithHint("cw restart")
	if text, code := b.session(t.Context(), "run", "--json", "x"); code != 5 || !strings.Contains(text, "cw agent attach brave-otter") {
		t.Error(text)
	}
}

// TestRunInterrupted: Ctrl-C only stops watching.
func TestRunInterrupted(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"run", "fix it"}, {"run", "--json", "fix it"}, {"agent", "attach", "brave-otter"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.fake.add(running("brave-otter"), nil, words()...)
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				<-b.fake.read
				cancel()
			}()
			text, code := b.session(ctx, args...)
			golden(t, "run/interrupted "+strings.Join(args[:2], " "), text)
			if code != 130 {
				t.Errorf("exit code %d, want 130", code)
			}
			if len(b.fake.stops) > 0 {
				t.Errorf("an agent was stopped: %v", b.fake.stops)
			}
			if b.json {
				oneValue(t, b.stdout.Bytes())
			}
		})
	}
}

// TestRunInterruptedWhileSpawning: the agent's name is told all the same.
func TestRunInterruptedWhileSpawning(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fake.add(running("brave-otter"), nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	text, code := b.session(ctx, "run", "fix it")
	if code != 130 || !strings.Contains(text, "cw agent attach brave-otter") || len(b.fake.spawns) != 1 {
		t.Errorf("got %s", text)
	}
}

// TestRunOnTerminal: progress and colours only there.
func TestRunOnTerminal(t *testing.T) {
	t.Parallel()
	end := ended("brave-otter")
	b := newBench(t)
	b.outTTY, b.errTTY = true, true
	b.fake.add(running("brave-otter"), &end, words()...)
	text, _ := b.session(t.Context(), "run", "fix it")
	if !strings.Contains(text, "\x1b[1mbrave-otter\x1b[0m") {
		t.Errorf("no colours:\n%q", text)
	}
	b = newBench(t)
	b.outTTY, b.errTTY = true, true
	b.env["NO_COLOR"] = "1"
	b.fake.add(running("brave-otter"), &end, words()...)
	text, _ = b.session(t.Context(), "run", "fix it")
	if strings.Contains(text, "\x1b[1m") {
		t.Errorf("colours in spite of NO_COLOR:\n%q", text)
	}
}
