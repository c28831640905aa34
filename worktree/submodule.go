package worktree

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cw/internal/cw"
)

// noPush is the push address of a submodule in a worktree: its origin is the
// user's own copy, whose branches an agent must not move.
const noPush = "cw-has-no-push-address"

// userModules returns name → git directories of the submodules that the user's
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

// modulesAt returns the git directories in which the user may have a submodule. One
// that was cloned by hand keeps its own in its folder.
func modulesAt(p cw.Project, modules map[string][]string, l gitlink) []string {
	dirs := slices.Clone(modules[l.name])
	if dir := filepath.Join(p.Path, l.path, ".git"); p.Path != "" && bareDir(dir) {
		dirs = append(dirs, dir)
	}
	return dirs
}

// submoduleKeys are the configuration by which an agent's git submodule update
// takes a submodule from the user's copy, not from the network.
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
func (x *mirror) addSubmodules(ctx context.Context, r *record, commit string) (warnings []string, err error) {
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
		if err := x.addSubmodule(ctx, r, l, dir); err != nil {
			return nil, err
		}
		if exists(filepath.Join(r.Path, l.path, ".gitmodules")) {
			warnings = append(warnings, fmt.Sprintf("submodule %q has submodules of its own; they are empty", l.path))
		}
	}
	return warnings, nil
}

// moduleWith returns the one of the user's copies that has a commit, else the first.
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

// newModule is where the git directory of a submodule is made, beside the guard's
// copies: git reads no configuration there that an agent could write meanwhile.
func (x *mirror) newModule() string { return filepath.Join(x.guardDir(), "module.new") }

// addSubmodule checks out one in a new worktree, from dir, and leaves what git
// submodule update would leave. git works on a git directory out of agents' reach,
// which is moved into the admin folder when it is whole.
func (x *mirror) addSubmodule(ctx context.Context, r *record, l gitlink, dir string) error {
	half, folder := x.newModule(), filepath.Join(r.Path, l.path)
	modules := filepath.Join(x.dir, "worktrees", r.Admin, "modules")
	if err := modulePlace(modules, l, r.Path); err != nil {
		return err
	}
	module := filepath.Join(modules, l.name)
	if err := removeTree(half); err != nil { // of a try that was killed
		return err
	}
	at := x.transfer()
	at.dir, at.env = r.Path, cleanEnv()
	args := []string{"clone", "--quiet", "--no-checkout", "--template=", "--origin", "origin", "--separate-git-dir", half, "--reference", dir}
	if dir != filepath.Join(x.p.GitDir, "modules", l.name) {
		args = append(args, "--dissociate") // the worktree that has it may go
	}
	if _, err := x.gitAt(ctx, at, nil, append(args, "--end-of-options", dir, folder)...); err != nil {
		return x.missingSubmodule(l, err)
	}
	at.dir, at.env = folder, append(cleanEnv(), "GIT_DIR="+half, "GIT_WORK_TREE="+folder)
	if _, err := x.gitAt(ctx, at, nil, "checkout", "--quiet", "--force", "--detach", l.id, "--"); err != nil {
		return x.missingSubmodule(l, err)
	}
	tree, err := filepath.Rel(module, folder)
	if err != nil {
		return fmt.Errorf("submodule %q: %w", l.path, err)
	}
	link, err := filepath.Rel(folder, module)
	if err != nil {
		return fmt.Errorf("submodule %q: %w", l.path, err)
	}
	for key, value := range map[string]string{"core.worktree": tree, "remote.origin.pushurl": noPush} {
		if _, err := x.gitAt(ctx, at, nil, "config", key, value); err != nil {
			return fmt.Errorf("submodule %q: %w", l.path, err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(module), 0o700); err != nil {
		return fmt.Errorf("submodule %q: %w", l.path, err)
	}
	if err := removeTree(module); err != nil { // of a worktree that is brought back
		return fmt.Errorf("submodule %q: %w", l.path, err)
	}
	if err := os.Rename(half, module); err != nil {
		return fmt.Errorf("submodule %q: %w", l.path, err)
	}
	return writeFile(filepath.Join(folder, ".git"), []byte("gitdir: "+link+"\n"))
}

// modulePlace refuses a submodule whose name or path would lead its files
// elsewhere: out of modules, into or around the git directory of another
// submodule, or through a link in the worktree.
func modulePlace(modules string, l gitlink, worktree string) error {
	refused := cw.Errorf(cw.CodeInvalid, "submodule %q cannot be checked out: its name %q or its path collides with something else", l.path, l.name).
		WithHint("rename it: git mv, and its name in .gitmodules")
	if !filepath.IsLocal(l.name) || filepath.Clean(l.name) != l.name || !filepath.IsLocal(l.path) {
		return refused
	}
	for above := filepath.Dir(l.name); above != "."; above = filepath.Dir(above) {
		if bareDir(filepath.Join(modules, above)) {
			return refused
		}
	}
	if dir := filepath.Join(modules, l.name); exists(dir) && !bareDir(dir) {
		return refused
	}
	for above := filepath.Dir(l.path); above != "."; above = filepath.Dir(above) {
		if info, err := os.Lstat(filepath.Join(worktree, above)); err == nil && !info.IsDir() {
			return refused
		}
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
