package servicetest

import (
	"context"

	"cw/internal/cw"
)

// Toolbox implements cw.ToolService: every agent has the rights of a run.
func (m *Memory) Toolbox(ctx context.Context) (cw.Toolbox, error) {
	actor := cw.ActorOf(ctx)
	if actor.Kind != cw.ActorAgent {
		return cw.Toolbox{}, cw.Errorf(cw.CodeForbidden, "tools are offered to agents only").
			WithHint("`cw mcp` is started by an agent's CLI, inside its run")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	a, err := m.find(string(actor.AgentID))
	if err != nil {
		return cw.Toolbox{}, err
	}
	return cw.Toolbox{
		AgentID: a.ID, AgentName: a.Alias, AgentCwd: a.AgentCwd, Mode: a.Mode, Provider: a.Provider,
		AsksWait: true, Tools: cw.Rights{Scopes: cw.RunScopes()}.Tools(),
	}, nil
}
