package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"cw/internal/cw"
)

// A reference of the user's that cannot be fetched keeps nobody from working: it
// is skipped and named, and tried again next time. Only an agent that is to
// begin at it is refused.

const (
	// skippedMax is how many such references are looked for one by one. Beyond,
	// the repository as a whole is damaged.
	skippedMax = 20
	// namedMax is how many of them a note names.
	namedMax = 3
)

// sync fetches the user's heads and tags when they changed since last time, and
// names those that cannot be fetched. A tag that an agent made stays.
func (x *mirror) sync(ctx context.Context) (skipped []string, err error) {
	all, err := x.m.userRefs(x.p.GitDir).list(ctx, syncedPrefixes()...)
	if err != nil {
		return nil, err
	}
	state := fingerprint(all) + x.depth()
	file := filepath.Join(x.guardDir(), syncedFile)
	if last, err := readSmall(file); err == nil && string(last) == state {
		return nil, nil
	}
	sound, skipped, err := x.m.soundRefs(ctx, x.p.GitDir)
	if err != nil {
		return nil, err
	}
	if err = x.syncAll(ctx); err != nil && !isFinal(err) {
		// git fetches nothing while there is a reference that it cannot read, or one
		// whose name leaves no room for another.
		_, mendErr := x.mendBroken(ctx)
		if err := errors.Join(mendErr, x.makeRoom(ctx, sound)); err != nil {
			return nil, err
		}
		err = x.syncAll(ctx)
	}
	if err != nil && !isFinal(err) {
		var bad []string
		bad, err = x.syncEach(ctx, sound, err)
		skipped = append(skipped, bad...)
	}
	if err != nil {
		return nil, err
	}
	if err := x.nameBranches(ctx, sound); err != nil {
		return nil, err
	}
	if len(skipped) > 0 {
		slices.Sort(skipped)
		return slices.Compact(skipped), nil // next time they may be mended
	}
	if err := writeFile(file, []byte(state)); err != nil {
		return nil, fmt.Errorf("note what was fetched: %w", err)
	}
	return nil, nil
}

// depth sums up how much of the history a shallow clone of the user's has, "" for
// all of it: it may grow without any reference that moves.
func (x *mirror) depth() string {
	text, err := readFollowing(filepath.Join(x.p.GitDir, "shallow"))
	if err != nil || len(text) == 0 {
		return ""
	}
	return " " + fingerprint([]reference{{"shallow", string(text)}})
}

// syncAll fetches heads and tags at once.
func (x *mirror) syncAll(ctx context.Context) error {
	heads := []string{"+refs/heads/*:refs/remotes/origin/*"}
	if exists(filepath.Join(x.dir, "shallow")) {
		// As deep as the user's repository is by now.
		if err := x.fetchRefs(ctx, []string{"--prune", "--unshallow"}, heads...); err != nil {
			return err
		}
	} else if err := x.fetchRefs(ctx, []string{"--prune"}, heads...); err != nil {
		return err
	}
	x.m.fail.Hit("worktree/heads")
	return x.fetch(ctx, "--no-prune", "+refs/tags/*:refs/tags/*")
}

// syncEach fetches what can be fetched, by halves, and names the rest. why is the
// failure of all together.
func (x *mirror) syncEach(ctx context.Context, all []reference, why error) (skipped []string, err error) {
	var try func(part []reference) error
	try = func(part []reference) error {
		if len(part) == 0 {
			return nil
		}
		refspecs := make([]string, len(part))
		for i, r := range part {
			refspecs[i] = "+" + r.name + ":" + mirrorRef(r.name)
		}
		err := x.fetchRefs(ctx, []string{"--no-prune"}, refspecs...)
		switch {
		case err == nil:
			return nil
		case isFinal(err):
			return err
		case len(part) == 1:
			if skipped = append(skipped, part[0].name); len(skipped) > skippedMax {
				return why
			}
			return nil
		}
		return errors.Join(try(part[:len(part)/2]), try(part[len(part)/2:]))
	}
	if err := try(all); err != nil {
		return nil, err
	}
	if len(all) > 0 && len(skipped) == len(all) {
		return nil, why
	}
	return skipped, nil
}

// soundRefs lists the user's heads and tags that point to something that is
// there, and names the others.
func (m *Manager) soundRefs(ctx context.Context, gitDir string) (sound []reference, skipped []string, err error) {
	all, err := m.userRefs(gitDir).list(ctx, syncedPrefixes()...)
	if err != nil {
		return nil, nil, err
	}
	var stdin strings.Builder
	for _, r := range all {
		stdin.WriteString(r.id + "\n")
	}
	out, err := m.git.run(ctx, inUserRepo(gitDir), []byte(stdin.String()), "cat-file", "--batch-check=%(objecttype)")
	if err != nil && isFinal(err) {
		return nil, nil, err
	}
	if err != nil { // git cannot tell: fetching will
		return all, nil, nil
	}
	rows := strings.Split(line(out), "\n")
	for i, r := range all {
		if i < len(rows) && strings.HasSuffix(rows[i], " missing") || brokenRef(gitDir, r.name) {
			skipped = append(skipped, r.name)
		} else {
			sound = append(sound, r)
		}
	}
	for _, prefix := range syncedPrefixes() {
		top := filepath.Join(gitDir, filepath.FromSlash(prefix))
		_ = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(path, ".lock") {
				return nil
			}
			if rel, err := filepath.Rel(gitDir, path); err == nil && brokenRef(gitDir, rel) {
				skipped = append(skipped, filepath.ToSlash(rel))
			}
			return nil
		})
	}
	return sound, skipped, nil
}

// makeRoom removes references of the mirror that the user has no more and whose
// names leave no room for those that the user has now: a tag sdk is in the way of
// sdk/v1. What they named is kept below refs/cw/moved: an agent may have made them.
func (x *mirror) makeRoom(ctx context.Context, want []reference) error {
	out, err := x.git(ctx, nil, "for-each-ref", "--format=%(objectname) %(refname)", "--", "refs/tags/", "refs/remotes/origin/")
	if err != nil {
		return err
	}
	wanted := map[string]bool{} // names, and the folders that they are in
	folders := map[string]bool{}
	for _, r := range want {
		name := mirrorRef(r.name)
		wanted[name] = true
		for i := strings.LastIndexByte(name, '/'); i > 0; i = strings.LastIndexByte(name[:i], '/') {
			folders[name[:i]] = true
		}
	}
	var stdin strings.Builder
	kept := map[string]bool{}
	for row := range strings.Lines(string(out)) {
		id, name, ok := strings.Cut(strings.TrimSuffix(row, "\n"), " ")
		if !ok || wanted[name] || !folders[name] && !belowOne(wanted, name) {
			continue
		}
		if !kept[id] {
			kept[id] = true
			fmt.Fprintf(&stdin, "update refs/cw/moved/%s %s\n", id, id)
		}
		fmt.Fprintf(&stdin, "delete %s\n", name)
	}
	if stdin.Len() == 0 {
		return nil
	}
	if _, err := x.git(ctx, []byte(stdin.String()), "update-ref", "--stdin"); err != nil {
		return fmt.Errorf("make room for references: %w", err)
	}
	return nil
}

// belowOne tells whether a name lies in one of the others as if that were a
// folder.
func belowOne(names map[string]bool, name string) bool {
	for i := strings.LastIndexByte(name, '/'); i > 0; i = strings.LastIndexByte(name[:i], '/') {
		if names[name[:i]] {
			return true
		}
	}
	return false
}

// nameMax is how many of the user's branches agents can call by their plain name.
const nameMax = 100

// byName gives the names that stand for the user's branches in the mirror: git
// takes refs/remotes/main/HEAD for "main", and it is no branch that an agent could
// move or check out. Those that scripts compare with come first.
func byName(heads []reference) map[string]string {
	usual := func(r reference) int {
		if i := slices.Index([]string{"main", "master", "develop", "dev", "trunk"}, strings.TrimPrefix(r.name, "refs/heads/")); i >= 0 {
			return i
		}
		return nameMax
	}
	heads = slices.Clone(heads)
	slices.SortStableFunc(heads, func(a, b reference) int { return usual(a) - usual(b) })
	names := map[string]string{}
	for _, r := range heads {
		branch, ok := strings.CutPrefix(r.name, "refs/heads/")
		first, _, _ := strings.Cut(branch, "/")
		if !ok || len(names) == nameMax || first == "origin" || first == "cw" || first == "agent" || strings.HasSuffix(branch, "/HEAD") || !safeRef(r.name) {
			continue
		}
		names["refs/remotes/"+branch+"/HEAD"] = r.id
	}
	return names
}

// nameBranches lets scripts in agents' worktrees and in checks compare with a
// branch of the user's by its plain name, as they do at the user's.
func (x *mirror) nameBranches(ctx context.Context, heads []reference) error {
	out, err := x.git(ctx, nil, "for-each-ref", "--format=%(objectname) %(refname)", "--", "refs/remotes/")
	if err != nil {
		return fmt.Errorf("name branches: %w", err)
	}
	names := byName(heads)
	var gone, made strings.Builder
	for row := range strings.Lines(string(out)) {
		id, name, _ := strings.Cut(strings.TrimSuffix(row, "\n"), " ")
		switch {
		case strings.HasPrefix(name, "refs/remotes/origin/") || !strings.HasSuffix(name, "/HEAD"):
		case names[name] == id:
			delete(names, name)
		case names[name] == "":
			gone.WriteString("delete " + name + "\n")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		made.WriteString("update " + name + " " + names[name] + "\n")
	}
	// In two steps: a name may be in the way of another one.
	for _, stdin := range []string{gone.String(), made.String()} {
		if stdin == "" {
			continue
		}
		if _, err := x.git(ctx, []byte(stdin), "update-ref", "--stdin"); err != nil {
			if isFinal(err) {
				return fmt.Errorf("name branches: %w", err)
			}
			x.m.log.Info("branches of the user's have no plain names in cw's copy", "project", x.p.Name, "error", err)
		}
	}
	return nil
}

// fetch runs git fetch for one refspec.
func (x *mirror) fetch(ctx context.Context, prune, refspec string) error {
	return x.fetchRefs(ctx, []string{prune}, refspec)
}

// fetchRefs runs git fetch from the user's repository by its path: the mirror has
// no remote, else an agent's git push would move the user's branches.
func (x *mirror) fetchRefs(ctx context.Context, options []string, refspecs ...string) error {
	args := append([]string{"fetch", "--quiet", "--no-tags", "--no-recurse-submodules",
		"--no-write-fetch-head", "--no-auto-maintenance", "--update-shallow", "--no-show-forced-updates",
		"--upload-pack=" + x.m.uploadPack(), "--stdin"}, options...)
	at := x.transfer()
	at.source = x.p.GitDir
	_, err := x.gitAt(ctx, at, []byte(strings.Join(refspecs, "\n")+"\n"), append(args, "--end-of-options", x.p.GitDir)...)
	return err
}

// skippedNote names the references of a project that agents do not see.
func skippedNote(p cw.Project, skipped []string) string {
	if len(skipped) == 0 {
		return ""
	}
	names := slices.Clone(skipped[:min(namedMax, len(skipped))])
	for i, name := range names {
		names[i] = strings.TrimPrefix(name, "refs/")
	}
	if more := len(skipped) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("%s cannot be read in %s and is left out; see: git -C %s fsck", strings.Join(names, ", "), p.Where(), cw.ShellWord(p.Where()))
}

func joinNotes(notes ...string) string {
	return strings.Join(slices.DeleteFunc(notes, func(s string) bool { return s == "" }), "; ")
}
