package daemon

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"cw/internal/cw"
	"cw/internal/proc"
	"cw/internal/safefile"
	"cw/internal/store"
)

// rebuild stores runs that only their directories know.
func (r *recovery) rebuild(ctx context.Context, db *store.DB) error {
	dirs, err := runDirs(r.Home)
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		rebuilt, ok := r.rebuiltFrom(dir)
		if !ok {
			continue
		}
		added, err := db.Rebuild(ctx, rebuilt)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			r.unknown(fmt.Sprintf("the run in %s could not be stored: %v", dir, err))
		}
		if added {
			r.report.Runs = append(r.report.Runs, dir)
		}
	}
	return nil
}

// runDirs lists the directories of all runs, of each agent in order.
func runDirs(home cw.Home) ([]string, error) {
	agents, err := os.ReadDir(home.Runs())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list run directories: %w", err)
	}
	var out []string
	for _, a := range agents {
		runs, err := os.ReadDir(filepath.Join(home.Runs(), a.Name()))
		if err != nil {
			continue // no folder
		}
		var sessions []int
		for _, e := range runs {
			if n, err := strconv.Atoi(e.Name()); err == nil && n > 0 && e.IsDir() {
				sessions = append(sessions, n)
			}
		}
		slices.Sort(sessions)
		for _, n := range sessions {
			out = append(out, home.RunDir(a.Name(), n))
		}
	}
	return out, nil
}

// rebuiltFrom reads a run directory. ok is false for a run that was never
// started, and for one that is none.
func (r *recovery) rebuiltFrom(dir string) (store.Rebuilt, bool) {
	spec, err := proc.ReadSpec(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return store.Rebuilt{}, false
	}
	var facts cw.RunFacts
	if err == nil {
		err = json.Unmarshal(spec.Meta, &facts)
	}
	if err == nil && (facts.Kind == cw.RunCheck || facts.Kind == cw.RunSetup) {
		return store.Rebuilt{}, false // of no agent: whoever wanted it asks again
	}
	if err == nil && (facts.AgentID == "" || r.Home.RunDir(facts.Agent, facts.Session) != dir) {
		err = errors.New("it is not the directory of the run that it names")
	}
	if err != nil {
		r.unknown(fmt.Sprintf("%s cannot be read: %v", dir, err))
		return store.Rebuilt{}, false
	}
	seen, err := proc.Observe(dir)
	if err != nil || seen.State == proc.StateFresh {
		return store.Rebuilt{}, false
	}
	return rebuiltOf(dir, spec, facts, seen), true
}

// rebuiltOf makes rows of what a run directory tells. A run that may still go on
// is left unfinished: the next daemon finds out and finishes it. One that is
// over is lost, since what it led to is not known, with what is.
func rebuiltOf(dir string, spec proc.Spec, f cw.RunFacts, seen proc.Observation) store.Rebuilt {
	created := orTime(f.CreatedAt, seen.Handle.StartedAt)
	started := orTime(seen.Handle.StartedAt, created)
	out := store.Rebuilt{
		Agent: cw.Agent{
			ID: f.AgentID, Alias: f.Agent, Definition: cmp.Or(f.Definition, string(f.Mode)), Mode: cmp.Or(f.Mode, cw.ModeExecute),
			Provider: f.Provider, AccountID: f.AccountID, Model: f.Model, Title: f.Title, AgentCwd: cmp.Or(f.Cwd, spec.Dir),
			SessionID: f.SessionID, SessionNumber: f.Session, OptionsJSON: cmp.Or(string(f.Options), "{}"), CreatedAt: created,
			Status: cw.StatusRunning, Warnings: []string{"its record was rebuilt from " + dir + ": messages, questions and answers are missing"},
		},
		Run: cw.Run{
			ID: cw.RunID(spec.RunID), AgentID: f.AgentID, Kind: cw.RunAgent, SessionNumber: f.Session, Reason: cmp.Or(f.Reason, cw.RunSpawn),
			Provider: f.Provider, AccountID: f.AccountID, Model: f.Model, Dir: dir, OutputPath: cmp.Or(f.OutputPath, spec.Stdout), PID: seen.Handle.PID,
			StartedAt: &started, CreatedAt: started,
		},
	}
	if handle, err := json.Marshal(seen.Handle); err == nil && seen.Handle.ShimPID > 0 {
		out.Run.Handle = handle
	}
	for _, p := range f.Places {
		out.Projects = append(out.Projects, cw.Project{
			ID: p.ProjectID, Name: p.Project, Path: p.Repository, GitDir: p.GitDir, RemoteURL: p.RemoteURL, Mirror: p.Mirror, Stall: cw.StallEvent,
		})
		out.Worktrees = append(out.Worktrees, cw.AgentWorktree{
			AgentID: f.AgentID, ProjectID: p.ProjectID, Project: p.Project, Path: p.Path, Branch: p.Branch,
			BaseBranch: p.BaseBranch, BaseCommit: p.BaseCommit, State: placeState(p.Path),
		})
	}
	if seen.Exit != nil {
		lose(&out, dir, *seen.Exit)
	}
	return out
}

// placeState tells whether a worktree is there.
func placeState(path string) cw.WorktreeState {
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		return cw.WorktreePresent
	}
	return cw.WorktreeRemoved
}

// lose ends a rebuilt run whose process is over.
func lose(out *store.Rebuilt, dir string, exit proc.Exit) {
	a, run := &out.Agent, &out.Run
	a.Status, a.Reason = cw.StatusCrashed, cw.ReasonLost
	a.Error = "the database was damaged, and what this run led to is not known; it ended with " + exit.String() + "; its files are in " + dir
	if data, err := safefile.Read(filepath.Join(dir, "signal.json"), cw.SignalMax); err == nil {
		if sig, err := cw.ParseSignal(data); err == nil {
			a.Error += "; its signal said " + string(sig.Status)
		}
	}
	ended := orTime(exit.EndedAt, *run.StartedAt)
	run.Outcome, run.OutcomeReason, run.EndedAt, run.PID = a.Status, a.Reason, &ended, 0
	switch {
	case exit.Signal != 0:
		run.TermSignal = cmp.Or(unix.SignalName(unix.Signal(exit.Signal)), fmt.Sprintf("signal %d", exit.Signal))
	case exit.StartError == "":
		run.ExitCode = &exit.Code
	}
}
