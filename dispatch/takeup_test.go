package dispatch_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"cw/internal/cw"
)

// TestSweepScratch: a dispatcher that starts removes the checkouts of merges that no
// longer exist, those whose removal was interrupted too: alone or beside others.
func TestSweepScratch(t *testing.T) {
	t.Parallel()
	inYard(t, func(y *yard) {
		y.open()
		y.scratch = y.TempDir()
		project := string(y.project)
		one, two, three := "mone-"+project, "mtwo-"+project, "mthree-"+project
		for _, dir := range []string{one, ".removing-" + two, filepath.Join(three, ".removing-shop"), "something else"} {
			y.need(os.MkdirAll(filepath.Join(y.scratch, dir), 0o700))
		}
		at := func(name string) string { return filepath.Join(y.scratch, name) }
		y.repos.unscratch = map[string]error{at(three): cw.Errorf(cw.CodeRefused, "%s is no scratch worktree that cw made", three)}
		_, end := y.daemon()
		y.pass(soon)
		end()
		got := slices.Sorted(slices.Values(y.repos.unscratched))
		want := []string{at(one), at(three), at(filepath.Join(three, "shop")), at(two)}
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Errorf("taken away:\n%q\nwant\n%q", got, want)
		}
	})
}
