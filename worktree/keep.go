package worktree

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cw/internal/cw"
)

// missingMax is how many paths a Snapshot lists at most as missing.
const missingMax = 1000

// Snapshot is a commit in the mirror that holds every file of a worktree that
// is work: tracked, untracked and ignored ones, with their bytes as they were on
// disk. Known caches, unchanged included files and cw's own folders are left out.
// Its parent is the commit that holds the agent's work; what was staged and lies
// in no file is reached through another parent.
type Snapshot struct {
	Ref    string // refs/cw/keep/<agent>/<name>
	Commit string // full id
	Whole  bool   // nothing is missing
	// Missing names what a commit cannot hold, raw bytes: git directories inside
	// the worktree, sockets and FIFOs, what cannot be read, empty folders. Folders
	// end in a slash. At most 1,000 are told.
	Missing []string
	// Alone is the first of them that holds bytes which are nowhere else: a git
	// directory, or what cannot be read. "" when there is none.
	Alone string
}

// keepRefName is what a caller may name a snapshot.
var keepRefName = cw.Pattern(`^[a-z0-9][a-z0-9-]{0,63}$`)

func keepRef(id cw.AgentID, name string) string {
	return "refs/cw/keep/" + string(id) + "/" + name
}

// TakeSnapshot keeps everything that is in the worktree under a name. Neither
// the worktree nor its index is changed, nothing in it is executed, and no
// filter changes a byte. Asked again with the same name it gives the first
// answer. Of a worktree that is gone the commit is kept, and nothing is missing.
// CodeNotFound when cw has no such worktree; CodeFailed when a file changed
// while it was read.
func (m *Manager) TakeSnapshot(ctx context.Context, req LookRequest, name string) (Snapshot, error) {
	if !keepRefName().MatchString(name) {
		return Snapshot{}, fmt.Errorf("snapshot of %s: %q is no name", req.Alias, name)
	}
	ref := keepRef(req.AgentID, name)
	if id, err := m.mirrorCommit(req.Project)(ctx, ref); err != nil {
		return Snapshot{}, err
	} else if id != "" {
		return m.readSnapshot(ctx, req.Project, ref, id)
	}
	look, s, err := m.open(ctx, req, req.Path, m.mirrorCommit(req.Project))
	if err != nil {
		return Snapshot{}, err
	}
	defer s.close()
	k := keeper{m: m, req: req, live: s, look: look}
	snap, err := k.take(ctx)
	if errors.Is(err, errChanged) {
		return Snapshot{}, cw.Errorf(cw.CodeFailed, "the worktree of %s changes while it is kept", req.Alias).
			WithHint("end what writes into %s, and try again", req.Path).Because(err)
	}
	if err != nil {
		return Snapshot{}, fmt.Errorf("snapshot of %s: %w", req.Alias, err)
	}
	snap.Ref = ref
	if err := m.storeSnapshot(ctx, req, snap); err != nil {
		return Snapshot{}, fmt.Errorf("snapshot of %s: %w", req.Alias, err)
	}
	m.fail.Hit("worktree/snapshot")
	return snap, nil
}

// storeSnapshot makes the reference, by which the objects stay.
func (m *Manager) storeSnapshot(ctx context.Context, req LookRequest, snap Snapshot) error {
	x, err := m.openMirror(ctx, req.Project)
	if err != nil {
		return err
	}
	defer x.close()
	at := x.place()
	at.config = []string{"core.fsync=committed"}
	_, err = x.gitAt(ctx, at, nil, "update-ref", "-m", "cw: kept", "--create-reflog", "--end-of-options",
		snap.Ref, snap.Commit, strings.Repeat("0", len(snap.Commit)))
	return err
}

// DropSnapshot forgets a snapshot. One that is not there is no error.
func (m *Manager) DropSnapshot(ctx context.Context, p cw.Project, ref string) error {
	if !strings.HasPrefix(ref, "refs/cw/keep/") || !safeRef(ref) {
		return fmt.Errorf("drop snapshot: %q is none", ref)
	}
	x, err := m.openMirror(ctx, p)
	if cw.ErrorCode(err) == cw.CodeNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	defer x.close()
	id, err := x.refs().commit(ctx, ref)
	if err != nil || id == "" {
		return err
	}
	if _, err := x.git(ctx, nil, "update-ref", "-d", "--end-of-options", ref, id); err != nil {
		return fmt.Errorf("drop snapshot %s: %w", ref, err)
	}
	return nil
}

// SnapshotHolds compares a worktree in the trash with a snapshot, file by file,
// bytes and modes. whole tells that the snapshot holds all that is work;
// missing names what it does not hold, at most 1,000 paths. A snapshot that is
// not there holds nothing: CodeNotFound.
func (m *Manager) SnapshotHolds(ctx context.Context, req LookRequest, trash, ref string) (whole bool, missing []string, err error) {
	commit, err := m.mirrorCommit(req.Project)(ctx, ref)
	if err != nil {
		return false, nil, err
	}
	if commit == "" {
		return false, nil, cw.Errorf(cw.CodeNotFound, "there is no snapshot %s of %s", ref, req.Alias).
			WithHint("its worktree is still in the trash: %s", trash)
	}
	_, s, err := m.open(ctx, req, trash, m.mirrorCommit(req.Project))
	if err != nil {
		return false, nil, err
	}
	defer s.close()
	held, err := s.tree(ctx, commit)
	if err != nil {
		return false, nil, fmt.Errorf("read snapshot of %s: %w", req.Alias, err)
	}
	k := keeper{m: m, req: req, live: s}
	lies, missing, err := k.compare(ctx)
	if err != nil {
		return false, nil, fmt.Errorf("compare snapshot of %s: %w", req.Alias, err)
	}
	for name, e := range lies {
		if held[name] != e {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	return len(missing) == 0, missing[:min(len(missing), missingMax)], nil
}

// keeper makes one snapshot.
type keeper struct {
	m    *Manager
	req  LookRequest
	live *shadow // looks at the worktree
	look Look
	own  *shadow // in which the snapshot is built
}

func (k *keeper) take(ctx context.Context) (snap Snapshot, err error) {
	k.own = &shadow{m: k.m, mirrorDir: k.live.mirrorDir, base: k.live.base, head: k.live.head}
	if err := k.own.make(ctx); err != nil {
		return snap, err
	}
	defer k.own.close()
	note := snapshotNote{alias: k.req.Alias, head: k.look.Head, under: underWay(k.live.admin)}
	if k.look.Branch != "" {
		note.branch = fullRef(k.look.Branch)
	}
	known, err := k.live.tree(ctx, k.live.from())
	if err != nil {
		return snap, err
	}
	files := known
	if k.live.worktree != "" {
		if files, note.missing, note.alone, err = k.store(ctx, known); err != nil {
			return snap, err
		}
	}
	tree, err := k.own.writeTree(ctx, "index", files)
	if err != nil {
		return snap, err
	}
	parents := []string{k.live.tip}
	if k.look.Parted {
		parents = append(parents, k.look.Head)
	}
	if note.staged, err = k.keepStaged(ctx, known, files); err != nil {
		return snap, err
	}
	if note.staged != "" {
		parents = append(parents, note.staged)
	}
	snap.Whole, snap.Missing, snap.Alone = len(note.missing) == 0, note.missing, note.alone
	snap.Commit, err = k.own.commit(ctx, tree, parents, note.text())
	return snap, err
}

// keepStaged makes a commit of what lies in the worktree's index alone: staged,
// and then changed or deleted in the folder. An index that cannot be read holds
// nothing that anybody could get at.
func (k *keeper) keepStaged(ctx context.Context, known, files map[string]entry) (string, error) {
	data, err := readRegular(filepath.Join(k.live.admin, "index"), indexMax)
	if err != nil || os.WriteFile(filepath.Join(k.own.dir, "staged"), data, 0o600) != nil {
		return "", nil
	}
	out, err := k.m.git.run(ctx, k.own.withIndex("staged"), nil, "ls-files", "--stage", "-z", "--full-name")
	if err != nil {
		return "", ctx.Err()
	}
	have := map[string]bool{}
	for _, e := range known {
		have[e.id] = true
	}
	for _, e := range files {
		have[e.id] = true
	}
	only := stagedOnly(out, have)
	if len(only) == 0 {
		return "", nil
	}
	tree, err := k.own.writeTree(ctx, "staged-tree", only)
	if err != nil {
		return "", ctx.Err() // such as a blob that is not there
	}
	return k.own.commit(ctx, tree, []string{cmp.Or(k.live.head, k.live.base)}, "cw: what was only staged in the worktree of "+k.req.Alias+"\n")
}

// stagedOnly reads git ls-files --stage -z, "MODE ID STAGE\tPATH\0…", and gives
// the files whose content is nowhere else. A conflict has up to three of a path.
func stagedOnly(out []byte, have map[string]bool) map[string]entry {
	only := map[string]entry{}
	for row := range bytes.SplitSeq(out, []byte{0}) {
		facts, name, ok := strings.Cut(string(row), "\t")
		f := strings.Fields(facts)
		if !ok || len(f) != 3 || f[0] == modeGitlink || have[f[1]] || !fullID().MatchString(f[1]) {
			continue
		}
		if f[2] != "0" {
			name += "~" + f[2]
		}
		only[name] = entry{mode: f[0], id: f[1]}
	}
	return only
}

// tree lists the files of a commit or tree.
func (s *shadow) tree(ctx context.Context, commit string) (map[string]entry, error) {
	out, err := s.git(ctx, treeArgs(commit)...)
	if err != nil {
		return nil, err
	}
	return parseTree(out)
}

// withIndex is the shadow with an index of that name in its folder. Any name
// that the file system has may stand in it, and what is written is on the disk
// when git ends.
func (s *shadow) withIndex(name string) place {
	at := s.place()
	at.env = append(at.env, "GIT_INDEX_FILE="+filepath.Join(s.dir, name))
	at.config = append(at.config, "core.protectNTFS=false", "core.protectHFS=false", "core.fsync=committed")
	at.limit = transferLimit
	return at
}

// writeTree makes a tree of files whose blobs are there.
func (s *shadow) writeTree(ctx context.Context, index string, files map[string]entry) (string, error) {
	var stdin bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(files)) {
		e := files[name]
		fmt.Fprintf(&stdin, "%s %s\t%s\x00", e.mode, e.id, name)
	}
	at := s.withIndex(index)
	if _, err := s.m.git.run(ctx, at, stdin.Bytes(), "update-index", "-z", "--index-info"); err != nil {
		return "", err
	}
	out, err := s.m.git.run(ctx, at, nil, "write-tree")
	return line(out), err
}

// commit makes a commit by cw.
func (s *shadow) commit(ctx context.Context, tree string, parents []string, message string) (string, error) {
	at := s.withIndex("index")
	at.env = append(at.env, "GIT_AUTHOR_NAME=cw", "GIT_AUTHOR_EMAIL=cw@localhost", "GIT_COMMITTER_NAME=cw", "GIT_COMMITTER_EMAIL=cw@localhost")
	args := []string{"commit-tree"}
	for _, p := range slices.Compact(parents) {
		if p != "" {
			args = append(args, "-p", p)
		}
	}
	out, err := s.m.git.run(ctx, at, []byte(message), append(args, tree)...)
	return line(out), err
}
