package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"cw/internal/cw"
)

// TestTreeOrder: each page comes after the one above, siblings in order, and
// none is lost, whatever it hangs on.
func TestTreeOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, pages, want string }{
		{"none", "", ""},
		{"the first alone", "r:", "r"},
		{"a tree", "a:r c:b b:r d:b r: e:a", "r a e b c d"},
		{"what hangs on nothing is last", "x:gone y:x r: a:r", "r a x y"},
		{"a circle", "r: a:b b:a c:b", "r a b c"},
		{"on itself", "r: a:a", "r a"},
		{"no first page", "a: b:a", "a b"},
		{"another without one above", "a: r: b:a", "r a b"},
	} {
		var pages []cw.Document
		for _, p := range strings.Fields(c.pages) {
			id, parent, _ := strings.Cut(p, ":")
			pages = append(pages, cw.Document{ID: cw.PageID(id), ParentID: cw.PageID(parent)})
		}
		var got []string
		for _, p := range treeOrder(pages, "r") {
			got = append(got, string(p.ID))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
}

// fullInitiative makes one with so many phases, and so many tasks in each, each
// of which depends on the one before.
func (b *bench) fullInitiative(phases, tasks int) cw.Initiative {
	b.t.Helper()
	i := b.initiative("sale")
	var c cw.InitiativeChange
	for n := range phases {
		p := cw.Phase{ID: cw.PhaseID(fmt.Sprintf("phase-%d", n)), Name: fmt.Sprint(n), Position: n, Status: cw.PhaseApproved}
		if n > 0 {
			p.DependsOn = []cw.PhaseID{c.Phases[n-1].ID}
		}
		c.Phases = append(c.Phases, p)
		for m := range tasks {
			t := cw.Task{
				ID: cw.TaskID(fmt.Sprintf("task-%d-%d", n, m)), PhaseID: p.ID, Name: fmt.Sprint(m), Position: m, Type: cw.TaskAuto,
				Size: cw.SizeSmall, Priority: cw.PriorityHigh, Status: cw.TaskPending, Body: "do it", Paths: []string{"a/**"}, Checks: []string{"it works"},
			}
			if m > 0 {
				t.DependsOn = []cw.TaskID{c.Tasks[len(c.Tasks)-1].ID}
			}
			c.Tasks = append(c.Tasks, t)
		}
	}
	b.plan(i.ID, c)
	return i
}

// TestStateOrder: phases by position, tasks by phase and position, whatever the
// order is in which they were stored.
func TestStateOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	i := b.initiative("sale")
	r := rand.New(rand.NewPCG(1, 2))
	var c cw.InitiativeChange
	var want []string
	for n := range 12 {
		p := cw.Phase{ID: cw.PhaseID(cw.NewID()), Name: fmt.Sprint(n), Position: n, Status: cw.PhaseDraft}
		c.Phases = append(c.Phases, p)
		for m := range 12 {
			c.Tasks = append(c.Tasks, cw.Task{ID: cw.TaskID(cw.NewID()), PhaseID: p.ID, Name: fmt.Sprint(n, "/", m), Position: m, Type: cw.TaskAuto, Status: cw.TaskPending})
			want = append(want, fmt.Sprint(n, "/", m))
		}
	}
	r.Shuffle(len(c.Phases), func(a, b int) { c.Phases[a], c.Phases[b] = c.Phases[b], c.Phases[a] })
	r.Shuffle(len(c.Tasks), func(a, b int) { c.Tasks[a], c.Tasks[b] = c.Tasks[b], c.Tasks[a] })
	b.plan(i.ID, c)
	var got []string
	for _, task := range b.stateOf(i.ID).Tasks {
		got = append(got, task.Name)
	}
	same(t, "tasks", got, want)
}

// TestStateIsOfOneInitiative: nothing of another one is read or counted.
func TestStateIsOfOneInitiative(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	one := b.fullInitiative(2, 2)
	two := b.initiative("other")
	b.suggest(two.ID, suggestion("page", "p", "x"))
	s := b.stateOf(two.ID)
	if len(s.Pages) != 1 || len(s.Phases) != 0 || len(s.Tasks) != 0 || len(s.Proposals) != 1 {
		t.Errorf("of the other: %+v", s)
	}
	s = b.stateOf(one.ID)
	if len(s.Pages) != 1 || len(s.Phases) != 2 || len(s.Tasks) != 4 || len(s.Proposals) != 0 {
		t.Errorf("of the one: %+v", s)
	}
}

// TestStateReadsInFewQueries: as many statements for a large initiative as for
// an empty one, none of which reads a whole table.
func TestStateReadsInFewQueries(t *testing.T) {
	t.Parallel()
	statements := func(b *bench, id cw.InitiativeID) []string {
		log := &statementLog{}
		before := b.state.read.Logger
		b.state.read.Logger = log
		defer func() { b.state.read.Logger = before }()
		b.stateOf(id)
		return log.statements
	}
	empty, full := newBench(t), newBench(t)
	few := statements(empty, empty.initiative("sale").ID)
	i := full.fullInitiative(5, 20)
	many := statements(full, i.ID)
	if len(few) != len(many) || len(many) > 10 {
		t.Errorf("%d statements for an empty initiative, %d for a large one:\n%s", len(few), len(many), strings.Join(many, "\n"))
	}
	for _, s := range many {
		for _, step := range strings.Split(full.planOf(s), "\n") {
			if strings.HasPrefix(step, "SCAN") && !strings.Contains(step, "json_each") {
				t.Errorf("%s: %s", step, s)
			}
		}
	}
}

// TestManyTasks: an initiative with as much as it may have.
func TestManyTasks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	i := b.fullInitiative(50, cw.InitiativeTasks/50)
	s := b.stateOf(i.ID)
	same(t, "phases", len(s.Phases), 50)
	same(t, "tasks", len(s.Tasks), cw.InitiativeTasks)
	for n, task := range s.Tasks {
		m := n % (cw.InitiativeTasks / 50)
		if string(task.ID) != fmt.Sprintf("task-%d-%d", n/(cw.InitiativeTasks/50), m) || len(task.DependsOn) != min(m, 1) {
			t.Fatalf("task %d is %s, which depends on %v", n, task.ID, task.DependsOn)
		}
	}
}

// TestPartsByID finds what belongs to an initiative, removed pages excepted.
func TestPartsByID(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	i := b.fullInitiative(3, 3)
	s := b.stateOf(i.ID)
	page, err := b.DocumentByID(t.Context(), i.RootPageID)
	b.must(err)
	same(t, "page", page, s.Pages[0])
	phase, err := b.PhaseByID(t.Context(), "phase-1")
	b.must(err)
	same(t, "phase", phase, s.Phases[1])
	same(t, "what it depends on", phase.DependsOn, []cw.PhaseID{"phase-0"})
	task, err := b.TaskByID(t.Context(), "task-2-1")
	b.must(err)
	same(t, "task", task, s.Tasks[7])
	same(t, "what it depends on", task.DependsOn, []cw.TaskID{"task-2-0"})
	gone := cw.Document{ID: "below", ParentID: i.RootPageID, Title: "below", Revision: 1, DeletedAt: &i.CreatedAt}
	b.plan(i.ID, cw.InitiativeChange{Pages: []cw.Document{gone}})
	_, err = b.DocumentByID(t.Context(), "below")
	refuses(t, err, cw.CodeNotFound, "below")
	same(t, "pages", len(b.stateOf(i.ID).Pages), 1)
}

// TestWorking names the agents of an initiative that are not through.
func TestWorking(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	i := b.initiative("sale")
	var want []string
	for _, s := range cw.AgentStatuses() {
		for _, of := range []cw.InitiativeID{i.ID, "", "another"} {
			name := fmt.Sprintf("%s-%s", s, of)
			b.addAgent(cw.Agent{ID: cw.AgentID(cw.NewID()), Alias: name, Provider: "script", Mode: cw.ModeExecute, Status: s, InitiativeID: of})
			if of == i.ID && (s.Alive() || s == cw.StatusParked || s == cw.StatusWaitingForInput) {
				want = append(want, name)
			}
		}
	}
	b.addAgent(cw.Agent{ID: "gone", Alias: "gone", Provider: "script", Mode: cw.ModeExecute, Status: cw.StatusRunning, InitiativeID: i.ID, DeletedAt: &i.CreatedAt})
	slices.Sort(want)
	same(t, "working", b.stateOf(i.ID).Working, want)
	if len(want) < 4 {
		t.Errorf("only %v", want)
	}
}

// TestInitiativesUseIndexes: lists are read from a place on, and what belongs to
// an initiative without what belongs to others.
func TestInitiativesUseIndexes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	i := b.fullInitiative(2, 2)
	b.initiative("other")
	in := b.suggest(i.ID, suggestion("task", "a", "x"), suggestion("task", "b", "x"))
	must := func(_ any, err error) { b.must(err) }
	check := func(what, statement, index string) {
		t.Helper()
		plan := b.planOf(statement)
		if !strings.Contains(plan, index) || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s: the index %s does not answer it:\n%s\n%s", what, index, plan, statement)
		}
	}
	for _, sort := range cw.InitiativeList().Sorts() {
		f := cw.InitiativeFilter{PageQuery: cw.PageQuery{Sort: sort, Limit: 1}}
		page, err := b.InitiativePage(t.Context(), f)
		b.must(err)
		f.Cursor = page.Next
		field := strings.TrimPrefix(sort, "-")
		check("initiatives by "+sort, b.statementOf("FROM `initiatives`", func() { must(b.InitiativePage(t.Context(), f)) }),
			"initiatives_"+initiativeColumn(field))
	}
	check("how far they are", b.statementOf("count(*)", func() { must(b.InitiativePage(t.Context(), cw.InitiativeFilter{})) }), "tasks_initiative")
	open := []cw.ProposalStatus{cw.ProposalOpen}
	for index, f := range map[string]cw.ProposalFilter{
		"proposals_created_at":        {},
		"proposals_status":            {Statuses: open},
		"proposals_initiative ":       {Initiative: "sale"},
		"proposals_initiative_status": {Initiative: "sale", Statuses: open},
		"proposals_agent":             {Agent: in.Agent.Alias},
	} {
		f.Limit = 1
		page, err := b.ProposalPage(t.Context(), f)
		b.must(err)
		f.Cursor = page.Next
		check("proposals", b.statementOf("FROM `proposals`", func() { must(b.ProposalPage(t.Context(), f)) }), index)
	}
	for statement, index := range map[string]string{
		"SELECT slug FROM initiatives WHERE slug >= 'sale' AND slug < 'sale{'":                                                                  "sqlite_autoindex_initiatives",
		"UPDATE proposals SET status = 'x' WHERE initiative_id = 'i' AND target_id = 't' AND target = 'page' AND status = 'open' AND id <> 'p'": "proposals_target",
		"DELETE FROM task_dependencies WHERE task_id IN (SELECT value FROM json_each('[]'))":                                                    "sqlite_autoindex_task_dependencies",
	} {
		check("a change", statement, index)
	}
	working := b.statementOf("FROM `agents`", func() { b.stateOf(i.ID) })
	check("who works for it", strings.TrimSuffix(working, " ORDER BY alias"), "agents_initiative") // they are few
}

// TestBudgetOfInitiative is set before anybody works for it, by the name that
// people know.
func TestBudgetOfInitiative(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	i := b.initiative("Spring sale")
	for _, ref := range []string{i.Slug, string(i.ID)} {
		got, err := b.SetBudget(t.Context(), cw.BudgetInitiative, ref, 5)
		if err != nil || got.ScopeID != string(i.ID) || got.LimitUSD != 5 || got.Name != i.Name || got.Slug != i.Slug {
			t.Errorf("%s: %+v, %v", ref, got, err)
		}
	}
	for _, ref := range []string{"", "autumn"} {
		_, err := b.SetBudget(t.Context(), cw.BudgetInitiative, ref, 5)
		refuses(t, err, cw.CodeNotFound, "cw initiative list")
	}
}
