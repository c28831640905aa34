package dispatch

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"pgregory.net/rapid"
)

func TestOverlap(t *testing.T) {
	t.Parallel()
	tests := []struct {
		a, b string
		want bool
	}{
		{"src/prices/**", "src/prices/round.go", true},
		{"src/prices", "src/prices/round.go", true},
		{"src/prices/", "src/prices", true},
		{"./src", "src/a", true},
		{".", "src/a", true},
		{"", "src/a", true},
		{"src//a", "src/a", true},
		{"**/*.go", "cmd/main.go", true},
		{"**/*.go", "main.go", true},
		{"**", "a/b/c", true},
		{"*.{go,mod}", "go.mod", true},
		{"{src,docs}/**", "docs/a.md", true},
		{"{src/{a,b},docs}/x", "src/b/x", true},
		{"a/*/c", "a/b/*", true},
		{"file[0-9].txt", "file1.txt", true},
		{"a?c", "abc", true},
		{`a\*c`, "a*c", true},
		{"a/**/z", "a/b/**", true},
		{"*a*", "*b*", true},
		{"a[!b]c", "a/c", true},
		{"[{]a", "{a", true},
		{`\/a`, "a", true},

		{"src/prices/**", "src/orders/**", false},
		{"src/prices", "src/prices2", false},
		{"src/prices/**", "src/price", false},
		{"*.go", "*.md", false},
		{"*.go", "cmd/main.go", false},
		{"**/*.go", "docs/*.md", false},
		{"*.{go,mod}", "*.{ts,js}", false},
		{"{src,docs}/**", "web/**", false},
		{"a/*/c", "a/b/d", false},
		{"a/*/c", "a/b/b/c", false},
		{"a?c", "ac", false},
		{"a?c", "a/c", false},
		{`a\*c`, "abc", false},
		{"src/**/test/*.go", "src/a/b/*.md", false},
		{"a*z", "b*z", false},
		{"a*z", "a*y", false},
		{"SRC/a", "src/a", false},
		{"src/[a-z]/x", "src/a/y", false},
		{"README.md", "**/*.go", false},

		{"packages/next.js", "packages/next.js/src/a.ts", true},
		{"packages/next.js/", "**/a.ts", true},
		{"etc/conf.d", "**/a.conf", true},
		{"api/v1.2", "**/a.go", true},
		{".github", "**/*.yml", true},
		{"docs/*", "docs/a/b.md", true},
	}
	for _, tt := range tests {
		if got := Overlap(tt.a, tt.b); got != tt.want {
			t.Errorf("Overlap(%q, %q) = %v", tt.a, tt.b, got)
		}
		if got := Overlap(tt.b, tt.a); got != tt.want {
			t.Errorf("Overlap(%q, %q) = %v", tt.b, tt.a, got)
		}
	}
}

// globs draws globs over few names, so that they often meet.
func globs() *rapid.Generator[string] {
	name := rapid.SampledFrom([]string{"a", "b", "ab", "a.go", "b.go", "*", "**", "?", "a*", "*b", "*.go", "[ab]", "[!a]", "[a-c]", "[^/]", "{a,b}", "{a,ab}.go", "{a/b,b}", "{**,a}", `\a`, `[]`, "[", "{", "{a", "***", "é", "[{,]", "{[,],a}"})
	return rapid.Custom(func(t *rapid.T) string {
		glob := strings.Join(rapid.SliceOfN(name, 1, 4).Draw(t, "segments"), rapid.SampledFrom([]string{"/", "/", "/", ""}).Draw(t, "between"))
		if rapid.IntRange(0, 5).Draw(t, "braces") == 0 {
			glob = "{" + glob + "," + name.Draw(t, "other") + "}/" + name.Draw(t, "last")
		}
		return glob + rapid.SampledFrom([]string{"", "", "", "/", "/**"}).Draw(t, "end")
	})
}

func paths() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "ab", "a.go", "b.go", "é", "ba", "c"}), 1, 4).Draw(t, "names"), "/")
	})
}

// matches tells whether a glob matches a path or a folder above it, by the other
// implementation. A folder has no name like a file.
func matches(glob, path string) bool {
	whole := path
	for glob = strings.TrimSuffix(glob, "/"); path != ""; {
		if ok, err := doublestar.Match(glob, path); ok && err == nil && (path == whole || !strings.Contains(path[strings.LastIndex(path, "/")+1:], ".")) {
			return true
		}
		i := strings.LastIndex(path, "/")
		if i < 0 {
			return false
		}
		path = path[:i]
	}
	return false
}

// TestOverlapMisses: two globs that have a path in common overlap.
func TestOverlapMisses(t *testing.T) {
	t.Parallel()
	common := 0
	rapid.Check(t, func(t *rapid.T) {
		a, b := globs().Draw(t, "a"), globs().Draw(t, "b")
		for range 20 {
			path := paths().Draw(t, "path")
			if matches(a, path) && matches(b, path) {
				if common++; !Overlap(a, b) {
					t.Fatalf("%q matches %q and %q, which do not overlap", path, a, b)
				}
			}
			if matches(a, path) && !Overlap(a, path) {
				t.Fatalf("%q matches %q and does not overlap with it", a, path)
			}
		}
		if Overlap(a, b) != Overlap(b, a) {
			t.Fatalf("%q and %q overlap only one way round", a, b)
		}
	})
	if common == 0 {
		t.Error("no two globs had a path in common")
	}
}

// TestClaims: what the tree finds is what looking at each finds.
func TestClaims(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var c claims
		held := rapid.SliceOfN(rapid.SliceOfN(globs(), 0, 3), 0, 8).Draw(t, "held")
		for i, list := range held {
			c.add(readPaths(list), i)
		}
		wanted := rapid.SliceOfN(globs(), 0, 3).Draw(t, "wanted")
		overlaps := func(i int) bool {
			for _, a := range held[i] {
				for _, b := range wanted {
					if Overlap(a, b) {
						return true
					}
				}
			}
			return false
		}
		some := false
		for i := range held {
			some = some || overlaps(i)
		}
		found := c.find(readPaths(wanted))
		if (found >= 0) != some {
			t.Fatalf("found %d, though to overlap is %v", found, some)
		}
		if found >= 0 && !overlaps(found) {
			t.Fatalf("found %d, which does not overlap", found)
		}
		if again := c.find(readPaths(wanted)); again != found {
			t.Fatalf("found %d, and then %d", found, again)
		}
	})
}

// TestClaimsTell: a task is named whose paths overlap, and not another one.
func TestClaimsTell(t *testing.T) {
	t.Parallel()
	var c claims
	for i := range 1000 {
		c.add(patternsOf(fmt.Sprintf("src/p%d/**", i)), i)
	}
	for i := range 1000 {
		if got := c.find(readPaths([]string{"docs", fmt.Sprintf("src/p%d/a.go", i)})); got != i {
			t.Fatalf("found %d, want %d", got, i)
		}
	}
	if got := c.find(patternsOf("src/q/**")); got != -1 {
		t.Errorf("found %d", got)
	}
}

// TestOverlapIsBounded: no glob takes longer than so many steps.
func TestOverlapIsBounded(t *testing.T) {
	t.Parallel()
	for _, hostile := range []string{
		strings.Repeat("*a", 500), strings.Repeat("**/", 333), strings.Repeat("{a,b}", 200), strings.Repeat("{", 1000),
		strings.Repeat("{a,b}", 6) + strings.Repeat("/*", 480), strings.Repeat("**/*a", 200), strings.Repeat("{a,{b,", 160), strings.Repeat("[", 1000),
	} {
		for _, other := range []string{hostile, strings.Repeat("*b", 500) + "c", strings.Repeat("b/**/", 200) + "c"} {
			m := meter(comparedMax)
			for _, x := range patternsOf(hostile) {
				for _, y := range patternsOf(other) {
					if m >= 0 {
						m.overlap(x, y)
					}
				}
			}
			if m < -1000 {
				t.Errorf("%.20q and %.20q took %d steps", hostile, other, comparedMax-m)
			}
			if Overlap(hostile, other) != Overlap(other, hostile) {
				t.Errorf("%.20q and %.20q overlap only one way round", hostile, other)
			}
		}
	}
}

func FuzzOverlap(f *testing.F) {
	f.Add("src/**", "src/{a,b}/*.go", "src/a/x.go")
	f.Add("[a-", "{a,[}]", "]")
	f.Add(`\{a,\`, "***/?", "{a")
	f.Fuzz(func(t *testing.T, a, b, path string) {
		if len(a) > 200 || len(b) > 200 || len(path) > 200 || strings.Count(a, "{")+strings.Count(b, "{") > 8 {
			t.Skip("longer than what the other implementation does in a moment")
		}
		got := Overlap(a, b)
		if got != Overlap(b, a) {
			t.Errorf("%q and %q overlap only one way round", a, b)
		}
		for _, s := range strings.Split(path, "/") {
			if s == "" || s == "." || s == ".." {
				t.Skip("no path as git writes it")
			}
		}
		if !got && matches(a, path) && matches(b, path) {
			t.Errorf("%q matches %q and %q, which do not overlap", path, a, b)
		}
	})
}
