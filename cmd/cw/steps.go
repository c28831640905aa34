package main

import (
	"context"
	"fmt"

	"cw/internal/cw"
)

const (
	// progressMax is how much of a step's title a list shows.
	progressMax = 32
	// workShown is how many agents the status tells of.
	workShown = 20
)

// progress is how far an agent's plan is: "3/7 Write the tests"; "" without one.
func progress(p *cw.PlanSummary) string {
	if p == nil {
		return ""
	}
	text := fmt.Sprintf("%d/%d", p.Done, p.Of)
	if current := oneLine(p.Current); current != "" {
		text += " " + cut(current, progressMax)
	}
	return text
}

// printSteps shows an agent's plan with a mark for each step.
func (a *app) printSteps(p paint, summary *cw.PlanSummary, plan cw.Plan) {
	if summary == nil {
		return
	}
	a.printf("\n%s  %d of %d%s\n", p.bold("plan"), summary.Done, summary.Of, bracketed(oneLine(summary.Title)))
	for _, s := range plan.Steps {
		line := stepMark(s.Status) + " " + cut(oneLine(s.Title), summaryMax)
		if s.Status == cw.StepCompleted || s.Status == cw.StepSkipped {
			line = p.dim(line)
		}
		a.printf("  %s\n", line)
	}
}

// stepMark is a mark that reads the same without colours.
func stepMark(s cw.StepStatus) string {
	switch s {
	case cw.StepCompleted:
		return "[x]"
	case cw.StepInProgress:
		return "[>]"
	case cw.StepSkipped:
		return "[-]"
	}
	return "[ ]"
}

// printWork tells what the agents that are alive work at. The status is whole
// without it.
func (a *app) printWork(ctx context.Context, svc cw.Services) {
	filter := cw.AgentFilter{PageQuery: cw.PageQuery{Limit: workShown}}
	for _, s := range cw.AgentStatuses() {
		if s.Alive() {
			filter.Statuses = append(filter.Statuses, s)
		}
	}
	page, err := svc.Agents(ctx, filter)
	if err != nil || len(page.Items) == 0 {
		return
	}
	var rows [][]string
	for _, v := range page.Items {
		rows = append(rows, []string{v.Alias, listStatus(v, a.now()), workFact(v)})
	}
	a.printf("\n")
	table(a.out, "", []string{"NAME", "STATUS", "WORK"}, rows)
	if page.Next != "" {
		a.printf("and more: cw agent list\n")
	}
}

// workFact is how far an agent is with its plan, else its goal.
func workFact(v cw.AgentView) string {
	if text := progress(v.Plan); text != "" {
		return text
	}
	return cut(oneLine(v.Title), titleMax)
}
