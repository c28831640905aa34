package store

import (
	"context"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"cw/internal/cw"
)

// holdsPorts is true of ports whose worktree is there, or about to be. An agent
// whose worktree went may find others on them when it comes back.
const holdsPorts = `EXISTS (SELECT 1 FROM agent_worktrees w JOIN agents a ON a.id = w.agent_id
	WHERE w.agent_id = worktree_ports.agent_id AND w.project_id = worktree_ports.project_id
	AND w.state IN ('planned', 'present') AND a.deleted_at IS NULL)`

// PortsOf gives the ports of an agent's worktrees, by project.
func (db *DB) PortsOf(ctx context.Context, agent cw.AgentID) ([]cw.WorktreePorts, error) {
	var ports []cw.WorktreePorts
	err := db.query(ctx, "read ports", func(g *gorm.DB) error {
		return g.Where("agent_id = ?", agent).Order("project_id").Find(&ports).Error
	})
	return ports, err
}

// PortsInUse gives the ports of all worktrees that are there.
func (db *DB) PortsInUse(ctx context.Context) ([]cw.WorktreePorts, error) {
	var ports []cw.WorktreePorts
	err := db.query(ctx, "list ports", func(g *gorm.DB) error {
		return g.Where(holdsPorts).Order("first").Find(&ports).Error
	})
	return ports, err
}

// SavePorts stores the ports of a worktree, in place of those it had. Those of
// worktrees that went are forgotten where they are in the way. CodeRefused when
// one of them is another worktree's.
func (db *DB) SavePorts(ctx context.Context, p cw.WorktreePorts) error {
	return db.change(ctx, "store ports", func(t *tx) error {
		if _, err := t.loadAgent(p.AgentID); err != nil {
			return err
		}
		var other cw.WorktreePorts
		const overlap = "first < ? AND first + count > ? AND NOT (agent_id = ? AND project_id = ?)"
		args := []any{p.First + p.Count, p.First, p.AgentID, p.ProjectID}
		taken, err := one(t.DB, &other, overlap+" AND "+holdsPorts, args...)
		if err != nil {
			return err
		}
		if taken {
			return cw.Errorf(cw.CodeRefused, "ports from %d on belong to another worktree", other.First)
		}
		if err := t.Where(overlap, args...).Delete(&cw.WorktreePorts{}).Error; err != nil {
			return err
		}
		return t.Clauses(clause.OnConflict{UpdateAll: true}).Create(&p).Error
	})
}

// addPorts gives worktrees that are there their ports.
func addPorts(g *gorm.DB, agents []cw.AgentID, worktrees map[cw.AgentID][]cw.AgentWorktree) error {
	var ports []cw.WorktreePorts
	err := g.Where("agent_id IN (SELECT value FROM json_each(?)) AND "+holdsPorts, list(agents)).Find(&ports).Error
	if err != nil {
		return err
	}
	for _, p := range ports {
		of := worktrees[p.AgentID]
		for i := range of {
			if of[i].ProjectID == p.ProjectID {
				of[i].Ports = p.Numbers()
			}
		}
	}
	return nil
}
