package dispatch

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"cw/internal/cw"
)

// TestOutsideOf: what a task changed is held against its globs, in each project
// against those that mean it.
func TestOutsideOf(t *testing.T) {
	t.Parallel()
	one := []cw.InitiativeProject{{ID: "s", Name: "shop"}}
	both := []cw.InitiativeProject{{ID: "s", Name: "shop"}, {ID: "a", Name: "api"}}
	file := func(path string) cw.FileChange { return cw.FileChange{Path: path, Additions: 1} }
	gone := func(path string) cw.FileChange { return cw.FileChange{Path: path, Deletions: 3} }
	moved := func(from, to string) cw.FileChange { return cw.FileChange{Path: to, From: from} }
	for name, tt := range map[string]struct {
		globs    []string
		projects []cw.InitiativeProject
		changed  []cw.FileChange
		want     []string
	}{
		"inside":                 {[]string{"src/**"}, one, []cw.FileChange{file("src/a/b.go"), file("src/c.go")}, nil},
		"outside":                {[]string{"src/**"}, one, []cw.FileChange{file("src/a.go"), file("docs/a.md"), file("README.md")}, []string{"README.md", "docs/a.md"}},
		"any of several globs":   {[]string{"src/**", "docs/*.md"}, one, []cw.FileChange{file("src/a.go"), file("docs/a.md"), file("docs/b.txt")}, []string{"docs/b.txt"}},
		"a folder":               {[]string{"src", "./docs/"}, one, []cw.FileChange{file("src/a/b.go"), file("docs/x"), file("srcs/x")}, []string{"srcs/x"}},
		"a folder with a dot":    {[]string{"packages/next.js"}, one, []cw.FileChange{file("packages/next.js/src/a.ts"), file("packages/a.ts")}, []string{"packages/a.ts"}},
		"above a glob":           {[]string{"src/a/x.go"}, one, []cw.FileChange{file("src"), file("src/a")}, []string{"src", "src/a"}},
		"a star is one folder":   {[]string{"src/*/x.go"}, one, []cw.FileChange{file("src/a/x.go"), file("src/a/b/x.go")}, []string{"src/a/b/x.go"}},
		"anywhere":               {[]string{"**/*_test.go"}, one, []cw.FileChange{file("a_test.go"), file("x/y/a_test.go"), file("x/a.go")}, []string{"x/a.go"}},
		"braces":                 {[]string{"src/{a,b/c}/**"}, one, []cw.FileChange{file("src/a/x"), file("src/b/c/x"), file("src/b/x")}, []string{"src/b/x"}},
		"a class":                {[]string{"src/[ab].go"}, one, []cw.FileChange{file("src/a.go"), file("src/c.go")}, []string{"src/c.go"}},
		"names with wildcards":   {[]string{"app/**"}, one, []cw.FileChange{file("app/[id]/page*.ts"), file("lib/[id].ts")}, []string{"lib/[id].ts"}},
		"a name with brackets":   {[]string{"app/[id]/**", "lib/[...slug].ts"}, one, []cw.FileChange{file("app/[id]/page.tsx"), file("lib/[...slug].ts"), file("app/[x]/page.tsx"), file("app/d/a")}, []string{"app/[x]/page.tsx"}},
		"everything":             {[]string{"**"}, one, []cw.FileChange{file("a"), file("b/c")}, nil},
		"the top":                {[]string{"./"}, one, []cw.FileChange{file("a"), file("b/c")}, nil},
		"a glob of no form":      {[]string{"src/[a"}, one, []cw.FileChange{file("src/[a"), file("docs/a")}, []string{"docs/a"}},
		"deleted":                {[]string{"src/**"}, one, []cw.FileChange{gone("src/a.go"), gone("go.mod")}, []string{"go.mod"}},
		"renamed within":         {[]string{"src/**"}, one, []cw.FileChange{moved("src/a.go", "src/b.go")}, nil},
		"moved out":              {[]string{"src/**"}, one, []cw.FileChange{moved("src/a.go", "lib/a.go")}, []string{"lib/a.go"}},
		"moved in":               {[]string{"src/**"}, one, []cw.FileChange{moved("lib/a.go", "src/a.go")}, []string{"lib/a.go"}},
		"named once":             {[]string{"src/**"}, one, []cw.FileChange{moved("lib/a.go", "lib/b.go"), file("lib/a.go")}, []string{"lib/a.go", "lib/b.go"}},
		"of this project":        {[]string{"shop:src/**"}, both, []cw.FileChange{file("src/a.go"), file("docs/a.md")}, []string{"docs/a.md"}},
		"of another project":     {[]string{"api:src/**"}, both, []cw.FileChange{file("src/a.go")}, []string{"src/a.go"}},
		"of any project":         {[]string{"src/**", "api:docs/**"}, both, []cw.FileChange{file("src/a.go"), file("docs/a.md")}, []string{"docs/a.md"}},
		"a project as a folder":  {[]string{"shop/src/**"}, both, []cw.FileChange{file("src/a.go"), file("docs/a.md")}, []string{"docs/a.md"}},
		"a colon without a name": {[]string{"c:/x"}, one, []cw.FileChange{file("c:/x"), file("x")}, []string{"x"}},
	} {
		if diff := cmp.Diff(tt.want, outsideOf(globsIn(tt.globs, "shop", tt.projects), changedPaths(tt.changed))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestCovers: a glob that covers a path overlaps with it, so a task that keeps to
// its paths is never beside another one that may touch the same file.
func TestCovers(t *testing.T) {
	t.Parallel()
	for _, glob := range []string{"src/**", "src", "**/*.go", "src/[ab].go", "a/*/c", "src/[a"} {
		for _, path := range []string{"src/a.go", "src", "src/x/y.go", "a/b/c", "a/b/c/d", "src/[a", "x"} {
			if covers(tidy(glob), path) && !Overlap(glob, path) {
				t.Errorf("%q covers %q and does not overlap with it", glob, path)
			}
		}
	}
}

// compared answers for comparisons of commits.
type compared struct {
	Repos
	of map[[2]string]cw.Diff
}

func (c compared) Diff(_ context.Context, _ cw.Project, base, head string, _ cw.DiffRequest) (cw.Diff, error) {
	d, ok := c.of[[2]string{base, head}]
	if !ok {
		return d, cw.Errorf(cw.CodeNotFound, "no commit %s or %s", base, head)
	}
	return d, nil
}

// TestOutsideIn: what an agent took over from the branch, and what it began with, is not
// its change; that it put back what others changed since is one.
func TestOutsideIn(t *testing.T) {
	t.Parallel()
	diff := func(base string, paths ...string) cw.Diff {
		d := cw.Diff{BaseCommit: base}
		for _, p := range paths {
			d.Files = append(d.Files, cw.FileChange{Path: p})
		}
		return d
	}
	for name, tt := range map[string]struct {
		onto string
		of   map[[2]string]cw.Diff
		want []string
	}{
		"its own": {"base", map[[2]string]cw.Diff{{"base", "head"}: diff("base", "src/a", "x")}, []string{"x"}},
		"it took over the branch": {"later", map[[2]string]cw.Diff{
			{"later", "head"}: diff("later", "src/a"), {"later", "base"}: diff("base", "x"), {"base", "head"}: diff("base", "src/a", "x"),
		}, nil},
		"it took over the branch and put back what others did": {"later", map[[2]string]cw.Diff{
			{"later", "head"}: diff("later", "src/a", "x"), {"later", "base"}: diff("base", "x"), {"base", "head"}: diff("base", "src/a"),
		}, []string{"x"}},
		"it began on another branch": {"later", map[[2]string]cw.Diff{
			{"later", "head"}: diff("root", "src/a", "x", "y"), {"root", "base"}: diff("root", "x"), {"base", "head"}: diff("base", "src/a", "y"),
		}, []string{"y"}},
		"its base is gone": {"later", map[[2]string]cw.Diff{{"later", "head"}: diff("root", "x")}, []string{"x"}},
	} {
		d := &Dispatcher{Config: Config{Repos: compared{of: tt.of}}}
		got, err := d.outsideIn(t.Context(), cw.Project{}, []string{"src/**"}, tt.onto, "base", "head")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
