package planning

import (
	"testing"

	"cw/internal/cw"
)

// TestAssign: an agent gets everything above what it names, and is refused what
// is over, what no agent can do, and what its mode cannot work without.
func TestAssign(t *testing.T) {
	only := func(s *cw.InitiativeState) { s.Phases, s.Tasks = s.Phases[:1], s.Tasks[:2] }
	typed := func(typ cw.TaskType) func(*cw.InitiativeState) {
		return func(s *cw.InitiativeState) { s.Tasks[0].Type = typ }
	}
	agent := func(mode cw.Mode, phase, task string) cw.Agent {
		a := cw.Agent{Mode: mode}
		if phase != "" {
			a.PhaseID = id[cw.PhaseID](phase)
		}
		if task != "" {
			a.TaskID = id[cw.TaskID](task)
		}
		return a
	}
	for _, tt := range []struct {
		name         string
		state        cw.InitiativeState
		agent        cw.Agent
		phase, title string
		code         cw.Code
		says         []string
	}{
		{"discuss", sale(), agent(cw.ModeDiscuss, "", ""), "", "discuss: Sale", "", nil},
		{"plan", sale(), agent(cw.ModePlan, "", ""), "", "plan: Sale", "", nil},
		{"detail of a phase", sale(), agent(cw.ModeDetail, "two", ""), "two", "detail: two", "", nil},
		{"detail of the only phase", sale(only), agent(cw.ModeDetail, "", ""), "one", "detail: one", "", nil},
		{"execute a task", sale(), agent(cw.ModeExecute, "", "third"), "two", "third", "", nil},
		{"execute a task of a phase", sale(), agent(cw.ModeExecute, "two", "third"), "two", "third", "", nil},
		{"execute a goal", sale(), agent(cw.ModeExecute, "", ""), "", "", "", nil},
		{"detail of nothing", sale(), agent(cw.ModeDetail, "", ""), "", "", cw.CodeInvalid, []string{"has 3", "--phase", "cw phase list sale"}},
		{"archived", sale(archived), agent(cw.ModeDiscuss, "", ""), "", "", cw.CodeRefused, []string{"archived"}},
		{"an archived phase", sale(phaseStatus("two", cw.PhaseArchived)), agent(cw.ModeDetail, "two", ""), "", "", cw.CodeRefused, []string{"archived"}},
		{"a phase that is none", sale(), agent(cw.ModeDetail, "nope", ""), "", "", cw.CodeNotFound, []string{"cw phase list sale"}},
		{"a task that is none", sale(), agent(cw.ModeExecute, "", "nope"), "", "", cw.CodeNotFound, []string{"cw task list sale"}},
		{"a task of another phase", sale(), agent(cw.ModeExecute, "one", "third"), "", "", cw.CodeInvalid, []string{"belongs to the phase"}},
		{"a task for an architect", sale(), agent(cw.ModePlan, "", "third"), "", "", cw.CodeInvalid, []string{"do no task"}},
		{"a task that is done", sale(taskStatus("third", cw.TaskDone)), agent(cw.ModeExecute, "", "third"), "", "", cw.CodeRefused, []string{"task done", "--undo", "is done"}},
		{"a task that is cancelled", sale(taskStatus("third", cw.TaskCancelled)), agent(cw.ModeExecute, "", "third"), "", "", cw.CodeRefused, []string{"is cancelled"}},
		{"a decision", sale(typed(cw.TaskCheckpointDecide)), agent(cw.ModeExecute, "", "first"), "", "", cw.CodeInvalid, []string{"a person does it"}},
		{"an action", sale(typed(cw.TaskCheckpointAction)), agent(cw.ModeExecute, "", "first"), "", "", cw.CodeInvalid, []string{"a person does it"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, in, err := assign(tt.state, tt.agent)
			wantError(t, err, tt.code, tt.says...)
			if err != nil {
				return
			}
			if got.InitiativeID != tt.state.Initiative.ID || got.Title != tt.title || in.Agent.Title != tt.title {
				t.Errorf("agent %+v", got)
			}
			if tt.phase != "" && got.PhaseID != id[cw.PhaseID](tt.phase) || tt.phase == "" && got.PhaseID != "" {
				t.Errorf("phase %q, want %q", got.PhaseID, tt.phase)
			}
			if len(in.Pages) != len(tt.state.Pages) || len(in.Phases) != len(tt.state.Phases) || len(in.Tasks) != len(tt.state.Tasks) {
				t.Errorf("it is given %d pages, %d phases, %d tasks", len(in.Pages), len(in.Phases), len(in.Tasks))
			}
		})
	}
}
