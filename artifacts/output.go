package artifacts

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"cw/internal/cw"
	"cw/internal/frontmatter"
)

// Limits of an agent's output.
const (
	// FileMax is how large one file may be, in bytes: a text as long as texts may
	// be, with its head.
	FileMax  = cw.BodyMax + frontmatter.HeadMax
	FilesMax = 2000     // files that are looked at
	BytesMax = 64 << 20 // of all files together

	entriesMax = 4_000 // of one folder, hidden ones too
	shownMax   = 100   // bytes of a name in a problem
)

// summaryFile is what an architect says about its output, plain Markdown.
const summaryFile = "SUMMARY.md"

// ReadOutput reads what an agent left in a folder: SUMMARY.md and the files of
// the folders pages, decisions, phases and tasks, in this order and each sorted
// by name. Nothing else is a proposal, neither progress.md nor signal.json nor
// hidden files.
//
// Only plain files with one link are read, through real folders. What cannot be
// taken is a problem, and the others are read all the same. Of files for one id
// the first is kept, in the order above.
//
// root is the agent's cwd and dir the folder below it, with slashes. One that is
// not there is an empty output; one that is no folder, or that cannot be
// opened, is an error.
func ReadOutput(root *os.Root, dir string) (Output, error) {
	folder, err := openFolder(root, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Output{}, nil
	}
	if err != nil {
		return Output{}, fmt.Errorf("read the agent's output: %w", err)
	}
	defer folder.Close()
	r := outputReader{files: FilesMax, bytes: BytesMax, taken: map[string]string{}}
	r.readSummary(folder)
	for _, target := range cw.ProposalTargets() {
		r.readFolder(folder, target)
	}
	r.nameMistaken(folder)
	return r.out, nil
}

// outputReader collects an output.
type outputReader struct {
	out   Output
	files int               // that may still be looked at
	bytes int64             // that may still be read
	taken map[string]string // id → its file
}

func (r *outputReader) problem(file, format string, args ...any) {
	r.out.Problems = append(r.out.Problems, Problem{File: file, Text: fmt.Sprintf(format, args...)})
}

func (r *outputReader) readSummary(folder *os.Root) {
	if _, err := folder.Lstat(summaryFile); errors.Is(err, fs.ErrNotExist) {
		return
	}
	data, ok := r.read(folder, summaryFile, summaryFile)
	if !ok {
		return
	}
	text, err := frontmatter.Clean(data)
	if err != nil {
		r.out.Problems = append(r.out.Problems, problemOf(summaryFile, err))
		return
	}
	if len(text) > cw.BodyMax {
		r.problem(summaryFile, "the text has %d bytes, at most %d are taken", len(text), cw.BodyMax)
		return
	}
	r.out.Summary = trimBody(text)
}

func problemOf(file string, err error) Problem {
	fault := &frontmatter.Error{Text: err.Error()}
	errors.As(err, &fault)
	return Problem{File: file, Line: fault.Line, Text: fault.Text}
}

// read reads one file as far as the limits allow.
func (r *outputReader) read(folder *os.Root, name, file string) ([]byte, bool) {
	data, err := readFile(folder, name, FileMax)
	switch {
	case err != nil:
		r.problem(file, "%v", err)
		return nil, false
	case int64(len(data)) > r.bytes:
		r.problem(file, "all files together are larger than %d MiB", BytesMax>>20)
		return nil, false
	}
	r.bytes -= int64(len(data))
	return data, true
}

// readFolder reads the files about one target.
func (r *outputReader) readFolder(out *os.Root, target cw.ProposalTarget) {
	dir := folderOf(target)
	folder, err := openFolder(out, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		r.problem(dir, "%v", err)
		return
	}
	defer folder.Close()
	names, whole, err := namesIn(folder)
	if err != nil {
		r.problem(dir, "%v", err)
		return
	}
	if len(names) > r.files {
		names, whole = names[:r.files], false
	}
	if !whole {
		r.problem(dir, "more than %d files were left; the first %d of this folder are read", FilesMax, len(names))
	}
	r.files -= len(names)
	for _, name := range names {
		r.readDraft(folder, dir, name, names)
	}
}

func (r *outputReader) readDraft(folder *os.Root, dir, name string, all []string) {
	file := path.Join(dir, shown(name))
	if _, fault := idOf(name); fault != "" { // before it is opened: it may be anything
		if lower := strings.ToLower(name); lower != name && slices.Contains(all, lower) {
			fault += ", which is there too and is taken"
		}
		r.problem(file, "%s", fault)
		return
	}
	data, ok := r.read(folder, name, file)
	if !ok {
		return
	}
	draft, problems := ReadDraft(file, data)
	if len(problems) > 0 {
		r.out.Problems = append(r.out.Problems, problems...)
		return
	}
	if first, twice := r.taken[draft.ID]; twice {
		r.problem(file, "%s has the same id, and is taken", first)
		return
	}
	r.taken[draft.ID] = file
	r.out.add(draft)
}

func (o *Output) add(d Draft) {
	switch d.Target {
	case cw.TargetPage:
		o.Pages = append(o.Pages, d)
	case cw.TargetDecision:
		o.Decisions = append(o.Decisions, d)
	case cw.TargetPhase:
		o.Phases = append(o.Phases, d)
	case cw.TargetTask:
		o.Tasks = append(o.Tasks, d)
	}
}

// nameMistaken tells of folders with a name that is nearly one that is read.
func (r *outputReader) nameMistaken(folder *os.Root) {
	names, _, err := namesIn(folder)
	if err != nil {
		return // what is in the known folders was read
	}
	var known []string
	for _, target := range cw.ProposalTargets() {
		known = append(known, folderOf(target))
	}
	for _, name := range names {
		info, err := folder.Lstat(name)
		if err != nil || !info.IsDir() || slices.Contains(known, name) {
			continue
		}
		if near, ok := cw.Nearest(strings.ToLower(name), known); ok {
			r.problem(shown(name), "nobody reads this folder; did you mean %s?", near)
		}
	}
}
