package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cw/internal/cw"
)

// Repository is a repository of the user's as seen from one folder in it.
type Repository struct {
	TopLevel     string // of the checkout that contains the folder
	Main         string // of the first checkout; TopLevel when that one is bare
	CommonGitDir string // canonical; tells one repository from another
	Name         string // of the folder by which people know it, which for a worktree of a bare repository is not its own
	HeadBranch   string // "" when HEAD is detached
	HeadCommit   string // full id
}

// Inspect looks at the user's repository that contains path, a folder or a
// file. CodeInvalid, with what to do, when cw cannot work on it.
func (m *Manager) Inspect(ctx context.Context, path string) (Repository, error) {
	if _, err := m.GitVersion(ctx); err != nil {
		return Repository{}, err
	}
	dir, err := existingFolder(path)
	if err != nil {
		return Repository{}, err
	}
	repo, err := m.locate(ctx, dir)
	if err != nil {
		return Repository{}, err
	}
	repo.HeadBranch, repo.HeadCommit, err = m.head(ctx, repo.TopLevel)
	return repo, err
}

func existingFolder(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find the folder %s: %w", path, err)
	}
	info, err := os.Stat(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", cw.Errorf(cw.CodeNotFound, "%s does not exist", abs).WithHint("give the path of a git repository")
	case err != nil:
		return "", cw.Errorf(cw.CodeInvalid, "%s cannot be read", abs).WithHint("give the path of a git repository").Because(err)
	case !info.IsDir():
		return filepath.Dir(abs), nil
	}
	return abs, nil
}

// locate finds top level and common git directory. Each value is asked for by
// itself because a path may hold a line feed.
func (m *Manager) locate(ctx context.Context, dir string) (Repository, error) {
	at := inCheckout(dir)
	inside, err := m.git.run(ctx, at, nil, "rev-parse", "--is-inside-work-tree")
	if err != nil {
		return Repository{}, userError(dir, err)
	}
	if line(inside) != "true" {
		return Repository{}, m.noCheckout(ctx, dir)
	}
	top, err := m.git.run(ctx, at, nil, "rev-parse", "--show-toplevel")
	if err != nil {
		return Repository{}, userError(dir, err)
	}
	common, err := m.git.run(ctx, at, nil, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return Repository{}, userError(dir, err)
	}
	gitDir, err := filepath.EvalSymlinks(line(common))
	if err != nil {
		return Repository{}, fmt.Errorf("resolve git directory of %s: %w", dir, err)
	}
	repo := Repository{TopLevel: line(top), Main: line(top), CommonGitDir: gitDir, Name: filepath.Base(line(top))}
	if info, err := os.Lstat(filepath.Join(repo.TopLevel, ".git")); err == nil && !info.IsDir() {
		var bare bool
		if repo.Main, bare, err = m.mainCheckout(ctx, repo); err != nil {
			return Repository{}, err
		}
		if repo.Name = filepath.Base(repo.Main); bare {
			repo.Name = bareName(gitDir)
		}
	}
	return repo, nil
}

// bareName is what people call a bare repository: shop for shop.git, and for
// shop/.bare.
func bareName(gitDir string) string {
	name := filepath.Base(gitDir)
	if strings.HasPrefix(name, ".") {
		return filepath.Base(filepath.Dir(gitDir))
	}
	return strings.TrimSuffix(name, ".git")
}

// mainCheckout finds the first checkout of a repository from a linked one, and
// tells whether the repository itself is bare.
func (m *Manager) mainCheckout(ctx context.Context, repo Repository) (path string, bare bool, err error) {
	trees, err := m.checkouts(ctx, inCheckout(repo.TopLevel))
	if err != nil {
		return "", false, userError(repo.TopLevel, err)
	}
	if len(trees) == 0 || trees[0].bare {
		return repo.TopLevel, len(trees) > 0, nil
	}
	if info, err := os.Stat(trees[0].path); err != nil || !info.IsDir() {
		return repo.TopLevel, false, nil // such as a submodule, whose first entry is its git directory
	}
	if gitDirOf(trees[0].path) != repo.CommonGitDir {
		return repo.TopLevel, false, nil
	}
	return trees[0].path, false, nil
}

// Owns tells whether a git directory, by its canonical path, is one of cw's own.
func (m *Manager) Owns(gitDir string) bool {
	repos, err := filepath.EvalSymlinks(m.repos)
	return err == nil && inside(repos, gitDir)
}

// CheckoutOf finds a checkout of a repository, by its git directory, that is there:
// the first one, or "" when there is none.
func (m *Manager) CheckoutOf(ctx context.Context, gitDir string) (string, error) {
	trees, err := m.checkouts(ctx, inUserRepo(gitDir))
	if err != nil {
		return "", userError(gitDir, err)
	}
	for _, t := range trees {
		if !t.bare && gitDirOf(t.path) == gitDir {
			return t.path, nil
		}
	}
	return "", nil
}

func (m *Manager) noCheckout(ctx context.Context, dir string) error {
	bare, err := m.git.run(ctx, inCheckout(dir), nil, "rev-parse", "--is-bare-repository")
	if err != nil || line(bare) != "true" {
		return cw.Errorf(cw.CodeInvalid, "%s is inside a git directory, not in a checkout", dir).
			WithHint("give the folder that holds your files")
	}
	trees, err := m.checkouts(ctx, inCheckout(dir))
	if err != nil {
		return userError(dir, err)
	}
	for _, t := range trees {
		if info, err := os.Stat(t.path); err == nil && info.IsDir() && !t.bare {
			return cw.Errorf(cw.CodeInvalid, "%s is a bare repository", dir).
				WithHint("give one of its checkouts, such as %s", cw.ShellWord(t.path))
		}
	}
	return cw.Errorf(cw.CodeInvalid, "%s is a bare repository", dir).
		WithHint("give a checkout of it: git -C %s worktree add ../checkout", cw.ShellWord(dir))
}

// userError says what a failure of git in the user's repository means, by the
// folder that the user knows.
func userError(dir string, err error) error {
	var g *gitError
	if isFinal(err) || !errors.As(err, &g) {
		return err
	}
	return explainGit(g, dir).Because(err)
}

// head tells what HEAD of a checkout is. CodeInvalid when it has no commit.
func (m *Manager) head(ctx context.Context, checkout string) (branch, commit string, err error) {
	at := m.at(checkout)
	out, err := m.git.run(ctx, at, nil, "symbolic-ref", "--quiet", "HEAD")
	switch {
	case err == nil:
		branch = strings.TrimPrefix(line(out), "refs/heads/")
	case exitCode(err) != 1: // 1: detached
		return "", "", userError(checkout, err)
	}
	out, err = m.git.run(ctx, at, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", "HEAD^{commit}")
	if err != nil {
		if exitCode(err) == 1 && "refs/heads/"+branch == noDefault {
			return "", "", cw.Errorf(cw.CodeInvalid, "the remote does not say which branch is its default").
				WithHint("name one: --base BRANCH").Because(err)
		}
		if named, nerr := m.git.run(ctx, at, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", "HEAD"); nerr == nil {
			return "", "", cw.Errorf(cw.CodeFailed, "%s is damaged: commit %.12s of %s is missing or cannot be read", checkout, line(named), orHead(branch)).
				WithHint("see what else is: git -C %s fsck --full; git fetch brings back what a remote has", cw.ShellWord(checkout)).Because(err)
		}
		if exitCode(err) == 1 {
			return "", "", cw.Errorf(cw.CodeInvalid, "%s has no commits yet on %s", checkout, orHead(branch)).
				WithHint("make a first commit: git -C %s commit --allow-empty -m start", cw.ShellWord(checkout)).Because(err)
		}
		return "", "", userError(checkout, err)
	}
	return branch, line(out), nil
}

func orHead(branch string) string {
	if branch == "" {
		return "HEAD"
	}
	return branch
}

// DirtyFiles counts the changed files of the user's checkout, untracked ones
// too: an agent that starts from a commit will not see them. "" is no checkout,
// as of a remote project.
func (m *Manager) DirtyFiles(ctx context.Context, checkout string) (int, error) {
	if checkout == "" {
		return 0, nil
	}
	out, err := m.git.run(ctx, inCheckout(checkout), nil, statusArgs()...)
	if err != nil {
		return 0, userError(checkout, err)
	}
	entries, err := parseStatus(out)
	if err != nil {
		return 0, fmt.Errorf("read status of %s: %w", checkout, err)
	}
	return len(entries), nil
}

// Identity gives the name and address under which the user commits in the
// project. ok is false when one of them is not set.
func (m *Manager) Identity(ctx context.Context, p cw.Project) (name, email string, ok bool, err error) {
	if err := m.checkProject(ctx, p); err != nil {
		return "", "", false, err
	}
	config, err := m.userConfig(ctx, p)
	if err != nil {
		return "", "", false, err
	}
	name, email = config.get("user.name"), config.get("user.email")
	return name, email, name != "" && email != "", nil
}

// checkProject makes sure that the project's repository is where it was. The
// clone of a remote one is made again, empty, when it is gone.
func (m *Manager) checkProject(ctx context.Context, p cw.Project) error {
	if p.Remote() {
		return m.ensureClone(ctx, p)
	}
	if info, err := os.Stat(p.Path); err != nil || !info.IsDir() {
		if apart(p) && bareDir(p.GitDir) {
			return nil // only this worktree of the repository is gone
		}
		return cw.Errorf(cw.CodeNotFound, "the repository of project %s is not at %s any more", p.Name, p.Path).
			WithHint("move it back, or: cw project remove %s, then cw project add with its new place", p.Name)
	}
	found := gitDirOf(p.Path)
	switch found {
	case p.GitDir:
		return nil
	case "":
		if apart(p) && bareDir(p.GitDir) {
			return nil
		}
		return cw.Errorf(cw.CodeNotFound, "%s of project %s is not a git repository any more", p.Path, p.Name).
			WithHint("bring its .git back, or: cw project remove %s", p.Name)
	}
	return cw.Errorf(cw.CodeInvalid, "%s holds another repository than project %s did (its git directory is %s, not %s)", p.Path, p.Name, found, p.GitDir).
		WithHint("cw project remove %s, then cw project add %s", p.Name, p.Path)
}

// apart tells whether a project's git directory is not in its checkout, which is
// one of several that may come and go.
func apart(p cw.Project) bool { return !inside(p.Path, p.GitDir) }

// bareDir tells whether a folder is a git directory.
func bareDir(dir string) bool {
	return exists(filepath.Join(dir, "HEAD")) && isDir(filepath.Join(dir, "objects"))
}

// gitDirOf gives the canonical common git directory of a checkout, or "". It
// reads two small files instead of starting a process.
func gitDirOf(checkout string) string {
	dot := filepath.Join(checkout, ".git")
	dir := dot
	if info, err := os.Stat(dot); err != nil {
		return ""
	} else if !info.IsDir() {
		text, err := readSmall(dot)
		target, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), "gitdir: ")
		if err != nil || !ok {
			return ""
		}
		dir = absoluteIn(checkout, target)
		if text, err := readSmall(filepath.Join(dir, "commondir")); err == nil {
			dir = absoluteIn(dir, strings.TrimRight(string(text), "\r\n"))
		}
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return ""
	}
	if _, err := os.Lstat(filepath.Join(real, "HEAD")); err != nil {
		return ""
	}
	return real
}

func absoluteIn(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// checkout is one entry of git worktree list.
type checkout struct {
	path   string
	branch string // full ref name, "" when detached
	bare   bool
}

func (m *Manager) checkouts(ctx context.Context, at place) ([]checkout, error) {
	out, err := m.git.run(ctx, at, nil, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return nil, err
	}
	return parseCheckouts(string(out)), nil
}

// parseCheckouts reads "worktree PATH\0HEAD ID\0branch REF\0\0…".
func parseCheckouts(out string) []checkout {
	var all []checkout
	for field := range strings.SplitSeq(out, "\x00") {
		key, value, _ := strings.Cut(field, " ")
		if key == "worktree" {
			all = append(all, checkout{path: value})
			continue
		}
		if len(all) == 0 {
			continue
		}
		last := &all[len(all)-1]
		switch key {
		case "branch":
			last.branch = value
		case "bare":
			last.bare = true
		}
	}
	return all
}
