package worktree

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"cw/internal/cw"
)

// noPush is the push address of a submodule in a worktree: its origin is the
// user's own copy, whose branches an agent must not move.
const noPush = "cw-has-no-push-address"

// userModules gives name → git directories of the submodules that the user's
// repository has: that of the main checkout first, then those of linked worktrees,
// which have copies of their own.
func userModules(gitDir string) map[string][]string {
	tops := []string{filepath.Join(gitDir, "modules")}
	linked, _ := filepath.Glob(filepath.Join(escapeGlob(gitDir), "worktrees", "*", "modules"))
	modules := map[string][]string{}
	for _, top := range append(tops, linked...) {
		_ = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return nil
			}
			if !bareDir(path) {
				return nil // a name may hold slashes
			}
			if name, err := filepath.Rel(top, path); err == nil && !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }) {
				modules[name] = append(modules[name], path)
			}
			return fs.SkipDir
		})
	}
	return modules
}

// modulesAt gives the git directories in which the user may have a submodule. One
// that was cloned by hand keeps its own in its folder.
func modulesAt(p cw.Project, modules map[string][]string, l gitlink) []string {
	dirs := slices.Clone(modules[l.name])
	if dir := filepath.Join(p.Path, l.path, ".git"); p.Path != "" && bareDir(dir) {
		dirs = append(dirs, dir)
	}
	return dirs
}

// submoduleKeys are the configuration by which git submodule update takes a
// submodule from the user's copy, not from the network, and changes no
// configuration itself.
func submoduleKeys(p cw.Project) [][2]string {
	var keys [][2]string
	for name, dirs := range userModules(p.GitDir) {
		keys = append(keys, [2]string{"submodule." + name + ".active", "true"}, [2]string{"submodule." + name + ".url", dirs[0]})
	}
	return keys
}

// gitlink is a submodule in a commit.
type gitlink struct{ path, name, id string }

// addSubmodules checks out the submodules that a commit names in a new worktree,
// from the user's copies. One that the user never fetched stays empty, with a
// warning; CodeInvalid names one that the user has without the commit that is
// needed.
func (x *mirror) addSubmodules(ctx context.Context, worktree, commit string) (warnings []string, err error) {
	links, err := x.gitlinks(ctx, commit)
	if err != nil {
		return nil, err
	}
	modules := userModules(x.p.GitDir)
	for _, l := range links {
		if l.name == "" {
			warnings = append(warnings, fmt.Sprintf("%q is a submodule without an entry in .gitmodules; it is empty", l.path))
			continue
		}
		dirs := modulesAt(x.p, modules, l)
		if len(dirs) == 0 {
			missing := x.missingSubmodule(l, nil)
			if x.p.Remote() {
				return nil, missing
			}
			warnings = append(warnings, fmt.Sprintf("submodule %q is empty for the agent, as it is not initialized in %s (%s)", l.path, x.p.Path, missing.Hint))
			continue
		}
		dir, err := x.moduleWith(ctx, dirs, l.id)
		if err != nil {
			return nil, err
		}
		if err := x.addSubmodule(ctx, worktree, l, dir); err != nil {
			return nil, err
		}
		if exists(filepath.Join(worktree, l.path, ".gitmodules")) {
			warnings = append(warnings, fmt.Sprintf("submodule %q has submodules of its own; they are empty", l.path))
		}
	}
	return warnings, nil
}

// moduleWith gives the one of the user's copies that has a commit, else the first.
func (x *mirror) moduleWith(ctx context.Context, dirs []string, id string) (string, error) {
	for _, dir := range dirs {
		at := place{name: "user", dir: dir, env: append(cleanEnv(), "GIT_DIR="+dir)}
		_, err := x.m.git.run(ctx, at, nil, "cat-file", "-e", "--end-of-options", id+"^{commit}")
		if err == nil || isFinal(err) {
			return dir, err
		}
	}
	return dirs[0], nil
}

func (x *mirror) missingSubmodule(l gitlink, err error) *cw.Error {
	if x.p.Remote() {
		return cw.Errorf(cw.CodeInvalid, "cw does not fetch submodules, and %s has %q", x.p.RemoteURL, l.path).
			WithHint("clone it yourself with --recurse-submodules, and cw project add PATH").Because(err)
	}
	return cw.Errorf(cw.CodeInvalid, "submodule %q is not complete in %s", l.path, x.p.Path).
		WithHint("fetch it first: git -C %s submodule update --init -- %s", cw.ShellWord(x.p.Path), cw.ShellWord(l.path)).Because(err)
}

// addSubmodule checks out one. The worktree is new: no agent has had it.
func (x *mirror) addSubmodule(ctx context.Context, worktree string, l gitlink, dir string) error {
	at := x.place()
	at.dir, at.env = worktree, cleanEnv() // git finds the worktree by its folder
	at.config = append(at.config, "submodule."+l.name+".url="+dir, "submodule."+l.name+".active=true")
	args := []string{"submodule", "--quiet", "update", "--reference", dir}
	if dir != filepath.Join(x.p.GitDir, "modules", l.name) {
		args = append(args, "--dissociate") // the worktree that has it may go
	}
	if _, err := x.gitAt(ctx, at, nil, append(args, "--", l.path)...); err != nil {
		return x.missingSubmodule(l, err)
	}
	at.dir = filepath.Join(worktree, l.path)
	if _, err := x.gitAt(ctx, at, nil, "config", "remote.origin.pushurl", noPush); err != nil {
		return fmt.Errorf("submodule %q: %w", l.path, err)
	}
	return nil
}

// gitlinks lists the submodules of a commit, with their names from .gitmodules.
func (x *mirror) gitlinks(ctx context.Context, commit string) ([]gitlink, error) {
	out, err := x.git(ctx, nil, "ls-tree", "-r", "-z", "--end-of-options", commit)
	if err != nil {
		return nil, fmt.Errorf("list submodules: %w", err)
	}
	var links []gitlink
	for entry := range bytes.SplitSeq(out, []byte{0}) {
		mode, path, ok := strings.Cut(string(entry), "\t")
		if ok && strings.HasPrefix(mode, "160000 ") {
			f := strings.Fields(mode)
			links = append(links, gitlink{path: path, id: f[len(f)-1]})
		}
	}
	if len(links) == 0 || !bytes.Contains(out, []byte("\t.gitmodules\x00")) {
		return links, nil
	}
	named, err := x.git(ctx, nil, "config", "--blob", commit+":.gitmodules", "--list", "-z")
	if err != nil && exitCode(err) != 1 {
		return nil, fmt.Errorf("read .gitmodules: %w", err)
	}
	names := map[string]string{}
	for key, value := range parseConfig(string(named)) {
		if rest, ok := strings.CutPrefix(key, "submodule."); ok && strings.HasSuffix(rest, ".path") {
			names[value] = strings.TrimSuffix(rest, ".path")
		}
	}
	for i, l := range links {
		links[i].name = names[l.path]
	}
	return links, nil
}
