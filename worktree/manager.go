package worktree

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"cw/internal/cw"
)

// MinGit is the oldest git that works: merge-tree --write-tree, by which
// branches are merged without touching a worktree, came with 2.38.
const MinGit = "2.38"

// Options say what a Manager works with.
type Options struct {
	// Git is the git binary; "" means the one in PATH.
	Git string
	// ReposDir is the folder of the mirrors, $CW_HOME/repos. It is made when
	// needed.
	ReposDir string
	// Log is for what a person need not see at once; nil drops it.
	Log *slog.Logger
	// OnRestored is told, after the lock is free again, when a mirror's
	// configuration, hooks or worktree links had been changed by somebody else
	// and were put back. changed holds paths inside the mirror.
	OnRestored func(project string, changed []string)
	// Fail is called after each step with outside effects.
	Fail cw.Failpoint
	// Guards lets tests take a guard out; nil leaves all in place.
	Guards cw.Guards
}

// Manager does all that cw does with git. It is safe for concurrent use, also
// by several processes on the same ReposDir.
type Manager struct {
	repos      string
	git        *runner
	log        *slog.Logger
	onRestored func(project string, changed []string)
	fail       cw.Failpoint
	guards     cw.Guards
	setUps     setUps
	packing    func(have objectCount, last int64) packing // tests only: choosePacking

	versionMu sync.Mutex
	version   string // of git; "" until it was asked
}

// New makes a Manager. It touches nothing yet.
func New(o Options) *Manager {
	if o.Git == "" {
		o.Git = "git"
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.OnRestored == nil {
		o.OnRestored = func(string, []string) {}
	}
	return &Manager{
		repos:      o.ReposDir,
		git:        newRunner(o.Git, o.Log),
		log:        o.Log,
		onRestored: o.OnRestored,
		fail:       o.Fail,
		guards:     o.Guards,
		packing:    choosePacking,
	}
}

// GitVersion gives the version of the git binary, "2.39.5". CodeInvalid when
// there is none or it is older than MinGit. A good answer is remembered.
func (m *Manager) GitVersion(ctx context.Context) (string, error) {
	m.versionMu.Lock()
	defer m.versionMu.Unlock()
	if m.version != "" {
		return m.version, nil
	}
	out, err := m.git.run(ctx, place{name: "version", dir: "/", env: cleanEnv()}, nil, "version")
	if err != nil {
		return "", err
	}
	version, ok := parseGitVersion(string(out))
	if !ok {
		return "", cw.Errorf(cw.CodeInvalid, "git does not tell its version but %q", bytes.TrimSpace(out)).
			WithHint("install git %s or newer", MinGit)
	}
	if !atLeast(version, MinGit) {
		return "", cw.Errorf(cw.CodeInvalid, "git %s is too old", version).WithHint("install git %s or newer", MinGit)
	}
	m.version = version
	return version, nil
}

// parseGitVersion reads "git version 2.39.5 (Apple Git-154)".
func parseGitVersion(s string) (string, bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(s), "git version ")
	if !ok {
		return "", false
	}
	version, _, _ := strings.Cut(rest, " ")
	if version == "" || version[0] < '0' || version[0] > '9' {
		return "", false
	}
	return version, true
}

// atLeast compares the first two numbers of versions.
func atLeast(version, least string) bool {
	a, b := strings.Split(version+".0", "."), strings.Split(least+".0", ".")
	for i := range 2 {
		x, _ := strconv.Atoi(a[i])
		y, _ := strconv.Atoi(b[i])
		if x != y {
			return x > y
		}
	}
	return true
}

// mirrorDir is the mirror of a project. The name comes from the database; it
// is checked all the same, since the folder is one day removed.
func (m *Manager) mirrorDir(p cw.Project) (string, error) {
	if p.Mirror == "" || p.Mirror != filepath.Base(p.Mirror) || !strings.HasSuffix(p.Mirror, ".git") {
		return "", fmt.Errorf("project %s: %q is no name of a mirror", p.Name, p.Mirror)
	}
	return filepath.Join(m.repos, p.Mirror), nil
}
