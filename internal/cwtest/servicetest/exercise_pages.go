package servicetest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"cw/internal/cw"

	gocmp "github.com/google/go-cmp/cmp"
)

// walk reads a list to its end with pages of one size, and checks each page.
func walk[T any](t *testing.T, limit int, sort string, read func(cw.PageQuery) (cw.Page[T], error)) []T {
	t.Helper()
	var all []T
	q := cw.PageQuery{Limit: limit, Sort: sort}
	for range 1000 {
		page, err := read(q)
		ok(t, err)
		if page.Items == nil || len(page.Items) > limit || page.Next != "" && len(page.Items) < limit {
			t.Fatalf("a page of %d has %d items and next %q", limit, len(page.Items), page.Next)
		}
		all = append(all, page.Items...)
		if page.Next == "" {
			return all
		}
		q.Cursor = page.Next
	}
	t.Fatal("the list does not end")
	return nil
}

// threeAgents gives all agents, newest first, once there are three at least.
func threeAgents(t *testing.T, ctx context.Context, f Fixture) []cw.AgentView {
	t.Helper()
	for {
		whole, err := cw.AllAgents(ctx, f.Services, cw.AgentFilter{})
		ok(t, err)
		if len(whole) >= 3 {
			return whole
		}
		spawnStopped(t, ctx, f)
	}
}

// spawnStopped makes an agent that does nothing any more.
func spawnStopped(t *testing.T, ctx context.Context, f Fixture) {
	t.Helper()
	view, err := f.Services.Spawn(ctx, f.Spawn)
	ok(t, err)
	_, err = f.Services.Stop(ctx, view.Alias, cw.StopRequest{Now: true})
	ok(t, err)
}

func agentNames(views []cw.AgentView) []string {
	names := make([]string, len(views))
	for i, v := range views {
		names[i] = v.Alias
	}
	return names
}

// agentPagesCase: every order in pages of every size is the whole list, put in
// order here.
func agentPagesCase(t *testing.T, f Fixture) {
	ctx, s := soon(t), f.Services
	whole := threeAgents(t, ctx, f)
	for sort, order := range map[string]func(a, b cw.AgentView) int{
		"createdAt": func(a, b cw.AgentView) int { return a.CreatedAt.Compare(b.CreatedAt) },
		"updatedAt": func(a, b cw.AgentView) int { return a.UpdatedAt.Compare(b.UpdatedAt) },
		"name":      func(a, b cw.AgentView) int { return strings.Compare(a.Alias, b.Alias) },
		"status":    func(a, b cw.AgentView) int { return strings.Compare(string(a.Status), string(b.Status)) },
	} {
		want := slices.Clone(whole)
		slices.SortFunc(want, func(a, b cw.AgentView) int { return cmp.Or(order(a, b), strings.Compare(string(a.ID), string(b.ID))) })
		for _, limit := range []int{1, 2, 3, len(want), cw.PageMax} {
			read := func(q cw.PageQuery) (cw.Page[cw.AgentView], error) {
				return s.Agents(ctx, cw.AgentFilter{PageQuery: q})
			}
			up := agentNames(walk(t, limit, sort, read))
			if diff := gocmp.Diff(agentNames(want), up); diff != "" {
				t.Errorf("by %s in pages of %d: %s", sort, limit, diff)
			}
			down := agentNames(walk(t, limit, "-"+sort, read))
			slices.Reverse(down)
			if diff := gocmp.Diff(up, down); diff != "" {
				t.Errorf("by -%s in pages of %d, turned round: %s", sort, limit, diff)
			}
		}
	}
}

// agentFiltersCase: each filter gives what it says, also in pages of one.
func agentFiltersCase(t *testing.T, f Fixture) {
	ctx, s := soon(t), f.Services
	whole := threeAgents(t, ctx, f)
	it := whole[len(whole)-1]
	inProject := func(v cw.AgentView) bool {
		return slices.ContainsFunc(v.Projects, func(w cw.AgentWorktree) bool { return w.Project == f.Project })
	}
	type filterCase struct {
		filter cw.AgentFilter
		has    func(cw.AgentView) bool
	}
	cases := map[string]filterCase{
		"status":     {cw.AgentFilter{Statuses: []cw.AgentStatus{it.Status}}, func(v cw.AgentView) bool { return v.Status == it.Status }},
		"provider":   {cw.AgentFilter{Provider: it.Provider}, func(v cw.AgentView) bool { return v.Provider == it.Provider }},
		"nobody's":   {cw.AgentFilter{Provider: unknown}, func(cw.AgentView) bool { return false }},
		"initiative": {cw.AgentFilter{Initiative: initiative(t, f).Slug}, func(cw.AgentView) bool { return false }},
		"both":       {cw.AgentFilter{Provider: it.Provider, Statuses: []cw.AgentStatus{it.Status}}, func(v cw.AgentView) bool { return v.Status == it.Status && v.Provider == it.Provider }},
	}
	if f.Project != "" {
		cases["project"] = filterCase{cw.AgentFilter{Project: f.Project}, inProject}
	}
	for name, c := range cases {
		want := slices.DeleteFunc(slices.Clone(whole), func(v cw.AgentView) bool { return !c.has(v) })
		got := walk(t, 1, "", func(q cw.PageQuery) (cw.Page[cw.AgentView], error) {
			c.filter.PageQuery = q
			return s.Agents(ctx, c.filter)
		})
		if diff := gocmp.Diff(agentNames(want), agentNames(got)); diff != "" {
			t.Errorf("by %s: %s", name, diff)
		}
	}
	_, err := s.Agents(ctx, cw.AgentFilter{Project: unknown})
	wantCode(t, "an unknown project", err, cw.CodeNotFound)
	_, err = s.Agents(ctx, cw.AgentFilter{Initiative: unknown})
	wantCode(t, "an unknown initiative", err, cw.CodeNotFound)
}

// badPagesCase: what is no page of the list is refused, and the cursor of
// another list, order or filter is no cursor.
func badPagesCase(t *testing.T, f Fixture) {
	ctx, s := soon(t), f.Services
	threeAgents(t, ctx, f)
	first, err := s.Agents(ctx, cw.AgentFilter{PageQuery: cw.PageQuery{Limit: 1}})
	ok(t, err)
	next := first.Next
	if next == "" {
		t.Fatal("one page of one agent is the whole list of three")
	}
	for name, filter := range map[string]cw.AgentFilter{
		"limit below":         {PageQuery: cw.PageQuery{Limit: -1}},
		"limit far below":     {PageQuery: cw.PageQuery{Limit: math.MinInt}},
		"limit above":         {PageQuery: cw.PageQuery{Limit: cw.PageMax + 1}},
		"limit far above":     {PageQuery: cw.PageQuery{Limit: math.MaxInt}},
		"order unknown":       {PageQuery: cw.PageQuery{Sort: "goal"}},
		"order in two ways":   {PageQuery: cw.PageQuery{Sort: "name,-status"}},
		"status unknown":      {Statuses: []cw.AgentStatus{"runnin"}},
		"cursor from nowhere": {PageQuery: cw.PageQuery{Cursor: "nowhere"}},
		"cursor negative":     {PageQuery: cw.PageQuery{Cursor: "-1"}},
		"cursor huge":         {PageQuery: cw.PageQuery{Cursor: strings.Repeat("9", 10_000)}},
		"cursor cut":          {PageQuery: cw.PageQuery{Cursor: next[:len(next)/2]}},
		"cursor of an order":  {PageQuery: cw.PageQuery{Cursor: next, Sort: "name"}},
		"cursor of a filter":  {PageQuery: cw.PageQuery{Cursor: next}, Statuses: []cw.AgentStatus{cw.StatusIdle}},
		"cursor of SQL":       {PageQuery: cw.PageQuery{Cursor: "' OR 1=1 --"}},
	} {
		_, err := s.Agents(ctx, filter)
		wantCode(t, name, err, cw.CodeInvalid)
		if cw.ErrorHint(err) == "" {
			t.Errorf("%s: no hint beside %v", name, err)
		}
	}
	for name, q := range map[string]cw.PageQuery{
		"limit below":         {Limit: -1},
		"limit above":         {Limit: cw.PageMax + 1},
		"order unknown":       {Sort: "status"},
		"cursor of agents":    {Cursor: next},
		"cursor from nowhere": {Cursor: "nowhere"},
	} {
		_, err := s.Projects(ctx, q)
		wantCode(t, "projects, "+name, err, cw.CodeInvalid)
		_, err = s.Tokens(ctx, q)
		wantCode(t, "tokens, "+name, err, cw.CodeInvalid)
	}
}

// projectPagesCase: both orders in pages of one.
func projectPagesCase(t *testing.T, f Fixture) {
	ctx, s := soon(t), f.Services
	_, err := s.AddProject(ctx, cw.ProjectRequest{Path: f.Repo})
	ok(t, err)
	whole, err := cw.AllPages(ctx, s.Projects)
	ok(t, err)
	if len(whole) < 2 {
		t.Fatalf("%d projects: too few for pages", len(whole))
	}
	names := func(list []cw.Project) string {
		out := ""
		for _, p := range list {
			out += fmt.Sprintln(p.Name)
		}
		return out
	}
	read := func(q cw.PageQuery) (cw.Page[cw.Project], error) { return s.Projects(ctx, q) }
	for sort, order := range map[string]func(a, b cw.Project) int{
		"name":      func(a, b cw.Project) int { return strings.Compare(a.Name, b.Name) },
		"createdAt": func(a, b cw.Project) int { return a.CreatedAt.Compare(b.CreatedAt) },
	} {
		slices.SortFunc(whole, order)
		if got := names(walk(t, 1, sort, read)); got != names(whole) {
			t.Errorf("by %s:\n%swant:\n%s", sort, got, names(whole))
		}
		slices.Reverse(whole)
		if got := names(walk(t, 1, "-"+sort, read)); got != names(whole) {
			t.Errorf("by -%s:\n%swant:\n%s", sort, got, names(whole))
		}
	}
}

// pagesMeanwhileCase: an agent that comes between two pages makes none of the
// others come twice or be left out.
func pagesMeanwhileCase(t *testing.T, f Fixture) {
	ctx, s := soon(t), f.Services
	threeAgents(t, ctx, f)
	for _, sort := range []string{"", "name"} {
		whole, err := cw.AllAgents(ctx, s, cw.AgentFilter{})
		ok(t, err)
		var seen []string
		walk(t, 1, sort, func(q cw.PageQuery) (cw.Page[cw.AgentView], error) {
			page, err := s.Agents(ctx, cw.AgentFilter{PageQuery: q})
			seen = append(seen, agentNames(page.Items)...)
			if q.Cursor == "" { // after the first page
				spawnStopped(t, ctx, f)
			}
			return page, err
		})
		for _, name := range agentNames(whole) {
			if n := count(seen, func(s string) bool { return s == name }); n != 1 {
				t.Errorf("by %q %s came %d times: %v", sort, name, n, seen)
			}
		}
	}
}
