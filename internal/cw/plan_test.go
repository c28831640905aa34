package cw

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestStepsMoveForward holds the moves of steps against a model that knows only a
// rank for each status: no step ever goes back, and what is over stays as it is.
func TestStepsMoveForward(t *testing.T) {
	t.Parallel()
	ranks := map[StepStatus]int{StepPending: 0, StepInProgress: 1, StepCompleted: 2, StepSkipped: 2}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "steps")
		var req PlanRequest
		for i := range n {
			req.Steps = append(req.Steps, PlanStepRequest{Title: fmt.Sprint("step ", i)})
		}
		plan := Plan{Source: PlanTool, Steps: req.NewSteps()}
		model := make([]StepStatus, n)
		for i := range model {
			model[i] = StepPending
		}
		for range rapid.IntRange(0, 30).Draw(t, "moves") {
			i := rapid.IntRange(0, n).Draw(t, "which") // one more than there are
			to := rapid.SampledFrom(append(StepStatuses(), "done")).Draw(t, "to")
			before := slices.Clone(plan.Steps)
			next, changed, err := plan.Move(fmt.Sprint("step-", i), to)
			want, wantChanged := Code(""), false
			switch rank, known := ranks[to]; {
			case !known:
				want = CodeInvalid
			case i == n:
				want = CodeNotFound
			case model[i] == to:
			case rank > ranks[model[i]]:
				wantChanged, model[i] = true, to
			default:
				want = CodeRefused
			}
			if ErrorCode(err) != want || changed != wantChanged || err != nil && ErrorHint(err) == "" {
				t.Fatalf("step %d to %s: changed %v, %v; want %v, %q", i, to, changed, err, wantChanged, want)
			}
			if !slices.Equal(plan.Steps, before) {
				t.Fatal("a move changed the plan that it was given")
			}
			plan = next
			done := 0
			for i, s := range plan.Steps {
				if s.Status != model[i] {
					t.Fatalf("step %d is %s, want %s", i, s.Status, model[i])
				}
				done += ranks[s.Status] / 2
			}
			if current, works := plan.Current(); plan.Done() != done || plan.Open() != (done < n) || works != plan.Open() || works && ranks[current.Status] == 2 {
				t.Fatalf("%d done, open %v, current %+v", plan.Done(), plan.Open(), current)
			}
		}
	})
}

// listed makes steps of "title status" pairs.
func listed(pairs ...string) []PlanStep {
	var steps []PlanStep
	for i := 0; i < len(pairs); i += 2 {
		steps = append(steps, PlanStep{ID: fmt.Sprint("step-", i/2), Title: pairs[i], Status: StepStatus(pairs[i+1])})
	}
	return steps
}

func TestPlanChange(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_800_000_000, 0)
	open := listed("a", "completed", "b", "in_progress", "a", "pending")
	over := listed("a", "completed", "b", "skipped")
	plan := func(source PlanSource, steps []PlanStep) Plan {
		return Plan{ID: "p", Title: "old", Steps: steps, Source: source, Revision: 3, UpdatedAt: at}
	}
	fresh := func(titles ...string) []PlanStep {
		var pairs []string
		for _, title := range titles {
			pairs = append(pairs, title, "pending")
		}
		return listed(pairs...)
	}
	tests := []struct {
		name   string
		last   Plan
		change PlanChange
		turn   PlanTurn
		id     PlanID
		steps  []PlanStep
	}{
		{"the first", Plan{}, PlanChange{Source: PlanTool, Steps: fresh("a")}, PlanCreated, "", fresh("a")},
		{"the first native", Plan{}, PlanChange{Source: PlanNative, Steps: open}, PlanCreated, "", open},
		{"nothing", Plan{}, PlanChange{Source: PlanNative}, PlanSame, "", nil},
		{"a revision keeps what was done", plan(PlanTool, open), PlanChange{Source: PlanTool, Title: "old", Steps: fresh("b", "c", "a", "a", "a")}, PlanRevised, "p",
			listed("b", "in_progress", "c", "pending", "a", "completed", "a", "pending", "a", "pending")},
		{"the same once more", plan(PlanTool, open), PlanChange{Source: PlanTool, Title: "old", Steps: fresh("a", "b", "a")}, PlanSame, "p", open},
		{"another title", plan(PlanTool, open), PlanChange{Source: PlanTool, Title: "new", Steps: fresh("a", "b", "a")}, PlanRevised, "p", open},
		{"after one that is over", plan(PlanTool, over), PlanChange{Source: PlanTool, Title: "old", Steps: fresh("a", "b")}, PlanCreated, "", fresh("a", "b")},
		{"the tool takes a native one over", plan(PlanNative, open), PlanChange{Source: PlanTool, Title: "old", Steps: fresh("a", "b", "a")}, PlanRevised, "p", open},
		{"native beside an open one of the tool", plan(PlanTool, open), PlanChange{Source: PlanNative, Steps: fresh("x")}, PlanSame, "p", open},
		{"native after one of the tool", plan(PlanTool, over), PlanChange{Source: PlanNative, Steps: fresh("a", "b")}, PlanCreated, "", fresh("a", "b")},
		{"native moves", plan(PlanNative, open), PlanChange{Source: PlanNative, Title: "x", Steps: listed("a", "completed", "b", "completed", "a", "in_progress")}, PlanMoved, "p",
			listed("a", "completed", "b", "completed", "a", "in_progress")},
		{"native goes back", plan(PlanNative, over), PlanChange{Source: PlanNative, Steps: fresh("a", "b")}, PlanMoved, "p", fresh("a", "b")},
		{"native as it was", plan(PlanNative, over), PlanChange{Source: PlanNative, Title: "x", Steps: over}, PlanSame, "p", over},
		{"native with other steps", plan(PlanNative, open), PlanChange{Source: PlanNative, Steps: fresh("a", "b")}, PlanRevised, "p", fresh("a", "b")},
		{"native with other steps after its end", plan(PlanNative, over), PlanChange{Source: PlanNative, Steps: fresh("a")}, PlanCreated, "", fresh("a")},
		{"read again", plan(PlanNative, open), PlanChange{Source: PlanNative, Steps: fresh("x"), ReadAt: at}, PlanSame, "p", open},
		{"written after what is stored", plan(PlanNative, open), PlanChange{Source: PlanNative, Steps: fresh("x"), ReadAt: at.Add(1)}, PlanRevised, "p", fresh("x")},
	}
	for _, test := range tests {
		before := slices.Clone(test.last.Steps)
		got, turn := test.last.Change(test.change)
		if turn != test.turn || got.ID != test.id || !slices.Equal(got.Steps, test.steps) || !slices.Equal(test.last.Steps, before) {
			t.Errorf("%s: %q %s %+v, want %q %s %+v", test.name, turn, got.ID, got.Steps, test.turn, test.id, test.steps)
		}
		revision := map[PlanTurn]int{PlanCreated: 1, PlanRevised: 4, PlanMoved: 3, PlanSame: test.last.Revision}[turn]
		if got.Revision != revision || turn == PlanMoved && got.Title != "old" {
			t.Errorf("%s: revision %d of %q, want %d", test.name, got.Revision, got.Title, revision)
		}
		// What was just stored changes nothing when it is told again.
		if again, turn := got.Change(test.change); turn != PlanSame && test.change.Source == PlanNative {
			t.Errorf("%s: told again: %q %+v", test.name, turn, again)
		}
	}
}

// TestMayPlan: a plan is changed by its agent and by nobody else.
func TestMayPlan(t *testing.T) {
	t.Parallel()
	agent := Agent{ID: "aaaaaaaaaaaa", Alias: "brave-otter"}
	for _, c := range []struct {
		actor Actor
		code  Code
	}{
		{Actor{Kind: ActorAgent, AgentID: agent.ID}, ""},
		{Actor{Kind: ActorAgent, AgentID: "bbbbbbbbbbbb"}, CodeForbidden},
		{Actor{Kind: ActorAgent}, CodeForbidden},
		{Actor{Kind: ActorPerson, AgentID: agent.ID}, CodeForbidden},
		{Actor{Kind: ActorDashboard}, CodeForbidden},
		{Actor{Kind: ActorCW}, CodeForbidden},
	} {
		if err := MayPlan(c.actor, agent); ErrorCode(err) != c.code || err != nil && ErrorHint(err) == "" {
			t.Errorf("%+v: %v, want %q", c.actor, err, c.code)
		}
	}
}
