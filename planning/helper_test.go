package planning

import (
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
)

var (
	person = cw.Actor{Kind: cw.ActorPerson}
	noon   = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)
)

// id makes an id that shows what it stands for.
func id[T ~string](name string) T { return T((name + "aaaaaaaaaaaa")[:cw.IDLength]) }

func page(name, parent string, position int) cw.Document {
	return cw.Document{
		ID: id[cw.PageID](name), InitiativeID: id[cw.InitiativeID]("sale"), ParentID: id[cw.PageID](parent),
		Title: name, Body: "text of " + name, Position: position, Revision: 1, UpdatedBy: "person",
	}
}

func phase(name string, position int, deps ...string) cw.Phase {
	return cw.Phase{
		ID: id[cw.PhaseID](name), InitiativeID: id[cw.InitiativeID]("sale"), Name: name, Body: "aim of " + name,
		Position: position, Status: cw.PhaseApproved, DependsOn: ids[cw.PhaseID](deps),
	}
}

func task(name, phase string, position int, deps ...string) cw.Task {
	return cw.Task{
		ID: id[cw.TaskID](name), InitiativeID: id[cw.InitiativeID]("sale"), PhaseID: id[cw.PhaseID](phase), Name: name, Body: "do " + name,
		Type: cw.TaskAuto, Size: cw.SizeMedium, Priority: cw.PriorityMedium, Paths: []string{}, Checks: []string{},
		Position: position, Status: cw.TaskPending, DependsOn: ids[cw.TaskID](deps),
	}
}

func ids[T ~string](names []string) []T {
	out := make([]T, len(names))
	for i, name := range names {
		out[i] = id[T](name)
	}
	return out
}

// sale is an initiative with pages root ─ (shop ─ (cart, till), stock), phases
// one ◄ two ◄ three, and tasks: first ◄ second in one, third in two.
func sale(change ...func(*cw.InitiativeState)) cw.InitiativeState {
	root := page("root", "", 0)
	root.ParentID = ""
	s := cw.InitiativeState{
		Initiative: cw.Initiative{
			ID: id[cw.InitiativeID]("sale"), Name: "Sale", Slug: "sale", Goal: "Sell.", Status: cw.InitiativeActive,
			RootPageID: root.ID, Projects: []cw.InitiativeProject{},
		},
		Pages: []cw.Document{
			root, page("shop", "root", 0), page("cart", "shop", 0), page("till", "shop", 1), page("stock", "root", 1),
		},
		Phases: []cw.Phase{phase("one", 0), phase("two", 1, "one"), phase("three", 2, "two")},
		Tasks:  []cw.Task{task("first", "one", 0), task("second", "one", 1, "first"), task("third", "two", 0)},
	}
	for _, f := range change {
		f(&s)
	}
	return s
}

func archived(s *cw.InitiativeState) { s.Initiative.Status = cw.InitiativeArchived }

func taskStatus(name string, status cw.TaskStatus) func(*cw.InitiativeState) {
	return func(s *cw.InitiativeState) {
		find(s.Tasks, func(t cw.Task) bool { return t.ID == id[cw.TaskID](name) }).Status = status
	}
}

func phaseStatus(name string, status cw.PhaseStatus) func(*cw.InitiativeState) {
	return func(s *cw.InitiativeState) {
		find(s.Phases, func(ph cw.Phase) bool { return ph.ID == id[cw.PhaseID](name) }).Status = status
	}
}

// settled does what a rule says and gives the plan with the change.
func settled(s cw.InitiativeState, rule func(*plan) error) (*plan, cw.InitiativeChange, error) {
	p := begin(s, person, noon)
	if err := rule(p); err != nil {
		return p, cw.InitiativeChange{}, err
	}
	c, err := p.settle()
	return p, c, err
}

// wantError tells whether an error has a code and all of these words; code ""
// for no error.
func wantError(t *testing.T, err error, code cw.Code, words ...string) {
	t.Helper()
	if cw.ErrorCode(err) != code {
		t.Fatalf("error %v (%s), want %q", err, cw.ErrorCode(err), code)
	}
	if err == nil {
		return
	}
	if cw.ErrorHint(err) == "" {
		t.Errorf("no hint: %v", err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error()+" | "+cw.ErrorHint(err), w) {
			t.Errorf("error %q (%s) does not say %q", err, cw.ErrorHint(err), w)
		}
	}
}

func eventTypes(c cw.InitiativeChange) string {
	var out []string
	for _, e := range c.Events {
		out = append(out, string(e.Type))
	}
	return strings.Join(out, " ")
}

func to[T any](v T) *T { return &v }
