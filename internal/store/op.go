package store

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"gorm.io/gorm"

	"cw/internal/cw"
)

// openOp selects operations that are not over. It is written as the index
// ops_open says it.
const openOp = "status IN ('intended', 'acting')"

// settlingKinds are the operations of an agent that are no run. Of these an
// agent has at most one.
func settlingKinds() []cw.OpKind {
	return []cw.OpKind{cw.OpCleanUp, cw.OpRemove, cw.OpRestore, cw.OpOpen}
}

// startKinds are the operations that start a run.
func startKinds() []cw.OpKind { return []cw.OpKind{cw.OpSpawn, cw.OpResume} }

// SaveOpStep stores the last step whose end is known: intended → acting.
// CodeRefused when the operation is over, CodeNotFound.
func (db *DB) SaveOpStep(ctx context.Context, id cw.OpID, step string) error {
	return db.change(ctx, "save step "+step, func(t *tx) error { return t.stepOp(id, step) })
}

// IntendOp stores an operation of an agent that is no run: clean-up, removal,
// restoring, opening; with the last a clean-up that is open is put off.
// CodeNotFound; CodeRefused while another of these is open for the
// agent or while its status is alive, for a restoring of an agent that is not
// removed, and for the others when it is.
func (db *DB) IntendOp(ctx context.Context, op cw.Op) error {
	return db.change(ctx, "intend "+string(op.Kind), func(t *tx) error { return t.intendOp(op) })
}

func (t *tx) intendOp(op cw.Op) error {
	if !slices.Contains(settlingKinds(), op.Kind) {
		return cw.Errorf(cw.CodeInvalid, "the operation %s belongs to a run", op.Kind)
	}
	agent, err := t.loadAgent(op.AgentID)
	if err != nil {
		return err
	}
	removed := agent.DeletedAt != nil
	switch {
	case agent.Status.Alive():
		return refusedIn(agent, "it must be at rest").WithHint("stop it first: cw agent stop %s", agent.Alias)
	case removed && op.Kind != cw.OpRestore:
		return refusedRemoved(agent)
	case !removed && op.Kind == cw.OpRestore:
		return cw.Errorf(cw.CodeRefused, "the agent %s is not removed", agent.Alias)
	}
	if op.Kind == cw.OpOpen {
		if err := t.putOffCleanUp(agent.ID); err != nil {
			return err
		}
	}
	if err := t.checkSettled(agent, settlingKinds()...); err != nil {
		return err
	}
	op.Status = cmp.Or(op.Status, cw.OpIntended)
	return t.Create(&op).Error
}

// checkSettled refuses while an operation of these kinds is open for an agent.
func (t *tx) checkSettled(agent cw.Agent, kinds ...cw.OpKind) error {
	var open cw.Op
	found, err := one(t.DB, &open, "agent_id = ? AND kind IN ? AND "+openOp, agent.ID, kinds)
	if err != nil || !found {
		return err
	}
	return cw.Errorf(cw.CodeRefused, "the agent %s is not settled: its %s is not over", agent.Alias, opName(open.Kind)).
		WithHint("try again in a moment; see: cw agent show %s", agent.Alias)
}

// opName is what people call an operation.
func opName(kind cw.OpKind) string {
	switch kind {
	case cw.OpCleanUp:
		return "clean-up"
	case cw.OpRemove:
		return "removal"
	case cw.OpRestore:
		return "restoring"
	case cw.OpOpen:
		return "opening"
	}
	return string(kind)
}

// OpenOps gives the operations of these kinds that are not over, oldest first;
// those of all kinds when none is named.
func (db *DB) OpenOps(ctx context.Context, kinds ...cw.OpKind) ([]cw.Op, error) {
	ops := []cw.Op{}
	err := db.query(ctx, "find open operations", func(g *gorm.DB) error {
		g = g.Where(openOp)
		if len(kinds) > 0 {
			g = g.Where("kind IN (SELECT value FROM json_each(?))", list(kinds))
		}
		return g.Order("created_at, rowid").Find(&ops).Error
	})
	return ops, err
}

// EndOp closes an operation: done, or failed when there is an error. Worktrees
// are stored with it. CodeNotFound; CodeRefused when it is over already.
func (db *DB) EndOp(ctx context.Context, id cw.OpID, worktrees []cw.AgentWorktree, failed string) error {
	return db.change(ctx, "end operation", func(t *tx) error {
		op, err := t.endOp(id, failed)
		if err != nil {
			return err
		}
		return t.saveWorktrees(op.AgentID, worktrees)
	})
}

// endOp closes an operation and gives it as it was.
func (t *tx) endOp(id cw.OpID, failed string) (op cw.Op, err error) {
	if _, err := one(t.DB, &op, "id = ?", id); err != nil {
		return op, err
	}
	if failed != "" {
		return op, t.moveOp(id, cw.OpFailed, map[string]any{"error": failed})
	}
	return op, t.moveOp(id, cw.OpDone, map[string]any{})
}

// endOpOf closes an operation of one agent and kind. CodeRefused when it is
// another's.
func (t *tx) endOpOf(id cw.OpID, agent cw.Agent, kind cw.OpKind) error {
	op, err := t.endOp(id, "")
	if err != nil {
		return err
	}
	if op.AgentID != agent.ID || op.Kind != kind {
		return cw.Errorf(cw.CodeRefused, "the operation %s is no %s of the agent %s", id, opName(kind), agent.Alias)
	}
	return nil
}

// closeOps closes every open operation of a run that has ended. One that was to
// start it has failed, for it ended before it counted as running; a stop did
// what it was for.
func (t *tx) closeOps(run cw.RunID, failed string) error {
	var ops []cw.Op
	if err := t.Where("run_id = ? AND "+openOp, run).Find(&ops).Error; err != nil {
		return err
	}
	for _, op := range ops {
		text := ""
		if slices.Contains(startKinds(), op.Kind) {
			text = cmp.Or(failed, "the run ended before it ran")
		}
		if _, err := t.endOp(op.ID, text); err != nil {
			return err
		}
	}
	return nil
}

// stopArgs are the arguments of a stop.
type stopArgs struct {
	How string `json:"how"` // stopTerm or stopKill
}

// intendStop stores the operation that ends a run, once; a later wish changes
// how.
func (t *tx) intendStop(run cw.Run, how string) error {
	args, err := json.Marshal(stopArgs{How: how})
	if err != nil {
		return err
	}
	changed := t.Model(&cw.Op{}).Where("run_id = ? AND kind = ? AND "+openOp, run.ID, cw.OpStop).
		Updates(map[string]any{"args_json": string(args)})
	if changed.Error != nil || changed.RowsAffected > 0 {
		return changed.Error
	}
	return t.Create(&cw.Op{
		ID: cw.OpID(cw.NewID()), Kind: cw.OpStop, Status: cw.OpIntended,
		AgentID: run.AgentID, RunID: run.ID, Args: string(args),
	}).Error
}

func (t *tx) stepOp(id cw.OpID, step string) error {
	return t.moveOp(id, cw.OpActing, map[string]any{"step": step})
}

// moveOp changes an operation that is still open.
func (t *tx) moveOp(id cw.OpID, to cw.OpStatus, columns map[string]any) error {
	columns["status"] = to
	changed := t.Model(&cw.Op{}).Where("id = ? AND "+openOp, id).Updates(columns)
	if changed.Error != nil || changed.RowsAffected == 1 {
		return changed.Error
	}
	var op cw.Op
	found, err := one(t.DB, &op, "id = ?", id)
	if err != nil {
		return err
	}
	if !found {
		return cw.Errorf(cw.CodeNotFound, "there is no operation %s", id)
	}
	return cw.Errorf(cw.CodeRefused, "the operation %s is already %s", id, op.Status)
}

// settlingOf tells which of several agents have an open operation that is no
// run.
func settlingOf(g *gorm.DB, agents []cw.AgentID) (map[cw.AgentID]bool, error) {
	var ids []cw.AgentID
	err := g.Model(&cw.Op{}).Where("kind IN ? AND "+openOp, settlingKinds()).
		Where("agent_id IN (SELECT value FROM json_each(?))", list(agents)).Pluck("agent_id", &ids).Error
	out := make(map[cw.AgentID]bool, len(ids))
	for _, id := range ids {
		out[id] = true
	}
	return out, err
}
