package providers

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// alternatives stands between files of which a CLI reads the first that is there.
const alternatives = " | "

// homePrefix stands before the files in the user's home.
const homePrefix = "~/"

// InstructionPlaces is where a CLI may find people's instructions in a run.
type InstructionPlaces struct {
	// Version is the CLI's; "": not known, and it is taken for an old one, so that
	// nothing is left out that it does not read.
	Version string
	Home    string // of the user
	// Own tells that its configuration directory is the user's own.
	Own bool
	Cwd string // where it is started; it need not be there yet
	// Tree has the files of the project in which it is started; "": it is started
	// above several, and reads no files of any.
	Tree string
}

// Reads tells whether the CLI reads a file of people's instructions without being
// told. name is "~/.claude/CLAUDE.md" for a file of the user's, and relative to
// the project for one of a project.
func (p Preset) Reads(at InstructionPlaces, name string) bool {
	if p.reads(name, func(name string) bool { return p.there(at, name) }) || p.fallsBackTo(at, name) {
		return true
	}
	inHome, users := strings.CutPrefix(name, homePrefix)
	return users && p.looksAbove(at) &&
		p.reads(inHome, func(name string) bool { return isFile(at.place(homePrefix + name)) })
}

// looksAbove tells whether the CLI looks for files of a project in the user's home.
func (p Preset) looksAbove(at InstructionPlaces) bool {
	return p.InstructionsAbove && below(at.Cwd, at.Home)
}

// fallsBackTo tells whether the CLI reads a file because there are no others.
func (p Preset) fallsBackTo(at InstructionPlaces, name string) bool {
	f := p.InstructionFallback
	inHome, users := strings.CutPrefix(name, homePrefix)
	if !slices.Contains(f.Files, inHome) || !isSince(at.Version, f.Since) {
		return false
	}
	above := p.looksAbove(at)
	for _, file := range f.Unless {
		// What lies in its configuration directory is the user's, not a project's.
		users := at.Own && p.inConfigHome(file)
		if p.there(at, file) || above && !users && isFile(at.place(homePrefix+file)) {
			return false
		}
	}
	if users {
		return above && isFile(at.place(name))
	}
	return p.there(at, name)
}

// inConfigHome tells whether a file of the user's home belongs to the CLI's usual
// configuration directory.
func (p Preset) inConfigHome(inHome string) bool {
	return p.Account.ConfigHome != "" && strings.HasPrefix(inHome, p.Account.ConfigHome+"/")
}

// there tells whether a file lies where the CLI looks for it. With another
// configuration directory it does not look into the one in the user's home.
func (p Preset) there(at InstructionPlaces, name string) bool {
	inHome, users := strings.CutPrefix(name, homePrefix)
	switch {
	case users && !at.Own && p.inConfigHome(inHome):
		return false
	case users && at.Home == "", !users && at.Tree == "":
		return false
	}
	return isFile(at.place(name))
}

// place is where a file lies.
func (at InstructionPlaces) place(name string) string {
	if inHome, users := strings.CutPrefix(name, homePrefix); users {
		return filepath.Join(at.Home, inHome)
	}
	return filepath.Join(at.Tree, name)
}

// reads decides by the files that are there.
func (p Preset) reads(name string, there func(name string) bool) bool {
	for _, entry := range p.InstructionFiles {
		for _, file := range strings.Split(entry, alternatives) {
			if ok, err := path.Match(file, name); err == nil && ok {
				if there(name) {
					return true
				}
				break
			}
			if there(file) {
				break // it is read in place of the ones behind it
			}
		}
	}
	return false
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// below tells whether a path leads below a folder, whatever links are in it.
func below(name, folder string) bool {
	want, err := os.Stat(folder)
	if err != nil {
		return false
	}
	for ; name != filepath.Dir(name); name = filepath.Dir(name) {
		if real, err := filepath.EvalSymlinks(name); err == nil {
			name = real
		}
		if info, err := os.Stat(name); err == nil && os.SameFile(info, want) {
			return true
		}
	}
	return false
}
