package servicetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
)

// TestPagesOfAListThatChanges walks a list by name, both ways, with pages of
// random sizes while projects come and go: what stayed comes exactly once, in
// the order of plain sorting.
func TestPagesOfAListThatChanges(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for round := range 200 {
		sort := []string{"name", "-name"}[round%2]
		there := map[string]cw.Project{}
		add := func() { // few names: many projects share one, and ids decide
			p := cw.Project{ID: cw.ProjectID(cw.NewID()), Name: fmt.Sprintf("p-%d", r.IntN(5))}
			there[p.Name+"/"+string(p.ID)] = p
		}
		for range r.IntN(30) {
			add()
		}
		var stayed, got []string
		for key := range there {
			stayed = append(stayed, key)
		}
		q := cw.PageQuery{Sort: sort}
		for done := false; !done; done = q.Cursor == "" {
			q.Limit = 1 + r.IntN(6)
			start, err := cw.ProjectList().Start(q)
			ok(t, err)
			var all []cw.Project
			for _, p := range there {
				all = append(all, p)
			}
			page := pageOf(start, all)
			for _, p := range page.Items {
				got = append(got, p.Name+"/"+string(p.ID))
			}
			q.Cursor = page.Next
			for range r.IntN(3) {
				add()
			}
			for key := range there {
				if r.IntN(10) == 0 {
					delete(there, key)
					stayed = slices.DeleteFunc(stayed, func(s string) bool { return s == key })
				}
			}
		}
		if sort == "-name" {
			slices.Reverse(got)
		}
		if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
			t.Fatalf("by %s: not in order, or twice:\n%s", sort, strings.Join(got, "\n"))
		}
		for _, key := range stayed {
			if !slices.Contains(got, key) {
				t.Fatalf("by %s: %s stayed and was left out", sort, key)
			}
		}
	}
}
