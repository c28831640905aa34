package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

// dispatched puts tasks in that run, are next and wait, with names of agents that
// a terminal would obey.
func dispatched(b *bench) {
	plans(b)
	task := func(id cw.TaskID, name string, status cw.TaskStatus, change func(*cw.DispatchTask)) cw.DispatchTask {
		t := cw.DispatchTask{
			ID: id, Name: name, InitiativeID: "iiiiiiiiiiii", Initiative: "spring-sale", PhaseID: "eeeeeeeeeeee", Status: status,
			Priority: cw.PriorityMedium, Since: epoch.Add(-3 * time.Minute),
		}
		if change != nil {
			change(&t)
		}
		return t
	}
	waits := func(code cw.WaitCode, text, hint string) func(*cw.DispatchTask) {
		return func(t *cw.DispatchTask) { t.Wait = &cw.WaitReason{Code: code, Text: text, Hint: hint} }
	}
	at := epoch.Add(10 * time.Second)
	b.fake.dispatch = cw.DispatchStatus{
		State: cw.DispatchRunning, Limits: cw.DispatchLimits{Machine: 4, Provider: 2}, Pressure: "400 MiB of memory are free,\x1b[2J an agent needs 600 MiB",
		Running: []cw.DispatchTask{
			task("hhhhhhhhhhhh", "Lower a price for a time", cw.TaskRunning, func(t *cw.DispatchTask) {
				t.AgentID, t.Agent, t.AgentStatus, t.Priority = "aaaaaaaaaaaa", "brave-otter", cw.StatusRunning, cw.PriorityHigh
			}),
			task("llllllllllll", "Write\x1b[31m it down", cw.TaskRunning, func(t *cw.DispatchTask) {
				t.AgentID, t.Agent, t.AgentStatus, t.NoPaths = "bbbbbbbbbbbb", "calm-fox", cw.StatusWaitingForInput, true
			}),
			task("mmmmmmmmmmmm", "Round it", cw.TaskVerifying, func(t *cw.DispatchTask) {
				t.AgentID, t.Agent, t.AgentStatus = "cccccccccccc", "wise-owl", cw.StatusIdle
			}),
		},
		Ready: []cw.DispatchTask{task("kkkkkkkkkkkk", "Show it", cw.TaskReady, nil)},
		Waiting: []cw.DispatchTask{
			task("jjjjjjjjjjjj", "Choose the colour", cw.TaskReady, waits(cw.WaitPerson, "you decide: which colour?", "cw task done jjjjjjjjjjjj")),
			task("nnnnnnnnnnnn", "Paint it", cw.TaskPending, waits(cw.WaitDependency, "Choose\x1b]0;x\a the colour comes before", "")),
			task("oooooooooooo", "Sell it", cw.TaskPending, func(t *cw.DispatchTask) {
				waits(cw.WaitRetry, "it crashed (no_signal), try 2 of 2", "")(t)
				t.Wait.Until = &at
			}),
			task("pppppppppppp", "Count it", cw.TaskBlocked, waits(cw.WaitBlocked, "a check failed twice: go test ./...", "cw dispatch retry pppppppppppp")),
		},
		Merges:  merging()[1:],
		Landing: []cw.InitiativeRef{{ID: "oooooooooooo", Slug: "autumn"}},
	}
}

// merging are merges in every state.
func merging() []cw.Merge {
	merge := func(task cw.TaskID, status cw.MergeStatus, minutes int, change func(*cw.Merge)) cw.Merge {
		m := cw.Merge{
			ID: cw.MergeID("m" + task[1:]), InitiativeID: "iiiiiiiiiiii", TaskID: task, AgentID: "aaaaaaaaaaaa", Status: status,
			Parts:    []cw.MergePart{{ProjectID: "pppppppppppp", Project: "shop", Head: "1111111111111111111111111111111111111111"}},
			QueuedAt: epoch.Add(-time.Duration(minutes) * time.Minute), UpdatedAt: epoch,
		}
		if change != nil {
			change(&m)
		}
		return m
	}
	return []cw.Merge{
		merge("hhhhhhhhhhhh", cw.MergeMerged, 40, func(m *cw.Merge) {
			m.Parts[0].Commit, m.Parts[0].Applied, m.Evidence = "2222222222222222222222222222222222222222", true, "an old failure"
		}),
		merge("mmmmmmmmmmmm", cw.MergeQueued, 30, func(m *cw.Merge) { m.Verify, m.Wait = true, "a person looks at the result" }),
		merge("kkkkkkkkkkkk", cw.MergeRed, 20, func(m *cw.Merge) {
			m.Reds, m.Conflicts, m.Evidence = 2, 1, "--- FAIL: TestPrice\x1b[2J\n    price.go:7: 99\n"
		}),
		merge("jjjjjjjjjjjj", cw.MergeQueued, 10, func(m *cw.Merge) { m.Wait = "cw.yaml is not trusted: cw project trust shop" }),
	}
}

func TestDispatch(t *testing.T) {
	t.Parallel()
	narrow := func(b *bench) {
		dispatched(b)
		b.outTTY, b.width = true, func() int { return 50 }
	}
	plan := func(b *bench) {
		dispatched(b)
		b.fake.dispatchPlan = cw.DispatchPlan{
			Initiative: cw.InitiativeRef{ID: "iiiiiiiiiiii", Slug: "spring-sale"}, Estimate: "measured in this initiative",
			Steps: []cw.DispatchStep{
				{DispatchTask: b.fake.dispatch.Ready[0], Start: epoch, Finish: epoch.Add(20 * time.Minute)},
				{DispatchTask: b.fake.dispatch.Running[1], Start: epoch.Add(20 * time.Minute), Finish: epoch.Add(50 * time.Minute)},
			},
			Waiting: b.fake.dispatch.Waiting[3:],
		}
	}
	whole := func(b *bench) {
		plan(b)
		at := epoch.Add(50 * time.Minute)
		b.fake.dispatchPlan.Waiting, b.fake.dispatchPlan.Finish = []cw.DispatchTask{}, &at
	}
	sessions(t, "dispatch", []sessionCase{
		{"status", []string{"dispatch", "status"}, dispatched, 0},
		{"status of one", []string{"dispatch", "status", "spring-sale"}, dispatched, 0},
		{"status json", []string{"dispatch", "status", "--json"}, dispatched, 0},
		{"status narrow", []string{"dispatch", "status"}, narrow, 0},
		{"status empty", []string{"dispatch", "status"}, func(b *bench) {
			b.fake.dispatch = cw.DispatchStatus{State: cw.DispatchDraining, Limits: cw.DispatchLimits{Machine: 1}}
		}, 0},
		{"status mistyped", []string{"dispatch", "status", "sprng-sale"}, dispatched, 3},
		{"status of two", []string{"dispatch", "status", "a", "b"}, nil, 2},
		{"plan", []string{"dispatch", "plan", "spring-sale"}, plan, 0},
		{"plan whole", []string{"dispatch", "plan", "spring-sale"}, whole, 0},
		{"plan narrow", []string{"dispatch", "plan", "spring-sale"}, func(b *bench) {
			plan(b)
			b.outTTY, b.width = true, func() int { return 40 }
		}, 0},
		{"plan json", []string{"dispatch", "plan", "spring-sale", "--json"}, plan, 0},
		{"plan empty", []string{"dispatch", "plan", "autumn"}, func(b *bench) {
			plans(b)
			b.fake.dispatchPlan = cw.DispatchPlan{Initiative: cw.InitiativeRef{ID: "oooooooooooo", Slug: "autumn"}}
		}, 0},
		{"plan nothing", []string{"dispatch", "plan"}, nil, 2},
		{"plan unknown", []string{"dispatch", "plan", "nothing-like-it"}, plans, 3},
		{"pause", []string{"dispatch", "pause"}, dispatched, 0},
		{"resume", []string{"dispatch", "resume"}, dispatched, 0},
		{"drain json", []string{"dispatch", "drain", "--json"}, dispatched, 0},
		{"pause one", []string{"dispatch", "pause", "spring-sale"}, nil, 2},
		{"retry", []string{"dispatch", "retry", "hhhhhhhhhhhh"}, plans, 0},
		{"retry json", []string{"dispatch", "retry", "hhhhhhhhhhhh", "kkkkkkkkkkkk", "--json"}, plans, 0},
		{"retry refused", []string{"dispatch", "retry", "hhhhhhhhhhhh"}, func(b *bench) {
			plans(b)
			b.fake.errs["RetryTask"] = cw.Errorf(cw.CodeRefused, "the task hhhhhhhhhhhh is done, not blocked")
		}, 4},
		{"retry mistyped", []string{"dispatch", "retry", "hhhhhhhhhhhhh"}, plans, 3},
		{"retry nothing", []string{"dispatch", "retry"}, nil, 2},
		{"no such command", []string{"dispatch", "stop"}, nil, 2},
	})
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	sessions(t, "verdict", []sessionCase{
		{"done with a comment", []string{"task", "done", "jjjjjjjjjjjj", "--comment", "blue"}, plans, 0},
		{"done with a comment that nobody reads", []string{"task", "done", "kkkkkkkkkkkk", "--comment", "blue"}, plans, 4},
		{"undo with a comment", []string{"task", "done", "jjjjjjjjjjjj", "--undo", "--comment", "blue"}, plans, 2},
		{"done too early", []string{"task", "done", "jjjjjjjjjjjj"}, func(b *bench) {
			plans(b)
			b.fake.errs["DecideTask"] = cw.Errorf(cw.CodeRefused, "the checks of the task jjjjjjjjjjjj still run").WithHint("cw dispatch status")
		}, 4},
		{"cancel with a comment", []string{"task", "cancel", "jjjjjjjjjjjj", "--comment", "blue"}, plans, 2},
		{"reject", []string{"task", "reject", "jjjjjjjjjjjj", "--comment", "-"}, stdin("not\nblue\n", plans), 0},
		{"reject json", []string{"task", "reject", "jjjjjjjjjjjj", "--comment", "not blue", "--json"}, plans, 0},
		{"reject without a word", []string{"task", "reject", "jjjjjjjjjjjj"}, plans, 2},
		{"reject with blanks", []string{"task", "reject", "jjjjjjjjjjjj", "--comment", " "}, plans, 2},
		{"reject too long", []string{"task", "reject", "jjjjjjjjjjjj", "--comment", "-"}, stdin(string(make([]byte, cw.VerdictMax+1)), plans), 2},
		{"reject two", []string{"task", "reject", "a", "b", "--comment", "x"}, plans, 2},
		{"reject mistyped", []string{"task", "reject", "jjjjjjjjjjjjj", "--comment", "x"}, plans, 3},
	})
}

// TestVerdictsAreSent: what a person says of a checkpoint arrives whole, and any
// other task is closed as it was before.
func TestVerdictsAreSent(t *testing.T) {
	t.Parallel()
	done := cw.TaskDone
	for _, tc := range []struct {
		args     []string
		change   func(*cw.Task) // of the checkpoint
		verdicts []any
		edits    []any
	}{
		{[]string{"task", "done", "jjjjjjjjjjjj"}, nil, []any{cw.TaskVerdict{Accept: true}}, nil},
		{[]string{"task", "done", "jjjjjjjjjjjj", "--comment", "blue\nor so"}, nil, []any{cw.TaskVerdict{Accept: true, Comment: "blue\nor so"}}, nil},
		{[]string{"task", "reject", "jjjjjjjjjjjj", "--comment", "not blue"}, nil, []any{cw.TaskVerdict{Comment: "not blue"}}, nil},
		{[]string{"task", "done", "jjjjjjjjjjjj", "--answer", "why=so", "--answer", "sizes=S", "--answer", "sizes=M"}, func(t *cw.Task) {
			t.Questions = []cw.TaskQuestion{{ID: "why", Text: "Why?"}, {ID: "sizes", Text: "Which?", Options: []cw.QuestionOption{{Label: "S"}, {Label: "M"}}, MultiSelect: true}}
		}, []any{cw.TaskVerdict{Accept: true, Answers: map[string]string{"why": "so", "sizes": `["S","M"]`}}}, nil},
		{[]string{"task", "done", "jjjjjjjjjjjj"}, func(t *cw.Task) { t.Status = cw.TaskPending }, nil, []any{cw.TaskEdit{Status: &done}}},
		{[]string{"task", "done", "jjjjjjjjjjjj"}, func(t *cw.Task) { t.Type, t.Status = cw.TaskCheckpointVerify, cw.TaskVerifying }, []any{cw.TaskVerdict{Accept: true}}, nil},
		{[]string{"task", "done", "jjjjjjjjjjjj"}, func(t *cw.Task) { t.Type, t.Status = cw.TaskAuto, cw.TaskVerifying }, nil, []any{cw.TaskEdit{Status: &done}}},
	} {
		b := newBench(t)
		plans(b)
		if tc.change != nil {
			tc.change(&b.fake.initiatives[0].Tasks[1])
		}
		text, code := b.session(t.Context(), tc.args...)
		if diff := cmp.Diff([][]any{tc.verdicts, tc.edits}, [][]any{b.fake.asksDispatch, b.fake.asksPlans}); diff != "" || code != 0 {
			t.Errorf("exit code %d, asked for (-want +got):\n%s\n%s", code, diff, text)
		}
	}
}

// asking puts questions into a decision that is reached.
func asking(b *bench) {
	plans(b)
	t := &b.fake.initiatives[0].Tasks[1]
	t.Type, t.Status, t.Questions = cw.TaskCheckpointDecide, cw.TaskReady, []cw.TaskQuestion{
		{ID: "colour", Header: "Colour", Text: "Which colour\x1b[2J?", Options: []cw.QuestionOption{{Label: "dark blue", Description: "as the logo"}, {Label: "red"}}},
		{ID: "sizes", Text: "Which sizes?\nAt most two.", Options: []cw.QuestionOption{{Label: "S"}, {Label: "M"}}, MultiSelect: true},
		{ID: "why", Text: "Why?"},
	}
}

func TestDecisions(t *testing.T) {
	t.Parallel()
	answered := func(b *bench) {
		asking(b)
		t := &b.fake.initiatives[0].Tasks[1]
		t.Status = cw.TaskDone
		for i, answer := range []string{"red", `["S","M"]`, "so\nor so\x1b[2J"} {
			t.Questions[i].Answer = answer
		}
	}
	done := func(args ...string) []string { return append([]string{"task", "done", "jjjjjjjjjjjj"}, args...) }
	create := func(args ...string) []string {
		return append([]string{"task", "create", "--phase", "eeeeeeeeeeee", "Choose", "--type", "checkpoint:decision"}, args...)
	}
	questions := create("--questions", "-")
	sessions(t, "decision", []sessionCase{
		{"show", []string{"task", "show", "jjjjjjjjjjjj"}, asking, 0},
		{"show answered", []string{"task", "show", "jjjjjjjjjjjj"}, answered, 0},
		{"show json", []string{"task", "show", "jjjjjjjjjjjj", "--json"}, answered, 0},
		{"done", done("--answer", "colour=red", "--answer", "sizes=S", "--answer", "sizes=M", "--answer", "why=a=b", "--comment", "for now"), asking, 0},
		{"done by a file", done("--answers", "-", "--json"), stdin(`{"colour": "neither", "sizes": ["M"], "why": "so"}`, asking), 0},
		{"done by both", done("--answers", "-", "--answer", "why=so"), stdin(`{"colour": "red", "sizes": "S"}`, asking), 0},
		{"done unanswered", done(), asking, 2},
		{"done half", done("--answer", "sizes=S"), asking, 2},
		{"done not asked", done("--answer", "color=red", "--answer", "sizes=S", "--answer", "why=so"), asking, 2},
		{"done two of one", done("--answer", "colour=red", "--answer", "colour=dark blue"), asking, 2},
		{"done wrong label", done("--answer", "sizes=S", "--answer", "sizes=L"), asking, 2},
		{"done twice", done("--answers", "-", "--answer", "why=so"), stdin(`{"why": "so"}`, asking), 2},
		{"done nameless", done("--answer", "=red"), asking, 2},
		{"done without =", done("--answer", "red"), asking, 2},
		{"done no UTF-8", done("--answer", "why=\xff"), asking, 2},
		{"done no JSON", done("--answers", "-"), stdin(`["red"]`, asking), 2},
		{"done two tasks", append(done("--answer", "why=so"), "kkkkkkkkkkkk"), asking, 2},
		{"done all of stdin", done("--answers", "-", "--comment", "-"), asking, 2},
		{"done undo", done("--undo", "--answer", "why=so"), asking, 2},
		{"done too early", done("--answer", "why=so"), func(b *bench) { asking(b); b.fake.initiatives[0].Tasks[1].Status = cw.TaskPending }, 4},
		{"done on a terminal", done("--answer", "why=so"), func(b *bench) { stdin("3\n1\n1,2\n", asking)(b); b.inTTY, b.errTTY = true, true }, 0},
		{"left on a terminal", done(), func(b *bench) { stdin("2\n", asking)(b); b.inTTY, b.errTTY = true, true }, 7},
		{"create", questions, stdin(`["Why?", {"id": "colour", "header": "Colour", "question": "Which?", "options": ["blue", {"label": "red", "description": "as the logo"}], "multiSelect": true}]`, plans), 0},
		{"create no JSON", questions, stdin(`{"question": "Why?"}`, plans), 2},
		{"create null", questions, stdin(`null`, plans), 2},
		{"create nothing", questions, stdin(``, plans), 2},
		{"create empty", questions, stdin(`[]`, plans), 2},
		{"create more", questions, stdin(`["Why?"] ["What?"]`, plans), 2},
		{"create with a slip", questions, stdin(`["Why?", {"question": "Which?", "multiselct": true}]`, plans), 2},
		{"create no option", questions, stdin(`[{"question": "Which?", "options": ["a", 3]}]`, plans), 2},
		{"create no UTF-8", questions, stdin("[\"\xff\"]", plans), 2},
		{"create no file", create("--questions", "/nowhere/questions.json"), plans, 2},
		{"create all of stdin", create("--questions", "-", "--body", "-"), plans, 2},
		{"edit", []string{"task", "edit", "jjjjjjjjjjjj", "--questions", "-"}, stdin(`["Why?"]`, asking), 0},
		{"edit away", []string{"task", "edit", "jjjjjjjjjjjj", "--no-questions"}, asking, 0},
		{"edit both", []string{"task", "edit", "jjjjjjjjjjjj", "--no-questions", "--questions", "-"}, asking, 2},
	})
}

// TestQuestionsAreSent: what a decision is to ask arrives whole.
func TestQuestionsAreSent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	plans(b)
	stdin(`["Why?", {"id": "colour", "header": "Colour", "question": "Which?", "options": ["blue", {"label": "red", "description": "as the logo"}], "multiSelect": true}]`)(b)
	text, code := b.session(t.Context(), "task", "edit", "jjjjjjjjjjjj", "--questions", "-")
	want := []any{cw.TaskEdit{Questions: &[]cw.TaskQuestion{
		{Text: "Why?"},
		{ID: "colour", Header: "Colour", Text: "Which?", Options: []cw.QuestionOption{{Label: "blue"}, {Label: "red", Description: "as the logo"}}, MultiSelect: true},
	}}}
	if diff := cmp.Diff(want, b.fake.asksPlans); diff != "" || code != 0 {
		t.Errorf("exit code %d, asked for (-want +got):\n%s\n%s", code, diff, text)
	}
}

func TestDiffs(t *testing.T) {
	t.Parallel()
	diffs := func(b *bench) {
		plans(b)
		b.fake.projects = []cw.Project{{ID: "pppppppppppp", Name: "shop", Path: "/work/repo/shop"}}
		d := cw.Diff{
			Project: "shop", Branch: "agent/brave-otter", BaseCommit: "1111111111111111111111111111111111111111", HeadCommit: "2222222222222222222222222222222222222222",
			Stat: cw.Stat{Files: 1, Additions: 2, Deletions: 1}, Commits: []cw.Commit{{ID: "2222222222222222222222222222222222222222", Subject: "Lower\x1b[2J it", Author: "A <a@b.c>", At: epoch}},
			Patch: "diff --git a/price b/price\n+\x1b[31m1\n", Uncommitted: []string{}, Files: []cw.FileChange{{Path: "price", Additions: 2, Deletions: 1}},
		}
		b.fake.diffs["hhhhhhhhhhhh"] = d
		d.Branch = "cw/spring-sale"
		b.fake.diffs["spring-sale"] = d
	}
	untouched := func(method string) func(*bench) {
		return func(b *bench) {
			plans(b)
			b.fake.errs[method] = cw.Errorf(cw.CodeRefused, "nobody worked on it yet").WithHint("cw dispatch status")
		}
	}
	sessions(t, "diff", []sessionCase{
		{"task", []string{"task", "diff", "hhhhhhhhhhhh"}, diffs, 0},
		{"task stat", []string{"task", "diff", "hhhhhhhhhhhh", "--stat", "--project", "shop"}, diffs, 0},
		{"task json", []string{"task", "diff", "hhhhhhhhhhhh", "--json"}, diffs, 0},
		{"task on terminal", []string{"task", "diff", "hhhhhhhhhhhh"}, func(b *bench) { diffs(b); b.outTTY = true }, 0},
		{"task of paths", []string{"task", "diff", "hhhhhhhhhhhh", "price", "--against", "head", "--", "-x", ":(glob)**"}, diffs, 0},
		{"task of nothing", []string{"task", "diff", "hhhhhhhhhhhh", "pirce"}, func(b *bench) {
			diffs(b)
			b.fake.errs["TaskDiff"] = cw.Errorf(cw.CodeNotFound, "nothing is called \"pirce\" in what is compared").WithHint("did you mean \"price\"?")
		}, 3},
		{"task of what did not change", []string{"task", "diff", "hhhhhhhhhhhh", "a\x1b[2J b", "c"}, func(b *bench) {
			diffs(b)
			d := b.fake.diffs["hhhhhhhhhhhh"]
			d.Patch, d.Files = "", nil
			b.fake.diffs["hhhhhhhhhhhh"] = d
		}, 0},
		{"task of a hyphen", []string{"task", "diff", "hhhhhhhhhhhh", "-x"}, diffs, 2},
		{"task of a path outside", []string{"task", "diff", "hhhhhhhhhhhh", "../x"}, diffs, 2},
		{"task of an empty path", []string{"task", "diff", "hhhhhhhhhhhh", ""}, diffs, 2},
		{"task against nothing", []string{"task", "diff", "hhhhhhhhhhhh", "--against", "haed"}, diffs, 2},
		{"task of none", []string{"task", "diff"}, diffs, 2},
		{"task untouched", []string{"task", "diff", "kkkkkkkkkkkk"}, untouched("TaskDiff"), 4},
		{"task mistyped", []string{"task", "diff", "hhhhhhhhhhhhh"}, diffs, 3},
		{"initiative", []string{"initiative", "diff", "spring-sale"}, diffs, 0},
		{"initiative stat", []string{"initiative", "diff", "spring-sale", "--stat"}, diffs, 0},
		{"initiative unmerged", []string{"initiative", "diff", "spring-sale"}, untouched("InitiativeDiff"), 4},
		{"initiative mistyped", []string{"initiative", "diff", "sprng-sale"}, diffs, 3},
	})
}

// TestDiffsAreAsked: paths and sides arrive as they were typed, for all that has a
// difference.
func TestDiffsAreAsked(t *testing.T) {
	t.Parallel()
	want := cw.DiffRequest{Stat: true, Against: cw.AgainstHead, Paths: []string{"a b", "caf\xe9", "-x", "--stat", ":(glob)**"}}
	for _, of := range [][]string{{"task", "diff", "hhhhhhhhhhhh"}, {"initiative", "diff", "spring-sale"}, {"agent", "diff", "calm-fox"}} {
		b := newBench(t)
		plans(b)
		three(b)
		text, code := b.session(t.Context(), append(of, "--against", "head", "--stat", "a b", "caf\xe9", "--", "-x", "--stat", ":(glob)**")...)
		if diff := cmp.Diff([]any{want}, b.fake.asksDispatch); diff != "" || code != 0 {
			t.Errorf("%v: exit code %d, asked for (-want +got):\n%s\n%s", of, code, diff, text)
		}
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	landed := func(b *bench) {
		plans(b)
		b.fake.projects = []cw.Project{{ID: "pppppppppppp", Name: "shop", Path: "/work/repo/shop"}}
		b.fake.landed = []cw.Landing{
			{
				ProjectID: "pppppppppppp", Project: "shop", Branch: "cw/spring-sale", Head: "2222222222222222222222222222222222222222", Into: "main", How: "checked-out",
				Before: "1111111111111111111111111111111111111111", After: "2222222222222222222222222222222222222222", Commits: 5,
				Stat: cw.Stat{Files: 3, Additions: 40, Deletions: 2}, Checkout: "/work/shop\x1b[2J",
			},
			{
				ProjectID: "qqqqqqqqqqqq", Project: "docs", Branch: "cw/spring-sale", Head: "3333333333333333333333333333333333333333", Into: "main", How: "up-to-date",
				Before: "3333333333333333333333333333333333333333", After: "3333333333333333333333333333333333333333",
			},
			{
				ProjectID: "rrrrrrrrrrrr", Project: "site", Branch: "cw/spring-sale", Head: "4444444444444444444444444444444444444444", Into: "main", How: "fast-forward",
				Before: "1111111111111111111111111111111111111111", After: "4444444444444444444444444444444444444444", Commits: 1, Note: "nothing was pushed",
			},
		}
	}
	list := func(b *bench) {
		plans(b)
		b.fake.merges = merging()
		b.fake.branches = []cw.Integration{
			{Project: "shop", Branch: "cw/spring-sale", Head: "2222222222222222222222222222222222222222", Landed: "1111111111111111111111111111111111111111", LandedOn: "main"},
			{Project: "docs", Branch: "cw/spring-sale", Head: "3333333333333333333333333333333333333333", Landed: "3333333333333333333333333333333333333333", LandedOn: "main"},
			{Project: "app", Branch: "cw/spring-sale", Head: "4444444444444444444444444444444444444444"},
		}
	}
	sessions(t, "merge", []sessionCase{
		{"landed", []string{"merge", "spring-sale"}, landed, 0},
		{"dry run", []string{"merge", "spring-sale", "--dry-run"}, landed, 0},
		{"json", []string{"merge", "spring-sale", "--json"}, landed, 0},
		{"nothing json", []string{"merge", "spring-sale", "--json"}, plans, 0},
		{"dirty", []string{"merge", "spring-sale"}, func(b *bench) {
			plans(b)
			b.fake.errs["Land"] = cw.Errorf(cw.CodeRefused, "main is checked out in /work/shop with 2 changed files").WithHint("commit or stash them, then cw merge spring-sale")
		}, 4},
		{"mistyped", []string{"merge", "sprng-sale"}, landed, 3},
		{"no such project", []string{"merge", "spring-sale", "--project", "shp"}, landed, 3},
		{"of nothing", []string{"merge"}, nil, 2},
		{"into nothing", []string{"merge", "spring-sale", "--into", ""}, landed, 2},
		{"two", []string{"merge", "a", "b"}, nil, 2},
		{"list", []string{"merge", "list", "spring-sale"}, list, 0},
		{"list on terminal", []string{"merge", "ls", "spring-sale"}, func(b *bench) {
			list(b)
			b.outTTY, b.width = true, func() int { return 60 }
		}, 0},
		{"list json", []string{"merge", "list", "spring-sale", "--json"}, list, 0},
		{"list empty", []string{"merge", "list", "spring-sale"}, plans, 0},
		{"list empty json", []string{"merge", "list", "spring-sale", "--json"}, plans, 0},
		{"list mistyped", []string{"merge", "list", "sprng-sale"}, list, 3},
		{"list nothing", []string{"merge", "list"}, nil, 2},
	})
	b := newBench(t)
	landed(b)
	args := []string{"merge", "spring-sale", "--into", "release", "--project", "./shop", "--dry-run", "--unfinished"}
	if text, code := b.session(t.Context(), args...); code != 0 {
		t.Error(text)
	}
	want := []any{cw.LandRequest{Into: "release", Project: "shop", DryRun: true, Unfinished: true}}
	if diff := cmp.Diff(want, b.fake.asksDispatch); diff != "" {
		t.Errorf("asked for (-want +got):\n%s", diff)
	}
}

// TestDoneSaysWhoGoesOn: a task that is closed while its agent works says so, as
// nobody stops the agent.
func TestDoneSaysWhoGoesOn(t *testing.T) {
	t.Parallel()
	for _, works := range []bool{true, false} {
		b := newBench(t)
		plans(b)
		view := ended("brave-otter")
		if works {
			view = running("brave-otter")
		}
		task := &b.fake.initiatives[0].Tasks[1]
		task.Type, task.Status, task.AgentID = cw.TaskAuto, cw.TaskRunning, view.ID
		view.TaskID = task.ID
		b.fake.add(view, nil)
		text, code := b.session(t.Context(), "task", "done", "jjjjjjjjjjjj")
		if code != 0 || strings.Contains(text, "cw agent stop brave-otter") != works {
			t.Errorf("it works: %v\n%s", works, text)
		}
	}
}
