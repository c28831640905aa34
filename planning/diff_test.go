package planning

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestUnified(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, a, b, want string }{
		{"equal", "a\n", "a\n", ""},
		{"from nothing", "", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"to nothing", "a\n", "", "@@ -1 +0,0 @@\n-a\n"},
		{"a line", "a\nb\nc\n", "a\nx\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n"},
		{"no line end", "a\nb", "a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"},
		{"far apart", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "x\n2\n3\n4\n5\n6\n7\n8\ny\n",
			"@@ -1,4 +1,4 @@\n-1\n+x\n 2\n 3\n 4\n@@ -6,4 +6,4 @@\n 6\n 7\n 8\n-9\n+y\n"},
		{"near", "1\n2\n3\n4\n5\n6\n7\n8\n", "x\n2\n3\n4\n5\n6\n7\ny\n",
			"@@ -1,8 +1,8 @@\n-1\n+x\n 2\n 3\n 4\n 5\n 6\n 7\n-8\n+y\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := unified("old", "new", tt.a, tt.b)
			if tt.want != "" {
				tt.want = "--- old\n+++ new\n" + tt.want
			}
			if got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}

// TestUnifiedLeadsFromOneToTheOther: what is shown is true, and no more lines go
// and come than need be.
func TestUnifiedLeadsFromOneToTheOther(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Custom(func(t *rapid.T) string {
			lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "\n", "@@ -1 +1 @@\n"}), 0, 30).Draw(t, "lines")
			return strings.Join(lines, "") + rapid.SampledFrom([]string{"", "", "end"}).Draw(t, "end")
		})
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		edits := compare(linesOf(a), linesOf(b))
		var from, became strings.Builder
		changes := 0
		for _, e := range edits {
			if e.kind != '+' {
				from.WriteString(e.line)
			}
			if e.kind != '-' {
				became.WriteString(e.line)
			}
			if e.kind != ' ' {
				changes++
			}
		}
		if from.String() != a || became.String() != b {
			t.Fatalf("%q becomes %q by %v", a, b, edits)
		}
		if want := fewest(linesOf(a), linesOf(b)); changes != want {
			t.Fatalf("%d changes, %d do", changes, want)
		}
		if got := applied(t, a, unified("a", "b", a, b)); got != b {
			t.Fatalf("the difference leads to %q, want %q", got, b)
		}
	})
}

// fewest counts the lines that must go and come, by a table.
func fewest(a, b []string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before := row[0]
		row[0] = i + 1
		for j := range b {
			both := before
			if a[i] != b[j] {
				both = min(row[j], row[j+1]) + 1
				both = min(both, row[j+1]+1)
			}
			before = row[j+1]
			row[j+1] = min(both, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// applied applies a unified difference.
func applied(t *rapid.T, a, diff string) string {
	if diff == "" {
		return a
	}
	diff = strings.ReplaceAll(diff, "\n\\ No newline at end of file\n", "\x00")
	lines, at := linesOf(a), 0
	var out strings.Builder
	rest := strings.SplitAfterN(diff, "\n", 3)[2]
	for rest != "" {
		var aFrom, aCount, bFrom, bCount int
		head, body, _ := strings.Cut(rest, "\n")
		scanSpans(t, head, &aFrom, &aCount, &bFrom, &bCount)
		if aCount > 0 {
			aFrom--
		}
		for ; at < aFrom; at++ {
			out.WriteString(lines[at])
		}
		for aCount > 0 || bCount > 0 {
			end := strings.IndexAny(body, "\n\x00") + 1
			line := strings.TrimSuffix(body[1:end], "\x00")
			kind := body[0]
			body = body[end:]
			if kind != '+' {
				if lines[at] != line {
					t.Fatalf("line %d is %q, the difference says %q", at+1, lines[at], line)
				}
				at, aCount = at+1, aCount-1
			}
			if kind != '-' {
				out.WriteString(line)
				bCount--
			}
		}
		rest = body
	}
	for ; at < len(lines); at++ {
		out.WriteString(lines[at])
	}
	return out.String()
}

func scanSpans(t *rapid.T, head string, aFrom, aCount, bFrom, bCount *int) {
	for _, s := range []struct {
		text        string
		from, count *int
	}{{strings.Fields(head)[1][1:], aFrom, aCount}, {strings.Fields(head)[2][1:], bFrom, bCount}} {
		from, count, many := strings.Cut(s.text, ",")
		if !many {
			count = "1"
		}
		if _, err := fmt.Sscan(from+" "+count, s.from, s.count); err != nil {
			t.Fatalf("%q: %v", head, err)
		}
	}
}

// TestUnifiedIsBounded: texts that have nothing in common are told as replaced.
func TestUnifiedIsBounded(t *testing.T) {
	t.Parallel()
	var a, b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&a, "a%d\n", i)
		fmt.Fprintf(&b, "b%d\n", i)
	}
	got := compare(linesOf("same\n"+a.String()), linesOf("same\n"+b.String()))
	if len(got) != 6001 || got[0].kind != ' ' || got[1].kind != '-' || got[3000].kind != '-' || got[3001].kind != '+' {
		t.Errorf("%d edits", len(got))
	}
	long := strings.Repeat("x\n", diffLines)
	if got := compare(linesOf("a\n"+long+"b\n"), linesOf("b\n"+long+"y\n"+"a\n")); len(got) != 2*diffLines+5 {
		t.Errorf("%d edits of texts beyond the bound", len(got))
	}
}
