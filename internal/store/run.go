package store

import (
	"context"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"cw/internal/cw"
)

// How the end of a run was asked for: by a person, by a rule about silence, or
// by a budget that is spent.
const (
	stopTerm   = "term"
	stopKill   = "kill"
	stopRule   = "rule"
	stopBudget = "budget"
)

// loadRun reads an agent and one of its runs that has not ended. CodeNotFound,
// CodeRefused.
func (t *tx) loadRun(agentID cw.AgentID, id cw.RunID) (cw.Agent, cw.Run, error) {
	agent, err := t.loadAgent(agentID)
	if err != nil {
		return cw.Agent{}, cw.Run{}, err
	}
	var run cw.Run
	found, err := one(t.DB, &run, "id = ? AND agent_id = ?", id, agentID)
	if err != nil {
		return cw.Agent{}, cw.Run{}, err
	}
	if !found {
		return cw.Agent{}, cw.Run{}, cw.Errorf(cw.CodeNotFound, "the agent %s has no run %s", agent.Alias, id)
	}
	if run.EndedAt != nil {
		return cw.Agent{}, cw.Run{}, refusedIn(agent, fmt.Sprintf("its run %d has ended", run.SessionNumber))
	}
	return agent, run, nil
}

// RequestStop stores that a person wants the end of a run, with the operation
// that ends it, which the end of the run closes: how is "term" or "kill", and
// kill wins; or "rule" or "budget" for a rule, which never takes the place of
// what is there. It tells whether the run has not ended yet. CodeNotFound.
func (db *DB) RequestStop(ctx context.Context, id cw.RunID, how string) (bool, error) {
	if !slices.Contains([]string{stopTerm, stopKill, stopRule, stopBudget}, how) {
		return false, cw.Errorf(cw.CodeInvalid, "a run is stopped by %s, %s, %s or %s, not by %q", stopTerm, stopKill, stopRule, stopBudget, how)
	}
	byRule := how == stopRule || how == stopBudget
	var unfinished bool
	err := db.change(ctx, "request stop", func(t *tx) error {
		var run cw.Run
		found, err := one(t.DB, &run, "id = ?", id)
		if err != nil {
			return err
		}
		if !found {
			return cw.Errorf(cw.CodeNotFound, "there is no run %s", id)
		}
		if unfinished = run.EndedAt == nil; !unfinished || run.StopRequested == stopKill || byRule && run.StopRequested != "" {
			return nil
		}
		if err := t.Model(&run).Select("stop_requested").Updates(&cw.Run{StopRequested: how}).Error; err != nil {
			return err
		}
		return t.intendStop(run, how)
	})
	return unfinished, err
}

// UnfinishedRuns gives all runs of agents that have not ended, oldest first,
// with everything that is needed to go on with them.
func (db *DB) UnfinishedRuns(ctx context.Context) ([]cw.RunState, error) {
	var states []cw.RunState
	err := db.query(ctx, "find unfinished runs", func(g *gorm.DB) error {
		var runs []cw.Run
		err := g.Where("ended_at IS NULL AND kind = ?", cw.RunAgent).Order("created_at, rowid").Find(&runs).Error
		if err != nil {
			return err
		}
		states, err = runStates(g, runs)
		return err
	})
	return states, err
}

// LiveRun is what the database knows of the process of a run.
type LiveRun struct {
	ID      cw.RunID
	AgentID cw.AgentID
	Kind    cw.RunKind
	Handle  []byte // names the shim; empty before it is known
}

// liveRuns is answered from the index runs_unfinished.
const liveRuns = "SELECT id, agent_id, kind, COALESCE(handle, '') FROM runs WHERE ended_at IS NULL"

// LiveRuns gives all runs that have not ended, also those of commands, without
// the rest of what is known of them: it is asked at every request, to tell who calls.
func (db *DB) LiveRuns(ctx context.Context) ([]LiveRun, error) {
	runs, err := db.state.liveRuns(ctx)
	return runs, inAct("find live runs", letGo(ctx, explain(db.state.path, err)))
}

func (d *database) liveRuns(ctx context.Context) ([]LiveRun, error) {
	rows, err := d.ask(ctx, liveRuns)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // its error is rows.Err
	var runs []LiveRun
	for rows.Next() {
		var r LiveRun
		if err := rows.Scan(&r.ID, &r.AgentID, &r.Kind, &r.Handle); err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	return runs, rows.Err()
}

// RunState gives one run with its agent, worktrees and the operation that starts
// it, while that is open. CodeNotFound.
func (db *DB) RunState(ctx context.Context, id cw.RunID) (cw.RunState, error) {
	var state cw.RunState
	err := db.query(ctx, "read run", func(g *gorm.DB) error {
		var run cw.Run
		found, err := one(g, &run, "id = ? AND kind = ?", id, cw.RunAgent)
		if err != nil {
			return err
		}
		if !found {
			return cw.Errorf(cw.CodeNotFound, "there is no run %s", id)
		}
		states, err := runStates(g, []cw.Run{run})
		if err != nil {
			return err
		}
		state = states[0]
		return nil
	})
	return state, err
}

// runStates adds to runs what belongs to them. Op is the newest spawn or resume
// of the run that is still open, or nil.
func runStates(g *gorm.DB, runs []cw.Run) ([]cw.RunState, error) {
	agentIDs, runIDs := make([]cw.AgentID, len(runs)), make([]cw.RunID, len(runs))
	for i, r := range runs {
		agentIDs[i], runIDs[i] = r.AgentID, r.ID
	}
	var agents []cw.Agent
	if err := g.Where("id IN (SELECT value FROM json_each(?))", list(agentIDs)).Find(&agents).Error; err != nil {
		return nil, err
	}
	worktrees, err := worktreesOf(g, agentIDs)
	if err != nil {
		return nil, err
	}
	var ops []cw.Op
	err = g.Where("run_id IN (SELECT value FROM json_each(?)) AND kind IN ? AND "+openOp, list(runIDs), startKinds()).
		Order("created_at, rowid").Find(&ops).Error
	if err != nil {
		return nil, err
	}
	byID := make(map[cw.AgentID]cw.Agent, len(agents))
	for _, a := range agents {
		a.Warnings = orEmpty(a.Warnings)
		byID[a.ID] = a
	}
	opOf := make(map[cw.RunID]*cw.Op, len(ops))
	for i := range ops {
		opOf[ops[i].RunID] = &ops[i]
	}
	states := make([]cw.RunState, len(runs))
	for i, r := range runs {
		states[i] = cw.RunState{Agent: byID[r.AgentID], Run: r, Worktrees: worktrees[r.AgentID], Op: opOf[r.ID]}
	}
	return states, nil
}

// worktreesOf gives the worktrees of several agents, each list by project.
func worktreesOf(g *gorm.DB, agents []cw.AgentID) (map[cw.AgentID][]cw.AgentWorktree, error) {
	var rows []cw.AgentWorktree
	err := g.Where("agent_id IN (SELECT value FROM json_each(?))", list(agents)).Order("agent_id, rowid").Find(&rows).Error
	if err != nil {
		return nil, err
	}
	out := make(map[cw.AgentID][]cw.AgentWorktree, len(agents))
	for _, w := range rows {
		out[w.AgentID] = append(out[w.AgentID], w)
	}
	return out, nil
}
