package store

import (
	"context"
	"slices"

	"gorm.io/gorm"

	"cw/internal/cw"
)

// move changes the status of an agent that was loaded in this transaction,
// from one of the given statuses and along cw.AgentTransitions only, together
// with the named columns as they stand in agent. CodeRefused, naming the
// status found.
func (t *tx) move(agent *cw.Agent, from []cw.AgentStatus, to cw.AgentStatus, columns ...string) error {
	was := agent.Status
	if !slices.Contains(from, was) || !was.CanBecome(to) {
		return refusedIn(*agent, "it cannot become "+string(to))
	}
	agent.Status = to
	changed := t.Model(agent).Where("status = ?", was).Select("status", columns).Updates(agent)
	if changed.Error == nil && changed.RowsAffected == 0 { // cannot happen inside a transaction that locks
		return refusedIn(*agent, "its status changed meanwhile")
	}
	return changed.Error
}

// refusedIn says that an agent's status does not allow something.
func refusedIn(agent cw.Agent, what string) *cw.Error {
	return cw.Errorf(cw.CodeRefused, "the agent %s is %s: %s", agent.Alias, agent.Status, what)
}

// loadAgent reads an agent inside a transaction. CodeNotFound.
func (t *tx) loadAgent(id cw.AgentID) (cw.Agent, error) {
	var agent cw.Agent
	found, err := one(t.DB, &agent, "id = ?", id)
	if err == nil && !found {
		err = cw.Errorf(cw.CodeNotFound, "there is no agent %s", id)
	}
	return agent, err
}

// SaveSessionID stores the CLI's own name of the agent's session.
func (db *DB) SaveSessionID(ctx context.Context, id cw.AgentID, sessionID string) error {
	return db.change(ctx, "save session id", func(t *tx) error {
		changed := t.Model(&cw.Agent{}).Where("id = ?", id).Updates(map[string]any{"session_id": sessionID})
		return orMissing(changed, "agent", string(id))
	})
}

// AddWarning adds a warning to an agent, with its event. A warning that the
// agent has already is not added, and not told, again.
func (db *DB) AddWarning(ctx context.Context, id cw.AgentID, warning string, e cw.Event) error {
	return db.change(ctx, "add warning", func(t *tx) error {
		agent, err := t.loadAgent(id)
		if err != nil || slices.Contains(agent.Warnings, warning) {
			return err
		}
		agent.Warnings = append(agent.Warnings, warning)
		if err := t.Model(&agent).Select("warnings").Updates(&agent).Error; err != nil {
			return err
		}
		return t.emit(e)
	})
}

// addWarnings gives both lists in order, each warning once.
func addWarnings(have, more []string) []string {
	out := slices.Clone(have)
	for _, w := range more {
		if !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// AgentByRef finds an agent by alias or id, removed ones too. CodeNotFound,
// with the nearest alias as hint.
func (db *DB) AgentByRef(ctx context.Context, ref string) (cw.Agent, error) {
	var agent cw.Agent
	err := db.query(ctx, "find agent", func(g *gorm.DB) (err error) {
		agent, err = agentByRef(g, ref)
		return err
	})
	return agent, err
}

func agentByRef(g *gorm.DB, ref string) (cw.Agent, error) {
	var agent cw.Agent
	found, err := one(g, &agent, "alias = ? OR id = ?", ref, ref)
	if err != nil {
		return cw.Agent{}, err
	}
	if !found {
		return cw.Agent{}, noAgent(g, ref)
	}
	agent.Warnings = orEmpty(agent.Warnings)
	return agent, nil
}

// noAgent says that there is none, and which one was perhaps meant.
func noAgent(g *gorm.DB, ref string) error {
	var aliases []string
	err := g.Model(&cw.Agent{}).Where("deleted_at IS NULL").Order("created_at DESC").Pluck("alias", &aliases).Error
	if err != nil {
		return err
	}
	missing := cw.Errorf(cw.CodeNotFound, "there is no agent %.100q", ref)
	if len(aliases) == 0 {
		return missing.WithHint(`no agent is there; start one with: cw run "what to do". Removed ones: cw agent list --removed`)
	}
	if alias, ok := cw.Nearest(ref, aliases); ok {
		return missing.WithHint("did you mean %s? All agents: cw agent list", alias)
	}
	return missing.WithHint("all agents: cw agent list")
}

// Counts tells how many agents there are, how many of them are alive, and how
// many projects there are.
func (db *DB) Counts(ctx context.Context) (agents, alive, projects int, err error) {
	var counts struct{ Agents, Alive, Projects int }
	err = db.query(ctx, "count agents", func(g *gorm.DB) error {
		return g.Raw(`SELECT
			(SELECT COUNT(*) FROM agents WHERE deleted_at IS NULL) AS agents,
			(SELECT COUNT(*) FROM agents WHERE deleted_at IS NULL AND status IN (SELECT value FROM json_each(?))) AS alive,
			(SELECT COUNT(*) FROM projects) AS projects`, list(aliveStatuses())).Scan(&counts).Error
	})
	return counts.Agents, counts.Alive, counts.Projects, err
}

func aliveStatuses() []cw.AgentStatus {
	return slices.DeleteFunc(cw.AgentStatuses(), func(s cw.AgentStatus) bool { return !s.Alive() })
}

// orEmpty gives a list that is [] in JSON, never null.
func orEmpty[T any](values []T) []T {
	if values == nil {
		return []T{}
	}
	return values
}
