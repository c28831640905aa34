package artifacts

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

// secret is in every file that is not the agent's own.
const secret = "OUTSIDE"

// den is an agent's cwd with .cw/output, and a folder outside of it.
type den struct {
	t       testing.TB
	cwd     string
	outside string
}

func newDen(t testing.TB) den {
	t.Helper()
	dir := t.TempDir()
	d := den{t: t, cwd: filepath.Join(dir, "cwd"), outside: filepath.Join(dir, "outside")}
	must(t, os.MkdirAll(d.out(""), 0o755))
	for _, target := range cw.ProposalTargets() {
		must(t, os.MkdirAll(filepath.Join(d.outside, folderOf(target)), 0o755))
		must(t, os.WriteFile(filepath.Join(d.outside, folderOf(target), idA+".md"), []byte(secret), 0o644))
	}
	return d
}

// out is a path in .cw/output.
func (d den) out(name string) string {
	return filepath.Join(d.cwd, ".cw", "output", filepath.FromSlash(name))
}

func (d den) write(name, text string) {
	d.t.Helper()
	must(d.t, os.MkdirAll(filepath.Dir(d.out(name)), 0o755))
	must(d.t, os.WriteFile(d.out(name), []byte(text), 0o644))
}

func (d den) read() (Output, error) {
	d.t.Helper()
	root, err := os.OpenRoot(d.cwd)
	must(d.t, err)
	defer root.Close()
	return ReadOutput(root, ".cw/output")
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// files lists what was taken, in order.
func files(o Output) []string {
	var out []string
	for _, d := range slices.Concat(o.Pages, o.Decisions, o.Phases, o.Tasks) {
		out = append(out, d.File)
	}
	return out
}

func TestReadOutput(t *testing.T) {
	t.Parallel()
	d := newDen(t)
	d.write("SUMMARY.md", "\ufeff# What I did\r\n\r\nAll.\r\n")
	d.write("progress.md", "---\ntitle: half way\n---\n")
	d.write("signal.json", `{"status":"done"}`)
	d.write("notes/"+idA+".md", "mine")
	d.write("tasks/.hidden.md", "x")
	d.write("tasks/"+idC+".md", "---\ntitle: Two\n---\nb")
	d.write("tasks/"+idB+".md", "---\ntitle: Three\n---\nb")
	d.write("pages/"+idA+".md", "---\ntitle: Page\n---\nb")
	d.write("phases/"+idD+".md", "---\ntitle: Phase\n---\nb")
	d.write("decisions/aaaaaaaaaaaa.md", "---\ntitle: Decision\n---\nb")
	out, err := d.read()
	must(t, err)
	if out.Summary != "# What I did\n\nAll." || len(out.Problems) > 0 {
		t.Errorf("%q %v", out.Summary, out.Problems)
	}
	want := []string{"pages/" + idA + ".md", "decisions/aaaaaaaaaaaa.md", "phases/" + idD + ".md", "tasks/" + idC + ".md", "tasks/" + idB + ".md"}
	if diff := cmp.Diff(want, files(out)); diff != "" {
		t.Error(diff)
	}
	if got := out.Tasks[0].Task; got.ID != idC || got.Name != "Two" || got.Body != "b" {
		t.Errorf("%+v", got)
	}
}

// TestHostileOutput: whatever an agent leaves in the place of a file is a
// problem that names it, nothing outside is read, and the good file beside it
// is taken.
func TestHostileOutput(t *testing.T) {
	t.Parallel()
	const bad = "tasks/" + idA + ".md"
	tests := []struct {
		name  string
		plant func(d den)
		want  []string // FILE:LINE: part of the text
	}{
		{"a link to a file outside", func(d den) { must(d.t, os.Symlink(filepath.Join(d.outside, bad), d.out(bad))) }, []string{bad + ":0: symbolic link"}},
		{"a link to a file inside", func(d den) {
			d.write("own", "x")
			must(d.t, os.Symlink("../own", d.out(bad)))
		}, []string{bad + ":0: symbolic link"}},
		{"a link to nothing", func(d den) { must(d.t, os.Symlink("nothing", d.out(bad))) }, []string{bad + ":0: symbolic link"}},
		{"a hard link", func(d den) { must(d.t, os.Link(filepath.Join(d.outside, bad), d.out(bad))) }, []string{bad + ":0: hard link"}},
		{"a named pipe", func(d den) { must(d.t, syscall.Mkfifo(d.out(bad), 0o644)) }, []string{bad + ":0: named pipe"}},
		{"a folder", func(d den) { must(d.t, os.Mkdir(d.out(bad), 0o755)) }, []string{bad + ":0: a folder"}},
		{"a sparse file of 1 GB", func(d den) {
			d.write(bad, "")
			must(d.t, os.Truncate(d.out(bad), 1<<30))
		}, []string{bad + ":0: at most 1114112"}},
		{"a body of 5 MB", func(d den) { d.write(bad, strings.Repeat("x", 5<<20)) }, []string{bad + ":0: 5242880 bytes"}},
		{"a text one byte too long", func(d den) { d.write(bad, strings.Repeat("x", cw.BodyMax+1)) }, []string{bad + ":1: at most 1048576"}},
		{"half written", func(d den) { d.write(bad, "---\ntitle: x\ndepends_on: [") }, []string{bad + ":1: ends it"}},
		{"no YAML", func(d den) { d.write(bad, "---\ntitle: [a\n---\n") }, []string{bad + ":2: no YAML"}},
		{"empty", func(d den) { d.write(bad, "") }, []string{bad + ":0: empty"}},
		{"two faults", func(d den) { d.write(bad, "---\ntype: x\nsize: y\n---\n") }, []string{bad + ":2: no type", bad + ":3: no size"}},
		{"a name that is no id", func(d den) { d.write("tasks/one.md", "x") }, []string{"tasks/one.md:0: no id"}},
		{"a name with line ends", func(d den) { d.write("tasks/a\nb\x1b.md", "x") }, []string{`tasks/"a\nb\x1b.md":0: no id`}},
		{"a name that is not UTF-8", func(d den) { d.write("tasks/\xff.md", "x") }, []string{`tasks/"\xff.md":0: no id`}},
		{"a longest name", func(d den) { d.write("tasks/"+strings.Repeat("n", 255), "x") }, []string{"tasks/" + strings.Repeat("n", shownMax) + "…:0: .md"}},
		{"no Markdown", func(d den) { d.write("tasks/"+idA+".yaml", "x") }, []string{"tasks/" + idA + ".yaml:0: .md"}},
		{"a file below a folder", func(d den) { d.write("tasks/more/"+idA+".md", "x") }, []string{"tasks/more:0: .md"}},
		{"its id in capitals too", func(d den) {
			d.write("tasks/"+strings.ToUpper(idB)+".md", "x")
		}, []string{"tasks/" + strings.ToUpper(idB) + ".md:0: " + idB + ".md, which is there too and is taken"}},
		{"a head of another's id", func(d den) { d.write(bad, "---\nid: "+idB+"\n---\n") }, []string{bad + ":2: belongs into tasks/" + idB + ".md"}},
		{"the id of another thing", func(d den) {
			d.write(bad, "---\ntitle: x\n---\n")
			d.write("phases/"+idB+".md", "---\ntitle: x\n---\n")
		}, []string{"tasks/" + idB + ".md:0: phases/" + idB + ".md has the same id, and is taken"}},
		{"a bad page of the same id", func(d den) { d.write("pages/"+idB+".md", "---\n") }, []string{"pages/" + idB + ".md:1: ends it"}},
		{"a folder that is a link", func(d den) { must(d.t, os.Symlink(filepath.Join(d.outside, "pages"), d.out("pages"))) }, []string{"pages:0: symbolic link, not a folder"}},
		{"a folder that is a file", func(d den) { d.write("pages", "x") }, []string{"pages:0: plain file, not a folder"}},
		{"a folder that is a pipe", func(d den) { must(d.t, syscall.Mkfifo(d.out("pages"), 0o644)) }, []string{"pages:0: named pipe, not a folder"}},
		{"a folder of nearly that name", func(d den) {
			d.write("Page/"+idA+".md", "x")
			d.write("page", "x")
		}, []string{"Page:0: did you mean pages?"}},
		{"a summary that is a link", func(d den) { must(d.t, os.Symlink(filepath.Join(d.outside, bad), d.out(summaryFile))) }, []string{"SUMMARY.md:0: symbolic link"}},
		{"a summary that is no text", func(d den) { d.write(summaryFile, "a\n\xff") }, []string{"SUMMARY.md:2: UTF-8"}},
		{"a summary that is too long", func(d den) { d.write(summaryFile, strings.Repeat("x", cw.BodyMax+1)) }, []string{"SUMMARY.md:0: at most 1048576"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDen(t)
			d.write("tasks/"+idB+".md", "---\ntitle: Good\n---\n")
			tt.plant(d)
			out, err := d.read()
			must(t, err)
			if got := fmt.Sprintf("%+v", out); strings.Contains(got, secret) {
				t.Errorf("read from outside: %s", got)
			}
			if tt.name != "the id of another thing" && (len(out.Tasks) != 1 || out.Tasks[0].Task.Name != "Good") {
				t.Errorf("the good one is lost: %v", files(out))
			}
			if len(out.Problems) != len(tt.want) {
				t.Fatalf("problems: %v", out.Problems)
			}
			for i, p := range out.Problems {
				if where, text, _ := strings.Cut(tt.want[i], ": "); where != fmt.Sprintf("%s:%d", p.File, p.Line) || !strings.Contains(p.Text, text) {
					t.Errorf("%+v, wanted %s", p, tt.want[i])
				}
			}
		})
	}
}

// TestOutputFolder: an output that is not there is empty; one that is no real
// folder is an error.
func TestOutputFolder(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		plant func(d den)
		want  string // "" for an empty output
	}{
		{"empty", func(den) {}, ""},
		{"none", func(d den) { must(d.t, os.RemoveAll(d.out(""))) }, ""},
		{"nothing at all", func(d den) { must(d.t, os.RemoveAll(filepath.Dir(d.out("")))) }, ""},
		{"a link outside", func(d den) {
			must(d.t, os.RemoveAll(d.out("")))
			must(d.t, os.Symlink(d.outside, d.out("")))
		}, "output is a symbolic link"},
		{"a link inside", func(d den) {
			must(d.t, os.Rename(d.out(""), filepath.Join(d.cwd, "own")))
			must(d.t, os.Symlink("../own", d.out("")))
		}, "output is a symbolic link"},
		{".cw is a link", func(d den) {
			must(d.t, os.Rename(filepath.Dir(d.out("")), filepath.Join(d.cwd, "own")))
			must(d.t, os.Symlink("own", filepath.Dir(d.out(""))))
		}, ".cw is a symbolic link"},
		{"a file", func(d den) {
			must(d.t, os.RemoveAll(d.out("")))
			must(d.t, os.WriteFile(d.out(""), nil, 0o644))
		}, "output is a plain file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDen(t)
			tt.plant(d)
			out, err := d.read()
			if diff := cmp.Diff(Output{}, out); diff != "" {
				t.Error(diff)
			}
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v, wanted %q", err, tt.want)
			}
		})
	}
}

// TestOutputSwapped reads while a file, and its folder, are exchanged all the
// time: what is read is the agent's own or nothing, and nothing hangs.
func TestOutputSwapped(t *testing.T) {
	t.Parallel()
	const swaps = 600
	d := newDen(t)
	d.write("tasks/"+idA+".md", "mine")
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		defer close(stop)
		for n := range swaps {
			swap(d, n)
		}
	})
	read, refused := 0, map[string]int{}
	for done := false; !done; {
		out, err := d.read()
		must(t, err)
		if got := fmt.Sprintf("%+v", out); strings.Contains(got, secret) {
			t.Errorf("read from outside: %s", got)
		}
		read += len(out.Tasks)
		for _, p := range out.Problems {
			refused[p.Text]++
		}
		select {
		case <-stop:
			done = true
		default:
		}
	}
	swapper.Wait()
	t.Logf("%d read, refused: %v", read, refused)
	if len(refused) < 3 {
		t.Errorf("nothing was swapped under the reader: %v", refused)
	}
}

// swap puts the next thing into a place, each at once by a rename.
func swap(d den, n int) {
	next := filepath.Join(d.cwd, "next")
	must(d.t, os.RemoveAll(next))
	target := d.out("tasks/" + idA + ".md")
	switch n % 6 { // 4 puts the folder away and 5 brings it back: in between nothing is written through the link
	case 0:
		must(d.t, os.WriteFile(next, []byte("mine"), 0o644))
	case 1:
		must(d.t, os.Symlink(filepath.Join(d.outside, "tasks", idA+".md"), next))
	case 2:
		must(d.t, syscall.Mkfifo(next, 0o644))
	case 3:
		must(d.t, os.Link(filepath.Join(d.outside, "tasks", idA+".md"), next))
	case 4: // the folder, as a link outside
		target = d.out("tasks")
		must(d.t, os.Symlink(filepath.Join(d.outside, "tasks"), next))
	case 5: // the folder, a real one again
		target = d.out("tasks")
		must(d.t, os.Mkdir(next, 0o755))
		must(d.t, os.WriteFile(filepath.Join(next, idA+".md"), []byte("mine"), 0o644))
	}
	if info, err := os.Lstat(target); err == nil && (info.IsDir() || n%6 > 3) {
		must(d.t, os.Rename(target, filepath.Join(d.cwd, fmt.Sprintf("old-%d", n))))
	}
	must(d.t, os.Rename(next, target))
}

// FuzzReadOutput: whatever one file of any name holds, the good one beside it
// is taken, and what is not taken is told.
func FuzzReadOutput(f *testing.F) {
	f.Add("tasks", idA+".md", []byte("---\ntitle: x\n---\n"))
	f.Add("pages", "one.md", []byte("x"))
	f.Add("Tasks", "K3V7Q2MZT5HA.md", []byte("\xff"))
	f.Add("phases", idB+".md", []byte("---\nid: "+idB+"\n---\n"))
	f.Add("", "SUMMARY.md", []byte("---"))
	d := newDen(f)
	f.Fuzz(func(t *testing.T, dir, name string, data []byte) {
		must(t, os.RemoveAll(d.out("")))
		must(t, os.MkdirAll(d.out("tasks"), 0o755))
		must(t, os.WriteFile(d.out("tasks/"+idB+".md"), []byte("good"), 0o644))
		root, err := os.OpenRoot(d.out("")) // a name may lead outside
		must(t, err)
		defer root.Close()
		if dir != "" && root.Mkdir(dir, 0o755) == nil || dir == "tasks" {
			_ = root.WriteFile(filepath.Join(dir, name), data, 0o644)
		} else if dir == "" {
			_ = root.WriteFile(name, data, 0o644)
		}
		out, err := ReadOutput(root, ".")
		must(t, err)
		const good = "tasks/" + idB + ".md"
		own := dir == "tasks" && filepath.Clean(name) == idB+".md"
		told := slices.ContainsFunc(out.Problems, func(p Problem) bool { return p.File == good })
		if !own && !told && !slices.Contains(files(out), good) {
			t.Errorf("the good one is lost: %+v", out)
		}
		for _, p := range out.Problems {
			if p.File == "" || p.Text == "" || strings.ContainsAny(p.File, "\n\x1b") {
				t.Errorf("%+v", p)
			}
		}
	})
}
