package mcp

import (
	"context"

	"cw/internal/cw"
)

func planCreate() tool {
	return with(tool{
		name: cw.ToolPlanCreate, title: "Make or revise your plan", again: false,
		about: "Keep your own list of steps, so that people see how far you are. The steps get the ids step-0, step-1, … " +
			"While a plan is open a second call revises it: the steps are replaced, the plan's id stays.",
		fields: []field{
			{name: "title", about: "what the plan is for", kind: text, needed: true, most: 4 * cw.PlanTitleMax},
			{name: "steps", about: "1 to 100 steps, in order", kind: list, needed: true, least: 1, most: cw.PlanStepsMax, of: &field{kind: object, fields: []field{
				{name: "title", about: "what is done in the step", kind: text, needed: true, most: 4 * cw.PlanTitleMax},
				{name: "description", about: "more about it", kind: text, most: cw.PlanTextMax},
			}}},
		},
		there: func(c Config) bool { return c.Plans != nil },
	}, func(ctx context.Context, c call, args cw.PlanRequest) (any, error) {
		if err := args.Check(); err != nil {
			return nil, err
		}
		return quick(ctx, c, func(ctx context.Context) (cw.Plan, error) { return c.Plans.SetPlan(ctx, string(c.box.AgentID), args) })
	})
}
