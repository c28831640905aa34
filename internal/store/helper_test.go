package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

// bench is a store in a folder of its own, with what it told.
type bench struct {
	*DB
	t    testing.TB
	dir  string
	mu   sync.Mutex
	told []cw.Event
	// hold, when set, is called first when events are told.
	hold func()
}

func newBench(t testing.TB) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir()}
	b.open()
	return b
}

func (b *bench) open() {
	b.t.Helper()
	db, err := Open(b.t.Context(), Options{Dir: b.dir, Version: "v0.1.0-test", OnCommit: func(events []cw.Event) {
		if b.hold != nil {
			b.hold()
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.told = append(b.told, events...)
	}})
	if err != nil {
		b.t.Fatal(err)
	}
	b.DB = db
	t := b.t // tests of several parts change b.t
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}

// run starts the log writer; it ends before the store is closed.
func (b *bench) run() {
	b.t.Helper()
	start(b.t, b.DB)
}

func start(t testing.TB, db *DB) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- db.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func event(typ cw.EventType, data string) cw.Event {
	e := cw.NewEvent(typ, cw.Actor{Kind: cw.ActorCW}, nil)
	e.Data = []byte(fmt.Sprintf("{%q:%q}", "text", data))
	return e
}

// project makes a project that can be stored.
func project(name string) cw.Project {
	return cw.Project{
		ID: cw.ProjectID(cw.NewID()), Name: name, Path: "/src/" + name,
		GitDir: "/src/" + name + "/.git", Mirror: name + "-abcd.git",
	}
}

// intent makes the spawn of an agent in a project.
func intent(alias string, p cw.Project) cw.SpawnIntent {
	agentID, runID, key := cw.AgentID(cw.NewID()), cw.RunID(cw.NewID()), "key-"+cw.NewID()
	return cw.SpawnIntent{
		Agent: cw.Agent{
			ID: agentID, Alias: alias, Definition: "execute", Mode: cw.ModeExecute, Provider: "script",
			AccountID: "default-script", Title: "a title", Status: cw.StatusPending, SessionNumber: 1, AgentCwd: "/home/" + alias,
		},
		Worktrees: []cw.AgentWorktree{{
			ProjectID: p.ID, Project: p.Name, Path: "/home/" + alias, Branch: "agent/" + alias,
			BaseBranch: "main", BaseCommit: "b4se", State: cw.WorktreePlanned,
		}},
		Run: cw.Run{ID: runID, AgentID: agentID, Kind: cw.RunAgent, SessionNumber: 1, Reason: cw.RunSpawn, Dir: "/runs/" + alias + "/1", OutputPath: "/runs/" + alias + "/1/output.jsonl"},
		Op:  cw.Op{ID: cw.OpID(cw.NewID()), Kind: cw.OpSpawn, Status: cw.OpIntended, AgentID: agentID, RunID: runID, RequestKey: &key},
	}
}

func starting(in cw.SpawnIntent) cw.Starting {
	return cw.Starting{
		AgentID: in.Agent.ID, RunID: in.Run.ID, OpID: in.Op.ID, Step: "shim",
		Message: cw.Message{ID: cw.MessageID(cw.NewID()), Role: cw.RoleUser, Origin: "person", Body: "do it"},
		Token:   cw.Token{ID: cw.TokenID(cw.NewID()), Hash: cw.HashToken(cw.NewToken()), Kind: cw.ActorAgent, Scopes: cw.RunScopes()},
		Event:   event(cw.EventAgentStarting, in.Agent.Alias),
	}
}

func running(in cw.SpawnIntent) cw.Running {
	return cw.Running{
		AgentID: in.Agent.ID, RunID: in.Run.ID, OpID: in.Op.ID,
		Handle: []byte(`{"v":1}`), PID: 4711, StartedAt: time.Now(),
		Events: []cw.Event{event(cw.EventAgentSpawned, in.Agent.Alias), event(cw.EventAgentRunning, in.Agent.Alias)},
	}
}

func finish(in cw.SpawnIntent, from, to cw.AgentStatus) cw.Finish {
	return cw.Finish{
		AgentID: in.Agent.ID, RunID: in.Run.ID, OpID: in.Op.ID, From: []cw.AgentStatus{from}, Status: to,
		Events: []cw.Event{event(cw.EventAgentStopped, in.Agent.Alias)},
	}
}

// Messages gives the messages of an agent in order, hidden ones too.
func (b *bench) Messages(ctx context.Context, agent cw.AgentID) ([]cw.Message, error) {
	var messages []cw.Message
	err := b.state.read.WithContext(ctx).Where("agent_id = ?", agent).Order("seq").Find(&messages).Error
	return messages, err
}

// nextRun makes the intent of an agent's run of that number, from any rest, with
// new texts.
func nextRun(agent cw.AgentID, number int, texts ...string) cw.RunIntent {
	run, op := cw.RunID(cw.NewID()), cw.OpID(cw.NewID())
	in := cw.RunIntent{
		AgentID: agent, From: atRest(), SessionID: fmt.Sprintf("session-%d", number),
		Run: cw.Run{ID: run, AgentID: agent, Kind: cw.RunAgent, SessionNumber: number, Reason: cw.RunFollowUp, Dir: fmt.Sprintf("/runs/%s/%d", agent, number)},
		Op:  cw.Op{ID: op, Kind: cw.OpResume, Status: cw.OpIntended, AgentID: agent, RunID: run},
		Events: []cw.Event{
			event(cw.EventAgentResumed, "resumed").About(agent, run), event(cw.EventAgentStarting, "starting").About(agent, run),
		},
	}
	for _, body := range texts {
		in.Messages = append(in.Messages, cw.Message{ID: cw.MessageID(cw.NewID()), Role: cw.RoleUser, Origin: cw.OriginCW, Body: body})
	}
	return in
}

func atRest() []cw.AgentStatus {
	return slices.DeleteFunc(cw.AgentStatuses(), cw.AgentStatus.Alive)
}

// restingAgent brings an agent on the proper way to the end of its first run.
func (b *bench) restingAgent(alias string, status cw.AgentStatus, asks ...string) cw.SpawnIntent {
	b.t.Helper()
	in := b.runningAgent(alias)
	f := finish(in, cw.StatusRunning, status)
	f.Questions = questions(asks...)
	done, err := b.FinishRun(b.t.Context(), f)
	b.must(err)
	if !done {
		b.t.Fatal("the run had ended already")
	}
	return in
}

// questions makes one group.
func questions(texts ...string) []cw.Question {
	group := cw.RequestID(cw.NewID())
	var out []cw.Question
	for _, text := range texts {
		out = append(out, cw.Question{ID: cw.QuestionID(cw.NewID()), RequestID: group, Source: "signal", Text: text})
	}
	return out
}

// agent reads one as people see it.
func (b *bench) agent(alias string) cw.AgentView {
	b.t.Helper()
	v, err := b.AgentView(b.t.Context(), alias)
	b.must(err)
	return v
}

// op reads one operation.
func (b *bench) op(id cw.OpID) cw.Op {
	b.t.Helper()
	var op cw.Op
	found, err := one(b.state.read, &op, "id = ?", id)
	b.must(err)
	if !found {
		b.t.Fatalf("there is no operation %s", id)
	}
	return op
}

// queue stores a text of a person that waits.
func (b *bench) queue(agent cw.AgentID, body string) cw.Message {
	b.t.Helper()
	m, err := b.QueueMessage(b.t.Context(), cw.Message{AgentID: agent, Origin: cw.OriginPerson, Body: body},
		event(cw.EventMessageQueued, body).About(agent, ""))
	b.must(err)
	return m
}

// bodies are the words of messages.
func bodies(messages []cw.Message) []string {
	var out []string
	for _, m := range messages {
		out = append(out, m.Body)
	}
	return out
}

// runTexts are the words in the prompt of a run.
func (b *bench) runTexts(run cw.RunID) []string {
	b.t.Helper()
	messages, err := b.RunMessages(b.t.Context(), run)
	b.must(err)
	return bodies(messages)
}

// toldTypes are the types of events that were told after the first so many.
func (b *bench) toldTypes(from int) []cw.EventType {
	var types []cw.EventType
	for _, e := range b.toldEvents()[from:] {
		types = append(types, e.Type)
	}
	return types
}

// addProject stores a project.
func (b *bench) addProject(name string) cw.Project {
	b.t.Helper()
	p := project(name)
	b.must(b.AddProject(b.t.Context(), p, event(cw.EventProjectAdded, name)))
	return p
}

// agentAt stores an agent, in a project of its own, and brings it to a status
// with one write that no rule watches over.
func (b *bench) agentAt(alias string, status cw.AgentStatus) cw.SpawnIntent {
	b.t.Helper()
	in := intent(alias, b.addProject("p-"+alias))
	b.must(b.IntendSpawn(b.t.Context(), in))
	b.must(b.state.write.Exec("UPDATE agents SET status = ? WHERE id = ?", status, in.Agent.ID).Error)
	return in
}

// runningAgent brings an agent to running on the proper way.
func (b *bench) runningAgent(alias string) cw.SpawnIntent {
	b.t.Helper()
	in := intent(alias, b.addProject("p-"+alias))
	b.must(b.IntendSpawn(b.t.Context(), in))
	b.must(b.SaveStarting(b.t.Context(), starting(in)))
	b.must(b.SaveRunning(b.t.Context(), running(in)))
	return in
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatalf("%v (hint: %s)", err, cw.ErrorHint(err))
	}
}

// refuses checks the code of an error, and that its text names something.
func refuses(t testing.TB, err error, code cw.Code, text string) {
	t.Helper()
	if cw.ErrorCode(err) != code || !strings.Contains(fmt.Sprint(err, " | ", cw.ErrorHint(err)), text) {
		t.Fatalf("got %q with code %q and hint %q; want code %q and the text %q",
			fmt.Sprint(err), cw.ErrorCode(err), cw.ErrorHint(err), code, text)
	}
}

// dump gives every row of the state, table by table, so that a test sees
// that nothing changed.
func (b *bench) dump() map[string][]map[string]any {
	b.t.Helper()
	out := map[string][]map[string]any{}
	for _, table := range stateTables() {
		if !b.state.read.Migrator().HasTable(table) {
			continue // of a later schema
		}
		var rows []map[string]any
		b.must(b.state.read.Table(table).Order("rowid").Find(&rows).Error)
		out[table] = rows
	}
	return out
}

func stateTables() []string {
	return append([]string{"projects", "agents", "agent_worktrees", "runs", "messages", "ops", "questions", "conversations", "plans", "project_trusts", "worktree_ports", "tokens", "events", "accounts", "usage_samples", "budgets"},
		initiativeTables()...)
}

// same fails when two values differ.
func same(t testing.TB, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

// toldEvents gives what OnCommit was told so far.
func (b *bench) toldEvents() []cw.Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]cw.Event(nil), b.told...)
}
