package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cw/internal/cw"
)

// syncedFile holds the fingerprint of the user's references at the last sync.
const syncedFile = "synced"

// EnsureMirror makes the project's mirror when there is none, and brings it up
// to date: the user's heads as refs/remotes/origin/*, the tags, and the
// allow-listed configuration. It may be called at any time. note tells what a
// person may want to know, or is "". CodeNotFound or CodeInvalid when the
// user's repository is not there any more or cw cannot work on it.
func (m *Manager) EnsureMirror(ctx context.Context, p cw.Project) (note string, err error) {
	if _, err := m.GitVersion(ctx); err != nil {
		return "", err
	}
	if err := m.checkProject(ctx, p); err != nil {
		return "", err
	}
	config, err := m.userConfig(ctx, p)
	if err != nil {
		return "", err
	}
	if err := refusePartial(p, config); err != nil {
		return "", err
	}
	s, err := m.readSettings(p, config)
	if err != nil {
		return "", cw.Errorf(cw.CodeInvalid, "the git configuration of %s cannot be read", p.Where()).
			WithHint("check the files that git config --show-origin --list names").Because(err)
	}
	x, err := m.lockMirror(ctx, p)
	if err != nil {
		return "", err
	}
	defer x.close()
	m.sweepShadows(x.dir)
	if !isDir(x.dir) {
		if note, err = x.create(ctx, s); err != nil {
			return "", fmt.Errorf("make mirror of %s: %w", p.Name, err)
		}
		m.fail.Hit("worktree/mirror")
	} else if note, err = x.mend(ctx); err != nil {
		return "", fmt.Errorf("mend mirror of %s: %w", p.Name, err)
	} else if exists(guardCopy(x.dir, fileConfig)) {
		if err := x.guard(); err != nil {
			return "", err
		}
	}
	if err := x.expect(s); err != nil {
		return note, err
	}
	m.fail.Hit("worktree/expected")
	skipped, err := x.sync(ctx)
	if err != nil {
		return note, fmt.Errorf("bring mirror of %s up to date: %w", p.Name, err)
	}
	m.fail.Hit("worktree/synced")
	return joinNotes(note, skippedNote(p, skipped)), nil
}

// refusePartial refuses a repository whose objects are partly elsewhere: the
// mirror has no remote to fetch them from, so checkouts would fail half-way.
func refusePartial(p cw.Project, config userConfig) error {
	partial := config.get("extensions.partialclone") != ""
	for key, value := range config {
		promisor := strings.HasPrefix(key, "remote.") && strings.HasSuffix(key, ".promisor")
		partial = partial || promisor && value != "false"
	}
	if !partial {
		return nil
	}
	return cw.Errorf(cw.CodeInvalid, "%s is a partial clone: some of its files are only at the remote", p.Path).
		WithHint("clone it again without --filter")
}

// create makes the mirror under another name and moves it into place whole, so
// that a mirror that is there is a mirror.
func (x *mirror) create(ctx context.Context, s settings) (note string, err error) {
	half := &mirror{m: x.m, p: x.p, dir: x.dir + ".new", lock: x.lock}
	for _, dir := range []string{half.dir, guardDir(half.dir)} {
		if err := os.RemoveAll(dir); err != nil { // of a try that was killed
			return "", err
		}
	}
	if err := x.forgetMirror(); err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(half.dir)
			_ = os.RemoveAll(half.guardDir())
		}
	}()
	for _, name := range mirrorFolders() {
		if err := os.MkdirAll(filepath.Join(half.dir, name), 0o700); err != nil {
			return "", err
		}
	}
	if err := half.expect(s); err != nil {
		return "", err
	}
	if note, err = half.seed(ctx); err != nil {
		return "", err
	}
	x.m.fail.Hit("worktree/seeded")
	if err := os.RemoveAll(half.guardDir()); err != nil {
		return "", err
	}
	if err := os.Rename(half.dir, x.dir); err != nil {
		return "", err
	}
	return note, nil
}

// seed fills a new mirror by hard links instead of a transfer. Where that
// cannot be done right (the user's objects are partly elsewhere, shallow, or
// being packed), it leaves the work to the first sync.
func (x *mirror) seed(ctx context.Context) (note string, err error) {
	for _, name := range []string{"shallow", "objects/info/alternates"} {
		if exists(filepath.Join(x.p.GitDir, name)) {
			return "", nil
		}
	}
	all, _, err := x.m.soundRefs(ctx, x.p.GitDir)
	if err != nil {
		return "", err
	}
	copied, err := linkObjects(filepath.Join(x.p.GitDir, "objects"), filepath.Join(x.dir, "objects"))
	if errors.Is(err, errMoving) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var stdin bytes.Buffer
	for _, r := range all {
		fmt.Fprintf(&stdin, "create %s %s\n", mirrorRef(r.name), r.id)
	}
	if _, err := x.m.git.run(ctx, x.place(), stdin.Bytes(), "update-ref", "--stdin"); err != nil {
		x.m.log.Info("a new mirror starts without references", "project", x.p.Name, "error", err)
	}
	if copied {
		note = fmt.Sprintf("objects of %s were copied, not linked: %s is on another file system", x.p.Name, x.m.repos)
	}
	return note, nil
}

func syncedPrefixes() []string { return []string{"refs/heads/", "refs/tags/"} }

// mirrorRef is where a reference of the user's stands in the mirror, whose own
// heads are only those of agents.
func mirrorRef(name string) string {
	if branch, ok := strings.CutPrefix(name, "refs/heads/"); ok {
		return "refs/remotes/origin/" + branch
	}
	return name
}

// uploadPack is the command by which git reads the user's repository for us. A
// repository of another owner that the user declared safe must stay readable
// although the user's global configuration does not count here; Inspect has
// asked git with it.
func (m *Manager) uploadPack() string {
	return "'" + strings.ReplaceAll(m.git.bin, "'", `'\''`) + "' -c safe.directory='*' -c core.hooksPath=/dev/null -c core.fsmonitor=false upload-pack"
}

// RemoveMirror removes the mirror with all that belongs to it, such as the clone
// of a remote project. A mirror that
// is not there is no error. CodeRefused while a worktree hangs on it.
func (m *Manager) RemoveMirror(ctx context.Context, p cw.Project) error {
	x, err := m.lockMirror(ctx, p)
	if err != nil {
		return err
	}
	defer x.close()
	all, err := records(x.dir)
	if err != nil {
		return err
	}
	for _, r := range all {
		if exists(r.Path) {
			return cw.Errorf(cw.CodeRefused, "agent %s still has its worktree of project %s", r.Alias, p.Name).
				WithHint("remove the agent first")
		}
	}
	gone := x.dir + ".gone"
	if err := os.RemoveAll(gone); err != nil {
		return fmt.Errorf("remove mirror of %s: %w", p.Name, err)
	}
	// Renamed first, so that there is never half a mirror.
	if err := os.Rename(x.dir, gone); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove mirror of %s: %w", p.Name, err)
	}
	for _, path := range []string{gone, x.guardDir(), shadowDir(x.dir), x.dir + ".new", x.dir + ".lock"} {
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("remove mirror of %s: %w", p.Name, err)
		}
	}
	if p.Remote() {
		return m.RemoveClone(ctx, p)
	}
	return nil
}

// shadowLife is the age from which a shadow surely belongs to a look that was
// killed.
const shadowLife = time.Hour

func (m *Manager) sweepShadows(mirrorDir string) {
	entries, err := os.ReadDir(shadowDir(mirrorDir))
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && time.Since(info.ModTime()) > shadowLife {
			_ = os.RemoveAll(filepath.Join(shadowDir(mirrorDir), e.Name()))
		}
	}
}
