// Package instructions finds the files in which people tell coding agents how to
// work: for all of a user's projects, for one project, and for one user's own
// work in it. It knows where such files lie and in which order they count.
//
// It must not know agents, providers or prompts: who reads which file by
// itself is told to it, and what becomes of the texts is not its business.
package instructions

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"cw/internal/cw"
	"cw/internal/safefile"
)

// Limits of what is taken.
const (
	FileMax  = 32 << 10 // bytes of one file
	TotalMax = 96 << 10 // bytes of all of them
	rulesMax = 100      // files in the folder of rules
)

// Kind says whose words a file holds.
type Kind string

// The kinds, in the order in which they count: the later one wins where two
// disagree.
const (
	User    Kind = "user's private global instructions for all projects"
	Project Kind = "project instructions, checked into the codebase"
	Private Kind = "user's private project instructions, not checked in"
)

// File is one file that was found.
type File struct {
	Kind Kind
	// Name is where it lies: "~/.claude/CLAUDE.md", or relative to the project
	// with slashes, with the project's name before it where there are several.
	Name string
	Text string // without white space around it
	Cut  int    // bytes left out at its end; 0: it is whole
}

// Places is where to look.
type Places struct {
	// Home is the user's home folder; "": nothing of the user's own.
	Home     string
	Projects []ProjectPlaces
	// Imports: the agent's CLI also reads what a file that it reads names: @PATH.
	Imports bool
}

// ProjectPlaces is where one project lies.
type ProjectPlaces struct {
	Name string
	Tree string // the files as they are checked in: the agent's worktree
	// Checkout is the user's own copy, where files lie that are not checked in;
	// "": there is none.
	Checkout string
	// Copied tells whether a file of the tree was copied there from the checkout
	// and is not checked in; nil: none was.
	Copied func(name string) bool
}

// userFiles lie in the user's home.
func userFiles() []string { return []string{".claude/CLAUDE.md", ".claude/AGENTS.md"} }

// projectFiles lie in a project and are checked in.
func projectFiles() []string {
	return []string{"CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md", ".claude/AGENTS.md", ".github/AGENTS.md"}
}

// Checked lists the files and folders of a project that are looked for and may be
// checked in.
func Checked() []string { return append(projectFiles(), privateFile, rulesDir) }

// Files that are the user's own, and the folder of rules.
const (
	privateFile = "CLAUDE.local.md"
	rulesDir    = ".claude/rules"
)

var (
	importPattern = cw.Pattern(`(?m)(^|\s)@(\S+)`)
	codePattern   = cw.Pattern("(?s)```.*?```|`[^`\n]*`")
)

// Discover finds the files, in order: the user's, then of each project the
// checked-in ones, the user's private one, and the rules by name. One that skip
// names is left out: the agent's CLI reads it by itself; skip gets the file's
// place as Name has it, without a project's name. So is a file with the same
// text as one before it, or as one that the CLI reads. notes say what was cut or
// could not be read.
func Discover(p Places, skip func(name string) bool) (files []File, notes []string) {
	d := discovery{left: TotalMax}
	if p.Home != "" {
		for _, name := range userFiles() {
			d.add(place{User, "", "~/" + name, func() (string, int, error) { return read(filepath.Join(p.Home, name)) }})
		}
	}
	for _, project := range p.Projects {
		prefix := ""
		if len(p.Projects) > 1 {
			prefix = project.Name + "/"
		}
		root, err := os.OpenRoot(project.Tree)
		if err != nil {
			d.notes = append(d.notes, fmt.Sprintf("instructions of %s could not be read: %v", project.Name, err))
			continue
		}
		defer root.Close()
		d.project(project, root, prefix)
	}
	d.looked = slices.Clone(d.places)
	if skip != nil {
		d.leaveOut(skip, p.Imports)
	}
	for _, at := range d.places {
		d.take(at)
	}
	return d.files, d.notes
}

// leaveOut leaves the places out that skip names, and keeps their texts.
func (d *discovery) leaveOut(skip func(name string) bool, imports bool) {
	var named []string
	leave := func(at place) bool {
		if !skip(at.name) && !slices.Contains(named, at.prefix+at.name) {
			return false
		}
		text, size, err := at.read()
		if err == nil && size == len(text) { // else it is like no other
			d.known = append(d.known, clean(text, FileMax))
		}
		if imports {
			named = append(named, imported(at, text)...)
		}
		return true
	}
	for left := -1; left != len(d.places); { // what is read may name others, before it or behind it
		left = len(d.places)
		d.places = slices.DeleteFunc(d.places, leave)
	}
}

// imported gives the files that a text names as @PATH, relative to its own
// folder. What stands in code is none, and a project names nothing of the user's.
func imported(at place, text string) []string {
	var names []string
	for _, m := range importPattern().FindAllStringSubmatch(codePattern().ReplaceAllString(text, ""), -1) {
		if name := at.names(m[2]); at.kind == User || !strings.HasPrefix(name, "~/") {
			names = append(names, at.prefix+name)
		}
	}
	return names
}

// names gives the place of a file that this one names as @REF. Not every CLI
// takes a full stop off it, so that it is part of the name.
func (at place) names(ref string) string {
	if strings.HasPrefix(ref, "~/") {
		return ref
	}
	return path.Join(path.Dir(at.name), ref)
}

// plain takes the @ from the names of files that are looked for: in a prompt some
// CLIs put the file in the place of its name, and it is told already.
func (d *discovery) plain(at place, text string) string {
	return importPattern().ReplaceAllStringFunc(text, func(match string) string {
		m := importPattern().FindStringSubmatch(match)
		name := at.names(strings.TrimRight(m[2], ".,;:!?)"))
		if slices.ContainsFunc(d.looked, func(p place) bool { return p.prefix == at.prefix && p.name == name }) {
			return m[1] + m[2]
		}
		return match
	})
}

// place is where a file may lie.
type place struct {
	kind         Kind
	prefix, name string // the project's name where there are several, and File.Name without it
	read         func() (text string, size int, err error)
}

// discovery is what was found so far.
type discovery struct {
	looked []place  // all of them
	places []place  // those that the agent is told
	known  []string // whole texts that the agent has
	left   int      // bytes that may still be taken
	files  []File
	notes  []string
}

func (d *discovery) add(at place) { d.places = append(d.places, at) }

// project adds the places of one project. What is checked in is read through
// os.Root: a link in a repository must not lead out of it.
func (d *discovery) project(p ProjectPlaces, root *os.Root, prefix string) {
	for _, name := range projectFiles() {
		d.add(place{Project, prefix, name, func() (string, int, error) { return readIn(root, name) }})
	}
	switch {
	case p.hasCheckedIn(root, privateFile):
		// Nobody's private words, whatever it is called, and a link may not lead out.
		d.add(place{Project, prefix, privateFile, func() (string, int, error) { return readIn(root, privateFile) }})
	case p.Checkout != "":
		d.add(place{Private, prefix, privateFile, func() (string, int, error) { return read(filepath.Join(p.Checkout, privateFile)) }})
	}
	for _, name := range d.rules(root, prefix) {
		d.add(place{Project, prefix, name, func() (string, int, error) { return readIn(root, name) }})
	}
}

// hasCheckedIn tells whether the repository itself has a file that is the user's
// own elsewhere.
func (p ProjectPlaces) hasCheckedIn(tree *os.Root, name string) bool {
	_, err := tree.Lstat(name)
	return err == nil && (p.Copied == nil || !p.Copied(name))
}

// rules are the files of the folder of rules, by name.
func (d *discovery) rules(root *os.Root, prefix string) []string {
	dir, err := root.Open(rulesDir)
	if err != nil {
		return nil
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	if err != nil {
		return nil // a file of that name
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".md") && !e.IsDir() {
			names = append(names, path.Join(rulesDir, e.Name()))
		}
	}
	slices.Sort(names)
	if len(names) > rulesMax {
		d.notes = append(d.notes, fmt.Sprintf("%s%s holds %d files; the first %d by name are used", prefix, rulesDir, len(names), rulesMax))
		names = names[:rulesMax]
	}
	return names
}

// take reads one file, if it is there and not the same as one that is known.
func (d *discovery) take(at place) {
	text, size, err := at.read()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil:
		d.notes = append(d.notes, fmt.Sprintf("%s%s could not be read: %v", at.prefix, at.name, err))
		return
	}
	whole := clean(text, FileMax)
	if whole == "" || slices.Contains(d.known, whole) {
		return
	}
	most := clean(whole, d.left)
	f := File{Kind: at.kind, Name: at.prefix + at.name, Text: d.plain(at, most)}
	if size > len(text) || len(most) < len(whole) {
		f.Cut = size - len(most)
		d.notes = append(d.notes, fmt.Sprintf("%s has %d bytes; the first %d are used", f.Name, size, len(most)))
	} else {
		d.known = append(d.known, whole)
	}
	d.left -= len(f.Text)
	d.files = append(d.files, f)
}

// clean gives at most so many bytes of a text, cut between characters, without
// white space around it and without what is no text. It is never longer than it
// was: what is cut of it is counted in the file's bytes.
func clean(text string, most int) string {
	text = strings.TrimSpace(strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "?"))
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return strings.TrimSpace(text[:most])
}

// readIn reads a file of a project.
func readIn(root *os.Root, name string) (text string, size int, err error) {
	f, err := safefile.OpenLinkedIn(root, name)
	return readOpen(f, err)
}

// read reads a file of the user's, who may link it wherever they like.
func read(name string) (text string, size int, err error) {
	f, err := safefile.OpenLinked(name)
	return readOpen(f, err)
}

// readOpen reads what was opened with the error err, and closes it.
func readOpen(f *os.File, err error) (text string, size int, _ error) {
	if errors.Is(err, safefile.ErrIrregular) {
		return "", 0, errors.New("it is not a regular file")
	}
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", 0, err
	}
	data, err := io.ReadAll(io.LimitReader(f, FileMax))
	return string(data), max(int(info.Size()), len(data)), err
}
