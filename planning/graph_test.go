package planning

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cw/internal/cw"
)

func TestDependencies(t *testing.T) {
	t.Parallel()
	deps := func(names ...string) *[]cw.TaskID { return to(ids[cw.TaskID](names)) }
	after := func(names ...string) *[]cw.PhaseID { return to(ids[cw.PhaseID](names)) }
	editTask := func(name string, e cw.TaskEdit) func(*plan) error {
		return func(p *plan) error { return p.editTask(id[cw.TaskID](name), e) }
	}
	editPhase := func(name string, e cw.PhaseEdit) func(*plan) error {
		return func(p *plan) error { return p.editPhase(id[cw.PhaseID](name), e) }
	}
	tests := []struct {
		name  string
		state cw.InitiativeState
		rule  func(*plan) error
		code  cw.Code
		words []string
	}{
		{"another one", sale(), editTask("third", cw.TaskEdit{DependsOn: deps("first", "second", "first")}), "", nil},
		{"a circle of tasks", sale(), editTask("first", cw.TaskEdit{DependsOn: deps("second")}), cw.CodeInvalid,
			[]string{`"first" (firstaaaaaaa) → "second" (secondaaaaaa) → "first" (firstaaaaaaa)`}},
		{"a circle of phases", sale(), editPhase("one", cw.PhaseEdit{DependsOn: after("three")}), cw.CodeInvalid,
			[]string{`"one" (oneaaaaaaaaa) → "three" (threeaaaaaaa) → "two" (twoaaaaaaaaa) → "one" (oneaaaaaaaaa)`}},
		{"a task that waits for a later phase", sale(), editTask("first", cw.TaskEdit{DependsOn: deps("third")}), cw.CodeInvalid,
			[]string{`"first" (firstaaaaaaa) → "third" (thirdaaaaaaa) → "one" (oneaaaaaaaaa) → "first" (firstaaaaaaa)`}},
		{"a task that moves into an earlier phase", sale(func(s *cw.InitiativeState) {
			s.Tasks = append(s.Tasks, task("fourth", "three", 0, "third"))
		}), editTask("fourth", cw.TaskEdit{PhaseID: to(id[cw.PhaseID]("one"))}), cw.CodeInvalid, []string{"circle", `"fourth"`, `"third"`}},
		{"itself", sale(), editTask("first", cw.TaskEdit{DependsOn: deps("first")}), cw.CodeInvalid,
			[]string{"itself", `"first" (firstaaaaaaa) → "first" (firstaaaaaaa)`}},
		{"a phase on itself", sale(), editPhase("one", cw.PhaseEdit{DependsOn: after("one")}), cw.CodeInvalid, []string{"itself"}},
		{"nothing", sale(), editTask("third", cw.TaskEdit{DependsOn: deps("firsf")}), cw.CodeInvalid,
			[]string{"firsfaaaaaaa", "no such task", `did you mean "first" (firstaaaaaaa)`}},
		{"nothing like anything", sale(), editTask("third", cw.TaskEdit{DependsOn: deps("zzzz2222zzzz")}), cw.CodeInvalid, []string{"cw task list sale"}},
		{"a phase", sale(), editTask("third", cw.TaskEdit{DependsOn: deps("one")}), cw.CodeInvalid, []string{"which is a phase"}},
		{"a cancelled task", sale(taskStatus("second", cw.TaskCancelled)), editTask("third", cw.TaskEdit{DependsOn: deps("second")}), cw.CodeInvalid,
			[]string{"which is cancelled"}},
		{"an archived phase", sale(phaseStatus("three", cw.PhaseArchived)), editPhase("two", cw.PhaseEdit{DependsOn: after("three")}), cw.CodeInvalid,
			[]string{"which is archived"}},
		{"a done task", sale(taskStatus("second", cw.TaskDone)), editTask("third", cw.TaskEdit{DependsOn: deps("second")}), "", nil},
		{"to cancel what is needed", sale(), editTask("first", cw.TaskEdit{Status: to(cw.TaskCancelled)}), cw.CodeRefused,
			[]string{`"second" (secondaaaaaa) depends on it`}},
		{"to cancel what nothing needs", sale(), editTask("second", cw.TaskEdit{Status: to(cw.TaskCancelled)}), "", nil},
		{"to archive what is needed", sale(), editPhase("two", cw.PhaseEdit{Status: to(cw.PhaseArchived)}), cw.CodeRefused,
			[]string{`"three" (threeaaaaaaa) depends on it`}},
		{"to bring back what needs what is over", sale(taskStatus("first", cw.TaskCancelled), taskStatus("second", cw.TaskCancelled)),
			editTask("second", cw.TaskEdit{Status: to(cw.TaskPending)}), cw.CodeInvalid, []string{`"first"`, "which is cancelled"}},
		{"too many", sale(), editTask("third", cw.TaskEdit{DependsOn: to(manyIDs(cw.DependenciesMax + 1))}), cw.CodeInvalid, []string{"201", "200"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, _, err := settled(tt.state, tt.rule)
			wantError(t, err, tt.code, tt.words...)
		})
	}
}

func manyIDs(n int) []cw.TaskID {
	out := make([]cw.TaskID, n)
	for i := range out {
		out[i] = cw.TaskID(cw.NewID())
	}
	return out
}

func TestSort(t *testing.T) {
	t.Parallel()
	s := sale()
	g := graphOf(s.Phases, s.Tasks)
	all := texts(ids[string]([]string{"third", "second", "three", "first", "two", "one"}))
	sorted := g.sort(all)
	want := texts(ids[string]([]string{"first", "second", "one", "third", "two", "three"}))
	if !slices.Equal(sorted, want) {
		t.Errorf("sorted %v, want %v", sorted, want)
	}
	free := texts(ids[string]([]string{"three", "first"}))
	if got := g.sort(append(free, "nobody")); !slices.Equal(got, []string{free[1], free[0]}) {
		t.Errorf("some of them: %v", got)
	}
}

// TestNoEditsLeadToACircle makes random edits. None that is taken leaves
// anything that waits for itself, for nothing or for what is over, and none is
// refused as a circle without one.
func TestNoEditsLeadToACircle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := cw.InitiativeState{Initiative: cw.Initiative{ID: "sale", Status: cw.InitiativeActive}}
		for range rapid.IntRange(1, 40).Draw(t, "edits") {
			p := begin(s, person, noon)
			err := drawEdit(t, p)
			if err == nil {
				_, err = p.settle()
			}
			tried := cw.InitiativeState{Initiative: s.Initiative, Phases: p.Phases, Tasks: p.Tasks}
			switch {
			case err == nil:
				if why := broken(tried); why != "" {
					t.Fatalf("taken, and %s", why)
				}
				s = tried
			case strings.Contains(err.Error(), "circle") && !strings.Contains(broken(tried), "circle"):
				t.Fatalf("refused, and there is no circle: %v", err)
			}
		}
	})
}

// drawEdit changes one phase or task in some way.
func drawEdit(t *rapid.T, p *plan) error {
	phaseIDs := func(label string) []cw.PhaseID {
		return rapid.SliceOfN(rapid.SampledFrom(names[cw.PhaseID]("phase", 4)), 0, 2).Draw(t, label)
	}
	taskIDs := func(label string) []cw.TaskID {
		return rapid.SliceOfN(rapid.SampledFrom(names[cw.TaskID]("task", 8)), 0, 3).Draw(t, label)
	}
	ph := rapid.SampledFrom(names[cw.PhaseID]("phase", 4)).Draw(t, "phase")
	tk := rapid.SampledFrom(names[cw.TaskID]("task", 8)).Draw(t, "task")
	switch {
	case rapid.Bool().Draw(t, "about a phase") && p.phase(ph) == nil:
		p.addPhase(cw.Phase{ID: ph, Name: string(ph), DependsOn: phaseIDs("after")}, last)
	case rapid.Bool().Draw(t, "or a phase") && p.phase(ph) != nil:
		e := cw.PhaseEdit{DependsOn: to(phaseIDs("after"))}
		if rapid.IntRange(0, 3).Draw(t, "archive") == 0 {
			e.Status = to(rapid.SampledFrom([]cw.PhaseStatus{cw.PhaseArchived, cw.PhaseDraft, cw.PhaseApproved}).Draw(t, "status"))
		}
		return p.editPhase(ph, e)
	case p.task(tk) == nil:
		p.addTask(cw.Task{ID: tk, Name: string(tk), PhaseID: ph, DependsOn: taskIDs("depends on")})
	default:
		e := cw.TaskEdit{DependsOn: to(taskIDs("depends on"))}
		switch rapid.IntRange(0, 4).Draw(t, "more") {
		case 0:
			e.Status = to(rapid.SampledFrom(taskWords()).Draw(t, "status"))
		case 1:
			e.PhaseID = &ph
		}
		return p.editTask(tk, e)
	}
	return nil
}

func names[T ~string](what string, n int) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = T(fmt.Sprintf("%s%d", what, i))
	}
	return out
}

// broken says what is wrong with dependencies, found in another way than the
// rules do: by doing everything that can be done until nothing is left.
func broken(s cw.InitiativeState) string {
	done, left := map[string]bool{}, map[string][]string{}
	after := map[cw.PhaseID][]string{}
	for _, ph := range s.Phases {
		if ph.Status != cw.PhaseArchived {
			after[ph.ID] = texts(ph.DependsOn)
			left[string(ph.ID)] = slices.Clone(after[ph.ID])
		}
	}
	for _, t := range s.Tasks {
		if t.Status == cw.TaskCancelled {
			continue
		}
		left[string(t.ID)] = slices.Concat(texts(t.DependsOn), after[t.PhaseID])
		if _, there := after[t.PhaseID]; there {
			left[string(t.PhaseID)] = append(left[string(t.PhaseID)], string(t.ID))
		}
	}
	for id, needs := range left {
		for _, n := range needs {
			if _, there := left[n]; !there {
				return fmt.Sprintf("%s waits for %s, which is not there", id, n)
			}
		}
	}
	for progress := true; progress; {
		progress = false
		for id, needs := range left {
			if !done[id] && !slices.ContainsFunc(needs, func(n string) bool { return !done[n] }) {
				done[id], progress = true, true
			}
		}
	}
	if len(done) < len(left) {
		return fmt.Sprintf("a circle: %d of %d can be done", len(done), len(left))
	}
	return ""
}
