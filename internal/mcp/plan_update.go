package mcp

import (
	"context"

	"cw/internal/cw"
)

type planUpdateArgs struct {
	StepID string        `json:"step_id"`
	Status cw.StepStatus `json:"status"`
}

func planUpdate() tool {
	return with(tool{
		name: cw.ToolPlanUpdate, title: "Move a step of your plan", again: true,
		about: "Say where a step of your plan stands: in_progress when you begin it, completed when it is done, skipped when it is not needed.",
		fields: []field{
			{name: "step_id", about: "the step: step-0, step-1, …", kind: text, needed: true, most: 64},
			{name: "status", about: "in_progress, completed or skipped", kind: text, needed: true,
				words: []string{string(cw.StepInProgress), string(cw.StepCompleted), string(cw.StepSkipped)}},
		},
		there: func(c Config) bool { return c.Plans != nil },
	}, func(ctx context.Context, c call, args planUpdateArgs) (any, error) {
		return quick(ctx, c, func(ctx context.Context) (cw.Plan, error) {
			return c.Plans.MoveStep(ctx, string(c.box.AgentID), args.StepID, cw.StepRequest{Status: args.Status})
		})
	})
}
