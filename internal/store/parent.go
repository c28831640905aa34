package store

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"cw/internal/cw"
)

// checkParent refuses a new agent that the agent which makes it may not make, as
// everything is at this moment: it was decided before, and people may have set
// the project otherwise since.
func (t *tx) checkParent(in cw.SpawnIntent, guards cw.Guards) error {
	parent, err := t.loadAgent(in.Agent.ParentID)
	if err != nil {
		return err
	}
	var projects []cw.Project
	err = t.Where("id IN (SELECT project_id FROM agent_worktrees WHERE agent_id = ?)", parent.ID).Find(&projects).Error
	if err != nil {
		return err
	}
	switch {
	case in.Agent.Depth != parent.Depth+1:
		return fmt.Errorf("an agent of depth %d makes one of depth %d", parent.Depth, in.Agent.Depth)
	case parent.DeletedAt != nil || !parent.Status.Alive():
		return refusedIn(parent, "it makes no agents any more")
	case !cw.MaySpawn(projects, parent) && !guards.Off("agent-spawn"):
		return cw.NoSpawn()
	case in.Agent.InitiativeID != parent.InitiativeID || !within(in.Worktrees, projects):
		return cw.Errorf(cw.CodeForbidden, "an agent makes agents in its own projects and initiative alone")
	}
	if guards.Off("children") {
		return nil
	}
	return t.roomForChild(parent)
}

func within(trees []cw.AgentWorktree, projects []cw.Project) bool {
	known := map[cw.ProjectID]bool{}
	for _, p := range projects {
		known[p.ID] = true
	}
	for _, w := range trees {
		if !known[w.ProjectID] {
			return false
		}
	}
	return len(trees) > 0
}

// roomForChild refuses another agent of one that has made too many.
func (t *tx) roomForChild(parent cw.Agent) error {
	var children []cw.Agent
	if err := t.Select("status", "deleted_at").Where("parent_id = ?", parent.ID).Find(&children).Error; err != nil {
		return err
	}
	alive := 0
	for _, c := range children {
		if c.DeletedAt == nil && (c.Status.Alive() || c.Status == cw.StatusParked || c.Status == cw.StatusWaitingForInput) {
			alive++
		}
	}
	switch {
	case len(children) >= cw.ChildrenMax:
		return cw.Errorf(cw.CodeRefused, "you have made %d agents, which is as many as an agent may", len(children)).
			WithHint("message one of them: agents_message; agents_list shows them")
	case alive >= cw.ChildrenAlive:
		return cw.Errorf(cw.CodeRefused, "%d agents that you made still work, which is as many as may at once", alive).
			WithHint("try again when one of them is idle")
	}
	return nil
}

// ChildBudgets sums the budgets of the agents that an agent made, in US dollars.
func (db *DB) ChildBudgets(ctx context.Context, parent cw.AgentID) (sum float64, err error) {
	err = db.query(ctx, "sum the budgets of an agent's agents", func(g *gorm.DB) error {
		return g.Raw("SELECT COALESCE(SUM(limit_usd), 0) FROM budgets WHERE scope = ? AND scope_id IN (SELECT id FROM agents WHERE parent_id = ?)",
			cw.BudgetAgent, parent).Scan(&sum).Error
	})
	return sum, err
}
