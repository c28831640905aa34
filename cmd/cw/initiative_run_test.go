package main

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

// architect is an agent of a walk as it ends.
func architect(name string, change func(*cw.AgentView)) cw.AgentView {
	v := running(name)
	if name == "keen-wren" {
		v.ID = "dddddddddddd"
	}
	v.Status, v.PID = cw.StatusIdle, 0
	v.Result = "I read prices/rule.go.\nMore is in SUMMARY.md."
	v.CostUSD = 0.25
	if change != nil {
		change(&v)
	}
	return v
}

// asks lets an agent end with questions.
func asks(v *cw.AgentView) {
	v.Status, v.Result, v.PendingQuestions = cw.StatusWaitingForInput, "", asked()[:2]
	for i := range v.PendingQuestions {
		v.PendingQuestions[i].AgentID = v.ID
	}
}

// suggests is a proposal of an agent of the tests.
func suggests(id string, agent cw.AgentView, target cw.ProposalTarget, title string) cw.ProposalView {
	return suggested(id, func(v *cw.ProposalView) {
		v.AgentID, v.Agent, v.Target, v.Title, v.Action, v.BaseRevision = agent.ID, agent.Alias, target, title, cw.ActionCreate, 0
		v.TargetID = id[:11] + "2"
		v.File = string(target) + "s/" + v.TargetID + ".md"
		v.Diff = "--- now\n+++ suggested\n@@ -0,0 +1,2 @@\n+# " + title + "\n+" + strings.Repeat("And so on.\n+", 20) + "The end.\n"
	})
}

// goal puts an initiative in of which nothing is done yet, and four agents: the
// first suggests a page and a decision, the second nothing, the third a phase,
// and the last a task of it.
func goal(b *bench) {
	plans(b)
	v := &b.fake.initiatives[0]
	v.Phases, v.Tasks, v.Pages, v.OpenProposals = nil, nil, v.Pages[:1], 0
	otter, fox, owl, wren := architect("brave-otter", nil), architect("calm-fox", nil), architect("wise-owl", nil), architect("keen-wren", nil)
	b.fake.cast = []cw.AgentView{otter, fox, owl, wren}
	b.fake.proposals = []cw.ProposalView{
		suggests("rrrrrrrrrrrr", otter, cw.TargetPage, "How prices\x1b[2J are rounded"), suggests("ssssssssssss", otter, cw.TargetDecision, "Half up"),
		suggests("uuuuuuuuuuuu", owl, cw.TargetPhase, "Price rules"), suggests("vvvvvvvvvvvv", wren, cw.TargetTask, "Lower a price"),
	}
}

// cast changes one of the four.
func cast(i int, change func(*cw.AgentView)) func(*bench) {
	return func(b *bench) {
		goal(b)
		change(&b.fake.cast[i])
	}
}

// types is a goal with a person at a terminal.
func types(lines string, setups ...func(*bench)) func(*bench) {
	return func(b *bench) {
		goal(b)
		for _, setup := range setups {
			setup(b)
		}
		terminal(b, lines)
	}
}

// was puts an agent of the cast in that worked in a step before.
func was(step cw.Mode, change func(*cw.AgentView)) func(*bench) {
	return func(b *bench) {
		v := b.fake.enter(cw.SpawnRequest{Mode: step, InitiativeID: "iiiiiiiiiiii"})
		end := b.fake.ends[v.ID]
		if change != nil {
			change(&end)
		}
		b.fake.agents[len(b.fake.agents)-1] = end
	}
}

// steps are setups one after the other.
func steps(setups ...func(*bench)) func(*bench) {
	return func(b *bench) {
		for _, setup := range setups {
			setup(b)
		}
	}
}

// ruled lets a proposal be decided on.
func ruled(i int, to cw.ProposalStatus) func(*bench) {
	return func(b *bench) { b.fake.proposals[i].Status = to }
}

func TestInitiativeRun(t *testing.T) {
	t.Parallel()
	walk := []string{"initiative", "run", "spring-sale"}
	with := func(words ...string) []string { return append(slices.Clone(walk), words...) }
	crashed := func(v *cw.AgentView) {
		v.Status, v.Reason, v.Error, v.Result = cw.StatusCrashed, cw.ReasonNoSignal, "it wrote no signal", ""
	}
	changed := func(b *bench) {
		b.fake.errs["AcceptProposals"] = cw.Errorf(cw.CodeRefused, "the page changed since it was suggested: rrrrrrrrrrrr").WithHint("look at it: cw proposal diff rrrrrrrrrrrr")
		b.fake.failures["AcceptProposals"] = 1
		b.fake.proposals[0].Changed = true
	}
	twoPhases := func(b *bench) {
		goal(b)
		b.fake.initiatives[0].Phases = []cw.Phase{
			{ID: "eeeeeeeeeeee", Name: "Price rules", Status: cw.PhaseApproved}, {ID: "ffffffffffff", Name: "Shop window", Status: cw.PhaseApproved},
			{ID: "gggggggggggg", Name: "Later", Status: cw.PhaseDraft},
		}
		b.fake.initiatives[0].Tasks = []cw.Task{{ID: "hhhhhhhhhhhh", PhaseID: "gggggggggggg", Name: "Sweep up", Type: cw.TaskAuto, Status: cw.TaskDraft}}
		b.fake.proposals = nil
	}
	sessions(t, "walk", []sessionCase{
		{"yes", with("--yes"), goal, 0},
		{"yes json", with("--yes", "--json"), goal, 0},
		{"until", with("--yes", "--until", "refine"), goal, 0},
		{"no terminal", walk, goal, 7},
		{"no terminal json", with("--json"), goal, 7},
		{"goes on with the same agents", with("--provider", "script", "--script", "./my agent.sh", "--project", "shop", "--parallel", "3", "--from", "discuss"), goal, 7},
		{"questions", with("--yes"), cast(0, asks), 7},
		{"questions json", with("--json"), cast(0, asks), 7},
		{"crashed", with("--yes"), cast(0, crashed), 1},
		{"stopped json", with("--json", "--yes"), cast(0, func(v *cw.AgentView) { v.Status, v.Reason = cw.StatusStopped, cw.ReasonUser }), 1},
		{"crashed before", with("--yes"), steps(goal, was(cw.ModeDiscuss, crashed)), 1},
		{"crashed before anew", with("--yes", "--from", "discuss", "--until", "discuss"), steps(goal, was(cw.ModeDiscuss, crashed)), 0},
		{"side by side", with("--from", "detail", "--yes"), twoPhases, 0},
		{"one crashes beside another", with("--from", "detail", "--yes"), steps(twoPhases, func(b *bench) { crashed(&b.fake.cast[1]) }), 1},
		{"changed since", with("--yes"), steps(goal, changed), 4},
		{"goes on", with("--yes"), steps(goal, was(cw.ModeDiscuss, nil), ruled(0, cw.ProposalDismissed), was(cw.ModeRefine, func(v *cw.AgentView) { v.Status = cw.StatusRunning })), 0},
		{"goes on at a decision", with("--yes", "--until", "discuss"), steps(goal, was(cw.ModeDiscuss, nil)), 0},
		{"nothing left", with("--until", "discuss"), steps(goal, was(cw.ModeDiscuss, nil), ruled(0, cw.ProposalAccepted), ruled(1, cw.ProposalDismissed)), 0},
		{"parked", with("--no-wait-parked"), cast(0, func(v *cw.AgentView) {
			at := epoch.Add(time.Hour)
			v.Status, v.RetryAt = cw.StatusParked, &at
		}), 6},
		{"not installed", walk, func(b *bench) {
			goal(b)
			b.fake.errs["Spawn"] = cw.Errorf(cw.CodeNotFound, "claude is not installed").WithHint("install it")
		}, 3},
		{"archived", []string{"initiative", "run", "autumn"}, plans, 4},
		{"mistyped", []string{"initiative", "run", "sprng-sale"}, plans, 3},
		{"no step", with("--until", "detial"), goal, 2},
		{"no step at all", with("--from", "dispatch"), goal, 2},
		{"backwards", with("--from", "plan", "--until", "refine"), goal, 2},
		{"nobody", with("--parallel", "0"), goal, 2},
		{"no answers", with("--answers", "-"), stdin("[]", goal), 2},
		{"accepted", walk, types("x\na\na\na\n"), 0},
		{"shown", with("--until", "discuss"), types("s\nq\n"), 7},
		{"one by one", with("--until", "discuss"), types("c\ns\na\nd\nit was never asked\n"), 0},
		{"one by one left", with("--until", "discuss"), types("c\na\nq\n"), 7},
		{"left at a decision", with("--until", "discuss"), types(""), 7},
		{"refused on a terminal", with("--until", "discuss"), types("a\nc\nd\n\na\n", changed), 0},
		{"questions on a terminal", with("--yes", "--until", "discuss"), types("1\n2\n", func(b *bench) {
			b.fake.after["aaaaaaaaaaaa"] = architect("brave-otter", nil)
			asks(&b.fake.cast[0])
		}), 0},
		{"left at a question", with("--yes", "--until", "discuss"), types("1\n", func(b *bench) { asks(&b.fake.cast[0]) }), 7},
	})
}

// TestInitiativeRunAnswers: answers from a file, each of them once.
func TestInitiativeRunAnswers(t *testing.T) {
	t.Parallel()
	want := cw.AnswersRequest{Answers: map[cw.QuestionID]string{"qqqqqqqqqqqq": "The old one", "rrrrrrrrrrrr": `["macOS"]`}}
	for _, tc := range []struct {
		name, file string
		again      bool // the agent asks the same questions once more
		code       int
		want       []cw.AnswersRequest
	}{
		{"all", `{"1": "The old one", "targets": ["macOS"]}`, false, 0, []cw.AnswersRequest{want}},
		{"all, and one for a later agent", `{"1": "The old one", "targets": ["macOS"], "later": "x"}`, false, 0, []cw.AnswersRequest{want}},
		{"asked again", `{"1": "The old one", "targets": ["macOS"]}`, true, 7, []cw.AnswersRequest{want}},
		{"some", `{"1": "The old one"}`, false, 7, []cw.AnswersRequest{{Answers: map[cw.QuestionID]string{"qqqqqqqqqqqq": "The old one"}}}},
		{"others", `{"x": "The old one"}`, false, 7, nil},
		{"a wrong label", `{"1": ["The nwe one"]}`, false, 2, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			goal(b)
			b.fake.after["aaaaaaaaaaaa"] = architect("brave-otter", func(v *cw.AgentView) {
				if tc.again {
					asks(v)
				}
			})
			asks(&b.fake.cast[0])
			b.in = strings.NewReader(tc.file)
			text, code := b.session(t.Context(), "initiative", "run", "spring-sale", "--yes", "--until", "discuss", "--answers", "-")
			if diff := cmp.Diff(tc.want, b.fake.answers); diff != "" || code != tc.code {
				t.Errorf("exit code %d, want %d; answers (-want +got):\n%s\n%s", code, tc.code, diff, text)
			}
		})
	}
}

// TestInitiativeRunSpawns looks at what is asked of the daemon.
func TestInitiativeRunSpawns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	goal(b)
	args := []string{
		"initiative", "run", "spring-sale", "--yes", "--provider", "codex", "--account", "work", "--model", "m", "--sandbox", "workspace",
		"--project", "shop", "--project", "./docs", "--script", "./x.sh",
	}
	if text, code := b.session(t.Context(), args...); code != 0 {
		t.Fatal(text)
	}
	var steps []cw.Mode
	keys := map[string]bool{}
	for _, req := range b.fake.spawns {
		steps, keys[req.RequestKey] = append(steps, req.Mode), true
		want := cw.SpawnRequest{
			RequestKey: req.RequestKey, Mode: req.Mode, InitiativeID: "iiiiiiiiiiii", Provider: "codex", AccountID: "work", Model: "m",
			Sandbox: cw.SandboxWorkspace, Projects: []string{"shop", "/work/repo/docs"}, Script: "/work/repo/x.sh", Env: req.Env,
		}
		if req.Mode == cw.ModeDetail {
			want.PhaseID = "uuuuuuuuuuu2"
		}
		if diff := cmp.Diff(want, req); diff != "" || req.Env["PATH"] == "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if !slices.Equal(steps, walkSteps()) || len(keys) != len(steps) {
		t.Errorf("steps %v with %d keys", steps, len(keys))
	}
}

// TestInitiativeRunInterrupted: Ctrl-C ends the walk, and no agent.
func TestInitiativeRunInterrupted(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		setup func(*bench)
	}{
		{"at work", steps(goal, was(cw.ModeDiscuss, func(v *cw.AgentView) { v.Status = cw.StatusRunning }), func(b *bench) { clear(b.fake.ends) })},
		{"at a decision", steps(types(""), was(cw.ModeDiscuss, nil))},
		{"at a question", steps(types(""), was(cw.ModeDiscuss, asks))},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				tc.setup(b)
				ctx, cancel := context.WithCancel(t.Context())
				in, keys := io.Pipe()
				b.in = in
				go func() {
					synctest.Wait()
					cancel()
					synctest.Wait()
					_ = keys.Close()
				}()
				text, code := b.session(ctx, "initiative", "run", "spring-sale")
				golden(t, "walk/interrupted "+tc.name, text)
				if code != 130 || len(b.fake.stops)+len(b.fake.answers)+len(b.fake.asksPlans) > 0 {
					t.Errorf("exit code %d\n%s", code, text)
				}
			})
		})
	}
}
