package orchestrator

import (
	"context"
	"fmt"

	"cw/internal/cw"
)

// childKey keeps the keys of an agent's requests apart from those of others, so
// that it cannot be given what somebody else asked for.
func childKey(parent cw.AgentID, key string) string {
	if key == "" {
		return ""
	}
	return "agent/" + string(parent) + "/" + key
}

// maySpawn tells whether an agent may make agents, as its projects are set now.
func (o *Orchestrator) maySpawn(ctx context.Context, a cw.Agent) (bool, error) {
	view, err := o.Store.AgentView(ctx, string(a.ID))
	if err != nil {
		return false, err
	}
	var projects []cw.Project
	for _, t := range view.Projects {
		p, err := o.Store.ProjectByRef(ctx, string(t.ProjectID))
		if err != nil {
			return false, fmt.Errorf("find project %s: %w", t.Project, err)
		}
		projects = append(projects, p)
	}
	return cw.MaySpawn(projects, a), nil
}
