package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cw/internal/cw"
)

// initiative stores one with its first page.
func (b *bench) initiative(name string) cw.Initiative {
	b.t.Helper()
	i := cw.Initiative{ID: cw.InitiativeID(cw.NewID()), Name: name, Goal: "the goal of " + name, CreatedBy: "person"}
	root := cw.Document{ID: cw.PageID(cw.NewID()), Title: name, Body: i.Goal, UpdatedBy: "person"}
	stored, err := b.AddInitiative(cw.WithActor(b.t.Context(), cw.Actor{Kind: cw.ActorPerson}), i, root)
	b.must(err)
	return stored
}

// plan stores a change that looks at nothing.
func (b *bench) plan(id cw.InitiativeID, c cw.InitiativeChange) {
	b.t.Helper()
	b.must(b.ChangeInitiative(b.t.Context(), id, func(cw.InitiativeState) (cw.InitiativeChange, error) { return c, nil }))
}

// state reads an initiative with what belongs to it.
func (b *bench) stateOf(id cw.InitiativeID) cw.InitiativeState {
	b.t.Helper()
	s, err := b.InitiativeState(b.t.Context(), id)
	b.must(err)
	return s
}

func TestAddInitiative(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	shop, web := b.addProject("shop"), b.addProject("web")
	in := cw.Initiative{
		ID: "iiiiiiiiiiii", Name: "Summer Sale!", Goal: "sell", CreatedBy: "person",
		Projects: []cw.InitiativeProject{{ID: web.ID, Name: "web"}, {ID: shop.ID, Name: "shop"}},
	}
	told := len(b.toldEvents())
	by := cw.Actor{Kind: cw.ActorDashboard, ID: "tttttttttttt"}
	got, err := b.AddInitiative(cw.WithActor(t.Context(), by), in, cw.Document{ID: "gggggggggggg", Title: "Summer Sale!", Body: "sell", UpdatedBy: "person"})
	b.must(err)
	want := in
	want.Slug, want.Status, want.RootPageID = "summer-sale", cw.InitiativeActive, "gggggggggggg"
	want.CreatedAt, want.UpdatedAt = got.CreatedAt, got.UpdatedAt
	same(t, "stored", got, want)
	if got.CreatedAt.IsZero() || !got.CreatedAt.Equal(got.UpdatedAt) {
		t.Errorf("made %s, changed %s", got.CreatedAt, got.UpdatedAt)
	}
	for _, ref := range []string{"iiiiiiiiiiii", "summer-sale"} {
		read, err := b.InitiativeByRef(t.Context(), ref)
		b.must(err)
		same(t, "by "+ref, read, want)
	}
	s := b.stateOf(in.ID)
	same(t, "initiative", s.Initiative, want)
	same(t, "pages", s.Pages, []cw.Document{{
		ID: "gggggggggggg", InitiativeID: in.ID, Title: "Summer Sale!", Body: "sell", Revision: 1, UpdatedBy: "person",
		CreatedAt: got.CreatedAt, UpdatedAt: got.CreatedAt,
	}})
	if s.Phases == nil || s.Tasks == nil || s.Proposals == nil || s.Working == nil {
		t.Errorf("lists that are null: %+v", s)
	}
	events := b.toldEvents()[told:]
	same(t, "events", b.toldTypes(told), []cw.EventType{cw.EventInitiativeCreated, cw.EventPageCreated})
	for _, e := range events {
		if e.InitiativeID != in.ID || e.ActorKind != by.Kind || e.ActorID != by.ID {
			t.Errorf("%s: %+v", e.Type, e)
		}
	}
	if !strings.Contains(string(events[0].Data), `"slug":"summer-sale"`) {
		t.Errorf("told: %s", events[0].Data)
	}
	stored, err := b.EventsAfter(t.Context(), 0, cw.EventFilter{Initiative: string(in.ID)}, 0)
	b.must(err)
	same(t, "stored events of the initiative", len(stored.Events), 2)
	_, err = b.AddInitiative(t.Context(), in, cw.Document{ID: "hhhhhhhhhhhh", Title: "again"})
	refuses(t, err, cw.CodeRefused, "exists already")
	same(t, "pages after the refused one", len(b.stateOf(in.ID).Pages), 1)
}

// TestSlugs: a slug is numbered when it is taken, by whichever name.
func TestSlugs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, c := range [][2]string{
		{"Sale", "sale"}, {"sale", "sale-2"}, {"Sale 3", "sale-3"}, {"SALE", "sale-4"}, {"Sale 3!", "sale-3-2"},
		{"Sales", "sales"}, {"sal", "sal"}, {"???", "goal"}, {"!!!", "goal-2"}, {"売り", "goal-3"},
	} {
		if got := b.initiative(c[0]).Slug; got != c[1] {
			t.Errorf("%s has the slug %s, want %s", c[0], got, c[1])
		}
	}
}

// TestOneNameAtOnce: as many as want a name at once get a slug each, without a
// gap.
func TestOneNameAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var all sync.WaitGroup
	slugs := make([]string, 20)
	for n := range slugs {
		all.Go(func() {
			i, err := b.AddInitiative(t.Context(),
				cw.Initiative{ID: cw.InitiativeID(cw.NewID()), Name: "Sale"}, cw.Document{ID: cw.PageID(cw.NewID()), Title: "Sale"})
			if err != nil {
				t.Error(err)
			}
			slugs[n] = i.Slug
		})
	}
	all.Wait()
	want := []string{"sale"}
	for n := 2; n <= len(slugs); n++ {
		want = append(want, fmt.Sprint("sale-", n))
	}
	slices.Sort(want)
	slices.Sort(slugs)
	same(t, "slugs", slugs, want)
}

func TestNoInitiative(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, err := b.InitiativeByRef(t.Context(), "sale")
	refuses(t, err, cw.CodeNotFound, "cw initiative create")
	_, err = b.InitiativeState(t.Context(), "iiiiiiiiiiii")
	refuses(t, err, cw.CodeNotFound, "iiiiiiiiiiii")
	b.initiative("Summer sale")
	b.initiative("Autumn")
	_, err = b.InitiativeByRef(t.Context(), "sumer-sale")
	refuses(t, err, cw.CodeNotFound, "did you mean summer-sale?")
	_, err = b.InitiativeByRef(t.Context(), "")
	refuses(t, err, cw.CodeNotFound, "cw initiative list")
	for _, c := range []struct {
		noun string
		find func() error
	}{
		{"page", func() error { _, err := b.DocumentByID(t.Context(), "nope"); return err }},
		{"phase", func() error { _, err := b.PhaseByID(t.Context(), "nope"); return err }},
		{"task", func() error { _, err := b.TaskByID(t.Context(), "nope"); return err }},
		{"proposal", func() error { _, err := b.ProposalByID(t.Context(), "nope"); return err }},
	} {
		refuses(t, c.find(), cw.CodeNotFound, `there is no `+c.noun+` "nope"`)
		refuses(t, c.find(), cw.CodeNotFound, "cw "+c.noun+" list")
	}
}

// TestInitiativeByIDFirst: an id counts before a slug that looks like it.
func TestInitiativeByIDFirst(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	one := b.initiative("one")
	two := b.initiative(string(one.ID))
	same(t, "slug", two.Slug, string(one.ID))
	got, err := b.InitiativeByRef(t.Context(), string(one.ID))
	b.must(err)
	same(t, "found", got.ID, one.ID)
}

// TestInitiativePages walks the active ones, and the archived ones, in every
// order.
func TestInitiativePages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.addProject("shop")
	names := map[bool][]string{}
	for n := range 11 {
		name, archived := fmt.Sprintf("%c-%d", 'a'+n*7%11, n), n%3 == 0
		i := b.initiative(name)
		i.Projects = []cw.InitiativeProject{{ID: p.ID, Name: p.Name}}
		if archived {
			i.Status = cw.InitiativeArchived
		}
		b.plan(i.ID, cw.InitiativeChange{Initiative: &i})
		names[archived] = append(names[archived], name)
	}
	for archived, want := range names {
		for _, sort := range append(cw.InitiativeList().Sorts(), "") {
			all, err := cw.AllPages(t.Context(), func(ctx context.Context, q cw.PageQuery) (cw.Page[cw.Initiative], error) {
				q.Limit, q.Sort = 3, sort
				return b.InitiativePage(ctx, cw.InitiativeFilter{PageQuery: q, Archived: archived})
			})
			b.must(err)
			var got []string
			for _, i := range all {
				got = append(got, i.Name)
				same(t, "projects", i.Projects, []cw.InitiativeProject{{ID: p.ID, Name: "shop"}})
			}
			expect := slices.Clone(want) // in the order in which they were made and changed
			if strings.HasSuffix(sort, "name") {
				slices.Sort(expect)
			}
			if sort == "" || strings.HasPrefix(sort, "-") {
				slices.Reverse(expect)
			}
			same(t, fmt.Sprintf("archived %v by %q", archived, sort), got, expect)
		}
	}
	_, err := b.InitiativePage(t.Context(), cw.InitiativeFilter{PageQuery: cw.PageQuery{Sort: "goal"}})
	refuses(t, err, cw.CodeInvalid, "goal")
	empty, err := newBench(t).InitiativePage(t.Context(), cw.InitiativeFilter{})
	b.must(err)
	if empty.Items == nil {
		t.Error("no initiatives are null")
	}
}

// TestInitiativeProgress counts the tasks of each initiative, and none that is
// cancelled.
func TestInitiativeProgress(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	i := b.fullInitiative(2, 2)
	tasks := b.stateOf(i.ID).Tasks
	tasks[0].Status, tasks[3].Status = cw.TaskDone, cw.TaskCancelled
	b.plan(i.ID, cw.InitiativeChange{Tasks: []cw.Task{tasks[0], tasks[3]}})
	b.initiative("other")
	page, err := b.InitiativePage(t.Context(), cw.InitiativeFilter{PageQuery: cw.PageQuery{Sort: "createdAt"}})
	b.must(err)
	got := map[string]cw.Progress{}
	for _, one := range page.Items {
		got[one.Slug] = *one.Progress
	}
	same(t, "progress", got, map[string]cw.Progress{"sale": {Tasks: 3, Done: 1}, "other": {}})
}

// TestInitiativeOutlivesProject: the name of a project that is forgotten stays.
func TestInitiativeOutlivesProject(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.addProject("shop")
	i := b.initiative("sale")
	i.Projects = []cw.InitiativeProject{{ID: p.ID, Name: p.Name}}
	b.plan(i.ID, cw.InitiativeChange{Initiative: &i})
	b.must(b.RemoveProject(t.Context(), p.ID, event(cw.EventProjectRemoved, "shop")))
	same(t, "projects", b.stateOf(i.ID).Initiative.Projects, i.Projects)
}

// TestInitiativeStaysAfterClosing: what was stored is there for the next
// program.
func TestInitiativeStaysAfterClosing(t *testing.T) {
	t.Parallel()
	b := &bench{t: t, dir: t.TempDir()}
	db, err := Open(t.Context(), Options{Dir: b.dir})
	b.must(err)
	b.DB = db
	i := b.initiative("sale")
	b.plan(i.ID, cw.InitiativeChange{Phases: []cw.Phase{{ID: "one", Name: "one", Status: cw.PhaseDraft}}})
	before := b.stateOf(i.ID)
	b.must(db.Close())
	b.open()
	same(t, "state", b.stateOf(i.ID), before)
	if before.Phases[0].CreatedAt.Location() != time.UTC {
		t.Error("a time is not in UTC")
	}
}
