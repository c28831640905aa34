package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"cw/internal/cw"
)

// shadow is a git directory of ours for one look at a live worktree: our
// configuration and excludes, the objects of the mirror, the worktree's index
// as it was, HEAD as it was found. Measured: of all ways to read a
// worktree whose owner is not trusted, this is the only one in which nothing
// planted there was ever executed.
type shadow struct {
	m          *Manager
	dir        string
	mirrorDir  string
	admin      string // admin folder of the worktree
	objects    string // folder of the objects; "" means the mirror's
	worktree   string // "" when there is none
	home       string // where the worktree belongs, when it was moved away
	base       string // commit
	apart      string // commit from which the work parted at base; "" means base itself
	head       string // commit, "" when HEAD names a branch that does not exist
	tip        string // commit that holds the work; set by findTip
	freshIndex bool   // the agent's index was not used
}

// make creates its folder. The caller must close it.
func (s *shadow) make(ctx context.Context) error {
	if err := os.MkdirAll(shadowDir(s.mirrorDir), 0o700); err != nil {
		return fmt.Errorf("make shadow: %w", err)
	}
	dir, err := os.MkdirTemp(shadowDir(s.mirrorDir), "look-*")
	if err != nil {
		return fmt.Errorf("make shadow: %w", err)
	}
	s.dir = dir
	if err := s.fill(ctx); err != nil {
		s.close()
		return fmt.Errorf("make shadow: %w", err)
	}
	return nil
}

func (s *shadow) close() {
	if err := os.RemoveAll(s.dir); err != nil {
		s.m.log.Warn("shadow stays", "dir", s.dir, "error", err)
	}
}

func (s *shadow) fill(ctx context.Context) error {
	config, err := readSmall(guardCopy(s.mirrorDir, fileShadowConfig))
	if err != nil {
		return fmt.Errorf("read our copy of the configuration: %w", err)
	}
	head := s.head + "\n"
	if s.head == "" {
		head = mirrorHead
	}
	err = errors.Join(
		os.Mkdir(filepath.Join(s.dir, "refs"), 0o700),
		os.WriteFile(filepath.Join(s.dir, "HEAD"), []byte(head), 0o600),
		os.WriteFile(filepath.Join(s.dir, "config"), config, 0o600),
		os.Symlink(guardCopy(s.mirrorDir, "info"), filepath.Join(s.dir, "info")),
	)
	if err != nil || s.worktree == "" {
		return err
	}
	return s.index(ctx)
}

// index takes over the agent's index, so that unchanged files need not be
// read, or makes a new one from HEAD. A hard link is as good as a copy, since
// git never changes an index in place, and it keeps the time of the original:
// git takes a file for possibly changed when it is not older than the index,
// and a copy that is younger would hide changes.
func (s *shadow) index(ctx context.Context) error {
	path := filepath.Join(s.dir, "index")
	if err := os.Link(filepath.Join(s.admin, "index"), path); err != nil {
		return s.rebuildIndex(ctx)
	}
	data, err := readRegular(path, indexMax)
	if err != nil || !trustworthyIndex(data, len(s.base)/2) {
		return s.rebuildIndex(ctx)
	}
	return nil
}

func (s *shadow) rebuildIndex(ctx context.Context) error {
	s.freshIndex = true
	if err := os.Remove(filepath.Join(s.dir, "index")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if s.head == "" {
		return nil // no index is an empty one
	}
	_, err := s.git(ctx, "read-tree", "--end-of-options", s.head)
	return err
}

func (s *shadow) git(ctx context.Context, args ...string) ([]byte, error) {
	out, err := s.m.git.run(ctx, s.place(), nil, args...)
	if cleared(err) {
		out, err = s.m.git.run(ctx, s.place(), nil, args...)
	}
	return out, err
}

func (s *shadow) place() place {
	agents := []agentDir{{path: s.mirrorDir, shared: true}}
	if s.worktree != "" {
		agents = append(agents, agentDir{path: s.worktree})
	}
	return place{
		name: "shadow", dir: s.dir, agents: agents,
		env: append(cleanEnv(), "GIT_DIR="+s.dir, "GIT_WORK_TREE="+cmp.Or(s.worktree, s.dir),
			"GIT_OBJECT_DIRECTORY="+cmp.Or(s.objects, filepath.Join(s.mirrorDir, "objects"))),
		// What an agent wrote beside the objects to make git faster is not
		// believed.
		config: []string{"core.untrackedCache=false", "core.commitGraph=false", "core.multiPackIndex=false"},
	}
}

// status gives what differs from HEAD in index and worktree.
func (s *shadow) status(ctx context.Context, more ...string) ([]statusEntry, error) {
	out, err := s.rawStatus(ctx, more...)
	if err != nil {
		return nil, err
	}
	entries, err := parseStatus(out)
	if err != nil {
		return nil, fmt.Errorf("read status: %w", err)
	}
	return entries, nil
}

func (s *shadow) rawStatus(ctx context.Context, more ...string) ([]byte, error) {
	args := append(statusArgs(), more...)
	out, err := s.git(ctx, args...)
	if err != nil && !s.freshIndex && !isFinal(err) {
		// The index passed our look and git refuses it all the same.
		if rerr := s.rebuildIndex(ctx); rerr != nil {
			return nil, errors.Join(err, rerr)
		}
		out, err = s.git(ctx, args...)
	}
	return out, err
}

// isFinal tells whether trying again is of no use: git was ended, or somebody
// decided already what the failure means.
func isFinal(err error) bool {
	var known *cw.Error
	var g *gitError
	if errors.As(err, &known) && errors.As(err, &g) && known == g.told {
		return g.final
	}
	return known != nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// from is what the worktree is compared with: HEAD, or the empty tree when
// there is none.
func (s *shadow) from() string { return cmp.Or(s.head, emptyTree(s.base)) }

// emptyTree is the id of the tree without entries, which git always knows, in
// the hash of the id given.
func emptyTree(like string) string {
	if len(like) == 64 {
		return "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
	}
	return "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
}

// adminHead reads HEAD of a worktree from its admin folder as data: branch is
// its full reference ("" when detached), id the commit of a detached HEAD.
func adminHead(admin string) (branch, id string, err error) {
	text, err := readSmall(filepath.Join(admin, "HEAD"))
	if err != nil {
		return "", "", fmt.Errorf("read HEAD of the worktree: %w", err)
	}
	value := strings.TrimSpace(string(text))
	if ref, ok := strings.CutPrefix(value, "ref:"); ok {
		ref = strings.TrimSpace(ref)
		if !safeRef(ref) {
			return "", "", fmt.Errorf("HEAD of the worktree names %q", ref)
		}
		return ref, "", nil
	}
	if !fullID().MatchString(value) {
		return "", "", fmt.Errorf("HEAD of the worktree holds %.80q", value)
	}
	return "", value, nil
}

// safeRef accepts what may be a reference below refs/ and nothing that leaves
// the git directory or could be an option.
func safeRef(ref string) bool {
	return strings.HasPrefix(ref, "refs/") && filepath.IsLocal(ref) && !strings.Contains(ref, "..") &&
		!strings.ContainsFunc(ref, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`~^:?*[\`, r) })
}
