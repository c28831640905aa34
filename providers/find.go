package providers

import (
	"os"
	"path/filepath"
	"strings"

	"cw/internal/cw"
)

// Find looks for the CLI: its names on pathList (as in PATH, the caller's), then
// its fixed paths, with home in the place of ~. It gives an absolute path.
// Where the preset names native binaries and the program found belongs to an
// npm package, the native one is given: wrappers die of a SIGTERM and leave the
// real process behind. Not found is CodeNotFound with the install line as hint.
//
// It does not use the daemon's own PATH, and never a relative entry of
// pathList: that would be looked up in whatever directory the daemon is in.
func (p Preset) Find(pathList, home string) (string, error) {
	for _, name := range p.Command.Names {
		for _, dir := range filepath.SplitList(pathList) {
			if found := filepath.Join(dir, name); filepath.IsAbs(dir) && isExecutable(found) {
				return p.native(found), nil
			}
		}
	}
	for _, path := range p.Command.Paths {
		if rest, ok := strings.CutPrefix(path, "~/"); ok {
			if home == "" {
				continue
			}
			path = filepath.Join(home, rest)
		}
		if isExecutable(path) {
			return p.native(path), nil
		}
	}
	return "", p.installHint(cw.Errorf(cw.CodeNotFound, "%s is not installed: there is no %s on the PATH",
		p.Title, strings.Join(p.Command.Names, " or ")))
}

// native gives the first native binary that lies in the node_modules of the
// found program's package, or in one around it; else the program itself.
func (p Preset) native(found string) string {
	if len(p.Command.Native) == 0 {
		return found
	}
	real, err := filepath.EvalSymlinks(found)
	if err != nil || !strings.Contains(real, "/node_modules/") {
		return found
	}
	for dir := filepath.Dir(real); dir != "/"; dir = filepath.Dir(dir) {
		for _, binary := range p.Command.Native {
			if path := filepath.Join(dir, "node_modules", binary); isExecutable(path) {
				return path
			}
		}
	}
	return found
}

func isExecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}
