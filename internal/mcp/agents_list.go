package mcp

import (
	"context"

	"cw/internal/cw"
)

// agentsMost bounds the list of agents.
const agentsMost = 200

// agentsSeen are the agents that the caller may see, itself among them.
type agentsSeen struct {
	Note   string      `json:"note"`
	Agents []agentSeen `json:"agents"`
}

type agentSeen struct {
	AgentID    cw.AgentID     `json:"agentId"`
	Name       string         `json:"name"`
	You        bool           `json:"you,omitempty"`
	Definition string         `json:"definition"`
	Mode       cw.Mode        `json:"mode"`
	Status     cw.AgentStatus `json:"status"`
	Title      string         `json:"title,omitempty"`
	PhaseID    cw.PhaseID     `json:"phaseId,omitempty"`
	TaskID     cw.TaskID      `json:"taskId,omitempty"`
}

func agentsList() tool {
	return with(tool{
		name: cw.ToolAgentsList, title: "List agents", reads: true,
		about: "List the agents that you can ask and message: those of your initiative, or, where you have none, those without one that share a project with you. " +
			"Gives their ids, names, what they work on and how they stand.",
		there: func(c Config) bool { return c.Agents != nil },
	}, func(ctx context.Context, c call, _ struct{}) (any, error) {
		views, err := quick(ctx, c, func(ctx context.Context) ([]cw.AgentView, error) {
			return cw.SomePages(ctx, agentsMost, func(ctx context.Context, q cw.PageQuery) (cw.Page[cw.AgentView], error) {
				return c.Agents.Agents(ctx, cw.AgentFilter{PageQuery: q})
			})
		})
		if err != nil {
			return nil, err
		}
		out := agentsSeen{Note: dataNote, Agents: []agentSeen{}}
		for _, v := range views {
			out.Agents = append(out.Agents, agentSeen{
				AgentID: v.ID, Name: v.Alias, You: v.ID == c.box.AgentID, Definition: v.Definition, Mode: v.Mode,
				Status: v.Status, Title: v.Title, PhaseID: v.PhaseID, TaskID: v.TaskID,
			})
		}
		return out, nil
	})
}
