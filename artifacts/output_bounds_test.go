package artifacts

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"cw/internal/cw"
)

// numbered gives the id of a number.
func numbered(n int) string {
	return strings.NewReplacer("0", "a", "1", "b", "8", "c", "9", "d").Replace(fmt.Sprintf("%012d", n))
}

// TestManyFiles: 500 tasks are read, and one bad file among them loses none.
func TestManyFiles(t *testing.T) {
	t.Parallel()
	d := newDen(t)
	for n := range 500 {
		d.write("tasks/"+numbered(n)+".md", fmt.Sprintf("---\ntitle: Task %d\n---\n", n))
	}
	d.write("tasks/"+idA+".md", "---\n")
	out, err := d.read()
	must(t, err)
	names := files(out)
	if len(out.Tasks) != 500 || len(out.Problems) != 1 || !slices.IsSorted(names) {
		t.Errorf("%d tasks, %v", len(out.Tasks), out.Problems)
	}
}

// TestOutputBounds: of too many or too much only as much as may be is read, the
// first by name.
func TestOutputBounds(t *testing.T) {
	t.Parallel()
	t.Run("files", func(t *testing.T) {
		t.Parallel()
		d := newDen(t)
		d.write("pages/"+idA+".md", "x")
		for n := range FilesMax + 10 {
			d.write("tasks/"+numbered(n)+".md", "x")
		}
		out, err := d.read()
		must(t, err)
		names := files(out)
		sorted := make([]string, 0, FilesMax+10)
		for n := range FilesMax + 10 {
			sorted = append(sorted, "tasks/"+numbered(n)+".md")
		}
		slices.Sort(sorted)
		if len(names) != FilesMax || names[FilesMax-1] != sorted[FilesMax-2] {
			t.Errorf("%d files, the last %s", len(names), names[len(names)-1])
		}
		if len(out.Problems) != 1 || out.Problems[0].File != "tasks" || !strings.Contains(out.Problems[0].Text, "more than 2000 files") {
			t.Errorf("%v", out.Problems)
		}
	})
	t.Run("entries", func(t *testing.T) {
		t.Parallel()
		d := newDen(t)
		must(t, os.Mkdir(d.out("tasks"), 0o755))
		for n := range entriesMax + 10 {
			must(t, os.WriteFile(d.out(fmt.Sprintf("tasks/.%d", n)), nil, 0o644))
		}
		out, err := d.read()
		must(t, err)
		if len(out.Problems) != 1 || !strings.Contains(out.Problems[0].Text, "more than") {
			t.Errorf("%v", out.Problems)
		}
	})
	t.Run("bytes", func(t *testing.T) {
		t.Parallel()
		d := newDen(t)
		text := strings.Repeat("x", cw.BodyMax)
		for n := range BytesMax/cw.BodyMax + 2 {
			d.write("tasks/"+numbered(n)+".md", text)
		}
		d.write("tasks/zzzzzzzzzzzz.md", "small")
		out, err := d.read()
		must(t, err)
		if len(out.Tasks) != BytesMax/cw.BodyMax || len(out.Problems) != 3 || !strings.Contains(out.Problems[0].Text, "larger than 64 MiB") {
			t.Errorf("%d tasks, %v", len(out.Tasks), out.Problems)
		}
	})
}
