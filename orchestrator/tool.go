package orchestrator

import (
	"context"
	"fmt"
	"time"

	"cw/internal/cw"
)

// Toolbox implements cw.ToolService. What a run may is in its token's row; a run
// without one may nothing.
func (o *Orchestrator) Toolbox(ctx context.Context) (cw.Toolbox, error) {
	actor := cw.ActorOf(ctx)
	if actor.Kind != cw.ActorAgent || actor.AgentID == "" {
		return cw.Toolbox{}, cw.Errorf(cw.CodeForbidden, "tools are offered to agents only").
			WithHint("`cw mcp` is started by an agent's CLI, inside its run")
	}
	agent, err := o.Store.AgentByRef(ctx, string(actor.AgentID))
	if err != nil {
		return cw.Toolbox{}, err
	}
	token, _, err := o.Store.RunToken(ctx, actor.RunID)
	if err != nil {
		return cw.Toolbox{}, fmt.Errorf("look up the run's token: %w", err)
	}
	preset, err := o.Presets.Get(agent.Provider)
	if err != nil {
		return cw.Toolbox{}, err
	}
	box := cw.Toolbox{
		AgentID: agent.ID, AgentName: agent.Alias, AgentCwd: agent.AgentCwd, Mode: agent.Mode, Provider: agent.Provider,
		AsksWait: preset.MCP.AsksWait, CallMax: int(preset.MCP.CallMax.Duration / time.Second),
		MaySpawn: token.MaySpawn(), Tools: token.Rights().Tools(),
	}
	if box.Tools == nil {
		box.Tools = []string{}
	}
	return box, nil
}
