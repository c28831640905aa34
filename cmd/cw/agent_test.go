package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

func TestAgentOptions(t *testing.T) {
	t.Parallel()
	check := func(want, got any, err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
			return
		}
		sameOptions(t, want, got)
	}
	spawn, err := parsed(t, []string{
		"do", "it", "--project", "a", "--project", "./b", "--initiative", "i", "--phase", "p", "--task", "t", "--account", "acc",
	}, func(a *app, f func(context.Context, *agentSpawnOptions) error) runner { return newAgentSpawnCmd(a, f) })
	check(&agentSpawnOptions{
		spawnFlags: spawnFlags{words: []string{"do", "it"}, mode: "execute", account: "acc"},
		projects:   []string{"a", "./b"}, initiative: "i", phase: "p", task: "t",
	}, spawn, err)
	list, err := parsed(t, []string{"--status", "idle,running", "--status", "crashed", "--project", ".", "-q",
		"--provider", "claude", "--initiative", "spring-sale", "--limit", "5", "--sort", "-name"},
		func(a *app, f func(context.Context, *agentListOptions) error) runner { return newAgentListCmd(a, f) })
	check(&agentListOptions{
		statuses: []string{"idle", "running", "crashed"}, project: ".", provider: "claude", initiative: "spring-sale",
		listing: listing{limit: 5, sort: "-name"}, quiet: true,
	}, list, err)
	show, err := parsed(t, []string{"x"},
		func(a *app, f func(context.Context, *agentShowOptions) error) runner { return newAgentShowCmd(a, f) })
	check(&agentShowOptions{ref: "x"}, show, err)
	logs, err := parsed(t, []string{"x", "--raw", "--session", "2", "-f"},
		func(a *app, f func(context.Context, *agentLogsOptions) error) runner { return newAgentLogsCmd(a, f) })
	check(&agentLogsOptions{ref: "x", raw: true, session: 2, tail: tailAll, follow: true}, logs, err)
	attach, err := parsed(t, []string{"x", "--all", "--timeout", "5s", "--no-wait-parked"},
		func(a *app, f func(context.Context, *agentAttachOptions) error) runner {
			return newAgentAttachCmd(a, f)
		})
	check(&agentAttachOptions{ref: "x", all: true, timeout: 5 * time.Second, noWaitParked: true}, attach, err)
	diff, err := parsed(t, []string{"x", "--stat", "--project", "p", "--against", "head", "a b", "--", "-c"},
		func(a *app, f func(context.Context, *agentDiffOptions) error) runner { return newAgentDiffCmd(a, f) })
	check(&agentDiffOptions{ref: "x", diffFlags: diffFlags{stat: true, project: "p", against: "head", paths: []string{"a b", "-c"}}}, diff, err)
	stop, err := parsed(t, []string{"x", "--now"},
		func(a *app, f func(context.Context, *agentStopOptions) error) runner { return newAgentStopCmd(a, f) })
	check(&agentStopOptions{ref: "x", now: true}, stop, err)
	all, err := parsed(t, []string{"--all"},
		func(a *app, f func(context.Context, *agentStopOptions) error) runner { return newAgentStopCmd(a, f) })
	check(&agentStopOptions{all: true}, all, err)
}

// three are agents in different states.
func three(b *bench) {
	b.fake.add(running("brave-otter"), nil, words()...)
	b.fake.add(ended("calm-fox"), nil, words()...)
	b.fake.add(*with(running("wise-owl"), func(v *cw.AgentView) {
		v.Status, v.Reason, v.Error = cw.StatusCrashed, cw.ReasonKilled, "SIGKILL ended it"
		v.Title = "a goal that is far too long for a list,\x1b[2J and it hides something"
	}), nil)
	b.fake.diffs["calm-fox"] = cw.Diff{
		Project: "repo", Branch: "agent/calm-fox", BaseCommit: "1111111111111111111111111111111111111111",
		HeadCommit: "2222222222222222222222222222222222222222", Stat: cw.Stat{Files: 1, Additions: 1, Deletions: 1},
		Commits:     []cw.Commit{{ID: "2222222222222222222222222222222222222222", Subject: "Parse empty input", Author: "Lead", At: epoch}},
		Patch:       "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new \x1b]0;title\x07here\n",
		Files:       []cw.FileChange{{Path: "x\x1b[2J.txt", From: "old.txt", Additions: 2, Deletions: 1}, {Path: "logo.png", Binary: true}},
		Uncommitted: []string{"y.txt", "z\x1b[31m.txt"}, WorkPatch: "diff --git a/y.txt b/y.txt\n",
	}
}

// planners are agents that work for an initiative, one that does a task of it,
// and one that works for none.
func planners(b *bench) {
	plans(b)
	b.fake.add(*with(running("brave-otter"), func(v *cw.AgentView) { v.Mode, v.InitiativeID = cw.ModePlan, "iiiiiiiiiiii" }), nil)
	b.fake.add(*with(ended("calm-fox"), func(v *cw.AgentView) {
		v.InitiativeID, v.PhaseID, v.TaskID = "iiiiiiiiiiii", "eeeeeeeeeeee", "hhhhhhhhhhhh"
	}), nil)
	b.fake.add(running("wise-owl"), nil)
}

func TestAgent(t *testing.T) {
	t.Parallel()
	asks := func(b *bench) {
		b.fake.add(*with(running("brave-otter"), func(v *cw.AgentView) {
			last := epoch.Add(-4 * time.Second)
			v.Activity = &cw.Activity{State: cw.ActivityRetrying, Tool: "Bash", Attempt: 2, LastAt: &last}
			v.Warnings = []string{"3 changed files of the checkout are not included"}
			v.PendingQuestions = []cw.Question{{Text: "Which\none?", MultiSelect: true, Options: []cw.QuestionOption{{Label: "A"}, {Label: "B"}}}}
		}), nil)
	}
	sessions(t, "agent", []sessionCase{
		{"spawn", []string{"agent", "spawn", "--project", "site", "--project", "./b", "do it"}, three, 0},
		{"spawn json", []string{"agent", "spawn", "--json", "do it"}, three, 0},
		{"spawn refused", []string{"agent", "spawn", "--task", "t", "do it"}, func(b *bench) {
			b.fake.errs["Spawn"] = cw.Errorf(cw.CodeRefused, "tasks are not available yet")
		}, 4},
		{"spawn empty", []string{"agent", "spawn"}, nil, 2},
		{"spawn blank", []string{"agent", "spawn", "--task", "hhhhhhhhhhhh", " "}, nil, 2},
		{"spawn empty task", []string{"agent", "spawn", "--task", "", "do it"}, nil, 2},
		{"spawn for a task", []string{"agent", "spawn", "--task", "hhhhhhhhhhhh"}, three, 0},
		{"spawn for a mistyped task", []string{"agent", "spawn", "--task", "hhhhhhhhhhxh"}, func(b *bench) {
			plans(b)
			b.fake.errs["Spawn"] = cw.Errorf(cw.CodeNotFound, `there is no task "hhhhhhhhhhxh"`)
		}, 3},
		{"list", []string{"agent", "list"}, three, 0},
		{"list plans", []string{"agent", "list"}, withPlans, 0},
		{"show a plan", []string{"agent", "show", "brave-otter"}, withPlans, 0},
		{"show a plan json", []string{"agent", "show", "--json", "brave-otter"}, withPlans, 0},
		{"show a plan that cannot be read", []string{"agent", "show", "brave-otter"}, func(b *bench) {
			withPlans(b)
			b.fake.errs["Plan"] = cw.Errorf(cw.CodeInternal, "the database is damaged")
		}, 1},
		{"status of plans", []string{"status"}, withPlans, 0},
		{"status without agents", []string{"status"}, func(b *bench) {
			withPlans(b)
			b.fake.errs["Agents"] = cw.Errorf(cw.CodeInternal, "the database is damaged")
		}, 0},
		{"list narrow", []string{"agent", "list"}, func(b *bench) {
			three(b)
			b.outTTY, b.width = true, func() int { return 60 }
		}, 0},
		{"logs session word", []string{"agent", "logs", "--session", "one", "x"}, nil, 2},
		{"list planners", []string{"agent", "list"}, planners, 0},
		{"list of an initiative", []string{"agent", "list", "--initiative", "spring-sale"}, planners, 0},
		{"list of a mistyped initiative", []string{"agent", "list", "--initiative", "spring-sail"}, func(b *bench) {
			planners(b)
			b.fake.errs["Agents"] = cw.Errorf(cw.CodeNotFound, `there is no initiative "spring-sail"`)
		}, 3},
		{"list of an empty initiative", []string{"agent", "list", "--initiative", ""}, planners, 2},
		{"show a planner", []string{"agent", "show", "calm-fox"}, planners, 0},
		{"list json", []string{"agent", "list", "--json", "--status", "running"}, three, 0},
		{"list quiet", []string{"agent", "ls", "-q"}, three, 0},
		{"list empty", []string{"agent", "list"}, nil, 0},
		{"list empty json", []string{"agent", "list", "--json"}, nil, 0},
		{"list none like that", []string{"agent", "list", "--status", "parked"}, three, 0},
		{"list bad limit", []string{"agent", "list", "--limit", "-1"}, three, 2},
		{"list bad status", []string{"agent", "list", "--status", "dead"}, three, 2},
		{"show", []string{"agent", "show", "calm-fox"}, three, 0},
		{"show remote", []string{"agent", "show", "wise-owl"}, func(b *bench) {
			b.fake.add(*with(ended("wise-owl"), func(v *cw.AgentView) {
				v.Projects[0].FetchFrom = "/work/home/repos/site-pppp.remote.git"
			}), nil)
		}, 0},
		{"show estimated", []string{"agent", "show", "calm-fox"}, func(b *bench) {
			v := ended("calm-fox")
			v.AccountName = "you@example.com"
			v.Runs[0].CostSource = cw.CostFromTable
			unknown := v.Runs[0]
			unknown.SessionNumber, unknown.CostSource, unknown.CostUSD = 2, cw.CostUnknown, 0
			v.Runs = append(v.Runs, unknown)
			b.fake.add(v, nil)
		}, 0},
		{"show asks", []string{"agent", "show", "brave-otter"}, asks, 0},
		{"show json", []string{"agent", "show", "--json", "calm-fox"}, three, 0},
		{"show unknown", []string{"agent", "show", "no-one"}, three, 3},
		{"show nobody", []string{"agent", "show"}, three, 2},
		{"show two", []string{"agent", "show", "a", "b"}, three, 2},
		{"logs", []string{"agent", "logs", "calm-fox"}, three, 0},
		{"logs unknown", []string{"agent", "logs", "no-one"}, three, 3},
		{"logs bad tail", []string{"agent", "logs", "--tail", "-2", "calm-fox"}, three, 2},
		{"logs bad session", []string{"agent", "logs", "--session", "-1", "calm-fox"}, three, 2},
		{"diff", []string{"agent", "diff", "calm-fox"}, three, 0},
		{"diff stat", []string{"agent", "diff", "--stat", "calm-fox"}, three, 0},
		{"diff json", []string{"agent", "diff", "--json", "calm-fox"}, three, 0},
		{"diff none", []string{"agent", "diff", "brave-otter"}, three, 0},
		{"diff on terminal", []string{"agent", "diff", "calm-fox"}, func(b *bench) { three(b); b.outTTY = true }, 0},
		{"stop", []string{"agent", "stop", "brave-otter"}, three, 0},
		{"stop at rest", []string{"agent", "stop", "wise-owl"}, three, 0},
		{"stop asks", []string{"agent", "stop", "brave-otter"}, asks, 0},
		{"stop all", []string{"agent", "stop", "--all", "--now"}, three, 0},
		{"stop all json", []string{"agent", "stop", "--all", "--json"}, three, 0},
		{"stop all none", []string{"agent", "stop", "--all"}, nil, 0},
		{"stop nobody", []string{"agent", "stop"}, three, 2},
		{"stop both", []string{"agent", "stop", "--all", "brave-otter"}, three, 2},
		{"stop all fails", []string{"agent", "stop", "--all"}, func(b *bench) {
			three(b)
			b.fake.errs["Stop"] = cw.Errorf(cw.CodeFailed, "a process did not die")
		}, 1},
		{"attach at rest", []string{"agent", "attach", "calm-fox"}, three, 0},
		{"attach all", []string{"agent", "attach", "--all", "calm-fox"}, three, 0},
		{"attach unknown", []string{"agent", "attach", "no-one"}, three, 3},
		{"help", []string{"agent"}, nil, 0},
		{"unknown command", []string{"agent", "stpo"}, nil, 2},
	})
}

// TestAgentLogsRaw: every byte, and nothing else.
func TestAgentLogsRaw(t *testing.T) {
	t.Parallel()
	raw := [][]byte{{0, 0xff, 0x1b, '[', '2', 'J'}, []byte("line\r\n"), []byte("no end")}
	put := func(b *bench) {
		v := ended("calm-fox")
		b.fake.add(v, nil)
		for i, bytes := range raw {
			b.fake.chunks[v.ID] = append(b.fake.chunks[v.ID], cw.Chunk{
				ID: int64(i + 1), AgentID: v.ID, AgentName: v.Alias, SessionNumber: i/2 + 1, Bytes: bytes, CreatedAt: epoch,
			})
		}
	}
	for _, tc := range []struct {
		args []string
		want string
	}{
		{nil, string(slices.Concat(raw...))},
		{[]string{"--session", "1"}, string(slices.Concat(raw[:2]...))},
		{[]string{"--session", "2", "--follow"}, string(raw[2])},
	} {
		b := newBench(t)
		b.outTTY, b.errTTY = true, true // a terminal does not change it
		put(b)
		if text, code := b.session(t.Context(), append([]string{"agent", "logs", "--raw", "calm-fox"}, tc.args...)...); code != 0 {
			t.Fatal(text)
		}
		if got := b.stdout.String(); got != tc.want {
			t.Errorf("%q: got %q, want %q", tc.args, got, tc.want)
		}
	}
	b := newBench(t)
	put(b)
	text, _ := b.session(t.Context(), "agent", "logs", "--raw", "--json", "calm-fox")
	golden(t, "agent/logs raw json", text)
}

// TestAgentLogsJSON prints one value a line.
func TestAgentLogsJSON(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	three(b)
	text, _ := b.session(t.Context(), "agent", "logs", "--json", "calm-fox")
	golden(t, "agent/logs json", text)
	if got, want := strings.Count(b.stdout.String(), "\n"), len(words()); got != want {
		t.Errorf("%d lines, want %d", got, want)
	}
}

// TestAgentAttachFromNow asks only for what comes after the stored chunks, and
// reads no more than one event of those to know where they end.
func TestAgentAttachFromNow(t *testing.T) {
	t.Parallel()
	end := ended("brave-otter")
	for _, tc := range []struct {
		args []string
		run  int // of the agent; the chunks are of its first
		want cw.OutputQuery
	}{
		{nil, 1, cw.OutputQuery{Until: cw.UntilRest, AfterID: 6}},
		{nil, 2, cw.OutputQuery{Until: cw.UntilRest, AfterID: 6}},
		{[]string{"--all"}, 1, cw.OutputQuery{Until: cw.UntilRest}},
	} {
		b := newBench(t)
		agent := running("brave-otter")
		agent.SessionNumber = tc.run
		b.fake.add(agent, &end, words()...)
		b.fake.chunks[end.ID] = []cw.Chunk{{ID: 5, SessionNumber: 1}, {ID: 6, SessionNumber: 1}}
		text, code := b.session(t.Context(), append([]string{"agent", "attach", "brave-otter"}, tc.args...)...)
		if code != 0 {
			t.Fatal(text)
		}
		var pages []cw.OutputPageQuery
		if len(tc.args) == 0 {
			pages = append(pages, cw.OutputPageQuery{Limit: 1})
		}
		if diff := cmp.Diff(pages, b.fake.pages); diff != "" {
			t.Errorf("%q: pages differ (-want +got):\n%s", tc.args, diff)
		}
		if diff := cmp.Diff(tc.want, b.fake.queries[len(b.fake.queries)-1]); diff != "" {
			t.Errorf("%q: query differs (-want +got):\n%s", tc.args, diff)
		}
	}
}

// TestAgentStopAllStopsWorkersOnly names whom it stops.
func TestAgentStopAllStopsWorkersOnly(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	three(b)
	b.session(t.Context(), "agent", "stop", "--all", "--now")
	if diff := cmp.Diff([]string{"brave-otter now=true"}, b.fake.stops); diff != "" {
		t.Errorf("stopped (-want +got):\n%s", diff)
	}
}

// TestAgentSpawnPaths: what is a path is made absolute, a name is not.
func TestAgentSpawnPaths(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	three(b)
	b.session(t.Context(), "agent", "spawn", "--project", "site", "--project", "./b", "--project", ".", "do it")
	if diff := cmp.Diff([]string{"site", "/work/repo/b", "/work/repo"}, b.fake.spawns[0].Projects); diff != "" {
		t.Errorf("projects differ (-want +got):\n%s", diff)
	}
}

// TestCompleteAgents offers names, and never starts a daemon.
func TestCompleteAgents(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	three(b)
	b.execute(t.Context(), []string{"__complete", "agent", "show", ""})
	if got := b.stdout.String(); !strings.Contains(got, "calm-fox\tidle, make the tests") {
		t.Errorf("offered %q", got)
	}
	b = newBench(t)
	b.up = false
	b.execute(t.Context(), []string{"__complete", "agent", "show", ""})
	if b.started != 0 || strings.Contains(b.stdout.String(), "calm-fox") {
		t.Errorf("a completion started the daemon %d times, offered %q", b.started, b.stdout)
	}
}

// TestExplain: the code of an error survives whatever is around it.
func TestExplain(t *testing.T) {
	t.Parallel()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	refused := cw.Errorf(cw.CodeRefused, "no").WithHint("do this")
	for _, tc := range []struct {
		name string
		ctx  context.Context
		err  error
		done bool
		want cw.Error
	}{
		{"plain", t.Context(), errors.New("boom"), true, cw.Error{Code: cw.CodeInternal, Message: "boom"}},
		{"ours", t.Context(), refused, true, cw.Error{Code: cw.CodeRefused, Message: "no", Hint: "do this"}},
		{"wrapped", t.Context(), errors.Join(refused, errors.New("and that")), true, cw.Error{Code: cw.CodeRefused, Message: "no\nand that", Hint: "do this"}},
		{"usage", t.Context(), errors.New("unknown flag: --x"), false, cw.Error{Code: cw.CodeInvalid, Message: "unknown flag: --x", Hint: "cw --help lists the commands, cw COMMAND --help their flags"}},
		{"interrupted", over, cw.Errorf(cw.CodeInterrupted, "the call was given up").Because(context.Canceled), true, cw.Error{Code: cw.CodeInterrupted, Message: "interrupted"}},
		{"left", over, cw.Errorf(cw.CodeInterrupted, "you left"), true, cw.Error{Code: cw.CodeInterrupted, Message: "you left"}},
	} {
		if diff := cmp.Diff(tc.want, *explain(tc.ctx, tc.err, tc.done)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

// TestFit: however narrow the terminal, no line is wider, as long as name and
// status have room.
func TestFit(t *testing.T) {
	t.Parallel()
	header := []string{"NAME", "STATUS", "MODE", "PROVIDER", "PROJECT", "AGE", "GOAL"}
	row := []string{"brave-otter", "crashed (usage_limit)", "execute", "claude", "a-long-project,another", "3m00s", strings.Repeat("goal ", 10)}
	for width := 40; width <= 160; width++ {
		head, rows := fit(header, [][]string{slices.Clone(row)}, width)
		var b strings.Builder
		table(&b, "", head, rows)
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > width {
				t.Errorf("%d columns in %d: %s", n, width, line)
			}
		}
		if head[0] != "NAME" || head[1] != "STATUS" || head[len(head)-1] != "GOAL" {
			t.Errorf("width %d: %v", width, head)
		}
	}
	if head, _ := fit(header, [][]string{row}, 160); len(head) != len(header) {
		t.Errorf("a wide terminal lacks columns: %v", head)
	}
}

// TestSpawnWithoutAGoal: what an agent works for is passed on as it was named,
// and the daemon decides whether it says what is to be done.
func TestSpawnWithoutAGoal(t *testing.T) {
	t.Parallel()
	type asked struct {
		Goal       string
		Mode       cw.Mode
		Initiative cw.InitiativeID
		Phase      cw.PhaseID
		Task       cw.TaskID
	}
	for line, want := range map[string]asked{
		"--task hhhhhhhhhhhh":                        {Mode: cw.ModeExecute, Task: "hhhhhhhhhhhh"},
		"--mode discuss --initiative spring-sale":    {Mode: cw.ModeDiscuss, Initiative: "spring-sale"},
		"--mode detail --phase eeeeeeeeeeee":         {Mode: cw.ModeDetail, Phase: "eeeeeeeeeeee"},
		"--mode plan":                                {Mode: cw.ModePlan},
		"--mode plan --initiative spring-sale again": {Goal: "again", Mode: cw.ModePlan, Initiative: "spring-sale"},
	} {
		b := newBench(t)
		three(b)
		if code := b.execute(t.Context(), append([]string{"agent", "spawn"}, strings.Fields(line)...)); code != 0 {
			t.Fatalf("%s: exit %d: %s", line, code, b.stderr)
		}
		req := b.fake.spawns[0]
		if got := (asked{req.Goal, req.Mode, req.InitiativeID, req.PhaseID, req.TaskID}); got != want {
			t.Errorf("%s asks %+v, want %+v", line, got, want)
		}
	}
}
