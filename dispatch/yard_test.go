package dispatch_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cw/dispatch"
	"cw/internal/cw"
	"cw/internal/store"
	"cw/planning"
)

var _ dispatch.Store = (*store.DB)(nil)

// yard is a dispatcher over a real store on a clock of its own. Its agents,
// repositories and machine do what a test says.
type yard struct {
	*testing.T
	*planning.Manager

	db      *store.DB
	crew    *crew
	repos   *repos
	log     *logBook
	in      cw.Initiative
	project cw.ProjectID
	retries int
	limit   int
	fail    cw.Failpoint
	scratch string // the folder of the checks; "" for one of its own

	mu      sync.Mutex
	daemons []*dispatch.Dispatcher // guarded by mu
	stored  []cw.Event             // guarded by mu
}

// inYard runs a test in a yard, on a clock that goes on when everybody rests.
func inYard(t *testing.T, test func(y *yard)) {
	t.Helper()
	inYardAt(t, t.TempDir(), test)
}

// inYardAt does it with the databases of a folder.
func inYardAt(t *testing.T, dir string, test func(y *yard)) {
	t.Helper()
	y := &yard{retries: 1, limit: 9}
	// The database is opened outside of the bubble: what it starts never ends.
	db, err := store.Open(t.Context(), store.Options{Dir: dir, Version: "v0.1.0-test", OnCommit: y.heard})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		y.T, y.db, y.Manager, y.log = t, db, planning.New(db), &logBook{}
		y.crew = &crew{y: y, called: map[cw.TaskID][]cw.SpawnRequest{}, over: map[cw.RunID]bool{}}
		y.repos = &repos{heads: map[cw.InitiativeID]string{}, conflicts: map[string]bool{}, files: map[string]cw.ProjectFileView{}}
		test(y)
	})
}

func (y *yard) heard(events []cw.Event) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.stored = append(y.stored, events...)
	for _, d := range y.daemons {
		d.Ring()
	}
}

// events counts the events of a type.
func (y *yard) events(typ cw.EventType) int {
	y.mu.Lock()
	defer y.mu.Unlock()
	n := 0
	for _, e := range y.stored {
		if e.Type == typ {
			n++
		}
	}
	return n
}

func (y *yard) need(err error) {
	y.Helper()
	if err != nil {
		y.Fatalf("%v (hint: %s)", err, cw.ErrorHint(err))
	}
}

// daemon starts a dispatcher; end ends it and waits.
func (y *yard) daemon() (d *dispatch.Dispatcher, end func()) {
	ctx, cancel := context.WithCancel(y.Context())
	d = dispatch.New(dispatch.Config{
		Store: y.db, Agents: y.crew, Repos: y.repos, Machine: machine{}, Limits: cw.DispatchLimits{Machine: y.limit},
		Policy: dispatch.Policy{Retries: y.retries}, Conflicts: 2, Checks: 2, Scratch: cmp.Or(y.scratch, y.TempDir()), Log: slog.New(y.log), Fail: y.fail,
	})
	y.mu.Lock()
	y.daemons = append(y.daemons, d)
	y.mu.Unlock()
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = d.Run(ctx) // it has no error
	}()
	return d, func() {
		y.mu.Lock()
		y.daemons = slices.DeleteFunc(y.daemons, func(o *dispatch.Dispatcher) bool { return o == d })
		y.mu.Unlock()
		cancel()
		<-over
	}
}

// pass lets time pass and everybody come to rest.
func (y *yard) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// soon is longer than what is decided at once takes.
const soon = time.Second

// open makes the initiative.
func (y *yard) open() {
	y.Helper()
	p := cw.Project{ID: cw.ProjectID(cw.NewID()), Name: "shop", Path: "/src/shop", GitDir: "/src/shop/.git", Mirror: "shop-abcd.git"}
	y.need(y.db.AddProject(y.Context(), p, cw.NewEvent(cw.EventProjectAdded, cw.Actor{Kind: cw.ActorPerson}, nil)))
	in, err := y.CreateInitiative(y.Context(), cw.CreateInitiativeRequest{Start: true, Name: "Sale", Goal: "Sell more.", Projects: []string{p.Path}})
	y.need(err)
	y.in, y.project = in, p.ID
}

// phase makes a phase; those of people are approved.
func (y *yard) phase(name string, after ...cw.PhaseID) cw.PhaseID {
	y.Helper()
	ph, err := y.CreatePhase(y.Context(), cw.CreatePhaseRequest{Initiative: y.in.Slug, Name: name, DependsOn: after})
	y.need(err)
	return ph.ID
}

func (y *yard) task(phase cw.PhaseID, name string, change ...func(*cw.CreateTaskRequest)) cw.TaskID {
	y.Helper()
	req := cw.CreateTaskRequest{PhaseID: phase, Name: name}
	for _, f := range change {
		f(&req)
	}
	t, err := y.CreateTask(y.Context(), req)
	y.need(err)
	return t.ID
}

func (y *yard) cancel(id cw.TaskID) {
	y.Helper()
	status := cw.TaskCancelled
	_, err := y.EditTask(y.Context(), id, cw.TaskEdit{Status: &status})
	y.need(err)
}

func (y *yard) state(d *dispatch.Dispatcher, s cw.DispatchState) {
	y.Helper()
	_, err := d.SetDispatch(y.Context(), cw.DispatchRequest{State: s})
	y.need(err)
}

func (y *yard) taskNow(id cw.TaskID) cw.Task {
	y.Helper()
	t, err := y.db.TaskByID(y.Context(), id)
	y.need(err)
	return t
}

func (y *yard) wantTask(id cw.TaskID, want cw.TaskStatus) cw.Task {
	y.Helper()
	t := y.taskNow(id)
	if t.Status != want {
		y.Fatalf("the task %q is %s, it was to be %s; log:\n%s", t.Name, t.Status, want, y.log)
	}
	return t
}

func (y *yard) wantPhase(id cw.PhaseID, want cw.PhaseStatus) {
	y.Helper()
	p, err := y.db.PhaseByID(y.Context(), id)
	y.need(err)
	if p.Status != want {
		y.Fatalf("the phase %q is %s, it was to be %s", p.Name, p.Status, want)
	}
}

func (y *yard) mergeNow(id cw.TaskID) cw.Merge {
	y.Helper()
	m, found, err := y.db.MergeOfTask(y.Context(), id)
	y.need(err)
	if !found {
		y.Fatalf("the work on %s is not queued", id)
	}
	return m
}

// waits gives the reason why a task waits.
func (y *yard) waits(d *dispatch.Dispatcher, id cw.TaskID) cw.WaitReason {
	y.Helper()
	st, err := d.Dispatch(y.Context(), "")
	y.need(err)
	for _, t := range st.Waiting {
		if t.ID == id {
			return *t.Wait
		}
	}
	y.Fatalf("the task %s does not wait", id)
	return cw.WaitReason{}
}

// ends lets the run of a task's agent end.
func (y *yard) ends(id cw.TaskID, change func(*cw.Finish)) {
	y.Helper()
	y.crew.end(y.taskNow(id).AgentID, change)
}

// works lets the agent of a task end with a commit.
func (y *yard) works(id cw.TaskID) { y.Helper(); y.ends(id, commits) }

func commits(f *cw.Finish) {
	f.Status, f.Result = cw.StatusIdle, "did it"
	for i := range f.Worktrees {
		w := &f.Worktrees[i]
		w.State, w.Commits = cw.WorktreePresent, w.Commits+1
		w.HeadCommit = fmt.Sprintf("%s-%d", w.Branch, w.Commits)
	}
}

func crashes(r cw.Reason) func(*cw.Finish) {
	return func(f *cw.Finish) { f.Status, f.Reason, f.Error = cw.StatusCrashed, r, "the tool broke" }
}

func nothingToDo(f *cw.Finish) { f.Status, f.NoChanges = cw.StatusIdle, "it is so already" }

// machine has room for everybody.
type machine struct{}

func (machine) Room(context.Context) dispatch.Room { return dispatch.Room{} }

func (machine) Providers(_ context.Context, names []string) map[string]dispatch.Provider {
	out := map[string]dispatch.Provider{}
	for _, name := range names {
		out[name] = dispatch.Provider{Name: "script"}
	}
	return out
}

// crew are the agents of a yard.
type crew struct {
	y *yard
	// refuse, unless nil, says why an agent cannot be made.
	refuse func(cw.SpawnRequest) error
	// made, unless nil, is called when an agent is stored and not there yet.
	made func()
	// check, unless nil, does checks in place of finding everything good.
	check func(ctx context.Context, r cw.CommandRun) (cw.CommandResult, error)

	mu      sync.Mutex
	called  map[cw.TaskID][]cw.SpawnRequest // guarded by mu
	started []start                         // guarded by mu
	stopped []string                        // guarded by mu
	checks  []cw.RunID                      // guarded by mu
	ended   []cw.RunID                      // guarded by mu: checks that nobody waits for
	over    map[cw.RunID]bool               // guarded by mu: checks that came to their end
	woken   []cw.AgentID                    // guarded by mu
}

// start is when the agent of a task was made.
type start struct {
	task cw.TaskID
	at   time.Time
}

func (c *crew) SpawnTask(ctx context.Context, req cw.SpawnRequest) (cw.AgentView, error) {
	c.mu.Lock()
	c.called[req.TaskID] = append(c.called[req.TaskID], req)
	c.mu.Unlock()
	if c.refuse != nil {
		if err := c.refuse(req); err != nil {
			return cw.AgentView{}, err
		}
	}
	if op, found, err := c.y.db.SpawnByKey(ctx, req.RequestKey); err != nil || found {
		if err != nil {
			return cw.AgentView{}, err
		}
		return c.y.db.AgentView(ctx, string(op.AgentID))
	}
	t, err := c.y.db.TaskByID(ctx, req.TaskID)
	if err != nil {
		return cw.AgentView{}, err
	}
	p, err := c.y.db.ProjectByRef(ctx, "shop")
	if err != nil {
		return cw.AgentView{}, err
	}
	agent, run, op := cw.AgentID(cw.NewID()), cw.RunID(cw.NewID()), cw.OpID(cw.NewID())
	alias := "busy-" + string(agent)
	err = c.y.db.IntendSpawn(ctx, cw.SpawnIntent{
		Agent: cw.Agent{
			ID: agent, Alias: alias, Definition: "execute", Mode: cw.ModeExecute, Provider: "script", AccountID: "default-script", Title: "x",
			Status: cw.StatusPending, SessionNumber: 1, InitiativeID: t.InitiativeID, TaskID: t.ID,
		},
		Worktrees: []cw.AgentWorktree{{ProjectID: p.ID, Project: p.Name, Path: "/home/" + alias, Branch: "agent/" + alias, BaseBranch: "main", BaseCommit: "base", State: cw.WorktreePlanned}},
		Run:       cw.Run{ID: run, AgentID: agent, Kind: cw.RunAgent, SessionNumber: 1, Reason: cw.RunSpawn, Dir: "/runs/" + alias},
		Op:        cw.Op{ID: op, Kind: cw.OpSpawn, Status: cw.OpIntended, AgentID: agent, RunID: run, RequestKey: &req.RequestKey},
		Claim:     req.Claim,
	})
	if err != nil {
		return cw.AgentView{}, err
	}
	c.mu.Lock()
	c.started = append(c.started, start{t.ID, time.Now()})
	c.mu.Unlock()
	if c.made != nil {
		c.made()
	}
	if err := c.run(ctx, agent, run, op, true); err != nil {
		return cw.AgentView{}, err
	}
	return c.y.db.AgentView(ctx, string(agent))
}

// run brings a run that is intended to where it works.
func (c *crew) run(ctx context.Context, agent cw.AgentID, run cw.RunID, op cw.OpID, first bool) error {
	s := cw.Starting{
		AgentID: agent, RunID: run, OpID: op, Step: "shim",
		Token: cw.Token{ID: cw.TokenID(cw.NewID()), Hash: cw.HashToken(cw.NewToken()), Kind: cw.ActorAgent, Scopes: cw.RunScopes()},
		Event: cw.NewEvent(cw.EventAgentStarting, cw.Actor{Kind: cw.ActorCW}, nil),
	}
	if first {
		s.Message = cw.Message{ID: cw.MessageID(cw.NewID()), Role: cw.RoleUser, Origin: cw.OriginCW, Body: "do it"}
	}
	if err := c.y.db.SaveStarting(ctx, s); err != nil {
		return err
	}
	return c.y.db.SaveRunning(ctx, cw.Running{
		AgentID: agent, RunID: run, OpID: op, Handle: []byte(`{"v":1}`), PID: 4711,
		Events: []cw.Event{cw.NewEvent(cw.EventAgentRunning, cw.Actor{Kind: cw.ActorCW}, nil)},
	})
}

// end ends the run of an agent.
func (c *crew) end(agent cw.AgentID, change func(*cw.Finish)) {
	c.y.Helper()
	v, err := c.y.db.AgentView(c.y.Context(), string(agent))
	c.y.need(err)
	c.y.need(c.finish(c.y.Context(), v, change))
}

func (c *crew) finish(ctx context.Context, v cw.AgentView, change func(*cw.Finish)) error {
	f := cw.Finish{
		AgentID: v.ID, RunID: v.Runs[len(v.Runs)-1].ID, From: []cw.AgentStatus{cw.StatusPending, cw.StatusStarting, cw.StatusRunning}, Worktrees: slices.Clone(v.Projects),
		Events: []cw.Event{cw.NewEvent(cw.EventAgentStopped, cw.Actor{Kind: cw.ActorCW}, nil)},
	}
	change(&f)
	_, err := c.y.db.FinishRun(ctx, f)
	return err
}

func (c *crew) Stop(ctx context.Context, ref string, _ cw.StopRequest) (cw.AgentView, error) {
	v, err := c.y.db.AgentView(ctx, ref)
	if err != nil {
		return v, err
	}
	c.mu.Lock()
	c.stopped = append(c.stopped, string(v.Status))
	c.mu.Unlock()
	time.Sleep(3 * restTime) // it has its grace
	if !v.Status.Alive() {
		err = c.y.db.StopWaiting(ctx, v.ID, cw.NewEvent(cw.EventAgentStopped, cw.Actor{Kind: cw.ActorCW}, nil))
	} else {
		err = c.finish(ctx, v, func(f *cw.Finish) { f.Status, f.Reason = cw.StatusStopped, cw.ReasonUser })
	}
	if err != nil {
		return v, err
	}
	return c.y.db.AgentView(ctx, ref)
}

// GoOn starts the next run of an agent for which a text waits.
func (c *crew) GoOn(ctx context.Context, id cw.AgentID) error {
	v, err := c.y.db.AgentView(ctx, string(id))
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.woken = append(c.woken, id)
	c.mu.Unlock()
	run, op := cw.RunID(cw.NewID()), cw.OpID(cw.NewID())
	number := v.SessionNumber + 1
	err = c.y.db.IntendRun(ctx, cw.RunIntent{
		AgentID: id, From: []cw.AgentStatus{cw.StatusIdle},
		Run: cw.Run{ID: run, AgentID: id, Kind: cw.RunAgent, SessionNumber: number, Reason: cw.RunFollowUp, Dir: fmt.Sprintf("/runs/%s/%d", v.Alias, number)},
		Op:  cw.Op{ID: op, Kind: cw.OpResume, Status: cw.OpIntended, AgentID: id, RunID: run},
	})
	if err != nil {
		return err
	}
	return c.run(ctx, id, run, op, false)
}

func (c *crew) Diff(context.Context, string, cw.DiffRequest) (cw.Diff, error) { return cw.Diff{}, nil }

func (c *crew) EndChecks(ctx context.Context, wanted func(context.Context) (map[cw.RunID]bool, error)) error {
	needed, err := wanted(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range c.checks {
		if !needed[id] && !c.over[id] { // one that ended meanwhile stays as it came out
			c.ended = append(c.ended, id)
		}
	}
	return err
}

func (c *crew) RunCommands(ctx context.Context, r cw.CommandRun) (cw.CommandResult, error) {
	c.mu.Lock()
	c.checks = append(c.checks, r.ID)
	c.mu.Unlock()
	result, err := cw.CommandResult{OK: true}, error(nil)
	if c.check != nil {
		result, err = c.check(ctx, r)
	}
	if err == nil {
		c.mu.Lock()
		c.over[r.ID] = true
		c.mu.Unlock()
	}
	return result, err
}

// count gives how many agents were made for a task.
func (c *crew) count(id cw.TaskID) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, s := range c.started {
		if s.task == id {
			n++
		}
	}
	return n
}

func (c *crew) stops() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.stopped)
}

func (c *crew) checked() []cw.RunID {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.checks)
}

// repos is a repository in memory.
type repos struct {
	dispatch.Repos

	mu        sync.Mutex
	heads     map[cw.InitiativeID]string    // guarded by mu
	conflicts map[string]bool               // guarded by mu: heads that do not go together with anything
	files     map[string]cw.ProjectFileView // guarded by mu: what is special about a merged commit, by the head of the work
	changes   map[string][]cw.FileChange    // guarded by mu: what work changed, by its head
	moves     []string                      // guarded by mu: commits to which the branch was moved
	shown     string                        // guarded by mu

	unscratch   map[string]error // what Unscratch returns for a folder
	unscratched []string         // guarded by mu: folders of checks that were taken away
}

func (r *repos) Begin(context.Context, cw.Project) (branch, commit string, err error) {
	return "main", "base", nil
}

func (r *repos) Ensure(_ context.Context, _ cw.Project, in cw.Integration, _ func(context.Context, string) (bool, error)) (head, note string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.heads[in.InitiativeID] == "" {
		r.heads[in.InitiativeID] = in.BaseCommit
	}
	return r.heads[in.InitiativeID], "", nil
}

func (r *repos) Merge(_ context.Context, q dispatch.MergeRequest) (dispatch.MergeResult, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.conflicts[q.Head] {
		return dispatch.MergeResult{Conflicts: []cw.MergeConflict{{Path: "README.md", Kind: "contents", Text: "<<<<<<<"}}}, nil
	}
	sum := sha256.Sum256([]byte(q.Onto + " " + q.Head + " " + q.At.String()))
	commit := hex.EncodeToString(sum[:8])
	if f, special := r.files[q.Head]; special {
		r.files[commit] = f
	}
	return dispatch.MergeResult{Commit: commit}, nil
}

func (r *repos) Move(_ context.Context, _ cw.Project, in cw.Integration, from, to string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.heads[in.InitiativeID] == to {
		return nil
	}
	if r.heads[in.InitiativeID] != from {
		return cw.Errorf(cw.CodeRefused, "the branch is not there any more")
	}
	r.heads[in.InitiativeID] = to
	r.moves = append(r.moves, to)
	return nil
}

func (r *repos) Publish(_ context.Context, _ cw.Project, in cw.Integration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shown = in.Head
	return nil
}

func (r *repos) Scratch(context.Context, cw.Project, string, string, []string) error { return nil }

func (r *repos) Unscratch(_ context.Context, _ cw.Project, path string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unscratched = append(r.unscratched, path)
	return r.unscratch[path]
}

func (r *repos) ScratchName(folder string) string { return strings.TrimPrefix(folder, ".removing-") }

func (r *repos) Changed(context.Context, cw.Project, string, string) ([]string, error) {
	return nil, nil
}

func (r *repos) Contains(_ context.Context, _ cw.Project, commit, ancestor string) (bool, error) {
	return commit == ancestor, nil
}

func (r *repos) Reserved(context.Context, cw.Project, string, string) ([]string, error) {
	return nil, nil
}

// File is a file with one check, that is trusted, unless something else is said.
func (r *repos) File(_ context.Context, _ cw.Project, commit string) (cw.ProjectFileView, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f, special := r.files[commit]
	if !special {
		f = cw.ProjectFileView{Trusted: true}
	}
	f.File.Checks = []cw.ProjectCommand{{Name: "test", Run: "make test", Timeout: time.Hour}}
	return f, nil
}

func (r *repos) special(head string, f cw.ProjectFileView) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for of, was := range r.files {
		if was.Commit == head {
			delete(r.files, of)
		}
	}
	f.Commit = head
	r.files[head] = f
}

// changing lets work change files.
func (r *repos) changing(head string, paths ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changes == nil {
		r.changes = map[string][]cw.FileChange{}
	}
	r.changes[head] = nil
	for _, p := range paths {
		r.changes[head] = append(r.changes[head], cw.FileChange{Path: p})
	}
}

func (r *repos) Diff(_ context.Context, _ cw.Project, base, head string, _ cw.DiffRequest) (cw.Diff, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return cw.Diff{BaseCommit: base, HeadCommit: head, Files: slices.Clone(r.changes[head])}, nil
}

// trust makes everything trusted.
func (r *repos) trust() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.files)
}

func (r *repos) moved() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.moves)
}

// logBook keeps what is logged.
type logBook struct {
	mu    sync.Mutex
	lines []string // guarded by mu
}

func (l *logBook) Enabled(context.Context, slog.Level) bool { return true }
func (l *logBook) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *logBook) WithGroup(string) slog.Handler            { return l }

func (l *logBook) Handle(_ context.Context, r slog.Record) error {
	line := r.Level.String() + " " + r.Message
	r.Attrs(func(a slog.Attr) bool { line += " " + a.String(); return true })
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
	return nil
}

// count gives how many lines begin so.
func (l *logBook) count(begin string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, line := range l.lines {
		if strings.HasPrefix(line, begin) {
			n++
		}
	}
	return n
}

func (l *logBook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}

// elsewhere moves the branch of an initiative on, as another merge would.
func (r *repos) elsewhere(id cw.InitiativeID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heads[id] += "-and-more"
}

// conflicting lets work go together with nothing.
func (r *repos) conflicting(head string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conflicts[head] = true
}
