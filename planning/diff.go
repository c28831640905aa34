package planning

import (
	"fmt"
	"slices"
	"strings"
)

// Bounds of a comparison. Beyond them two texts are shown as wholly different,
// apart from how they begin and end.
const (
	diffContext = 3       // unchanged lines around a change
	diffEdits   = 1000    // lines that come or go, at most, to be told one by one
	diffLines   = 200_000 // lines of both texts together
)

// edit is one line of a comparison.
type edit struct {
	kind byte // ' ', '-' or '+'
	line string
}

// unified gives the difference of two texts in the form of diff -u; "" when
// they are equal. from and to are what they are called.
func unified(from, to, a, b string) string {
	if a == b {
		return ""
	}
	edits := compare(linesOf(a), linesOf(b))
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", from, to)
	for _, h := range hunks(edits) {
		h.write(&out, edits)
	}
	return out.String()
}

// linesOf splits a text after its line ends; the last line may have none.
func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	return slices.Collect(strings.Lines(text))
}

// compare tells what becomes of the lines of a text, what goes before what
// comes.
func compare(a, b []string) []edit {
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < len(a)-start && end < len(b)-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	var out []edit
	out = kept(out, a[:start])
	out = append(out, shortest(a[start:len(a)-end], b[start:len(b)-end])...)
	return kept(out, a[len(a)-end:])
}

func kept(out []edit, lines []string) []edit {
	for _, l := range lines {
		out = append(out, edit{' ', l})
	}
	return out
}

// shortest finds the fewest lines that go and come (Myers, "An O(ND) Difference
// Algorithm", 1986).
func shortest(a, b []string) []edit {
	if len(a)+len(b) > diffLines {
		return replaced(a, b)
	}
	most := min(len(a)+len(b), diffEdits)
	v := make([]int, 2*most+2) // furthest line of a on each diagonal
	var trace [][]int
	for d := 0; d <= most; d++ {
		trace = append(trace, slices.Clone(v[most-d:most+d+1]))
		for k := -d; k <= d; k += 2 {
			x := 0
			switch {
			case d == 0:
			case k == -d || k != d && v[most+k-1] < v[most+k+1]:
				x = v[most+k+1]
			default:
				x = v[most+k-1] + 1
			}
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			v[most+k] = x
			if x >= len(a) && x-k >= len(b) {
				return walkBack(a, b, trace)
			}
		}
	}
	return replaced(a, b)
}

// walkBack reads the way from its end. trace[d] holds how far the diagonals -d
// to d reached before step d.
func walkBack(a, b []string, trace [][]int) []edit {
	var out []edit
	x, y := len(a), len(b)
	same := func(toX, toY int) {
		for x > toX && y > toY {
			x, y = x-1, y-1
			out = append(out, edit{' ', a[x]})
		}
	}
	for d := len(trace) - 1; d > 0; d-- {
		v, k := trace[d], x-y
		comes := k == -d || k != d && v[d+k-1] < v[d+k+1]
		from := k - 1
		if comes {
			from = k + 1
		}
		same(v[d+from], v[d+from]-from)
		if comes {
			y--
			out = append(out, edit{'+', b[y]})
		} else {
			x--
			out = append(out, edit{'-', a[x]})
		}
	}
	same(0, 0)
	slices.Reverse(out)
	return out
}

// replaced tells that all lines go and others come.
func replaced(a, b []string) []edit {
	out := make([]edit, 0, len(a)+len(b))
	for _, l := range a {
		out = append(out, edit{'-', l})
	}
	for _, l := range b {
		out = append(out, edit{'+', l})
	}
	return out
}

// hunk is a piece of a comparison with the lines around it: edits[from:to],
// which begins behind so many lines of both texts.
type hunk struct {
	from, to     int
	aLine, bLine int
}

// hunks finds the pieces that are shown.
func hunks(edits []edit) []hunk {
	var out []hunk
	aLine, bLine := 0, 0
	at := make([][2]int, len(edits)) // lines of both texts before each edit
	for i, e := range edits {
		at[i] = [2]int{aLine, bLine}
		if e.kind != '+' {
			aLine++
		}
		if e.kind != '-' {
			bLine++
		}
		if e.kind == ' ' {
			continue
		}
		from, to := max(0, i-diffContext), min(len(edits), i+1+diffContext)
		if last := len(out) - 1; last >= 0 && from <= out[last].to {
			out[last].to = to
			continue
		}
		out = append(out, hunk{from: from, to: to, aLine: at[from][0], bLine: at[from][1]})
	}
	return out
}

func (h hunk) write(out *strings.Builder, edits []edit) {
	aCount, bCount := 0, 0
	for _, e := range edits[h.from:h.to] {
		if e.kind != '+' {
			aCount++
		}
		if e.kind != '-' {
			bCount++
		}
	}
	fmt.Fprintf(out, "@@ -%s +%s @@\n", span(h.aLine, aCount), span(h.bLine, bCount))
	for _, e := range edits[h.from:h.to] {
		out.WriteByte(e.kind)
		out.WriteString(e.line)
		if !strings.HasSuffix(e.line, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// span names lines as diff does: from 1, or the line before nothing.
func span(before, count int) string {
	switch count {
	case 0:
		return fmt.Sprintf("%d,0", before)
	case 1:
		return fmt.Sprint(before + 1)
	}
	return fmt.Sprintf("%d,%d", before+1, count)
}
