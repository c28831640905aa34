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

// doing is a task of the tests that runs.
func doing(id cw.TaskID, agent cw.AgentID, change ...func(*cw.DispatchTask)) cw.DispatchTask {
	d := cw.DispatchTask{ID: id, Name: "task " + string(id), Status: cw.TaskRunning, AgentID: agent, Agent: "agent-" + string(agent), AgentStatus: cw.StatusRunning}
	for _, c := range change {
		c(&d)
	}
	return d
}

// waitsFor is a task of the tests that waits.
func waitsFor(id cw.TaskID, c cw.WaitCode, hint string) cw.DispatchTask {
	return cw.DispatchTask{ID: id, Name: "task " + string(id), Status: cw.TaskPending, Wait: &cw.WaitReason{Code: c, Text: "because of " + string(c), Hint: hint}}
}

// tasksOf are tasks with these statuses: "a:done b:running".
func tasksOf(words string) []cw.Task {
	var out []cw.Task
	for word := range strings.FieldsSeq(words) {
		id, status, _ := strings.Cut(word, ":")
		out = append(out, cw.Task{ID: cw.TaskID(id), Name: "task " + id, Status: cw.TaskStatus(status)})
	}
	return out
}

func asStatus(s cw.TaskStatus) func(*cw.DispatchTask) {
	return func(d *cw.DispatchTask) { d.Status = s }
}

func byAgent(s cw.AgentStatus) func(*cw.DispatchTask) {
	return func(d *cw.DispatchTask) { d.AgentStatus = s }
}

// looked is a merge of the tests that only a person has to look at.
func looked(id cw.TaskID) cw.Merge {
	return cw.Merge{TaskID: id, Status: cw.MergeQueued, Verify: true, Wait: "a person looks at the result"}
}

// TestNextExecute: when a walk waits for tasks, when it ends, and what only people
// can do.
func TestNextExecute(t *testing.T) {
	t.Parallel()
	asks := map[cw.AgentID]cw.AgentView{"x": {Agent: cw.Agent{ID: "x", Alias: "agent-x"}}}
	running := func(some ...cw.DispatchTask) cw.DispatchStatus {
		return cw.DispatchStatus{State: cw.DispatchRunning, Running: some}
	}
	waiting := func(some ...cw.DispatchTask) cw.DispatchStatus {
		return cw.DispatchStatus{State: cw.DispatchRunning, Waiting: some}
	}
	two := tasksOf("a:running b:pending")
	for _, tc := range []struct {
		name     string
		view     executeView
		noParked bool
		want     string
	}{
		{"no task", executeView{}, false, "over"},
		{"all done", executeView{tasks: tasksOf("a:done b:done")}, false, "over"},
		{"all done, and the dispatcher does not know yet", executeView{tasks: tasksOf("a:done"), status: running(doing("a", "x"))}, false, "over"},
		{"one works", executeView{tasks: two, status: running(doing("a", "x"))}, false, "wait"},
		{"one is next", executeView{tasks: two, status: cw.DispatchStatus{State: cw.DispatchRunning, Ready: []cw.DispatchTask{{ID: "b"}}}}, false, "wait"},
		{"one is next, and the dispatcher drains", executeView{tasks: two, status: cw.DispatchStatus{State: cw.DispatchDraining, Ready: []cw.DispatchTask{{ID: "b"}}}}, false, "people b:paused"},
		{"one is checked", executeView{tasks: two, status: running(doing("a", "x", asStatus(cw.TaskVerifying)))}, false, "wait"},
		{"one asks", executeView{tasks: two, status: running(doing("a", "x")), asking: asks}, false, "asking agent-x people a:person"},
		{"one asks beside one that works", executeView{tasks: two, status: running(doing("a", "x"), doing("b", "y")), asking: asks}, false, "asking agent-x wait"},
		{"one asks, and another is tried again", executeView{
			tasks: two, asking: asks,
			status: cw.DispatchStatus{State: cw.DispatchRunning, Running: []cw.DispatchTask{doing("a", "x")}, Waiting: []cw.DispatchTask{waitsFor("b", cw.WaitRetry, "")}},
		}, false, "asking agent-x wait"},
		{"one asks, and another waits for it", executeView{
			tasks: two, asking: asks,
			status: cw.DispatchStatus{State: cw.DispatchRunning, Running: []cw.DispatchTask{doing("a", "x")}, Waiting: []cw.DispatchTask{waitsFor("b", cw.WaitDependency, "")}},
		}, false, "asking agent-x people a:person"},
		{"a decision", executeView{tasks: two, status: waiting(waitsFor("a", cw.WaitPerson, "cw task done a"))}, false, "people a:person"},
		{"blocked", executeView{tasks: two, status: waiting(waitsFor("a", cw.WaitBlocked, "cw dispatch retry a"), waitsFor("b", cw.WaitDependency, ""))}, false, "people a:blocked"},
		{"blocked beside one that works", executeView{
			tasks:  two,
			status: cw.DispatchStatus{State: cw.DispatchRunning, Running: []cw.DispatchTask{doing("a", "x")}, Waiting: []cw.DispatchTask{waitsFor("b", cw.WaitBlocked, "")}},
		}, false, "wait"},
		{"no room", executeView{tasks: two, status: waiting(waitsFor("a", cw.WaitLimit, "cw config set"))}, false, "wait"},
		{"tried again later", executeView{tasks: two, status: waiting(waitsFor("a", cw.WaitRetry, "at once: cw dispatch retry a"))}, false, "wait"},
		{"no memory", executeView{tasks: two, status: waiting(waitsFor("a", cw.WaitResources, "free some"))}, false, "wait"},
		{"no trust", executeView{tasks: two, status: waiting(waitsFor("a", cw.WaitProject, "cw project trust shop"))}, false, "people a:project"},
		{"nothing left to spend", executeView{tasks: two, status: waiting(waitsFor("a", cw.WaitBudget, ""))}, false, "people a:budget"},
		{"a phase that nobody approved", executeView{tasks: two, status: waiting(waitsFor("a", cw.WaitPhase, "cw phase approve p"))}, false, "people a:phase"},
		{"a phase after another", executeView{tasks: two, status: waiting(waitsFor("a", cw.WaitPhase, ""), waitsFor("b", cw.WaitBlocked, ""))}, false, "people b:blocked"},
		{"paths of one that asks", executeView{
			tasks: two, asking: asks,
			status: cw.DispatchStatus{State: cw.DispatchRunning, Running: []cw.DispatchTask{doing("a", "x")}, Waiting: []cw.DispatchTask{waitsFor("b", cw.WaitPaths, "")}},
		}, false, "asking agent-x people a:person"},
		{"they wait for each other", executeView{tasks: two, status: waiting(waitsFor("a", cw.WaitDependency, ""), waitsFor("b", cw.WaitPhase, ""))}, false, "people a:dependency b:phase"},
		{"paused", executeView{tasks: two, status: cw.DispatchStatus{State: cw.DispatchPaused, Waiting: []cw.DispatchTask{waitsFor("a", cw.WaitPaused, "cw dispatch resume")}}}, false, "people a:paused"},
		{"paused, and one works", executeView{tasks: two, status: cw.DispatchStatus{State: cw.DispatchPaused, Running: []cw.DispatchTask{doing("a", "x")}, Waiting: []cw.DispatchTask{waitsFor("b", cw.WaitPaused, "")}}}, false, "wait"},
		{"paused, and one is to be merged", executeView{tasks: two, status: cw.DispatchStatus{State: cw.DispatchPaused, Running: []cw.DispatchTask{doing("a", "x", asStatus(cw.TaskVerifying))}}}, false, "people a:paused"},
		{"to be looked at", executeView{tasks: two, status: running(doing("a", "x", asStatus(cw.TaskVerifying))), merges: []cw.Merge{looked("a")}}, false, "people a:person"},
		{"looked at before", executeView{tasks: two, status: running(doing("a", "x", asStatus(cw.TaskVerifying))), merges: []cw.Merge{{TaskID: "a", Status: cw.MergeChecking, Verify: true, VerifiedBy: "person"}}}, false, "wait"},
		{"a merge that is held up", executeView{tasks: two, status: running(doing("a", "x", asStatus(cw.TaskVerifying))), merges: []cw.Merge{{TaskID: "a", Status: cw.MergeQueued, Wait: "not trusted"}}}, false, "wait"},
		{"a merge that a person has to let go on", executeView{
			tasks: two, status: running(doing("a", "x", asStatus(cw.TaskVerifying))), merges: []cw.Merge{{TaskID: "a", Status: cw.MergeQueued, Wait: "not trusted", WaitCode: cw.WaitProject}},
		}, false, "people a:project"},
		{"a merge that is held up for long", executeView{
			tasks: two, status: running(doing("a", "x", asStatus(cw.TaskVerifying))), merges: []cw.Merge{{TaskID: "a", Status: cw.MergeQueued, Wait: "not trusted"}},
			held: map[cw.TaskID]bool{"a": true},
		}, false, "people a:person"},
		{"its reason stands at a running task", executeView{tasks: two, status: running(doing("a", "x", func(d *cw.DispatchTask) { d.Wait = &cw.WaitReason{Code: cw.WaitPerson} }))}, false, "people a:person"},
		{"a draft", executeView{tasks: tasksOf("a:done b:draft")}, false, "people b:person"},
		{"parked", executeView{tasks: two, status: running(doing("a", "x", byAgent(cw.StatusParked)))}, false, "wait"},
		{"parked, and not to be waited for", executeView{tasks: two, status: running(doing("a", "x", byAgent(cw.StatusParked)))}, true, "parked a:"},
		{"no account, and not to be waited for", executeView{tasks: two, status: waiting(waitsFor("a", cw.WaitAccount, ""))}, true, "parked a:account"},
		{"no account", executeView{tasks: two, status: waiting(waitsFor("a", cw.WaitAccount, ""))}, false, "wait"},
		{"parked beside one that works", executeView{tasks: two, status: running(doing("a", "x", byAgent(cw.StatusParked)), doing("b", "y"))}, true, "wait"},
		{"nothing is told", executeView{tasks: two, status: running()}, false, "wait"},
	} {
		if diff := cmp.Diff(tc.want, shownExecute(nextExecute(tc.view, tc.noParked))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

func shownExecute(m executeMove) string {
	if m.over {
		return "over"
	}
	var words []string
	list := func(what string, tasks []cw.DispatchTask) {
		for i, d := range tasks {
			if i == 0 {
				words = append(words, what)
			}
			words = append(words, string(d.ID)+":"+string(code(d)))
		}
	}
	for _, a := range m.asking {
		words = append(words, "asking "+a.Alias)
	}
	list("people", m.people)
	list("parked", m.parked)
	if len(m.people)+len(m.parked) == 0 {
		words = append(words, "wait")
	}
	return strings.Join(words, " ")
}

// TestExecuteLines: each change is told once, in one line.
func TestExecuteLines(t *testing.T) {
	t.Parallel()
	at := epoch.Add(10 * time.Minute)
	merged := cw.Merge{TaskID: "a", Status: cw.MergeMerged, Parts: []cw.MergePart{{Commit: "2222222222222222222222222222222222222222"}}}
	asking := map[cw.AgentID]cw.AgentView{"x": {
		Agent:            cw.Agent{ID: "x", Alias: "agent-x"},
		PendingQuestions: []cw.Question{{Text: "Which\x1b[2J colour?"}, {Text: "And why?"}},
	}}
	works := executeView{tasks: tasksOf("a:running b:pending"), status: cw.DispatchStatus{State: cw.DispatchRunning, Running: []cw.DispatchTask{doing("a", "x")}}}
	verifying := func(m cw.Merge) executeView {
		return executeView{
			tasks: tasksOf("a:verifying b:pending"), merges: []cw.Merge{m},
			status: cw.DispatchStatus{State: cw.DispatchRunning, Running: []cw.DispatchTask{doing("a", "x", asStatus(cw.TaskVerifying))}},
		}
	}
	back := func(m cw.Merge) executeView {
		v := works
		v.merges = []cw.Merge{m}
		return v
	}
	waits := func(c cw.WaitCode, hint string) executeView {
		d := waitsFor("a", c, hint)
		d.Wait.Until = &at
		return executeView{tasks: tasksOf("a:pending b:pending"), status: cw.DispatchStatus{State: cw.DispatchRunning, Waiting: []cw.DispatchTask{d}}}
	}
	done := executeView{tasks: tasksOf("a:done b:pending"), merges: []cw.Merge{merged}, status: cw.DispatchStatus{State: cw.DispatchRunning}}
	asks := works
	asks.asking = asking
	for _, tc := range []struct {
		name   string
		before *executeView
		now    executeView
		want   []string
	}{
		{"at first", nil, works, []string{"task a: agent-x works on it"}},
		{"done before", nil, done, nil},
		{"nothing new", &works, works, nil},
		{"it asks", &works, asks, []string{"task a: agent-x asks: Which colour? (and 1 more); cw agent answer agent-x"}},
		{"it goes on", &asks, works, []string{"task a: agent-x works on it"}},
		{"it is checked", &works, verifying(cw.Merge{TaskID: "a", Status: cw.MergeChecking}), []string{"task a: is checked"}},
		{"it waits to be merged", &works, verifying(cw.Merge{TaskID: "a", Status: cw.MergeQueued}), []string{"task a: waits to be merged"}},
		{"it is not trusted", &works, verifying(cw.Merge{TaskID: "a", Status: cw.MergeQueued, Wait: "cw.yaml is not trusted"}), []string{"task a: is held up: cw.yaml is not trusted"}},
		{"it is to be looked at", &works, verifying(looked("a")), []string{"task a: you look at the result before it is merged; cw task diff a, then cw task done a or cw task reject a --comment TEXT"}},
		{"it conflicts", &works, back(cw.Merge{TaskID: "a", Status: cw.MergeConflicted, Conflicts: 1}), []string{"task a: does not go together with what is merged (1 conflict): agent-x brings them together"}},
		{"it is red", &works, back(cw.Merge{TaskID: "a", Status: cw.MergeRed, Reds: 1, Evidence: "ok\n--- FAIL: TestPrice\n\n"}), []string{"task a: a check is red, --- FAIL: TestPrice: agent-x mends it"}},
		{
			"it is red once more", func() *executeView { v := back(cw.Merge{TaskID: "a", Status: cw.MergeRed, Reds: 1}); return &v }(),
			back(cw.Merge{TaskID: "a", Status: cw.MergeRed, Reds: 2}), []string{"task a: a check is red (2 times so far): agent-x mends it"},
		},
		{"it is rejected", &works, func() executeView {
			v := back(cw.Merge{TaskID: "a", Status: cw.MergeRed, Evidence: "not like\nthis"})
			v.tasks = slices.Clone(v.tasks)
			v.tasks[0].Blocked = "a person did not accept\x1b[2J the result\nnot like this"
			return v
		}(), []string{"task a: a person did not accept the result, this: agent-x mends it"}},
		{"it is being started", nil, executeView{tasks: works.tasks, status: cw.DispatchStatus{State: cw.DispatchRunning, Running: []cw.DispatchTask{doing("a", "x", func(d *cw.DispatchTask) { d.Agent, d.AgentID = "", "" })}}}, nil},
		{"it is merged", &works, done, []string{"task a: merged (222222222), 1 of 2"}},
		{"closed with nothing to merge", &works, executeView{tasks: done.tasks, status: done.status}, []string{"task a: done, 1 of 2"}},
		{"parked", &works, executeView{tasks: works.tasks, status: cw.DispatchStatus{State: cw.DispatchRunning, Running: []cw.DispatchTask{doing("a", "x", byAgent(cw.StatusParked))}}}, []string{"task a: agent-x is parked: every account is at its limit"}},
		{"a decision", &works, waits(cw.WaitPerson, "cw task done a"), []string{"task a: waits for you: because of person; cw task done a"}},
		{"blocked", &works, waits(cw.WaitBlocked, "cw dispatch retry a"), []string{"task a: is blocked: because of blocked; cw dispatch retry a"}},
		{"tried again", &works, waits(cw.WaitRetry, ""), []string{"task a: because of retry"}},
		{"no account", &works, waits(cw.WaitAccount, "cw account list"), []string{"no task is started: because of account"}},
		{"no account still", func() *executeView { v := waits(cw.WaitAccount, ""); return &v }(), waits(cw.WaitAccount, ""), nil},
		{"no room", &works, waits(cw.WaitLimit, "another limit: cw config set dispatch.machine N"), nil},
		{"no trust", &works, waits(cw.WaitProject, "cw project trust shop"), []string{"task a: waits: because of project; cw project trust shop"}},
		{"after another", &works, waits(cw.WaitDependency, ""), nil},
		{"paused", &works, func() executeView { v := waits(cw.WaitPaused, "x"); v.status.State = cw.DispatchPaused; return v }(), []string{
			"the dispatcher is paused: nothing is started or merged, and agents work on; cw dispatch resume lets it go on",
		}},
		{"no memory", &works, func() executeView { v := works; v.status.Pressure = "memory is short"; return v }(), []string{"nothing is started: memory is short"}},
		{"memory again", func() *executeView { v := works; v.status.Pressure = "memory is short"; return &v }(), works, nil},
	} {
		var got []string
		for _, line := range executeLines(tc.before, tc.now) {
			text := strings.TrimSpace(executeLine{text: line.text, paint: line.paint}.shown(paint{}))
			if line.name != "" {
				text = line.name + ": " + text
			}
			got = append(got, text)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

// working puts in an initiative whose two tasks are done by agents, and what
// happens: before each look one turn.
func working(turns ...func(*bench)) func(*bench) {
	return func(b *bench) {
		plans(b)
		v := &b.fake.initiatives[0]
		v.Tasks = v.Tasks[:2]
		v.Tasks[0].Status, v.Tasks[1].Status, v.Tasks[1].Type = cw.TaskPending, cw.TaskPending, cw.TaskAuto
		b.fake.dispatch.State = cw.DispatchRunning
		for _, turn := range turns {
			b.fake.turns = append(b.fake.turns, func() { turn(b) })
		}
	}
}

// moves is a turn: tasks get statuses, and the dispatcher tells of them.
func moves(statuses string, change func(*cw.DispatchStatus, *bench)) func(*bench) {
	return func(b *bench) {
		v := &b.fake.initiatives[0]
		v.Tasks = slices.Clone(v.Tasks)
		for i, word := range strings.Fields(statuses) {
			v.Tasks[i].Status = cw.TaskStatus(word)
		}
		b.fake.dispatch = cw.DispatchStatus{State: cw.DispatchRunning}
		if change != nil {
			change(&b.fake.dispatch, b)
		}
	}
}

// by is a running task of the two.
func by(b *bench, i int, agent cw.AgentView, change ...func(*cw.DispatchTask)) cw.DispatchTask {
	t := b.fake.initiatives[0].Tasks[i]
	d := cw.DispatchTask{ID: t.ID, Name: t.Name, Status: t.Status, AgentID: agent.ID, Agent: agent.Alias, AgentStatus: agent.Status, Since: epoch}
	for _, c := range change {
		c(&d)
	}
	return d
}

func TestInitiativeRunExecute(t *testing.T) {
	t.Parallel()
	walk := []string{"initiative", "run", "spring-sale", "--from", "execute"}
	with := func(words ...string) []string { return append(slices.Clone(walk), words...) }
	otter, fox := running("brave-otter"), running("calm-fox")
	first := moves("running pending", func(s *cw.DispatchStatus, b *bench) { s.Running = []cw.DispatchTask{by(b, 0, otter)} })
	conflicted := moves("running running", func(s *cw.DispatchStatus, b *bench) {
		s.Running = []cw.DispatchTask{by(b, 0, otter), by(b, 1, fox)}
		b.fake.merges = []cw.Merge{{TaskID: "hhhhhhhhhhhh", Status: cw.MergeConflicted, Conflicts: 1}}
	})
	red := moves("done running", func(s *cw.DispatchStatus, b *bench) {
		s.Running = []cw.DispatchTask{by(b, 1, fox)}
		b.fake.merges = []cw.Merge{
			{TaskID: "hhhhhhhhhhhh", Status: cw.MergeMerged, Conflicts: 1, Parts: []cw.MergePart{{Commit: "2222222222222222222222222222222222222222"}}},
			{TaskID: "jjjjjjjjjjjj", Status: cw.MergeRed, Reds: 1, Evidence: "--- FAIL: TestPrice"},
		}
	})
	end := moves("done done", func(_ *cw.DispatchStatus, b *bench) { b.fake.merges[1].Status = cw.MergeMerged })
	blocked := moves("done blocked", func(s *cw.DispatchStatus, _ *bench) {
		s.Waiting = []cw.DispatchTask{waitsFor("jjjjjjjjjjjj", cw.WaitBlocked, "cw dispatch retry jjjjjjjjjjjj")}
		s.Waiting[0].Name = "Choose the colour"
	})
	asks := moves("done running", func(s *cw.DispatchStatus, b *bench) {
		agent := fox
		agent.Status, agent.PID = cw.StatusWaitingForInput, 0
		agent.PendingQuestions = asked()[:1]
		agent.PendingQuestions[0].AgentID = agent.ID
		b.fake.agents = []cw.AgentView{agent}
		s.Running = []cw.DispatchTask{by(b, 1, agent)}
	})
	goes := moves("done running", func(s *cw.DispatchStatus, b *bench) { s.Running = []cw.DispatchTask{by(b, 1, fox)} })
	parked := moves("done running", func(s *cw.DispatchStatus, b *bench) {
		agent := fox
		agent.Status = cw.StatusParked
		s.Running = []cw.DispatchTask{by(b, 1, agent)}
	})
	away := func(b *bench) {
		b.fake.breaks("Dispatch", 2, cw.Errorf(cw.CodeUnreachable, "no daemon is running").Because(io.EOF))
	}
	sessions(t, "execute", []sessionCase{
		{"to the end", walk, working(first, conflicted, red, end), 0},
		{"to the end json", with("--json"), working(first, conflicted, red, end), 0},
		{"done before", walk, working(func(b *bench) { moves("done done", nil)(b) }), 0},
		{"no tasks", walk, func(b *bench) { working()(b); b.fake.initiatives[0].Tasks = nil }, 1},
		{"blocked", walk, working(first, blocked), 7},
		{"blocked json", with("--json"), working(blocked), 7},
		{"blocked for a moment", walk, working(blocked, end2(end)), 0},
		{"asks", walk, working(asks), 7},
		{"asks json", with("--json"), working(asks), 7},
		{"asks, and an answer is given", with("--answers", "-"), stdin(`{"1": "The old one"}`, working(asks, goes, end2(end))), 0},
		{"asks on a terminal", walk, func(b *bench) { working(asks, goes, end2(end))(b); terminal(b, "1\n") }, 0},
		{"left at a question", walk, func(b *bench) { working(asks)(b); terminal(b, "") }, 7},
		{"held up", walk, working(func(b *bench) {
			moves("done verifying", func(s *cw.DispatchStatus, b *bench) {
				s.Running = []cw.DispatchTask{by(b, 1, fox)}
				b.fake.merges = []cw.Merge{{TaskID: "jjjjjjjjjjjj", Status: cw.MergeQueued, Wait: "nobody has trusted cw.yaml (cw project trust shop)"}}
			})(b)
		}), 7},
		{"paused", walk, working(func(b *bench) {
			moves("pending pending", func(s *cw.DispatchStatus, _ *bench) {
				s.State, s.Waiting = cw.DispatchPaused, []cw.DispatchTask{waitsFor("hhhhhhhhhhhh", cw.WaitPaused, "cw dispatch resume")}
			})(b)
		}), 7},
		{"parked", with("--no-wait-parked"), working(parked), 6},
		{"away", walk, working(first, away, func(*bench) {}, func(*bench) {}, red, end), 0},
		{"fails", walk, working(func(b *bench) { b.fake.breaks("Dispatch", 0, cw.Errorf(cw.CodeFailed, "it is broken")) }), 1},
		{"after the architects", []string{"initiative", "run", "spring-sale", "--until", "execute", "--yes"}, func(b *bench) {
			goal(b)
			b.fake.dispatch.State = cw.DispatchRunning
			b.fake.turns = []func(){
				func() {
					t := b.fake.initiatives[0].Tasks[0]
					b.fake.dispatch.Running = []cw.DispatchTask{{ID: t.ID, Name: t.Name, Status: cw.TaskRunning, AgentID: "bbbbbbbbbbbb", Agent: "calm-fox", AgentStatus: cw.StatusRunning}}
				},
				func() { b.fake.dispatch.Running, b.fake.initiatives[0].Tasks[0].Status = nil, cw.TaskDone },
			}
		}, 0},
		{"goes on with the same walk", []string{"initiative", "run", "spring-sale", "--until", "execute", "--script", "./x.sh"}, goal, 7},
		{"backwards", with("--until", "plan"), plans, 2},
		{"mistyped", []string{"initiative", "run", "spring-sale", "--until", "excute"}, plans, 2},
	})
}

// end2 is a turn that needs no merges.
func end2(func(*bench)) func(*bench) { return moves("done done", nil) }

// TestInitiativeRunExecuteWork: the agents that the flags name do the tasks too,
// and that is settled before any task is accepted.
func TestInitiativeRunExecuteWork(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	work := []any{cw.InitiativeEdit{Work: &cw.WorkEdit{Provider: text("script"), Model: text(""), Script: text("/work/repo/x.sh")}}}
	for _, tc := range []struct {
		flags []string
		has   cw.WorkSettings
		want  []any
	}{
		{[]string{"--from", "execute", "--provider", "script", "--script", "./x.sh"}, cw.WorkSettings{}, work},
		{[]string{"--from", "execute", "--provider", "script", "--script", "./x.sh"}, cw.WorkSettings{Provider: "script", Script: "/work/repo/x.sh"}, nil},
		{[]string{"--from", "execute"}, cw.WorkSettings{Provider: "codex"}, nil},
		{[]string{"--until", "discuss", "--provider", "script", "--script", "./x.sh"}, cw.WorkSettings{}, nil},
	} {
		b := newBench(t)
		working(moves("done done", nil))(b)
		b.fake.agents, b.fake.cast = nil, []cw.AgentView{architect("brave-otter", nil)}
		b.fake.initiatives[0].Work, b.fake.proposals = tc.has, nil
		said, code := b.session(t.Context(), append([]string{"initiative", "run", "spring-sale"}, tc.flags...)...)
		if diff := cmp.Diff(tc.want, b.fake.asksPlans); diff != "" || code != 0 {
			t.Errorf("%v: exit code %d, asked for (-want +got):\n%s\n%s", tc.flags, code, diff, said)
		}
	}
}

// TestInitiativeRunExecuteInterrupted: Ctrl-C ends the walk, and no task.
func TestInitiativeRunExecuteInterrupted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		working(moves("running pending", func(s *cw.DispatchStatus, b *bench) { s.Running = []cw.DispatchTask{by(b, 0, running("brave-otter"))} }))(b)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			synctest.Wait()
			cancel()
		}()
		text, code := b.session(ctx, "initiative", "run", "spring-sale", "--from", "execute")
		golden(t, "execute/interrupted", text)
		if code != 130 || len(b.fake.stops)+len(b.fake.asksDispatch) > 0 {
			t.Errorf("exit code %d\n%s", code, text)
		}
	})
}

// TestInitiativeRunExecuteWakes: what happens is looked at when it is told, not at
// the next tick, and what an agent does just now wakes nobody.
func TestInitiativeRunExecuteWakes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		told, never := make(chan item[cw.Event], 3), make(chan time.Time)
		began := time.Now()
		told <- item[cw.Event]{value: cw.Event{Type: cw.EventAgentActivity}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		go func() {
			time.Sleep(time.Minute)
			told <- item[cw.Event]{value: cw.Event{Type: cw.EventTaskChanged}}
			told <- item[cw.Event]{value: cw.Event{Type: cw.EventTaskChanged}}
		}()
		left, err := awaitChange(ctx, told, never)
		if took := time.Since(began); err != nil || took != time.Minute+changesSettle || len(left) > 0 {
			t.Errorf("%v after %s, %d are left", err, took, len(left))
		}
		close(told)
		if left, err = awaitChange(ctx, told, time.After(time.Second)); left != nil || err != nil {
			t.Errorf("a stream that ended: %v", err)
		}
		if _, err = awaitChange(ctx, nil, never); err == nil {
			t.Error("it waits for ever")
		}
	})
}
