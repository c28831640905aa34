package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

// TestListing: lists are read page by page, to their end or to the limit, with
// what was asked for on each page.
func TestListing(t *testing.T) {
	t.Parallel()
	const many = cw.PageMax + 500
	first := cw.PageQuery{Limit: cw.PageMax, Sort: "-createdAt"}
	for _, tc := range []struct {
		args  []string
		lines int
		pages []cw.PageQuery
	}{
		{[]string{"agent", "list", "-q"}, many, []cw.PageQuery{first, {Limit: cw.PageMax, Sort: "-createdAt", Cursor: "1000"}}},
		{[]string{"agent", "list", "--all"}, many + 1, []cw.PageQuery{first, {Limit: cw.PageMax, Sort: "-createdAt", Cursor: "1000"}}}, // and its header
		{[]string{"agent", "list"}, 101, []cw.PageQuery{{Limit: 100, Sort: "-createdAt"}}},
		{[]string{"agent", "list", "--limit", "3"}, 4, []cw.PageQuery{{Limit: 3, Sort: "-createdAt"}}},
		{[]string{"agent", "list", "-q", "--limit", "3", "--sort", "-name"}, 3, []cw.PageQuery{{Limit: 3, Sort: "-name"}}},
		{[]string{"agent", "list", "-q", "--limit", "1200"}, 1200, []cw.PageQuery{first, {Limit: 200, Sort: "-createdAt", Cursor: "1000"}}},
		{[]string{"agent", "list", "-q", "--limit", "1000"}, 1000, []cw.PageQuery{first}},
		{[]string{"agent", "list", "-q", "--limit", "9999"}, many, []cw.PageQuery{first, {Limit: cw.PageMax, Sort: "-createdAt", Cursor: "1000"}}},
		{[]string{"project", "list", "--limit", "1", "--sort", "createdAt"}, 2, []cw.PageQuery{{Limit: 1, Sort: "createdAt"}}}, // and its header
	} {
		b := newBench(t)
		for i := range many {
			b.fake.agents = append(b.fake.agents, running(fmt.Sprintf("brave-otter-%d", i)))
		}
		b.fake.projects = []cw.Project{{Name: "one"}, {Name: "two"}}
		text, code := b.session(t.Context(), tc.args...)
		if code != 0 {
			t.Fatalf("%v: %d\n%.300s", tc.args, code, text)
		}
		var asked []cw.PageQuery
		for _, f := range b.fake.filters {
			asked = append(asked, f.PageQuery)
		}
		if diff := cmp.Diff(tc.pages, asked); diff != "" {
			t.Errorf("%v asks for: %s", tc.args, diff)
		}
		if said := strings.Contains(text, "these are the first 100;"); said != (len(tc.args) == 2) {
			t.Errorf("%v says that there are more: %t", tc.args, said)
		}
		if got := strings.Count(b.stdout.String(), "\n"); got != tc.lines {
			t.Errorf("%v prints %d lines, want %d", tc.args, got, tc.lines)
		}
	}
}
