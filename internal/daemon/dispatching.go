package daemon

import (
	"context"
	"log/slog"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"cw/dispatch"
	"cw/environment"
	"cw/internal/cw"
	"cw/internal/proc"
	"cw/internal/store"
	"cw/orchestrator"
	"cw/worktree"
)

// newDispatcher puts the dispatcher together.
func newDispatcher(c Config, p *parts, repos *worktree.Manager, log *slog.Logger) *dispatch.Dispatcher {
	s := c.Settings.Dispatch
	limits := cw.DispatchLimits{Machine: s.Machine, Provider: s.Provider, Account: s.Account, Project: s.Project, Initiative: s.Initiative}
	if limits.Machine == 0 {
		limits.Machine = machineLimit(runtime.NumCPU(), proc.TotalMemory())
	}
	return dispatch.New(dispatch.Config{
		Store: p.store, Agents: p.engine, Repos: dispatchRepos{repos: repos, store: p.store, files: newProjectFiles(), log: log},
		Machine: p.machine, Limits: limits, Policy: dispatch.Policy{Retries: s.Retries}, Conflicts: s.HandBacks, Checks: s.Checks,
		Scratch: c.Home.Checks(), Log: log, Fail: failpointOf(c.Environ),
	})
}

// memoryOfOne is the memory for which one agent may work beside others, where
// nobody set a limit.
const memoryOfOne = 3 << 29 // 1.5 GiB

// machineLimit is how many agents a machine takes where nobody said otherwise.
func machineLimit(cores int, memory int64) int {
	limit := 2 * cores
	if memory > 0 {
		limit = min(limit, int(memory/memoryOfOne))
	}
	return max(limit, 1)
}

// machine measures what a decision about tasks looks at beside the store.
type machine struct {
	store  *store.DB
	engine *orchestrator.Orchestrator
	keep   int64 // bytes of memory that stay free
	log    *slog.Logger

	mu    sync.Mutex
	peaks map[string]int64     // guarded by mu
	held  map[cw.AgentID]int64 // guarded by mu: replaced, never changed
}

// sampleEvery is the time between two looks at what agents have in memory.
const sampleEvery = 5 * time.Second

// Room implements dispatch.Machine.
func (m *machine) Room(context.Context) dispatch.Room {
	m.mu.Lock()
	defer m.mu.Unlock()
	peaks := make(map[string]int64, len(m.peaks))
	for provider, bytes := range m.peaks {
		peaks[provider] = bytes
	}
	return dispatch.Room{DiskLow: m.engine.LowDisk(), FreeMemory: proc.FreeMemory(), Reserve: m.keep, Peaks: peaks, Held: m.held}
}

// admit refuses an agent of a provider for which the machine has no room beside
// those that work. CodeRefused.
func (m *machine) admit(ctx context.Context, provider string) error {
	runs, err := m.store.UnfinishedRuns(ctx)
	if err != nil {
		return err
	}
	working := make([]cw.TaskAgent, len(runs))
	for i, r := range runs {
		working[i] = cw.TaskAgent{ID: r.Agent.ID, Provider: r.Agent.Provider}
	}
	if why := dispatch.Admit(m.Room(ctx), working, provider); why != nil {
		return cw.Errorf(cw.CodeRefused, "no agent is started now: %s", why.Text).WithHint("%s", why.Hint)
	}
	return nil
}

// Providers implements dispatch.Machine.
func (m *machine) Providers(ctx context.Context, names []string) map[string]dispatch.Provider {
	out := make(map[string]dispatch.Provider, len(names))
	for _, name := range names {
		p, err := m.engine.TaskProvider(ctx, name)
		d := dispatch.Provider{Name: p.Name, Accounts: p.Accounts, Until: p.Until, Limited: p.Limited}
		if err != nil {
			d.Problem = &cw.Problem{Text: err.Error(), Hint: cw.ErrorHint(err)}
		}
		out[name] = d
	}
	return out
}

// Run learns what agents need of memory until ctx ends.
func (m *machine) Run(ctx context.Context) error {
	known, err := m.store.Peaks(ctx)
	if err != nil && ctx.Err() == nil {
		m.log.Warn("read what agents need of memory", "error", err)
	}
	m.mu.Lock()
	for provider, bytes := range known {
		m.peaks[provider] = max(bytes, m.peaks[provider])
	}
	m.mu.Unlock()
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			m.sample(ctx)
		}
	}
}

// sample looks at all agents that run and keeps what is more than was known.
func (m *machine) sample(ctx context.Context) {
	runs, err := m.store.UnfinishedRuns(ctx)
	if err != nil {
		return
	}
	held := make(map[cw.AgentID]int64, len(runs))
	defer func() {
		m.mu.Lock()
		m.held = held
		m.mu.Unlock()
	}()
	for _, r := range runs {
		seen, err := proc.Observe(r.Run.Dir)
		if err != nil || !seen.State.Live() {
			continue
		}
		bytes, err := proc.MemoryOf(seen.Handle)
		if err != nil || bytes == 0 {
			continue
		}
		held[r.Agent.ID] = bytes
		m.mu.Lock()
		grown := bytes > m.peaks[r.Agent.Provider]
		if grown {
			m.peaks[r.Agent.Provider] = bytes
		}
		m.mu.Unlock()
		if grown {
			if err := m.store.SavePeak(ctx, r.Agent.Provider, bytes); err != nil && ctx.Err() == nil {
				m.log.Warn("store what agents need of memory", "error", err)
			}
		}
	}
}

// dispatchRepos gives the dispatcher what it asks of git.
type dispatchRepos struct {
	repos *worktree.Manager
	store *store.DB
	files *projectFiles
	log   *slog.Logger
}

func (r dispatchRepos) Begin(ctx context.Context, p cw.Project) (branch, commit string, err error) {
	if p.Remote() {
		if _, err := r.repos.EnsureMirror(ctx, p); err != nil {
			return "", "", err
		}
	}
	base, err := r.repos.ResolveBase(ctx, checkoutOf(p), "")
	return base.Branch, base.Commit, err
}

func checkoutOf(p cw.Project) string {
	if p.Remote() {
		return p.GitDir
	}
	return p.Path
}

func integrationRequest(p cw.Project, in cw.Integration) worktree.IntegrationRequest {
	return worktree.IntegrationRequest{
		Project: p, InitiativeID: in.InitiativeID, Branch: in.Branch, Known: in.Head,
		Base: worktree.Base{Branch: in.BaseBranch, Commit: in.BaseCommit},
	}
}

func (r dispatchRepos) Ensure(ctx context.Context, p cw.Project, in cw.Integration, ours func(context.Context, string) (bool, error)) (head, note string, err error) {
	if _, err := r.repos.EnsureMirror(ctx, p); err != nil {
		return "", "", err
	}
	req := integrationRequest(p, in)
	req.Ours = ours
	return r.repos.EnsureIntegration(ctx, req)
}

func (r dispatchRepos) Merge(ctx context.Context, req dispatch.MergeRequest) (dispatch.MergeResult, error) {
	name, email, err := r.author(ctx, req.Project)
	if err != nil {
		return dispatch.MergeResult{}, err
	}
	m, err := r.repos.TryMerge(ctx, worktree.MergeRequest{
		Project: req.Project, Onto: req.Onto, Head: req.Head, Strategy: req.Strategy, Message: req.Message, Name: name, Email: email, At: req.At,
	})
	return dispatch.MergeResult{Commit: m.Commit, UpToDate: m.UpToDate, Conflicts: m.Conflicts}, err
}

// author is in whose name work is merged: the user's, or cw's own where the user
// has none.
func (r dispatchRepos) author(ctx context.Context, p cw.Project) (name, email string, err error) {
	name, email, ok, err := r.repos.Identity(ctx, p)
	if err == nil && !ok {
		name, email = "cw", "cw@localhost"
	}
	return name, email, err
}

func (r dispatchRepos) Move(ctx context.Context, p cw.Project, in cw.Integration, from, to string) error {
	return r.repos.MoveIntegration(ctx, p, in.InitiativeID, in.Branch, from, to)
}

func (r dispatchRepos) Publish(ctx context.Context, p cw.Project, in cw.Integration) error {
	_, err := r.repos.PublishIntegration(ctx, p, in.Branch, in.Head)
	return err
}

func (r dispatchRepos) Scratch(ctx context.Context, p cw.Project, commit, path string, include []string) error {
	warnings, err := r.repos.AddScratch(ctx, p, commit, path, include)
	for _, w := range warnings {
		r.log.Warn("a checkout for checks", "project", p.Name, "warning", w)
	}
	return err
}

func (r dispatchRepos) Unscratch(ctx context.Context, p cw.Project, path string) error {
	return r.repos.RemoveScratch(ctx, p, path)
}

func (r dispatchRepos) ScratchName(folder string) string { return worktree.NameBeforeRemoval(folder) }

func (r dispatchRepos) Changed(ctx context.Context, p cw.Project, path, commit string) ([]string, error) {
	return r.repos.ScratchChanged(ctx, p, path, commit)
}

func (r dispatchRepos) Contains(ctx context.Context, p cw.Project, commit, ancestor string) (bool, error) {
	return r.repos.Contains(ctx, p, commit, ancestor)
}

func (r dispatchRepos) Reserved(ctx context.Context, p cw.Project, base, head string) ([]string, error) {
	return r.repos.CheckReserved(ctx, p, base, head)
}

func (r dispatchRepos) Diff(ctx context.Context, p cw.Project, base, head string, req cw.DiffRequest) (cw.Diff, error) {
	return r.repos.DiffCommits(ctx, p, base, head, req)
}

func (r dispatchRepos) Target(ctx context.Context, p cw.Project, in cw.Integration) (string, error) {
	if in.BaseBranch == "" {
		return "", cw.Errorf(cw.CodeRefused, "%s began from a commit that no branch had", in.Branch).
			WithHint("compare with that commit: --against %s", cw.AgainstBase)
	}
	commit, err := r.repos.UserBranch(ctx, p, in.BaseBranch)
	if err != nil {
		return "", err
	}
	_, err = r.repos.EnsureMirror(ctx, p) // brings the commit
	return commit, err
}

func (r dispatchRepos) Land(ctx context.Context, req dispatch.LandRequest) (cw.Landing, error) {
	into, base := req.Into, ""
	if into == "" {
		into, base = req.Integration.BaseBranch, req.Integration.BaseCommit
	}
	if into == "" {
		return cw.Landing{}, cw.Errorf(cw.CodeInvalid, "%s began from a commit that no branch had", req.Integration.Branch).
			WithHint("say where it is to go: cw merge INITIATIVE --into BRANCH")
	}
	name, email, err := r.author(ctx, req.Project)
	if err != nil {
		return cw.Landing{}, err
	}
	return r.repos.Land(ctx, worktree.LandRequest{
		Project: req.Project, Branch: req.Integration.Branch, Head: req.Integration.Head,
		Into: into, Base: base, Message: req.Message, Name: name, Email: email, At: req.At, DryRun: req.DryRun,
	})
}

// File implements dispatch.Repos: what a commit says never changes, so it is read
// once; whether it is trusted is asked each time.
func (r dispatchRepos) File(ctx context.Context, p cw.Project, commit string) (cw.ProjectFileView, error) {
	if commit == "" {
		base, err := r.repos.ResolveBase(ctx, checkoutOf(p), "")
		if err != nil {
			return cw.ProjectFileView{}, err
		}
		commit = base.Commit
	}
	v, known := r.files.get(p.ID, commit)
	if !known {
		data, found, err := r.repos.FileAt(ctx, p, commit, cw.ProjectFileName, cw.ProjectFileMax)
		if err != nil && cw.ErrorCode(err) != cw.CodeInvalid {
			return v, err
		}
		v = cw.ProjectFileView{ProjectID: p.ID, Project: p.Name, Commit: commit, Present: found}
		switch {
		case err != nil:
			v.Present, v.Problem = true, err.Error()
		case found:
			v.Digest = environment.Digest(data)
			if v.File, err = environment.Parse(data); err != nil {
				v.Problem = err.Error()
			}
		default:
			v.Digest = environment.Digest(nil)
		}
		r.files.put(p.ID, commit, v)
	}
	if v.Problem != "" {
		return v, nil
	}
	trust, trusted, err := r.store.TrustOf(ctx, p.ID, v.Digest)
	if trusted {
		v.TrustedBy, v.TrustedAt = trust.TrustedBy, &trust.TrustedAt
	}
	v.Trusted = trusted || !v.File.Commands()
	return v, err
}

// projectFiles remembers what project files say.
type projectFiles struct {
	mu    sync.Mutex
	known map[string]cw.ProjectFileView // guarded by mu
}

// projectFilesMax is how many are remembered; then it begins anew.
const projectFilesMax = 1000

func newProjectFiles() *projectFiles { return &projectFiles{known: map[string]cw.ProjectFileView{}} }

func (f *projectFiles) get(p cw.ProjectID, commit string) (cw.ProjectFileView, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	v, known := f.known[filepath.Join(string(p), commit)]
	return v, known
}

func (f *projectFiles) put(p cw.ProjectID, commit string, v cw.ProjectFileView) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.known) >= projectFilesMax {
		clear(f.known)
	}
	f.known[filepath.Join(string(p), commit)] = v
}
