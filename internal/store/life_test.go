package store

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
)

func TestProjects(t *testing.T) {
	b := newBench(t)
	one, two := b.addProject("one"), b.addProject("two")

	for name, c := range map[string]struct {
		change func(*cw.Project)
		says   string
	}{
		"its name":          {func(p *cw.Project) { p.Name = one.Name }, "the project name one is taken by /src/one"},
		"its git directory": {func(p *cw.Project) { p.GitDir = one.GitDir }, "the repository /src/three is already the project one"},
		"its mirror":        {func(p *cw.Project) { p.Mirror = one.Mirror }, "belongs to the project one"},
		"its id":            {func(p *cw.Project) { p.ID = one.ID }, ""},
	} {
		third, before := project("three"), b.dump()
		c.change(&third)
		refuses(t, b.AddProject(t.Context(), third, event(cw.EventProjectAdded, "x")), cw.CodeRefused, c.says)
		same(t, "rows after "+name+" was refused", b.dump(), before)
	}
	for range 2 { // remote projects have no git directory
		remote := project("remote-" + cw.NewID())
		remote.GitDir, remote.Path = "", ""
		b.must(b.AddProject(t.Context(), remote, event(cw.EventProjectAdded, "remote")))
	}
	for _, ref := range []string{string(one.ID), one.Name, one.Path} {
		found, err := b.ProjectByRef(t.Context(), ref)
		b.must(err)
		if found.ID != one.ID {
			t.Errorf("%q is %s", ref, found.Name)
		}
	}
	_, err := b.ProjectByRef(t.Context(), "nothing")
	refuses(t, err, cw.CodeNotFound, "cw project list")
	if p, found, err := b.ProjectByGitDir(t.Context(), two.GitDir); err != nil || !found || p.ID != two.ID {
		t.Errorf("by git directory: %v %v %v", p, found, err)
	}
	if _, found, err := b.ProjectByGitDir(t.Context(), ""); err != nil || found {
		t.Errorf("an empty git directory finds something: %v", err)
	}

	b.must(b.UpdateProjectPath(t.Context(), one.ID, "/new", "/new/.git"))
	moved, err := b.ProjectByRef(t.Context(), "/new")
	b.must(err)
	if moved.ID != one.ID || moved.GitDir != "/new/.git" {
		t.Errorf("moved: %+v", moved)
	}
	refuses(t, b.UpdateProjectPath(t.Context(), one.ID, "/x", two.GitDir), cw.CodeRefused, "two")
	refuses(t, b.UpdateProjectPath(t.Context(), "nobody", "/x", "/y"), cw.CodeNotFound, "nobody")

	b.must(b.RemoveProject(t.Context(), two.ID, event(cw.EventProjectRemoved, "two")))
	refuses(t, b.RemoveProject(t.Context(), two.ID, event(cw.EventProjectRemoved, "two")), cw.CodeNotFound, "")
	all, err := b.Projects(t.Context())
	b.must(err)
	if len(all) != 3 || all[0].Name != "one" {
		t.Errorf("left: %+v", all)
	}
}

func TestRemoveUsedProject(t *testing.T) {
	b := newBench(t)
	p := b.addProject("one")
	for i := range 7 {
		b.must(b.IntendSpawn(t.Context(), intent(fmt.Sprintf("agent-%c", 'a'+i), p)))
	}
	before := b.dump()
	err := b.RemoveProject(t.Context(), p.ID, event(cw.EventProjectRemoved, "one"))
	refuses(t, err, cw.CodeRefused, "agent-g, agent-f, agent-e, agent-d, agent-c and 2 more")
	same(t, "rows", b.dump(), before)
	b.must(b.state.write.Exec("UPDATE agents SET deleted_at = created_at").Error)
	b.must(b.RemoveProject(t.Context(), p.ID, event(cw.EventProjectRemoved, "one")))
}

// TestSpawn follows a spawn from the intent to the running CLI.
func TestSpawn(t *testing.T) {
	b := newBench(t)
	p := b.addProject("one")
	in := intent("brave-otter", p)
	b.must(b.IntendSpawn(t.Context(), in))
	if taken, err := b.AliasTaken(t.Context(), "brave-otter"); err != nil || !taken {
		t.Errorf("the alias is not taken: %v", err)
	}
	op, found, err := b.SpawnByKey(t.Context(), *in.Op.RequestKey)
	b.must(err)
	if !found || op.ID != in.Op.ID || op.Status != cw.OpIntended {
		t.Errorf("by key: %v %+v", found, op)
	}
	if _, found, err := b.SpawnByKey(t.Context(), "other"); err != nil || found {
		t.Errorf("another key finds something: %v", err)
	}

	b.must(b.SaveOpStep(t.Context(), in.Op.ID, "base"))
	tree := in.Worktrees[0]
	tree.State, tree.HeadCommit, tree.Included = cw.WorktreePresent, "h3ad", map[string]string{".env": "hash"}
	b.must(b.SaveWorktrees(t.Context(), in.Op.ID, "worktree", []cw.AgentWorktree{tree}))

	s := starting(in)
	b.must(b.SaveStarting(t.Context(), s))
	again := starting(in) // recovery: another message, another token
	b.must(b.SaveStarting(t.Context(), again))
	state, err := b.RunState(t.Context(), in.Run.ID)
	b.must(err)
	if state.Op == nil || state.Op.Status != cw.OpActing || state.Op.Step != "shim" || state.Run.MessageID != s.Message.ID {
		t.Errorf("starting: %+v", state)
	}
	tree.AgentID = in.Agent.ID
	same(t, "worktrees", state.Worktrees, []cw.AgentWorktree{tree})
	messages, err := b.Messages(t.Context(), in.Agent.ID)
	b.must(err)
	if len(messages) != 1 || messages[0].Seq != 1 || messages[0].RunID != in.Run.ID || messages[0].Body != "do it" {
		t.Errorf("messages: %+v", messages)
	}
	for _, token := range []cw.Token{s.Token, again.Token} {
		stored, found, err := b.TokenByHash(t.Context(), token.Hash)
		b.must(err)
		if !found || stored.RunID != in.Run.ID || stored.AgentID != in.Agent.ID || stored.RevokedAt != nil || len(stored.Scopes) != len(cw.RunScopes()) {
			t.Errorf("token: %v %+v", found, stored)
		}
	}

	r := running(in)
	b.must(b.SaveRunning(t.Context(), r))
	state, err = b.RunState(t.Context(), in.Run.ID)
	b.must(err)
	if state.Op != nil || state.Agent.Status != cw.StatusRunning || state.Run.PID != r.PID ||
		string(state.Run.Handle) != string(r.Handle) || !state.Run.StartedAt.Equal(r.StartedAt) {
		t.Errorf("running: %+v", state)
	}
	refuses(t, b.SaveOpStep(t.Context(), in.Op.ID, "late"), cw.CodeRefused, "done")
	refuses(t, b.SaveOpStep(t.Context(), "nothing", "late"), cw.CodeNotFound, "nothing")
	refuses(t, b.AbortSpawn(t.Context(), in.Op.ID), cw.CodeRefused, "running")

	var types []string
	for _, e := range b.toldEvents() {
		types = append(types, string(e.Type))
	}
	same(t, "events", strings.Join(types, " "), "project:added agent:starting agent:spawned agent:running")
	b.must(b.SaveSessionID(t.Context(), in.Agent.ID, "the-session"))
	agent, err := b.AgentByRef(t.Context(), string(in.Agent.ID))
	b.must(err)
	if agent.SessionID != "the-session" || !agent.UpdatedAt.After(agent.CreatedAt) {
		t.Errorf("agent: %+v", agent)
	}
}

func TestIntendSpawnRefuses(t *testing.T) {
	b := newBench(t)
	p := b.addProject("one")
	first := intent("brave-otter", p)
	b.must(b.IntendSpawn(t.Context(), first))
	b.must(b.state.write.Exec("UPDATE agents SET deleted_at = created_at").Error) // taken for ever
	for _, c := range []struct {
		name, text string
		change     func(*cw.SpawnIntent)
	}{
		{"alias", "brave-otter is taken", func(in *cw.SpawnIntent) { in.Agent.Alias = "brave-otter" }},
		{"request", "before", func(in *cw.SpawnIntent) { in.Op.RequestKey = first.Op.RequestKey }},
		{"project", "removed", func(in *cw.SpawnIntent) { in.Worktrees[0].ProjectID = "gone" }},
		{"session", "", func(in *cw.SpawnIntent) { in.Run.AgentID = first.Agent.ID }},
		{"op", "", func(in *cw.SpawnIntent) { in.Op.ID = first.Op.ID }},
	} {
		in, before := intent("calm-"+c.name, p), b.dump()
		c.change(&in)
		refuses(t, b.IntendSpawn(t.Context(), in), cw.CodeRefused, c.text)
		same(t, "rows after the refused "+c.name, b.dump(), before)
	}
}

// TestAbortSpawn takes a spawn back at each point: nothing stays but events.
func TestAbortSpawn(t *testing.T) {
	for _, upTo := range []string{"intended", "worktree", "starting"} {
		b := newBench(t)
		in := intent("brave-otter", b.addProject("one"))
		other := b.runningAgent("calm-bear")
		before := b.dump()
		b.must(b.IntendSpawn(t.Context(), in))
		if upTo != "intended" {
			b.must(b.SaveWorktrees(t.Context(), in.Op.ID, "worktree", in.Worktrees))
		}
		if upTo == "starting" {
			b.must(b.SaveStarting(t.Context(), starting(in)))
		}
		for range 2 { // recovery may come again
			b.must(b.AbortSpawn(t.Context(), in.Op.ID))
		}
		after := b.dump()
		for _, told := range []string{"events", "accounts"} { // an account was given a run
			delete(before, told)
			delete(after, told)
		}
		same(t, "rows after "+upTo, after, before)
		_, err := b.AgentByRef(t.Context(), other.Agent.Alias)
		b.must(err)
		b.must(b.IntendSpawn(t.Context(), in)) // the alias and the key are free
	}
}

// TestFinish stores everything that a run's end brings and reads it back.
func TestFinish(t *testing.T) {
	b := newBench(t)
	in := b.runningAgent("brave-otter")
	exit, until := 3, time.Now().Add(time.Hour).UTC().Round(0)
	tree := in.Worktrees[0]
	tree.State, tree.HeadCommit, tree.Commits, tree.Stat = cw.WorktreePresent, "h3ad", 2, cw.Stat{Files: 1, Additions: 2, Deletions: 3}
	f := finish(in, cw.StatusRunning, cw.StatusWaitingForInput)
	f.Reason, f.RetryAt, f.Error, f.Result, f.NoChanges = cw.ReasonNoSignal, &until, "an error", "a result", "none"
	f.Warnings, f.LastSnippet = []string{"one", "two", "one"}, "snippet"
	f.ExitCode, f.TermSignal, f.CostUSD, f.Turns = &exit, "SIGTERM", 0.25, 7
	f.Usage = cw.Usage{InputTokens: 10, OutputTokens: 20}
	f.ContextTokens, f.ContextLimit, f.UnknownLines = 100, 200, 3
	f.Worktrees = []cw.AgentWorktree{tree}
	f.Questions = []cw.Question{
		{RequestID: "group", Key: "1", Source: "signal", Text: "which?", Options: []cw.QuestionOption{{Label: "a"}}},
		{RequestID: "group", Key: "2", Source: "signal", Text: "why?"},
	}
	f.Assistant = &cw.Message{Origin: "agent", Body: "final words"}
	b.must(b.AddWarning(t.Context(), in.Agent.ID, "one", event(cw.EventAgentWarning, "one")))
	told := len(b.toldEvents())
	b.must(b.AddWarning(t.Context(), in.Agent.ID, "one", event(cw.EventAgentWarning, "one")))
	if len(b.toldEvents()) != told {
		t.Error("a warning was told twice")
	}

	if done, err := b.FinishRun(t.Context(), f); err != nil || !done {
		t.Fatal(done, err)
	}
	v, err := b.AgentView(t.Context(), "brave-otter")
	b.must(err)
	if v.Status != f.Status || v.Reason != f.Reason || !v.RetryAt.Equal(until) || v.Error != f.Error || v.Result != f.Result ||
		v.NoChanges != f.NoChanges || v.LastSnippet != "snippet" || *v.ExitCode != 3 || v.CostUSD != 0.25 || v.Usage != f.Usage || v.PID != 0 {
		t.Errorf("agent: %+v", v)
	}
	same(t, "warnings", v.Warnings, []string{"one", "two"})
	tree.AgentID = in.Agent.ID
	same(t, "worktree", v.Projects, []cw.AgentWorktree{tree})
	if v.Branch != tree.Branch || v.HeadCommit != "h3ad" || v.Worktree != tree.Path || v.WorktreeState != cw.WorktreePresent {
		t.Errorf("the facts of the only project: %+v", v)
	}
	r := v.Runs[0]
	if r.Outcome != f.Status || r.OutcomeReason != f.Reason || r.EndedAt == nil || r.Turns != 7 || r.TermSignal != "SIGTERM" ||
		r.ContextTokens != 100 || r.ContextLimit != 200 || r.UnknownLines != 3 || len(r.Handle) == 0 {
		t.Errorf("run: %+v", r)
	}
	if q := v.PendingQuestions; len(q) != 2 || q[0].Text != "which?" || q[1].Seq != 2 || q[0].Options[0].Label != "a" ||
		q[1].Options == nil || q[0].RunID != in.Run.ID || !cw.IsID(string(q[0].ID)) || q[0].Status != cw.QuestionOpen {
		t.Errorf("questions: %+v", q)
	}
	messages, err := b.Messages(t.Context(), in.Agent.ID)
	b.must(err)
	if len(messages) != 2 || messages[1].Seq != 2 || messages[1].Role != cw.RoleAssistant || messages[1].Body != "final words" {
		t.Errorf("messages: %+v", messages)
	}
	var live int64
	b.must(b.state.read.Model(&cw.Token{}).Where("revoked_at IS NULL").Count(&live).Error)
	if live != 0 {
		t.Errorf("%d tokens outlive their run", live)
	}
	left, err := b.UnfinishedRuns(t.Context())
	b.must(err)
	if len(left) != 0 {
		t.Errorf("unfinished: %+v", left)
	}

	before := b.dump()
	if done, err := b.FinishRun(t.Context(), f); err != nil || done {
		t.Errorf("finished twice: %v %v", done, err)
	}
	same(t, "rows after the second time", b.dump(), before)
	if alive, err := b.RequestStop(t.Context(), in.Run.ID, "term"); err != nil || alive {
		t.Errorf("a stop of a run that ended: %v %v", alive, err)
	}
	refuses(t, b.SaveStarting(t.Context(), starting(in)), cw.CodeRefused, "has ended")
	f.RunID = "nothing"
	_, err = b.FinishRun(t.Context(), f)
	refuses(t, err, cw.CodeNotFound, "nothing")
}

// TestFinishIsWhole: when the last part of it fails, no part is stored.
func TestFinishIsWhole(t *testing.T) {
	b := newBench(t)
	in := b.runningAgent("brave-otter")
	f := finish(in, cw.StatusRunning, cw.StatusIdle)
	f.Assistant = &cw.Message{Body: "final words"}
	f.Events = append(f.Events, event(cw.EventAgentOutput, "live: it cannot be stored"))
	before, told := b.dump(), len(b.toldEvents())
	if done, err := b.FinishRun(t.Context(), f); err == nil || done {
		t.Fatal(done, err)
	}
	same(t, "rows", b.dump(), before)
	if len(b.toldEvents()) != told {
		t.Error("events of a change that was rolled back were told")
	}
}

// TestFailedSpawn ends runs that never counted as running.
func TestFailedSpawn(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct{ from, to cw.AgentStatus }{
		{cw.StatusPending, cw.StatusCrashed}, {cw.StatusStarting, cw.StatusCrashed}, {cw.StatusStarting, cw.StatusStopped},
	} {
		in := b.agentAt(fmt.Sprintf("a-%s-%s", c.from, c.to), c.from)
		f := finish(in, c.from, c.to)
		f.Reason, f.Error = cw.ReasonStartFailed, "no such session"
		if done, err := b.FinishRun(t.Context(), f); err != nil || !done {
			t.Fatal(done, err)
		}
		op, _, err := b.SpawnByKey(t.Context(), *in.Op.RequestKey)
		b.must(err)
		if op.Status != cw.OpFailed || op.Error != "no such session" {
			t.Errorf("op: %+v", op)
		}
	}
}

func TestRequestStop(t *testing.T) {
	b := newBench(t)
	in := b.runningAgent("brave-otter")
	for _, c := range []struct{ how, want string }{{"term", "term"}, {"kill", "kill"}, {"term", "kill"}} {
		if alive, err := b.RequestStop(t.Context(), in.Run.ID, c.how); err != nil || !alive {
			t.Fatal(alive, err)
		}
		state, err := b.RunState(t.Context(), in.Run.ID)
		b.must(err)
		if state.Run.StopRequested != c.want {
			t.Errorf("after %s: %s", c.how, state.Run.StopRequested)
		}
	}
	other := b.runningAgent("calm-bear") // a rule never takes the place of what is there, a person does
	for _, c := range []struct{ how, want string }{{"budget", "budget"}, {"rule", "budget"}, {"term", "term"}, {"budget", "term"}, {"kill", "kill"}, {"budget", "kill"}} {
		if alive, err := b.RequestStop(t.Context(), other.Run.ID, c.how); err != nil || !alive {
			t.Fatal(alive, err)
		}
		state, err := b.RunState(t.Context(), other.Run.ID)
		b.must(err)
		if state.Run.StopRequested != c.want {
			t.Errorf("after %s: %s", c.how, state.Run.StopRequested)
		}
	}
	_, err := b.RequestStop(t.Context(), in.Run.ID, "please")
	refuses(t, err, cw.CodeInvalid, "please")
	_, err = b.RequestStop(t.Context(), "nothing", "kill")
	refuses(t, err, cw.CodeNotFound, "nothing")
}

func TestUnfinishedRuns(t *testing.T) {
	b := newBench(t)
	pending := intent("a-pending", b.addProject("one"))
	b.must(b.IntendSpawn(t.Context(), pending))
	live := b.runningAgent("b-running")
	done := b.runningAgent("c-done")
	_, err := b.FinishRun(t.Context(), finish(done, cw.StatusRunning, cw.StatusIdle))
	b.must(err)
	states, err := b.UnfinishedRuns(t.Context())
	b.must(err)
	if len(states) != 2 || states[0].Agent.Alias != "a-pending" || states[1].Agent.Alias != "b-running" {
		t.Fatalf("states: %+v", states)
	}
	if states[0].Op == nil || states[0].Op.ID != pending.Op.ID || states[1].Op != nil || len(states[1].Worktrees) != 1 ||
		states[1].Worktrees[0].ProjectID != live.Worktrees[0].ProjectID || states[0].Agent.Warnings == nil {
		t.Errorf("states: %+v", states)
	}
	_, err = b.RunState(t.Context(), "nothing")
	refuses(t, err, cw.CodeNotFound, "nothing")
}

func TestAgentViews(t *testing.T) {
	b := newBench(t)
	empty, err := b.AgentViews(t.Context(), cw.AgentFilter{})
	b.must(err)
	if data, _ := json.Marshal(empty.Items); string(data) != "[]" {
		t.Errorf("no agents are %s", data)
	}
	_, err = b.AgentByRef(t.Context(), "brave-otter")
	refuses(t, err, cw.CodeNotFound, "no agent is there")

	p, q := b.addProject("one"), b.addProject("two")
	both := intent("brave-otter", p)
	both.Worktrees = append(both.Worktrees, intent("brave-otter", q).Worktrees...)
	b.must(b.IntendSpawn(t.Context(), both))
	alone := intent("calm-bear", p)
	alone.Worktrees = nil
	b.must(b.IntendSpawn(t.Context(), alone))
	third := b.runningAgent("deft-crane")

	for _, c := range []struct {
		filter cw.AgentFilter
		want   string
	}{
		{cw.AgentFilter{}, "deft-crane calm-bear brave-otter"},
		{cw.AgentFilter{PageQuery: cw.PageQuery{Limit: 2}}, "deft-crane calm-bear"},
		{cw.AgentFilter{Statuses: []cw.AgentStatus{cw.StatusPending, cw.StatusIdle}}, "calm-bear brave-otter"},
		{cw.AgentFilter{Project: "two"}, "brave-otter"},
		{cw.AgentFilter{Project: string(p.ID)}, "brave-otter"},
		{cw.AgentFilter{Project: "/src/p-deft-crane"}, "deft-crane"},
	} {
		views, err := b.AgentViews(t.Context(), c.filter)
		b.must(err)
		var names []string
		for _, v := range views.Items {
			names = append(names, v.Alias)
		}
		same(t, fmt.Sprintf("%+v", c.filter), strings.Join(names, " "), c.want)
	}
	_, err = b.AgentViews(t.Context(), cw.AgentFilter{Project: "nothing"})
	refuses(t, err, cw.CodeNotFound, "nothing")

	v, err := b.AgentView(t.Context(), "brave-otter")
	b.must(err)
	if len(v.Projects) != 2 || v.Branch != "" || v.Worktree != "" {
		t.Errorf("two projects: %+v", v)
	}
	v, err = b.AgentView(t.Context(), "calm-bear")
	b.must(err)
	data, err := json.Marshal(v)
	b.must(err)
	for _, single := range []string{"activity", "exitCode", "retryAt", "plan"} { // not lists: nothing is null there
		data = []byte(strings.ReplaceAll(string(data), `"`+single+`":null`, ""))
	}
	if strings.Contains(string(data), "null") {
		t.Errorf("a list is null: %s", data)
	}

	_, err = b.AgentByRef(t.Context(), "brave-oter")
	refuses(t, err, cw.CodeNotFound, "did you mean brave-otter?")
	_, err = b.AgentView(t.Context(), "zzz")
	refuses(t, err, cw.CodeNotFound, "cw agent list")

	_, err = b.FinishRun(t.Context(), finish(third, cw.StatusRunning, cw.StatusCrashed))
	b.must(err)
	agents, alive, projects, err := b.Counts(t.Context())
	b.must(err)
	if agents != 3 || alive != 2 || projects != 3 {
		t.Errorf("counts: %d %d %d", agents, alive, projects)
	}
}

// TestViewsNeedFewQueries counts statements: as many for 20 agents as for one.
func TestViewsNeedFewQueries(t *testing.T) {
	b := newBench(t)
	count := func() int {
		counter := &countingLog{}
		b.state.read.Logger = counter
		_, err := b.AgentViews(t.Context(), cw.AgentFilter{})
		b.must(err)
		return counter.statements
	}
	b.runningAgent("brave-otter")
	one := count()
	for i := range 19 {
		b.runningAgent(fmt.Sprintf("agent-%c", 'a'+i))
	}
	if many := count(); many != one || one == 0 {
		t.Errorf("%d statements for one agent, %d for twenty", one, many)
	}
}

// TestViewSums adds up several runs.
func TestViewSums(t *testing.T) {
	code := 9
	v := view(cw.Agent{}, nil, []cw.Run{
		{SessionNumber: 1, PID: 1, CostUSD: 1, Usage: cw.Usage{InputTokens: 1}, OutputPath: "/1", ExitCode: new(int)},
		{SessionNumber: 2, PID: 2, CostUSD: 2, Usage: cw.Usage{InputTokens: 2}, OutputPath: "/2", ExitCode: &code},
	}, nil)
	if v.CostUSD != 3 || v.Usage.InputTokens != 3 || v.PID != 2 || v.OutputPath != "/2" || *v.ExitCode != 9 {
		t.Errorf("view: %+v", v)
	}
}

func TestEvents(t *testing.T) {
	b := newBench(t)
	numbers := func() (first, last int64) {
		first, last, err := b.EventBounds(t.Context())
		b.must(err)
		return first, last
	}
	if first, last := numbers(); first != 1 || last != 0 {
		t.Errorf("before the first: %d %d", first, last)
	}
	b.must(b.AddEvents(t.Context(),
		event(cw.EventAgentSpawned, "1").About("a", "r"), event(cw.EventAgentWarning, "2").About("a", "r"),
		event(cw.EventAgentWarning, "3").About("b", "r"), cw.Event{Type: cw.EventMirrorRestored}))
	for _, c := range []struct {
		after int64
		types []cw.EventType
		agent cw.AgentID
		limit int
		want  []int64
	}{
		{0, nil, "", 0, []int64{1, 2, 3, 4}},
		{2, nil, "", 0, []int64{3, 4}},
		{0, []cw.EventType{cw.EventAgentWarning, cw.EventMirrorRestored}, "", 0, []int64{2, 3, 4}},
		{0, nil, "a", 0, []int64{1, 2}},
		{0, []cw.EventType{cw.EventAgentWarning}, "a", 0, []int64{2}},
		{0, nil, "", 2, []int64{1, 2}},
		{9, nil, "", 0, nil},
	} {
		page, err := b.EventsAfter(t.Context(), c.after, cw.EventFilter{Types: c.types, Agent: c.agent}, c.limit)
		b.must(err)
		var got []int64
		for _, e := range page.Events {
			got = append(got, e.Seq)
		}
		same(t, fmt.Sprintf("%+v", c), got, c.want)
	}
	if err := b.AddEvents(t.Context(), event(cw.EventAgentOutput, "live")); err == nil {
		t.Error("a live event was stored")
	}
	b.must(b.state.write.Exec("DELETE FROM events WHERE seq < 3").Error) // as retention will do
	if first, last := numbers(); first != 3 || last != 4 {
		t.Errorf("after retention: %d %d", first, last)
	}
	b.must(b.state.write.Exec("DELETE FROM events").Error)
	if first, last := numbers(); first != 5 || last != 4 {
		t.Errorf("when none is kept: %d %d", first, last)
	}
	b.must(b.AddEvents(t.Context(), event(cw.EventAgentWarning, "5")))
	if first, last := numbers(); first != 5 || last != 5 {
		t.Errorf("a number was used twice: %d %d", first, last)
	}
}

// TestOneTime gives all rows of a transaction the same time.
func TestOneTime(t *testing.T) {
	b := newBench(t)
	in := b.runningAgent("brave-otter")
	f := finish(in, cw.StatusRunning, cw.StatusWaitingForInput)
	f.Questions = []cw.Question{{RequestID: "g", Text: "?"}}
	f.Assistant = &cw.Message{Body: "x"}
	_, err := b.FinishRun(t.Context(), f)
	b.must(err)
	v, err := b.AgentView(t.Context(), "brave-otter")
	b.must(err)
	messages, err := b.Messages(t.Context(), in.Agent.ID)
	b.must(err)
	told := b.toldEvents()
	at := told[len(told)-1].At
	if !v.UpdatedAt.Equal(at) || !v.Runs[0].EndedAt.Equal(at) || !v.PendingQuestions[0].CreatedAt.Equal(at) || !messages[1].CreatedAt.Equal(at) {
		t.Errorf("times: event %s, agent %s, run %s, question %s, message %s",
			at, v.UpdatedAt, v.Runs[0].EndedAt, v.PendingQuestions[0].CreatedAt, messages[1].CreatedAt)
	}
	if at.Location() != time.UTC || v.UpdatedAt.Location() != time.UTC {
		t.Error("times are not in UTC")
	}
}

func TestTokens(t *testing.T) {
	b := newBench(t)
	token := cw.Token{ID: "id", Hash: cw.HashToken("secret"), Kind: cw.ActorDashboard, ToolsAllow: []string{"x"}}
	b.must(b.AddToken(t.Context(), token))
	refuses(t, b.AddToken(t.Context(), cw.Token{ID: "other", Hash: token.Hash}), cw.CodeRefused, "")
	got, found, err := b.TokenByHash(t.Context(), token.Hash)
	b.must(err)
	if !found || got.Kind != cw.ActorDashboard || got.ToolsAllow[0] != "x" {
		t.Errorf("token: %v %+v", found, got)
	}
	if _, found, err := b.TokenByHash(t.Context(), ""); err != nil || found {
		t.Errorf("an empty hash finds something: %v", err)
	}
}
