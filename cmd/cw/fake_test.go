package main

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"sync"
	"time"

	"cw/internal/cw"
)

// fakeServices is a daemon in memory: what the tests put in comes out, and
// what was asked of it is kept.
type fakeServices struct {
	mu       sync.Mutex
	agents   []cw.AgentView
	projects []cw.Project
	file     cw.ProjectFileView // the cw.yaml of each of them
	trusted  []cw.TrustRequest
	diffs    map[string]cw.Diff
	output   map[cw.AgentID][]cw.OutputEvent
	chunks   map[cw.AgentID][]cw.Chunk
	events   []cw.Event
	tokens   []cw.Token
	revoked  []string
	// ends are the agents as they are once their output was read to its end;
	// one that is not in here never ends.
	ends map[cw.AgentID]cw.AgentView
	// read is closed when a reader of output that never ends waits.
	read chan struct{}
	once sync.Once
	// errs are errors by method. After failures[method] calls the error goes.
	errs     map[string]error
	failures map[string]int
	spawns   []cw.SpawnRequest
	stops    []string
	queries  []cw.OutputQuery
	pages    []cw.OutputPageQuery // of output that were asked for
	filters  []cw.AgentFilter     // of lists
	// eventQueries are those that events were asked with.
	eventQueries []cw.EventQuery
	status       cw.DaemonStatus
	fakeLife
	fakeAccounts
	fakeProviders
	fakePlans
	fakeDispatch
	fakeConversations
	kept cw.Plan // of an agent
}

var _ cw.Services = (*fakeServices)(nil)

func newFake() *fakeServices {
	return &fakeServices{
		diffs: map[string]cw.Diff{}, output: map[cw.AgentID][]cw.OutputEvent{}, chunks: map[cw.AgentID][]cw.Chunk{},
		fakeLife: fakeLife{after: map[cw.AgentID]cw.AgentView{}},
		ends:     map[cw.AgentID]cw.AgentView{}, errs: map[string]error{}, failures: map[string]int{}, read: make(chan struct{}),
		status: cw.DaemonStatus{
			PID: 4242, Version: "v0.1.0", BuildID: "b1", APIVersion: cw.APIVersion, Home: "/home/lead/.cw",
			Socket: "/home/lead/.cw/run/cw.sock", StartedAt: epoch.Add(-90 * time.Minute), AgentsAlive: 2, Agents: 5,
			Projects: 1, DatabaseBytes: 3 << 20, LogBytes: 512, FreeBytes: 40 << 30,
		},
	}
}

// breaks lets a method fail so many times from now on; 0: always.
func (f *fakeServices) breaks(method string, times int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.errs[method] = err
	if times > 0 {
		f.failures[method] = times
	}
}

// fails tells whether the method is to fail this time.
func (f *fakeServices) fails(method string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.errs[method]
	if left, counted := f.failures[method]; counted {
		if left == 0 {
			return nil
		}
		f.failures[method]--
	}
	return err
}

// add puts an agent in, and how it ends.
func (f *fakeServices) add(now cw.AgentView, end *cw.AgentView, output ...cw.StreamEvent) {
	f.agents = append(f.agents, now)
	if end != nil {
		f.ends[now.ID] = *end
	}
	for i, e := range output {
		f.output[now.ID] = append(f.output[now.ID], cw.OutputEvent{
			Position: fmt.Sprintf("1:%d:0", i*10), ChunkID: int64(i + 1), Session: 1, At: epoch.Add(time.Duration(i) * time.Second), Event: e,
		})
	}
}

func (f *fakeServices) find(ref string) (int, error) {
	for i, v := range f.agents {
		if v.Alias == ref || string(v.ID) == ref {
			return i, nil
		}
	}
	return 0, cw.Errorf(cw.CodeNotFound, "there is no agent %q", ref).WithHint("cw agent list shows all")
}

func (f *fakeServices) Spawn(ctx context.Context, req cw.SpawnRequest) (cw.AgentView, error) {
	if ctx.Err() != nil {
		return cw.AgentView{}, cw.Errorf(cw.CodeInterrupted, "the call was given up").Because(ctx.Err())
	}
	err := f.fails("Spawn")
	f.mu.Lock()
	defer f.mu.Unlock()
	f.spawns = append(f.spawns, req)
	if err != nil {
		return cw.AgentView{}, err
	}
	if len(f.cast) > 0 {
		return f.enter(req), nil
	}
	return f.agents[0], nil
}

func (f *fakeServices) Agents(_ context.Context, filter cw.AgentFilter) (cw.Page[cw.AgentView], error) {
	if err := f.fails("Agents"); err != nil {
		return cw.Page[cw.AgentView]{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	of := filter.Initiative
	for _, v := range f.initiatives {
		if v.Slug == of {
			of = string(v.ID)
		}
	}
	var out []cw.AgentView
	for _, v := range f.agents {
		if (of == "" || of == string(v.InitiativeID)) && filter.Removed == (v.DeletedAt != nil) && (len(filter.Statuses) == 0 || slices.Contains(filter.Statuses, v.Status)) {
			out = append(out, v)
		}
	}
	f.filters = append(f.filters, filter)
	return pageAt(out, filter.PageQuery), nil
}

// pageAt cuts a list into pages; the cursor is the place in it.
func pageAt[T any](all []T, q cw.PageQuery) cw.Page[T] {
	from, _ := strconv.Atoi(q.Cursor)
	to := min(from+cmp.Or(q.Limit, cw.PageDefault), len(all))
	page := cw.Page[T]{Items: all[from:to]}
	if to < len(all) {
		page.Next = strconv.Itoa(to)
	}
	return page
}

func (f *fakeServices) Agent(_ context.Context, ref string) (cw.AgentView, error) {
	if err := f.fails("Agent"); err != nil {
		return cw.AgentView{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	i, err := f.find(ref)
	if err != nil {
		return cw.AgentView{}, err
	}
	v := f.agents[i]
	f.agents[i].Settling = false // it is cleared up by the next look
	return v, nil
}

func (f *fakeServices) Stop(_ context.Context, ref string, req cw.StopRequest) (cw.AgentView, error) {
	if err := f.fails("Stop"); err != nil {
		return cw.AgentView{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	i, err := f.find(ref)
	if err != nil {
		return cw.AgentView{}, err
	}
	f.stops = append(f.stops, fmt.Sprintf("%s now=%t", f.agents[i].Alias, req.Now))
	if f.agents[i].Status.CanBecome(cw.StatusStopped) {
		f.agents[i].Status, f.agents[i].Reason, f.agents[i].PendingQuestions = cw.StatusStopped, cw.ReasonUser, []cw.Question{}
	}
	return f.agents[i], nil
}

func (f *fakeServices) Diff(_ context.Context, ref string, req cw.DiffRequest) (cw.Diff, error) {
	if err := f.fails("Diff"); err != nil {
		return cw.Diff{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	i, err := f.find(ref)
	if err != nil {
		return cw.Diff{}, err
	}
	d := f.diffs[f.agents[i].Alias]
	if req.Stat {
		d.Patch, d.WorkPatch = "", ""
	}
	f.asksDispatch = append(f.asksDispatch, req)
	return d, nil
}

func (f *fakeServices) AddProject(_ context.Context, req cw.ProjectRequest) (cw.Project, error) {
	if err := f.fails("AddProject"); err != nil {
		return cw.Project{}, err
	}
	p := cw.Project{ID: "pppppppppppp", Name: "site", Path: req.Path, RemoteURL: req.URL, Fallback: []string{}, CreatedAt: epoch, UpdatedAt: epoch}
	f.projects = append(f.projects, p)
	return p, nil
}

func (f *fakeServices) Projects(_ context.Context, q cw.PageQuery) (cw.Page[cw.Project], error) {
	f.filters = append(f.filters, cw.AgentFilter{PageQuery: q})
	return pageAt(f.projects, q), f.fails("Projects")
}

func (f *fakeServices) CreateToken(_ context.Context, req cw.TokenRequest) (cw.CreatedToken, error) {
	req, err := req.Complete()
	if err != nil {
		return cw.CreatedToken{}, err
	}
	token := cw.Token{ID: "tttttttttttt", Name: cmp.Or(req.Name, "dashboard"), Kind: cw.ActorDashboard, Scopes: req.Scopes, CreatedAt: epoch}
	f.tokens = append(f.tokens, token)
	return cw.CreatedToken{Token: token, Secret: "cwd_secret"}, f.fails("CreateToken")
}

func (f *fakeServices) Tokens(context.Context, cw.PageQuery) (cw.Page[cw.Token], error) {
	return cw.Page[cw.Token]{Items: f.tokens}, f.fails("Tokens")
}

func (f *fakeServices) RevokeToken(_ context.Context, ref string) (cw.Token, error) {
	for _, t := range f.tokens {
		if t.Name == ref || string(t.ID) == ref {
			at := epoch
			t.RevokedAt = &at
			f.revoked = append(f.revoked, t.Name)
			return t, f.fails("RevokeToken")
		}
	}
	return cw.Token{}, cw.NoSuchToken(ref)
}

func (f *fakeServices) Project(_ context.Context, ref string) (cw.Project, error) {
	for _, p := range f.projects {
		if p.Name == ref || p.Where() == ref || string(p.ID) == ref {
			return p, nil
		}
	}
	return cw.Project{}, cw.Errorf(cw.CodeNotFound, "there is no project %q", ref).WithHint("cw project list shows all")
}

func (f *fakeServices) ProjectFile(ctx context.Context, project, _ string) (cw.ProjectFileView, error) {
	p, err := f.Project(ctx, project)
	if err != nil {
		return cw.ProjectFileView{}, err
	}
	view := f.file
	view.ProjectID, view.Project, view.Commit = p.ID, p.Name, "0123456789abcdef0123456789abcdef01234567"
	return view, f.fails("ProjectFile")
}

func (f *fakeServices) TrustProject(ctx context.Context, project string, req cw.TrustRequest) (cw.ProjectFileView, error) {
	if err := f.fails("TrustProject"); err != nil {
		return cw.ProjectFileView{}, err
	}
	f.trusted = append(f.trusted, req)
	if f.file.Trusted, f.file.TrustedBy, f.file.TrustedAt = !req.Revoke, "", nil; !req.Revoke {
		at := epoch
		f.file.TrustedBy, f.file.TrustedAt = "person", &at
	}
	return f.ProjectFile(ctx, project, req.Ref)
}

func (f *fakeServices) RemoveProject(ctx context.Context, ref string) (cw.Project, error) {
	if err := f.fails("RemoveProject"); err != nil {
		return cw.Project{}, err
	}
	return f.Project(ctx, ref)
}

func (f *fakeServices) Output(_ context.Context, ref string, q cw.OutputQuery) iter.Seq2[cw.Chunk, error] {
	return func(yield func(cw.Chunk, error) bool) {
		f.mu.Lock()
		i, err := f.find(ref)
		f.queries = append(f.queries, q)
		var chunks []cw.Chunk
		if err == nil {
			chunks = f.chunks[f.agents[i].ID]
		}
		f.mu.Unlock()
		if err != nil {
			yield(cw.Chunk{}, err)
			return
		}
		for _, c := range chunks {
			if q.Session != 0 && (c.SessionNumber < q.Session || q.Only && c.SessionNumber != q.Session) {
				continue
			}
			if !yield(c, nil) {
				return
			}
		}
	}
}

func (f *fakeServices) OutputEvents(ctx context.Context, ref string, q cw.OutputQuery) iter.Seq2[cw.OutputEvent, error] {
	return func(yield func(cw.OutputEvent, error) bool) {
		f.mu.Lock()
		i, err := f.find(ref)
		f.queries = append(f.queries, q)
		var events []cw.OutputEvent
		if err == nil {
			events = f.output[f.agents[i].ID]
		}
		f.mu.Unlock()
		if err == nil {
			err = f.fails("OutputEvents")
		}
		if err != nil {
			yield(cw.OutputEvent{}, err)
			return
		}
		for _, e := range events {
			if e.ChunkID > q.AfterID && !yield(e, nil) {
				return
			}
		}
		if err := f.finish(ctx, i, q); err != nil {
			yield(cw.OutputEvent{}, err)
		}
	}
}

func (f *fakeServices) OutputPage(_ context.Context, ref string, q cw.OutputPageQuery) (cw.OutputPage, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pages = append(f.pages, q)
	i, err := f.find(ref)
	if err != nil {
		return cw.OutputPage{}, err
	}
	page := cw.OutputPage{Items: f.output[f.agents[i].ID]}
	if chunks := f.chunks[f.agents[i].ID]; len(chunks) > 0 {
		page.Stream = chunks[len(chunks)-1].ID
	}
	return page, nil
}

// finish lets the agent come to its end, or waits until the reader lets go.
func (f *fakeServices) finish(ctx context.Context, i int, q cw.OutputQuery) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if q.Until == cw.UntilNow || f.agents[i].Status.AtRest() {
		return nil
	}
	// A call that waits for people keeps it running.
	if end, ok := f.ends[f.agents[i].ID]; ok && !callWaits(f.agents[i]) {
		f.agents[i] = end
		return nil
	}
	f.once.Do(func() { close(f.read) })
	f.mu.Unlock()
	<-ctx.Done()
	f.mu.Lock()
	// As the client has it.
	return cw.Errorf(cw.CodeInterrupted, "the call was given up").Because(ctx.Err())
}

func (f *fakeServices) EventLog(context.Context, cw.EventLogQuery) (cw.EventLog, error) {
	return cw.EventLog{Items: []cw.Event{}}, nil
}

func (f *fakeServices) Events(ctx context.Context, q cw.EventQuery) iter.Seq2[cw.Event, error] {
	return func(yield func(cw.Event, error) bool) {
		f.mu.Lock()
		f.eventQueries = append(f.eventQueries, q)
		f.mu.Unlock()
		if err := f.fails("Events"); err != nil {
			yield(cw.Event{}, err)
			return
		}
		for _, e := range f.events {
			if (q.Follow || e.Type.Stored()) && !yield(e, nil) {
				return
			}
		}
		if q.Follow {
			<-ctx.Done() // ends without a word, as the contract allows
		}
	}
}

func (f *fakeServices) Status(context.Context) (cw.DaemonStatus, error) {
	return f.status, f.fails("Status")
}

func (f *fakeServices) Shutdown(context.Context) (cw.DaemonStatus, error) {
	return f.status, f.fails("Shutdown")
}

func (f *fakeServices) Whoami(context.Context) (cw.Whoami, error) {
	if f.self.Kind != "" {
		return f.self, f.fails("Whoami")
	}
	return cw.Whoami{Kind: cw.ActorPerson}, f.fails("Whoami")
}

func (f *fakeServices) Toolbox(context.Context) (cw.Toolbox, error) {
	return cw.Toolbox{}, f.fails("Toolbox")
}

// The agents of the tests.

func running(name string) cw.AgentView {
	ids := map[string]cw.AgentID{"brave-otter": "aaaaaaaaaaaa", "calm-fox": "bbbbbbbbbbbb", "wise-owl": "cccccccccccc"}
	v := cw.AgentView{Agent: cw.Agent{
		ID: ids[name], Alias: name, Definition: "execute", Mode: cw.ModeExecute, Provider: "claude", AccountID: "default-claude",
		Model: "sonnet", Title: "make the tests of the parser pass", Status: cw.StatusRunning, Warnings: []string{},
		AgentCwd: "/home/lead/.cw/.cw-worktrees/agent/" + name, SessionNumber: 1, SessionID: "5c5b", CreatedAt: epoch.Add(-3 * time.Minute),
		UpdatedAt: epoch,
	}, AccountName: "default", PID: 777, OutputPath: "/home/lead/.cw/runs/" + name + "/1/output.jsonl", PendingQuestions: []cw.Question{}, Runs: []cw.Run{}}
	v.Projects = []cw.AgentWorktree{{
		ProjectID: "pppppppppppp", Project: "repo", Path: v.AgentCwd, Branch: "agent/" + name, BaseBranch: "main",
		BaseCommit: "1111111111111111111111111111111111111111", HeadCommit: "1111111111111111111111111111111111111111",
		State: cw.WorktreePresent,
	}}
	return hoist(v)
}

// hoist repeats the facts of the only project.
func hoist(v cw.AgentView) cw.AgentView {
	w := v.Projects[0]
	v.Worktree, v.WorktreeState, v.Branch, v.BaseBranch = w.Path, w.State, w.Branch, w.BaseBranch
	v.BaseCommit, v.HeadCommit = w.BaseCommit, w.HeadCommit
	return v
}

// ended is an agent with its work on the branch.
func ended(name string) cw.AgentView {
	v := running(name)
	code := 0
	v.Status, v.PID, v.ExitCode = cw.StatusIdle, 0, &code
	v.Result = "The parser's tests pass."
	v.CostUSD = 0.4212
	v.Usage = cw.Usage{InputTokens: 1200, OutputTokens: 3400, CacheReadTokens: 56000}
	w := &v.Projects[0]
	w.HeadCommit, w.Commits, w.Stat = "2222222222222222222222222222222222222222", 2, cw.Stat{Files: 3, Additions: 40, Deletions: 2}
	w.HandedOver = "refs/heads/agent/" + name
	start, end := epoch.Add(-3*time.Minute), epoch.Add(-time.Minute)
	v.Runs = []cw.Run{{
		ID: "rrrrrrrrrrrr", SessionNumber: 1, Reason: cw.RunSpawn, Kind: cw.RunAgent, ExitCode: &code, Outcome: cw.StatusIdle,
		StartedAt: &start, EndedAt: &end, CostUSD: v.CostUSD, CostSource: cw.CostFromCLI, Usage: v.Usage, CreatedAt: start,
		Provider: v.Provider, AccountID: v.AccountID, Model: v.Model,
	}}
	return hoist(v)
}

// with changes an agent.
func with(v cw.AgentView, change func(*cw.AgentView)) *cw.AgentView {
	change(&v)
	return &v
}
