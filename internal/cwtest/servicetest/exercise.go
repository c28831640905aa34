package servicetest

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"

	"github.com/google/go-cmp/cmp"
)

// patience is how long one step of the suite may take. Only a failing test waits as
// long: a daemon under the race detector, on a loaded machine, is slow.
const patience = 4 * time.Minute

// Fixture is a prepared implementation. Fields left zero leave out the cases
// that need them, by name.
type Fixture struct {
	// Services is what is tested.
	Services cw.Services
	// Who is the kind of caller that Services take the test for.
	Who cw.ActorKind
	// Fill adds Agent, Standalone and Project to a fixture that has them not,
	// for the cases that need them.
	Fill func(t *testing.T, f *Fixture)

	// Agent is the name of an agent at rest whose output has at least three
	// chunks in at least two sessions, and at least three parsed events.
	Agent string
	// Standalone is the name of an agent without a project.
	Standalone string
	// Project is the name of a project that Agent uses.
	Project string
	// Repo is the absolute path of a repository that is no project yet.
	Repo string
	// CommitFile commits a cw.yaml with this content in Repo.
	CommitFile func(t *testing.T, content string)
	// NoRepo is the absolute path of a folder that is no repository.
	NoRepo string
	// Spawn is a request that works; its agent runs until it is stopped.
	Spawn cw.SpawnRequest
	// Say lets Agent write n more chunks of output, one after another.
	Say func(n int)
	// Happen makes one stored event.
	Happen func()
	// Gone is a number of an event older than what is kept.
	Gone int64

	// Work makes an agent that works in these projects, runs, and is idle once
	// it was told to finish.
	Work func(t *testing.T, projects ...string) (name string, finish func())
	// Ask makes an agent that waits for answers to the questions of Asked.
	Ask func(t *testing.T) (name string)
	// Talk makes an agent that works in one project, always the same, and runs
	// until it is stopped. It gives the services as that agent calls them.
	Talk func(t *testing.T) (name string, as cw.Services)
	// Text gives a text, another one each time; an agent that is told it runs
	// until it is stopped.
	Text func() string
	// Lose deletes everything that is kept of a removed agent without a project.
	Lose func(name string)
	// Suggest makes an agent of an initiative that suggests changes: in any order,
	// and with other ids than these.
	Suggest func(t *testing.T, initiative cw.InitiativeID, proposals ...cw.Proposal) (name string)
	// Dispatches tells that tasks are dispatched. The cases of it pause that.
	Dispatches bool
}

// Asked are the questions, asked at once, of the agents of Fixture.Ask.
func Asked() []cw.Question {
	options := func(labels ...string) (out []cw.QuestionOption) {
		for _, label := range labels {
			out = append(out, cw.QuestionOption{Label: label, Description: "take " + label})
		}
		return out
	}
	return []cw.Question{
		{Header: "Colour", Text: "Which colour?", Options: options("red", "blue")},
		{Header: "Sizes", Text: "Which sizes?", Options: options("small", "medium", "large"), MultiSelect: true},
		{Text: "What next?"},
	}
}

// Exercise holds an implementation of cw.Services against the contract. open
// gives a fresh fixture for each case.
func Exercise(t *testing.T, open func(t *testing.T) Fixture) {
	cases := []struct {
		name  string
		needs func(Fixture) bool
		run   func(*testing.T, Fixture)
	}{
		{"Daemon", nil, daemonCase},
		{"NotFound", nil, notFoundCase},
		{"LetGo", nil, letGoCase},
		{"Projects", func(f Fixture) bool { return f.Repo != "" && f.NoRepo != "" }, projectsCase},
		{"RemoteProjects", func(f Fixture) bool { return f.Repo != "" }, remoteProjectsCase},
		{"Trust", func(f Fixture) bool { return f.Repo != "" && f.CommitFile != nil }, trustCase},
		{"ProjectInUse", func(f Fixture) bool { return f.Project != "" }, projectInUseCase},
		{"Agents", func(f Fixture) bool { return f.Agent != "" }, agentsCase},
		{"AgentPages", func(f Fixture) bool { return f.Spawn.Goal != "" }, agentPagesCase},
		{"AgentFilters", func(f Fixture) bool { return f.Spawn.Goal != "" }, agentFiltersCase},
		{"BadPages", func(f Fixture) bool { return f.Spawn.Goal != "" }, badPagesCase},
		{"ProjectPages", func(f Fixture) bool { return f.Repo != "" }, projectPagesCase},
		{"PagesMeanwhile", func(f Fixture) bool { return f.Spawn.Goal != "" }, pagesMeanwhileCase},
		{"Spawn", func(f Fixture) bool { return f.Spawn.Goal != "" }, spawnCase},
		{"Diff", func(f Fixture) bool { return f.Agent != "" && f.Project != "" }, diffCase},
		{"DiffStandalone", func(f Fixture) bool { return f.Standalone != "" }, diffStandaloneCase},
		{"Output", func(f Fixture) bool { return f.Agent != "" }, outputCase},
		{"OutputResumed", func(f Fixture) bool { return f.Agent != "" }, outputResumedCase},
		{"OutputEnds", func(f Fixture) bool { return f.Agent != "" }, outputEndsCase},
		{"OutputLive", func(f Fixture) bool { return f.Agent != "" && f.Say != nil }, outputLiveCase},
		{"OutputEvents", func(f Fixture) bool { return f.Agent != "" }, outputEventsCase},
		{"OutputPage", func(f Fixture) bool { return f.Agent != "" }, outputPageCase},
		{"Events", nil, eventsCase},
		{"EventsOfAgent", func(f Fixture) bool { return f.Agent != "" }, eventsOfAgentCase},
		{"EventsLive", func(f Fixture) bool { return f.Happen != nil }, eventsLiveCase},
		{"EventsRefused", nil, eventsRefusedCase},
		{"EventsOfInitiative", nil, eventsOfInitiativeCase},
		{"EventsGone", func(f Fixture) bool { return f.Gone != 0 }, eventsGoneCase},
		{"Questions", func(f Fixture) bool { return f.Ask != nil }, questionsCase},
		{"BadQuestionPages", func(f Fixture) bool { return f.Ask != nil }, badQuestionPagesCase},
		{"Answers", func(f Fixture) bool { return f.Ask != nil && f.Text != nil }, answersCase},
		{"BadAnswers", func(f Fixture) bool { return f.Ask != nil }, badAnswersCase},
		{"AnswersRace", func(f Fixture) bool { return f.Ask != nil && f.Text != nil }, answersRaceCase},
		{"BadConversationList", nil, badConversationListCase},
		{"Conversation", func(f Fixture) bool { return f.Talk != nil }, conversationCase},
		{"ConversationLive", func(f Fixture) bool { return f.Talk != nil }, conversationLiveCase},
		{"ConversationList", func(f Fixture) bool { return f.Talk != nil }, conversationListCase},
		{"BadConversations", func(f Fixture) bool { return f.Talk != nil }, badConversationsCase},
		{"CancelledConversations", func(f Fixture) bool { return f.Talk != nil }, cancelledConversationsCase},
		{"RestingConversations", func(f Fixture) bool { return f.Talk != nil && f.Work != nil }, restingConversationsCase},
		{"ManyConversations", func(f Fixture) bool { return f.Talk != nil }, manyConversationsCase},
		{"AskPeople", func(f Fixture) bool { return f.Talk != nil }, askPeopleCase},
		{"BadAskPeople", func(f Fixture) bool { return f.Talk != nil }, badAskPeopleCase},
		{"AgentMessages", func(f Fixture) bool { return f.Talk != nil && f.Work != nil && f.Text != nil }, agentMessagesCase},
		{"BadAgentMessages", func(f Fixture) bool { return f.Talk != nil }, badAgentMessagesCase},
		{"Plans", func(f Fixture) bool { return f.Talk != nil }, plansCase},
		{"BadPlans", func(f Fixture) bool { return f.Talk != nil }, badPlansCase},
		{"Resume", func(f Fixture) bool { return f.Work != nil && f.Ask != nil && f.Text != nil }, resumeCase},
		{"ResumeRace", func(f Fixture) bool { return f.Work != nil && f.Text != nil }, resumeRaceCase},
		{"SendToBusy", func(f Fixture) bool { return f.Work != nil && f.Text != nil }, sendToBusyCase},
		{"SendToIdle", func(f Fixture) bool { return f.Work != nil && f.Text != nil }, sendToIdleCase},
		{"SendToWaiting", func(f Fixture) bool { return f.Ask != nil && f.Text != nil }, sendToWaitingCase},
		{"BadTexts", func(f Fixture) bool { return f.Work != nil }, badTextsCase},
		{"Open", func(f Fixture) bool { return f.Work != nil && f.Repo != "" }, openCase},
		{"Remove", func(f Fixture) bool { return f.Work != nil && f.Repo != "" && f.Text != nil }, removeCase},
		{"StopWaiting", func(f Fixture) bool { return f.Ask != nil }, stopWaitingCase},
		{"RemoveWaiting", func(f Fixture) bool { return f.Ask != nil && f.Text != nil }, removeWaitingCase},
		{"RestoreGone", func(f Fixture) bool { return f.Work != nil && f.Lose != nil }, restoreGoneCase},
		{"ProjectSettings", func(f Fixture) bool { return f.Repo != "" }, projectSettingsCase},
		{"PullRequest", nil, pullRequestCase},
		{"Garbage", nil, garbageCase},
		{"Backup", nil, backupCase},
		{"Notices", nil, noticesCase},
		{"Tokens", nil, tokensCase},
		{"BadTokens", nil, badTokensCase},
		{"Door", nil, doorCase},
		{"BadDoor", nil, badDoorCase},
		{"Settings", nil, settingsCase},
		{"Tools", nil, toolsCase},
		{"Accounts", nil, accountsCase},
		{"SameLogin", nil, sameLoginCase},
		{"BadAccounts", nil, badAccountsCase},
		{"Providers", nil, providersCase},
		{"Costs", nil, costsCase},
		{"Budgets", func(f Fixture) bool { return f.Spawn.Goal != "" }, budgetsCase},
		{"Initiatives", nil, initiativesCase},
		{"BadInitiatives", nil, badInitiativesCase},
		{"PageTree", nil, pageTreeCase},
		{"EventLog", nil, eventLogCase},
		{"PageDocument", nil, pageDocumentCase},
		{"PhasesAndTasks", nil, phasesAndTasksCase},
		{"Prompts", func(f Fixture) bool { return f.Repo != "" }, promptsCase},
		{"BadPrompts", nil, badPromptsCase},
		{"Decisions", func(f Fixture) bool { return f.Dispatches }, decisionsCase},
		{"Dispatch", func(f Fixture) bool { return f.Dispatches }, dispatchCase},
		{"DispatchPlan", func(f Fixture) bool { return f.Dispatches }, dispatchPlanCase},
		{"BadDispatch", func(f Fixture) bool { return f.Dispatches }, badDispatchCase},
		{"Inbox", func(f Fixture) bool { return f.Suggest != nil && f.Ask != nil && f.Text != nil }, inboxCase},
		{"Proposals", func(f Fixture) bool { return f.Suggest != nil }, proposalsCase},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := open(t)
			if c.needs != nil && !c.needs(f) && f.Fill != nil {
				f.Fill(t, &f)
			}
			if c.needs != nil && !c.needs(f) {
				t.Skip("the fixture has not what this needs")
			}
			c.run(t, f)
		})
	}
}

// unknown names nothing anywhere.
const unknown = "nobody-here-at-all"

func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v (code %s)", err, cw.ErrorCode(err))
	}
}

func wantCode(t *testing.T, what string, err error, want cw.Code) {
	t.Helper()
	if got := cw.ErrorCode(err); got != want {
		t.Errorf("%s: code %q, want %q (%v)", what, got, want, err)
	}
}

func collect[T any](t *testing.T, seq iter.Seq2[T, error]) []T {
	t.Helper()
	var out []T
	for item, err := range seq {
		ok(t, err)
		out = append(out, item)
	}
	return out
}

// failure gives the error that an iterator ends with.
func failure[T any](t *testing.T, seq iter.Seq2[T, error]) error {
	t.Helper()
	var last error
	for _, err := range seq {
		if last != nil {
			t.Error("an iterator went on after an error")
		}
		last = err
	}
	return last
}

func daemonCase(t *testing.T, f Fixture) {
	ctx := soon(t)
	status, err := f.Services.Status(ctx)
	ok(t, err)
	if status.PID <= 0 || status.APIVersion != cw.APIVersion || status.StartedAt.IsZero() {
		t.Errorf("status: %+v", status)
	}
	who, err := f.Services.Whoami(ctx)
	ok(t, err)
	if who.Kind != f.Who {
		t.Errorf("whoami: %q, want %q", who.Kind, f.Who)
	}
}

func notFoundCase(t *testing.T, f Fixture) {
	ctx, s := soon(t), f.Services
	for _, ref := range []string{unknown, cw.NewID(), "a/b", "..", "a b", "ü?#%2F", "-x"} {
		_, err := s.Agent(ctx, ref)
		wantCode(t, "Agent "+ref, err, cw.CodeNotFound)
		_, err = s.Stop(ctx, ref, cw.StopRequest{Now: true})
		wantCode(t, "Stop "+ref, err, cw.CodeNotFound)
		_, err = s.Diff(ctx, ref, cw.DiffRequest{})
		wantCode(t, "Diff "+ref, err, cw.CodeNotFound)
		_, err = s.Resume(ctx, ref, cw.ResumeRequest{Text: "go on"})
		wantCode(t, "Resume "+ref, err, cw.CodeNotFound)
		_, err = s.Remove(ctx, ref)
		wantCode(t, "Remove "+ref, err, cw.CodeNotFound)
		_, err = s.Restore(ctx, ref)
		wantCode(t, "Restore "+ref, err, cw.CodeNotFound)
		_, err = s.OpenWorktree(ctx, ref)
		wantCode(t, "OpenWorktree "+ref, err, cw.CodeNotFound)
		_, err = s.Messages(ctx, ref, cw.PageQuery{})
		wantCode(t, "Messages "+ref, err, cw.CodeNotFound)
		_, err = s.Send(ctx, ref, cw.SendRequest{Text: "go on"})
		wantCode(t, "Send "+ref, err, cw.CodeNotFound)
		_, err = s.Plan(ctx, ref)
		wantCode(t, "Plan "+ref, err, cw.CodeNotFound)
		_, err = s.SetPlan(ctx, ref, planned("Sell", "Look"))
		wantCode(t, "SetPlan "+ref, err, cw.CodeNotFound)
		_, err = s.MoveStep(ctx, ref, "step-0", cw.StepRequest{Status: cw.StepSkipped})
		wantCode(t, "MoveStep "+ref, err, cw.CodeNotFound)
		_, err = s.Question(ctx, ref)
		wantCode(t, "Question "+ref, err, cw.CodeNotFound)
		_, err = s.Questions(ctx, cw.QuestionFilter{Agent: ref})
		wantCode(t, "Questions "+ref, err, cw.CodeNotFound)
		_, err = s.Answer(ctx, cw.AnswersRequest{Answers: map[cw.QuestionID]string{cw.QuestionID(ref): "yes"}})
		wantCode(t, "Answer "+ref, err, cw.CodeNotFound)
		_, err = s.OutputPage(ctx, ref, cw.OutputPageQuery{})
		wantCode(t, "OutputPage "+ref, err, cw.CodeNotFound)
		for _, until := range []cw.OutputUntil{"", cw.UntilNow, cw.UntilRest, cw.UntilClosed} {
			q := cw.OutputQuery{Until: until}
			wantCode(t, "Output "+ref, failure(t, s.Output(ctx, ref, q)), cw.CodeNotFound)
			wantCode(t, "OutputEvents "+ref, failure(t, s.OutputEvents(ctx, ref, q)), cw.CodeNotFound)
		}
		wantCode(t, "Events "+ref, failure(t, s.Events(ctx, cw.EventQuery{Agent: ref, Follow: true})), cw.CodeNotFound)
		_, err = s.Project(ctx, ref)
		wantCode(t, "Project "+ref, err, cw.CodeNotFound)
		_, err = s.SetProject(ctx, ref, cw.ProjectSettings{AutoResume: new(bool)})
		wantCode(t, "SetProject "+ref, err, cw.CodeNotFound)
		_, err = s.RemoveProject(ctx, ref)
		wantCode(t, "RemoveProject "+ref, err, cw.CodeNotFound)
	}
}

// letGoCase: a caller that lets go gets its iterator back, with nothing or
// with an error that says so.
func letGoCase(t *testing.T, f Fixture) {
	check := func(what string, err error) {
		t.Helper()
		code := cw.ErrorCode(err)
		if err != nil && code != cw.CodeInterrupted && code != cw.CodeTimeout && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", what, err)
		}
	}
	ctx, cancel := context.WithCancel(soon(t))
	time.AfterFunc(20*time.Millisecond, cancel)
	check("Events", failure(t, f.Services.Events(ctx, cw.EventQuery{Tail: true, Follow: true})))
	if f.Agent == "" {
		return
	}
	for _, until := range []cw.OutputUntil{cw.UntilClosed} {
		ctx, cancel := context.WithCancel(soon(t))
		time.AfterFunc(20*time.Millisecond, cancel)
		check("Output", failure(t, f.Services.Output(ctx, f.Agent, cw.OutputQuery{Until: until})))
		ctx, cancel = context.WithCancel(soon(t))
		time.AfterFunc(20*time.Millisecond, cancel)
		check("OutputEvents", failure(t, f.Services.OutputEvents(ctx, f.Agent, cw.OutputQuery{Until: until})))
	}
	for range f.Services.Output(soon(t), f.Agent, cw.OutputQuery{Until: cw.UntilClosed}) {
		break // must return at once
	}
}

func projectsCase(t *testing.T, f Fixture) {
	ctx, s := soon(t), f.Services
	_, err := s.AddProject(ctx, cw.ProjectRequest{Path: f.NoRepo})
	wantCode(t, "AddProject", err, cw.CodeInvalid)
	p, err := s.AddProject(ctx, cw.ProjectRequest{Path: f.Repo})
	ok(t, err)
	again, err := s.AddProject(ctx, cw.ProjectRequest{Path: f.Repo})
	ok(t, err)
	if diff := cmp.Diff(p, again); diff != "" {
		t.Errorf("added twice: %s", diff)
	}
	for _, ref := range []string{string(p.ID), p.Name, p.Path} {
		got, err := s.Project(ctx, ref)
		ok(t, err)
		if diff := cmp.Diff(p, got); diff != "" {
			t.Errorf("by %q: %s", ref, diff)
		}
	}
	list, err := cw.AllPages(ctx, s.Projects)
	ok(t, err)
	if !slices.IsSortedFunc(list, func(a, b cw.Project) int { return strings.Compare(a.Name, b.Name) }) {
		t.Errorf("not by name: %v", list)
	}
	if n := count(list, func(q cw.Project) bool { return q.ID == p.ID }); n != 1 {
		t.Errorf("the project is listed %d times", n)
	}
	removed, err := s.RemoveProject(ctx, p.Path)
	ok(t, err)
	if removed.ID != p.ID {
		t.Errorf("removed %q, want %q", removed.ID, p.ID)
	}
	_, err = s.Project(ctx, p.Name)
	wantCode(t, "Project after its removal", err, cw.CodeNotFound)
}

func count[T any](list []T, is func(T) bool) int {
	n := 0
	for _, item := range list {
		if is(item) {
			n++
		}
	}
	return n
}

func projectInUseCase(t *testing.T, f Fixture) {
	ctx := soon(t)
	_, err := f.Services.RemoveProject(ctx, f.Project)
	wantCode(t, "RemoveProject in use", err, cw.CodeRefused)
	_, err = f.Services.Project(ctx, f.Project)
	ok(t, err)
}

func agentsCase(t *testing.T, f Fixture) {
	ctx, s := soon(t), f.Services
	view, err := s.Agent(ctx, f.Agent)
	ok(t, err)
	byID, err := s.Agent(ctx, string(view.ID))
	ok(t, err)
	if view.Alias != f.Agent || byID.ID != view.ID || !view.Status.AtRest() {
		t.Errorf("by name %s %s %s, by id %s", view.Alias, view.ID, view.Status, byID.ID)
	}
	all, err := cw.AllAgents(ctx, s, cw.AgentFilter{})
	ok(t, err)
	if !slices.IsSortedFunc(all, func(a, b cw.AgentView) int { return b.CreatedAt.Compare(a.CreatedAt) }) {
		t.Error("not newest first")
	}
	isIt := func(v cw.AgentView) bool { return v.ID == view.ID }
	if n := count(all, isIt); n != 1 {
		t.Errorf("listed %d times", n)
	}
	same, err := cw.AllAgents(ctx, s, cw.AgentFilter{Statuses: []cw.AgentStatus{view.Status, cw.StatusPending}})
	ok(t, err)
	for _, v := range same {
		if v.Status != view.Status && v.Status != cw.StatusPending {
			t.Errorf("filtered by status %s, got %s", view.Status, v.Status)
		}
	}
	if count(same, isIt) != 1 {
		t.Error("the filter by its own status leaves it out")
	}
	one, err := s.Agents(ctx, cw.AgentFilter{PageQuery: cw.PageQuery{Limit: 1}})
	ok(t, err)
	if len(one.Items) != 1 || one.Items[0].ID != all[0].ID {
		t.Errorf("limit 1 gives %d", len(one.Items))
	}
	stopped, err := s.Stop(ctx, f.Agent, cw.StopRequest{})
	ok(t, err)
	if stopped.Status != view.Status {
		t.Errorf("stopping an agent at rest made it %s", stopped.Status)
	}
}

func spawnCase(t *testing.T, f Fixture) {
	ctx, s := soon(t), f.Services
	_, err := s.Spawn(ctx, cw.SpawnRequest{Goal: " \n", Provider: f.Spawn.Provider})
	wantCode(t, "Spawn without a goal", err, cw.CodeInvalid)
	req := f.Spawn
	req.RequestKey = cw.NewID()
	view, err := s.Spawn(ctx, req)
	ok(t, err)
	again, err := s.Spawn(ctx, req)
	ok(t, err)
	if view.ID == "" || view.ID != again.ID {
		t.Errorf("one request made %q and %q", view.ID, again.ID)
	}
	stopped, err := s.Stop(ctx, view.Alias, cw.StopRequest{Now: true})
	ok(t, err)
	if stopped.Status != cw.StatusStopped {
		t.Errorf("stopped agent is %s", stopped.Status)
	}
	spawned := func(e cw.Event) bool { return e.Type == cw.EventAgentSpawned && e.AgentID == view.ID }
	if n := count(collect(t, s.Events(ctx, cw.EventQuery{})), spawned); n != 1 {
		t.Errorf("%d events agent:spawned", n)
	}
}

func diffCase(t *testing.T, f Fixture) {
	ctx := soon(t)
	diff, err := f.Services.Diff(ctx, f.Agent, cw.DiffRequest{})
	ok(t, err)
	short, err := f.Services.Diff(ctx, f.Agent, cw.DiffRequest{Project: f.Project, Stat: true})
	ok(t, err)
	if diff.Project == "" || diff.Stat != short.Stat || short.Patch != "" || short.WorkPatch != "" {
		t.Errorf("diff %+v, its summary %+v", diff, short)
	}
}

func diffStandaloneCase(t *testing.T, f Fixture) {
	_, err := f.Services.Diff(soon(t), f.Standalone, cw.DiffRequest{})
	wantCode(t, "Diff without a project", err, cw.CodeRefused)
}
