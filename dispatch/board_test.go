package dispatch

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"cw/internal/cw"
)

// TestBoardFinish: a board on which tasks were finished stands where one does that
// is laid out anew, also where that opens a circle.
func TestBoardFinish(t *testing.T) {
	t.Parallel()
	opened := 0
	rapid.Check(t, func(t *rapid.T) {
		w := worlds(shape{circles: true}).Draw(t, "world")
		w.Room.Held = nil // memory that is given back is another test's
		later := w
		later.Tasks, later.Agents = slices.Clone(w.Tasks), slices.Clone(w.Agents)
		b := boardOf(w)
		was := b.g.circle
		var over []int
		for i := range w.Tasks {
			if b.stands(i) && rapid.IntRange(0, 3).Draw(t, "is done") == 3 {
				over = append(over, i)
				done := &later.Tasks[i]
				done.Status = cw.TaskDone
				later.Agents = slices.DeleteFunc(later.Agents, func(a cw.TaskAgent) bool { return a.TaskID == done.ID })
			}
		}
		b.finish(over)
		if was != nil && !slices.Equal(was, b.g.circle) {
			opened++
		}
		if got, want := b.decide(false), Decide(later); !reflect.DeepEqual(got, want) {
			t.Fatalf("decided %+v, anew %+v", got, want)
		}
	})
	if opened == 0 {
		t.Error("no circle was opened")
	}
}
