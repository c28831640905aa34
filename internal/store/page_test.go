package store

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm/logger"

	"cw/internal/cw"
)

// addAgent stores an agent without anything that belongs to it.
func (b *bench) addAgent(a cw.Agent) {
	b.t.Helper()
	b.must(b.state.write.Create(&a).Error)
}

// randomAgent has a time that others have too, with and without a fraction.
func randomAgent(r *rand.Rand, n int) cw.Agent {
	at := func() time.Time {
		return time.Unix(1_800_000_000+r.Int64N(3), r.Int64N(3)*500_000_000+r.Int64N(2)).UTC()
	}
	return cw.Agent{
		ID: cw.AgentID(cw.NewID()), Alias: fmt.Sprintf("agent-%x-%d", r.IntN(16), n), Mode: cw.ModeExecute, Provider: "script",
		Status: cw.AgentStatuses()[r.IntN(len(cw.AgentStatuses()))], CreatedAt: at(), UpdatedAt: at(),
	}
}

// TestPagesOfAListThatChanges walks the agents in every order with pages of
// random sizes, while agents come and go between two pages: every one that was
// there all the time comes exactly once, and in order.
func TestPagesOfAListThatChanges(t *testing.T) {
	b := newBench(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	there := map[cw.AgentID]cw.Agent{}
	n := 0
	add := func() {
		a := randomAgent(r, n)
		n++
		there[a.ID] = a
		b.addAgent(a)
	}
	remove := func() {
		for id := range there {
			delete(there, id)
			b.must(b.state.write.Exec("UPDATE agents SET deleted_at = ? WHERE id = ?", time.Now(), id).Error)
			return
		}
	}
	for range 40 {
		add()
	}
	for _, sort := range append(cw.AgentList().Sorts(), "") {
		f := cw.AgentFilter{PageQuery: cw.PageQuery{Sort: sort}}
		stayed := map[cw.AgentID]bool{}
		for id := range there {
			stayed[id] = true
		}
		var got []cw.Agent
		for pages := 0; ; pages++ {
			f.Limit = 1 + r.IntN(7)
			page, err := b.AgentViews(t.Context(), f)
			b.must(err)
			if len(page.Items) > f.Limit || pages > 500 {
				t.Fatalf("page %d of %d has %d", pages, f.Limit, len(page.Items))
			}
			for _, v := range page.Items {
				got = append(got, v.Agent)
			}
			if f.Cursor = page.Next; f.Cursor == "" {
				break
			}
			for range r.IntN(3) {
				add()
			}
			for range r.IntN(3) {
				remove()
			}
			for id := range stayed {
				if _, still := there[id]; !still {
					delete(stayed, id)
				}
			}
		}
		checkWalk(t, sort, got, stayed)
	}
}

// checkWalk holds what a walk gave against plain sorting.
func checkWalk(t *testing.T, sort string, got []cw.Agent, stayed map[cw.AgentID]bool) {
	t.Helper()
	field, down := strings.CutPrefix(cmp.Or(sort, "-createdAt"), "-")
	order := func(a, b cw.Agent) int {
		by := map[string]int{
			"createdAt": a.CreatedAt.Compare(b.CreatedAt), "updatedAt": a.UpdatedAt.Compare(b.UpdatedAt),
			"name": strings.Compare(a.Alias, b.Alias), "status": strings.Compare(string(a.Status), string(b.Status)),
		}
		o := cmp.Or(by[field], strings.Compare(string(a.ID), string(b.ID)))
		if down {
			return -o
		}
		return o
	}
	if !slices.IsSortedFunc(got, order) {
		t.Errorf("by %q: not in order", sort)
	}
	times := map[cw.AgentID]int{}
	for _, a := range got {
		times[a.ID]++
		if times[a.ID] > 1 {
			t.Errorf("by %q: %s came twice", sort, a.ID)
		}
	}
	for id := range stayed {
		if times[id] != 1 {
			t.Errorf("by %q: %s, which stayed, came %d times", sort, id, times[id])
		}
	}
}

// TestPagesUseIndexes: a page in any order is read from its place on, without
// sorting the table.
func TestPagesUseIndexes(t *testing.T) {
	b := newBench(t)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 50 {
		b.addAgent(randomAgent(r, i))
		b.addProject(fmt.Sprintf("p-%d", i))
	}
	explain := func(statement string) string {
		var steps []struct{ Detail string }
		b.must(b.state.read.Raw("EXPLAIN QUERY PLAN " + strings.ReplaceAll(statement, `"`, "'")).Scan(&steps).Error)
		return fmt.Sprint(steps)
	}
	check := func(what, statement string) {
		t.Helper()
		plan := explain(statement)
		if !strings.Contains(plan, "USING INDEX") || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s: %s\n%s", what, plan, statement)
		}
	}
	for _, sort := range cw.AgentList().Sorts() {
		page, err := b.AgentViews(t.Context(), cw.AgentFilter{PageQuery: cw.PageQuery{Sort: sort, Limit: 5}})
		b.must(err)
		for _, cursor := range []string{"", page.Next} {
			statement := b.statementOf("FROM `agents`", func() {
				_, err := b.AgentViews(t.Context(), cw.AgentFilter{PageQuery: cw.PageQuery{Sort: sort, Limit: 5, Cursor: cursor}})
				b.must(err)
			})
			check("agents by "+sort, statement)
		}
	}
	statement := b.statementOf("FROM `tokens`", func() {
		_, err := b.TokenPage(t.Context(), cw.PageQuery{Limit: 5})
		b.must(err)
	})
	check("tokens", statement)
	for _, sort := range cw.ProjectList().Sorts() {
		page, err := b.ProjectPage(t.Context(), cw.PageQuery{Sort: sort, Limit: 5})
		b.must(err)
		statement := b.statementOf("FROM `projects`", func() {
			_, err := b.ProjectPage(t.Context(), cw.PageQuery{Sort: sort, Limit: 5, Cursor: page.Next})
			b.must(err)
		})
		check("projects by "+sort, statement)
	}
}

// statementLog keeps statements with their values.
type statementLog struct {
	slowLog
	statements []string
}

func (l *statementLog) LogMode(logger.LogLevel) logger.Interface { return l }

func (l *statementLog) ParamsFilter(_ context.Context, sql string, params ...any) (string, []any) {
	return sql, params
}

func (l *statementLog) Trace(_ context.Context, _ time.Time, text func() (string, int64), _ error) {
	sql, _ := text()
	l.statements = append(l.statements, sql)
}

// statementOf gives the statement with its values that reads a table.
func (b *bench) statementOf(from string, do func()) string {
	b.t.Helper()
	log := &statementLog{}
	before := b.state.read.Logger
	b.state.read.Logger = log
	defer func() { b.state.read.Logger = before }()
	do()
	for _, s := range log.statements {
		if strings.Contains(s, from) {
			return s
		}
	}
	b.t.Fatalf("nothing reads %s: %q", from, log.statements)
	return ""
}

// TestPageOfAgents: what belongs to agents is read for those of the page only,
// in as many statements as for the first page.
func TestPageOfAgents(t *testing.T) {
	b := newBench(t)
	for i := range 5 {
		b.runningAgent(fmt.Sprintf("agent-%c", 'a'+i))
	}
	log := &statementLog{}
	b.state.read.Logger = log
	first, err := b.AgentViews(t.Context(), cw.AgentFilter{PageQuery: cw.PageQuery{Limit: 2}})
	b.must(err)
	count := len(log.statements)
	second, err := b.AgentViews(t.Context(), cw.AgentFilter{PageQuery: cw.PageQuery{Limit: 2, Cursor: first.Next}})
	b.must(err)
	if got := len(log.statements) - count; got != count {
		t.Errorf("%d statements for the first page, %d for the second", count, got)
	}
	for _, v := range append(first.Items, second.Items...) {
		if len(v.Runs) != 1 || len(v.Projects) != 1 {
			t.Errorf("%s has %d runs and %d projects", v.Alias, len(v.Runs), len(v.Projects))
		}
	}
	for _, s := range log.statements[:count] {
		for _, v := range second.Items {
			if strings.Contains(s, string(v.ID)) {
				t.Errorf("the first page reads an agent of the second: %s", s)
			}
		}
	}
	only, err := b.AgentViews(t.Context(), cw.AgentFilter{SeenBy: second.Items[0].ID})
	b.must(err)
	if len(only.Items) != 1 || only.Items[0].ID != second.Items[0].ID || only.Next != "" {
		t.Errorf("only one: %d, next %q", len(only.Items), only.Next)
	}
}
