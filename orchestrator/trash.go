package orchestrator

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"cw/internal/cw"
)

const (
	// trashStamp is the moment of a removal in the name of its folder.
	trashStamp = "20060102T150405.000Z"
	// trashFolder is the folder of an agent with several projects, or with none,
	// beside its worktrees in the trash. No project has such a name.
	trashFolder = ".folder"
	// besideTrash is a trash on the file system of the folders, for when
	// $CW_HOME/trash is on another.
	besideTrash = ".trash"
)

// trashName names the folder of one removal in the trash.
func trashName(alias string, at time.Time) string {
	return alias + "-" + at.UTC().Format(trashStamp)
}

// parseTrashName takes such a name apart.
func parseTrashName(name string) (alias string, at time.Time, ok bool) {
	i := strings.LastIndexByte(name, '-')
	if i <= 0 {
		return "", time.Time{}, false
	}
	at, err := time.Parse(trashStamp, name[i+1:])
	return name[:i], at, err == nil && trashName(name[:i], at) == name
}

// folderOf is the folder of an agent with several projects, or with none; "" for
// one with a single project, whose worktree is all it has.
func (o *Orchestrator) folderOf(a cw.Agent) string {
	folder := o.Home.Workdir(a.Alias)
	if a.AgentCwd != folder && filepath.Dir(a.AgentCwd) != folder {
		return ""
	}
	return folder
}

// trashedFolders are the places where such a folder may lie in the trash, the
// usual one first.
func (o *Orchestrator) trashedFolders(a cw.Agent, at time.Time) []string {
	name := trashName(a.Alias, at)
	return []string{
		filepath.Join(o.Home.Trash(), name, trashFolder),
		filepath.Join(filepath.Dir(o.Home.Workdir(a.Alias)), besideTrash, name, trashFolder),
	}
}

// trashFor is where the places of an agent go at a removal. Those in a folder stay
// on its file system: what lies in the folder would move along with it, away from
// where it was put down.
func (o *Orchestrator) trashFor(a cw.Agent, at time.Time) string {
	places := o.trashedFolders(a, at)
	if folder := o.folderOf(a); folder != "" && !sameFileSystem(o.Home.Trash(), filepath.Dir(folder)) {
		return filepath.Dir(places[1])
	}
	return filepath.Dir(places[0])
}

// sameFileSystem tells whether two folders are on one, as far as can be seen.
func sameFileSystem(a, b string) bool {
	var dev []uint64
	for _, path := range []string{a, b} {
		info, err := os.Stat(path)
		if err != nil {
			return true
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return true
		}
		dev = append(dev, uint64(st.Dev))
	}
	return dev[0] == dev[1]
}

// trashedFolder is where the folder of a removed agent lies; "" when it is
// nowhere.
func (o *Orchestrator) trashedFolder(a cw.Agent) string {
	if a.DeletedAt == nil {
		return ""
	}
	for _, path := range o.trashedFolders(a, *a.DeletedAt) {
		if there(path) {
			return path
		}
	}
	return ""
}

// sizeOf is the space that a folder takes on the disk, as far as it can be seen.
// Files with several names count once.
func sizeOf(path string) int64 {
	var sum int64
	seen := map[[2]uint64]bool{}
	_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // it cannot be looked into
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return nil
		}
		if st.Nlink > 1 && !d.IsDir() {
			file := [2]uint64{uint64(st.Dev), st.Ino} //nolint:unconvert // other systems have other types
			if seen[file] {
				return nil
			}
			seen[file] = true
		}
		sum += st.Blocks * 512
		return nil
	}) // every error was passed over
	return sum
}
