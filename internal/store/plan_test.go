package store

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
)

func native(in cw.SpawnIntent, steps ...string) cw.PlanChange {
	c := cw.PlanChange{AgentID: in.Agent.ID, RunID: in.Run.ID, Title: "Sell", Source: cw.PlanNative, By: cw.Actor{Kind: cw.ActorCW}}
	for i, s := range steps {
		title, status, _ := strings.Cut(s, " ")
		c.Steps = append(c.Steps, cw.PlanStep{ID: fmt.Sprint("step-", i), Title: title, Description: "about " + title, Status: cw.StepStatus(status)})
	}
	return c
}

// TestPlanRows: one row for one plan, one event for each revision, and nothing
// written when nothing changes.
func TestPlanRows(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := b.runningAgent("brave-otter")
	told := len(b.toldEvents())
	change := func(c cw.PlanChange, want cw.PlanTurn) cw.Plan {
		t.Helper()
		before, found, err := b.PlanOf(t.Context(), in.Agent.ID)
		b.must(err)
		rows := b.dump()
		was, after, turn, err := b.ChangePlan(t.Context(), c)
		b.must(err)
		same(t, "the plan before", was, before)
		same(t, "what it means", turn, want)
		if turn == cw.PlanSame {
			same(t, "rows", b.dump(), rows)
		}
		stored, now, err := b.PlanOf(t.Context(), in.Agent.ID)
		b.must(err)
		same(t, "the plan after", stored, after)
		if found && !now {
			t.Error("it is gone")
		}
		return after
	}
	first := change(native(in, "a in_progress", "b pending"), cw.PlanCreated)
	change(native(in, "a in_progress", "b pending"), cw.PlanSame)
	moved := change(native(in, "a completed", "b pending"), cw.PlanMoved)
	revised := change(native(in, "a completed", "c skipped"), cw.PlanRevised)
	next := change(native(in, "d pending"), cw.PlanCreated)
	if moved.ID != first.ID || revised.ID != first.ID || next.ID == first.ID || revised.Revision != 2 || !revised.UpdatedAt.After(first.CreatedAt) {
		t.Errorf("%+v\n%+v\n%+v\n%+v", first, moved, revised, next)
	}
	summary := next.Summary()
	same(t, "beside its agent", b.agent("brave-otter").Plan, &summary)
	var types []string
	for _, e := range b.toldEvents()[told:] {
		types = append(types, string(e.Type))
		if e.AgentID != in.Agent.ID || e.RunID != in.Run.ID || strings.Contains(string(e.Data), "about") {
			t.Errorf("%+v %s", e, e.Data)
		}
	}
	same(t, "events", types, []string{"plan:created", "plan:revised", "plan:created"})
	for i := range 2 * plansKept {
		done := native(in, fmt.Sprint("n", i, " completed"))
		done.Source = cw.PlanTool
		change(done, map[bool]cw.PlanTurn{true: cw.PlanRevised, false: cw.PlanCreated}[i == 0])
	}
	var kept int64
	b.must(b.state.read.Model(&cw.Plan{}).Count(&kept).Error)
	same(t, "plans that are kept", kept, int64(plansKept))
}

// TestPlanRevisionsAreCoalesced: of revisions that follow each other closely the
// newest alone holds steps, so that an agent that revises its plan in a loop does
// not fill the events. No event goes, and other plans keep theirs.
func TestPlanRevisionsAreCoalesced(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in, other := b.runningAgent("brave-otter"), b.runningAgent("calm-heron")
	revise := func(in cw.SpawnIntent, n int) {
		t.Helper()
		_, _, _, err := b.ChangePlan(t.Context(), native(in, fmt.Sprint("n", n, " pending"), "b pending"))
		b.must(err)
	}
	for i := range 3 { // the first makes the plan
		revise(in, i)
		revise(other, i)
	}
	b.now = func() time.Time { return time.Now().Add(2 * planCoalesce) }
	for i := range 3 {
		revise(in, 10+i)
	}
	page, err := b.EventsAfter(t.Context(), 0, cw.EventFilter{Types: []cw.EventType{cw.EventPlanCreated, cw.EventPlanRevised}}, 0)
	b.must(err)
	var got []string
	for _, e := range page.Events {
		var p cw.PlanChanged
		b.must(json.Unmarshal(e.Data, &p))
		got = append(got, fmt.Sprintf("%s %d: %d steps", p.Name, p.Revision, len(p.Steps)))
	}
	same(t, "events", got, []string{
		"brave-otter 1: 2 steps", "calm-heron 1: 2 steps",
		"brave-otter 2: 0 steps", "calm-heron 2: 0 steps",
		"brave-otter 3: 2 steps", "calm-heron 3: 2 steps",
		"brave-otter 4: 0 steps", "brave-otter 5: 0 steps", "brave-otter 6: 2 steps",
	})
}

func TestMovePlanStep(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := b.runningAgent("brave-otter")
	move := cw.StepMove{AgentID: in.Agent.ID, RunID: in.Run.ID, Step: "step-0", Status: cw.StepCompleted}
	_, _, err := b.MovePlanStep(t.Context(), move)
	refuses(t, err, cw.CodeNotFound, "has no plan")
	c := native(in, "a pending", "b pending")
	_, _, _, err = b.ChangePlan(t.Context(), c)
	b.must(err)
	_, _, err = b.MovePlanStep(t.Context(), move)
	refuses(t, err, cw.CodeRefused, "own list")
	c.Source = cw.PlanTool
	_, _, _, err = b.ChangePlan(t.Context(), c)
	b.must(err)
	told := len(b.toldEvents())
	plan, changed, err := b.MovePlanStep(t.Context(), move)
	b.must(err)
	stored, _, err := b.PlanOf(t.Context(), in.Agent.ID)
	b.must(err)
	same(t, "what is stored", stored, plan)
	if !changed || plan.Done() != 1 || len(b.toldEvents()) != told {
		t.Errorf("changed %v, %+v, %d events", changed, plan, len(b.toldEvents())-told)
	}
	rows := b.dump()
	_, changed, err = b.MovePlanStep(t.Context(), move)
	b.must(err)
	same(t, "rows after the same once more", b.dump(), rows)
	if changed {
		t.Error("the same once more changed something")
	}
	rest := b.restingAgent("gone-goat", cw.StatusIdle)
	b.removeAgent(rest.Agent.ID)
	c.AgentID = rest.Agent.ID
	_, _, _, err = b.ChangePlan(t.Context(), c)
	refuses(t, err, cw.CodeRefused, "is removed")
	c.AgentID = "nothing"
	_, _, _, err = b.ChangePlan(t.Context(), c)
	refuses(t, err, cw.CodeNotFound, "nothing")
}

// TestSalvagePlans takes plans over from a damaged file: not those that cannot be
// read, nor those of nobody.
func TestSalvagePlans(t *testing.T) {
	t.Parallel()
	from, to := newBench(t), newBench(t)
	for _, name := range []string{"brave-otter", "calm-bear", "gone-goat"} {
		in := from.runningAgent(name)
		_, _, _, err := from.ChangePlan(t.Context(), native(in, name+" pending"))
		from.must(err)
	}
	from.exec("UPDATE plans SET steps_json = '[{' WHERE title = 'Sell' AND agent_id = ?", from.agent("calm-bear").ID)
	from.exec("PRAGMA foreign_keys = OFF")
	from.exec("UPDATE plans SET agent_id = 'nobody' WHERE agent_id = ?", from.agent("gone-goat").ID)
	taken, err := to.Salvage(t.Context(), filepath.Join(from.dir, stateName))
	to.must(err)
	if taken["plans"] != 3 || to.agent("brave-otter").Plan == nil || to.agent("calm-bear").Plan != nil || to.agent("gone-goat").Plan != nil {
		t.Errorf("taken over: %v", taken)
	}
	var left int64
	to.must(to.state.read.Model(&cw.Plan{}).Count(&left).Error)
	same(t, "plans that are left", left, int64(1))
}
