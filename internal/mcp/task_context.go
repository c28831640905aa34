package mcp

import (
	"context"

	"cw/internal/cw"
)

type taskContextArgs struct {
	PageID string `json:"page_id"`
}

// ownContext is what the calling agent works for.
type ownContext struct {
	Agent      ownAgent           `json:"agent"`
	Initiative *cw.InitiativeView `json:"initiative,omitempty"` // pages, phases and tasks without their texts
	Phase      *cw.Phase          `json:"phase,omitempty"`
	Task       *cw.Task           `json:"task,omitempty"`
	Input      string             `json:"input"` // the folder with the same, as files
}

type ownAgent struct {
	AgentID cw.AgentID `json:"agentId"`
	Name    string     `json:"name"`
	Mode    cw.Mode    `json:"mode"`
	Title   string     `json:"title,omitempty"`
}

func taskContext() tool {
	return with(tool{
		name: cw.ToolTaskContext, title: "Read your task", reads: true,
		about: "Read what you work for, as it is now: your initiative with its pages, phases and tasks, your phase, your task. " +
			"With page_id: one page with its text.",
		fields: []field{{name: "page_id", about: "a page of your initiative, to get its text", kind: text, most: 128}},
		there:  func(c Config) bool { return c.Agents != nil && c.Planning != nil },
	}, func(ctx context.Context, c call, args taskContextArgs) (any, error) {
		if args.PageID != "" {
			return quick(ctx, c, func(ctx context.Context) (cw.Document, error) {
				return c.Planning.PageByID(ctx, cw.PageID(args.PageID))
			})
		}
		return quick(ctx, c, c.ownContext)
	})
}

func (c call) ownContext(ctx context.Context) (ownContext, error) {
	out := ownContext{Input: ".cw/input"}
	self, err := c.Agents.Agent(ctx, string(c.box.AgentID))
	if err != nil {
		return out, err
	}
	out.Agent = ownAgent{AgentID: self.ID, Name: self.Alias, Mode: self.Mode, Title: self.Title}
	if self.InitiativeID != "" {
		view, err := c.Planning.Initiative(ctx, string(self.InitiativeID))
		if err != nil {
			return out, err
		}
		out.Initiative = &view
	}
	if self.PhaseID != "" {
		phase, err := c.Planning.Phase(ctx, self.PhaseID)
		if err != nil {
			return out, err
		}
		out.Phase = &phase
	}
	if self.TaskID != "" {
		task, err := c.Planning.Task(ctx, self.TaskID)
		if err != nil {
			return out, err
		}
		out.Task = &task
	}
	return out, nil
}
