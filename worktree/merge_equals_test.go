package worktree

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
)

// mergeCases is how many merges are compared with git's own.
func mergeCases() int { return often(225) }

// world is a tree: mode and content by path. A submodule's content is its id.
type world map[string]worldFile

type worldFile struct{ mode, text string }

func (w world) clone() world { return maps.Clone(w) }

// files gives the paths of a mode, in order.
func (w world) files(modes ...string) []string {
	var out []string
	for _, path := range slices.Sorted(maps.Keys(w)) {
		if slices.Contains(modes, w[path].mode) {
			out = append(out, path)
		}
	}
	return out
}

// put sets a file; what is in its way, above or below, goes.
func (w world) put(path string, f worldFile) {
	for other := range w {
		if strings.HasPrefix(other, path+"/") || strings.HasPrefix(path, other+"/") {
			delete(w, other)
		}
	}
	w[path] = f
}

// newWorld is what every case begins from.
func newWorld(r *rand.Rand) world {
	w := world{}
	for i := range 3 + r.IntN(5) {
		var text strings.Builder
		for l := range 10 + r.IntN(30) {
			fmt.Fprintf(&text, "file %d line %d %d\n", i, l, r.IntN(1000))
		}
		w[[]string{"a.txt", "b.txt", "src/c.go", "src/d.go", "lib/deep/e.c", "docs/f.md", "crlf.txt", "g.h"}[i]] = worldFile{modeFile, text.String()}
	}
	if f, ok := w["crlf.txt"]; ok {
		w["crlf.txt"] = worldFile{modeFile, strings.ReplaceAll(f.text, "\n", "\r\n")}
	}
	w["pic.bin"] = worldFile{modeFile, "\x00\x01\x02" + strings.Repeat("x", r.IntN(50))}
	w["big.psd"] = worldFile{modeFile, "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("a", 64) + "\nsize 12\n"}
	w["link"] = worldFile{modeLink, "a.txt"}
	w["sub"] = worldFile{modeGitlink, strings.Repeat("1", 40)}
	w["CHANGES"] = worldFile{modeFile, "first\nsecond\n"}
	attributes := "*.psd filter=lfs diff=lfs merge=lfs -text\n"
	switch r.IntN(4) {
	case 0:
		attributes += "CHANGES merge=union\n*.txt text eol=crlf\n"
	case 1:
		attributes += "*.txt -merge\n*.go conflict-marker-size=12\n"
	case 2:
		attributes += "*.txt merge=evil\n*.go text eol=lf\n"
	}
	w[".gitattributes"] = worldFile{modeFile, attributes}
	if r.IntN(3) == 0 {
		w["src/.gitattributes"] = worldFile{modeFile, "*.go merge=union\n"}
	}
	return w
}

// change makes one change, of a kind that both sides may choose.
func (w world) change(r *rand.Rand, side string) {
	plain := w.files(modeFile)
	path := plain[r.IntN(len(plain))]
	f := w[path]
	lines := strings.SplitAfter(f.text, "\n")
	switch r.IntN(17) {
	case 0, 1, 2, 3: // a line of few, so that both sides meet now and then
		i := r.IntN(min(len(lines), 6))
		lines[i] = side + " wrote this\n"
		w[path] = worldFile{f.mode, strings.Join(lines, "")}
	case 4, 5: // at the end
		w[path] = worldFile{f.mode, f.text + side + " added\n"}
	case 6:
		w["CHANGES"] = worldFile{modeFile, w["CHANGES"].text + side + "\n"}
	case 7:
		delete(w, path)
	case 8, 9: // renamed, mostly to a place that the other side would choose too
		delete(w, path)
		to := []string{"moved/" + filepath.Base(path), "new-" + filepath.Base(path), path + "." + side}[r.IntN(3)]
		if r.IntN(2) == 0 && len(lines) > 5 {
			lines[len(lines)-2] = side + " renamed and wrote\n"
		}
		w.put(to, worldFile{f.mode, strings.Join(lines, "")})
	case 10:
		w[path] = worldFile{modeExec, f.text}
	case 11: // a link where a file was
		w[path] = worldFile{modeLink, side}
	case 12: // a file where a folder was
		if _, dir, ok := strings.Cut(path, "/"); ok {
			w.put(strings.TrimSuffix(path, "/"+dir), worldFile{modeFile, side + "\n"})
		} else {
			w.put(path+"/inside.txt", worldFile{modeFile, f.text})
		}
	case 13:
		w.put("pic.bin", worldFile{modeFile, "\x00" + side + strings.Repeat("y", r.IntN(3))})
	case 14: // in case only
		delete(w, path)
		w.put(strings.ToUpper(path), f)
	case 15:
		w.put("sub", worldFile{modeGitlink, strings.Repeat([]string{"1", "2", "3"}[r.IntN(3)], 40)})
	case 16:
		w.put("added.txt", worldFile{modeFile, []string{"the same\n", side + "\n"}[r.IntN(2)]})
	}
	if len(w.files(modeFile)) == 0 {
		w["a.txt"] = worldFile{modeFile, "again\n"}
	}
}

// history writes commits for git fast-import.
type history struct {
	bytes.Buffer
	marks int
}

func (h *history) commit(ref string, w world, parents ...int) int {
	h.marks++
	fmt.Fprintf(h, "commit %s\nmark :%d\ncommitter A <a@b> %d +0000\ndata 1\nx\n", ref, h.marks, 1700000000+h.marks)
	for i, p := range parents {
		fmt.Fprintf(h, "%s :%d\n", []string{"from", "merge"}[i], p)
	}
	h.WriteString("deleteall\n")
	for _, path := range slices.Sorted(maps.Keys(w)) {
		f := w[path]
		if f.mode == modeGitlink {
			fmt.Fprintf(h, "M %s %s %s\n", f.mode, f.text, path)
			continue
		}
		fmt.Fprintf(h, "M %s inline %s\ndata %d\n%s\n", f.mode, path, len(f.text), f.text)
	}
	return h.marks
}

// writeCase makes the branches ours/i and theirs/i, every fifth time with two
// merge bases.
func (h *history) writeCase(i int, r *rand.Rand) {
	base := newWorld(r)
	ours, theirs := base.clone(), base.clone()
	scratch := fmt.Sprintf("refs/heads/base/%d", i)
	root := h.commit(scratch, base)
	for range 2 + r.IntN(4) {
		ours.change(r, "ada")
		theirs.change(r, "bob")
	}
	a := h.commit(fmt.Sprintf("refs/heads/ours/%d", i), ours, root)
	b := h.commit(fmt.Sprintf("refs/heads/theirs/%d", i), theirs, root)
	if i%5 != 0 {
		return
	}
	// Each merges the other, and resolves in its own way.
	one, two := ours.clone(), theirs.clone()
	one.change(r, "ada again")
	two.change(r, "bob again")
	h.commit(fmt.Sprintf("refs/heads/ours/%d", i), one, a, b)
	h.commit(fmt.Sprintf("refs/heads/theirs/%d", i), two, b, a)
}

// plainMerge is what git merge does in a checkout: the tree when it is clean, or
// the paths that it leaves unmerged. ok is false where git does not even begin: a
// file that its attributes would store in another way counts as changed.
func plainMerge(t *testing.T, dir, ours, theirs string) (tree string, conflicts []string, ok bool) {
	t.Helper()
	git(t, dir, "checkout", "-q", "-f", "--detach", ours)
	git(t, dir, "clean", "-ffdxq")
	_, err := tryGit(dir, "merge", "-q", "--no-commit", "--no-ff", theirs)
	for row := range strings.SplitSeq(git(t, dir, "ls-files", "-u", "-z"), "\x00") {
		if _, path, ok := strings.Cut(row, "\t"); ok && !slices.Contains(conflicts, path) {
			conflicts = append(conflicts, strings.Replace(path, "~HEAD", "~"+ours, 1))
		}
	}
	switch {
	case err == nil:
		tree = git(t, dir, "write-tree")
	case strings.Contains(err.Error(), "Your local changes"):
		return "", nil, false
	case len(conflicts) == 0:
		t.Errorf("git merge of %s and %s did not work: %v", ours, theirs, err)
	}
	_ = os.Remove(filepath.Join(dir, ".git/MERGE_HEAD"))
	return tree, conflicts, true
}

// TestMergeEqualsGit compares trees and verdicts with those of git merge in a
// checkout.
func TestMergeEqualsGit(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	h := &history{}
	for i := range mergeCases() {
		h.writeCase(i, rand.New(rand.NewPCG(seed, uint64(i))))
	}
	repo := newRepo(t)
	m := New(Options{})
	if _, err := m.git.run(ctx(t), inUserRepo(filepath.Join(repo, ".git")), h.Bytes(), "fast-import", "--quiet"); err != nil {
		t.Fatal(err)
	}
	l := newLabFor(t, repo)
	l.ensure()
	scratch := filepath.Join(t.TempDir(), "scratch")
	git(t, "/", "clone", "-q", "--shared", "--no-checkout", repo, scratch)
	ids := map[string]string{}
	for row := range strings.Lines(git(t, repo, "for-each-ref", "--format=%(refname:short) %(objectname)", "refs/heads")) {
		name, id, _ := strings.Cut(strings.TrimSpace(row), " ")
		ids[name] = id
	}
	clean, conflicted, skipped := 0, 0, 0
	for i := range mergeCases() {
		ours, theirs := ids[fmt.Sprintf("ours/%d", i)], ids[fmt.Sprintf("theirs/%d", i)]
		tree, paths, ok := plainMerge(t, scratch, ours, theirs)
		if !ok {
			skipped++
			continue
		}
		got, err := l.m.TryMerge(ctx(t), l.mergeRequest(ours, theirs))
		if err != nil {
			t.Errorf("case %d: %v", i, err)
			continue
		}
		if tree != "" {
			clean++
		} else {
			conflicted++
		}
		var said []string
		for _, c := range got.Conflicts {
			said = append(said, c.Path)
		}
		missed := slices.ContainsFunc(paths, func(p string) bool { return !slices.Contains(said, p) })
		if (tree == "") != (len(got.Conflicts) > 0) || tree != "" && tree != got.Tree || missed {
			t.Errorf("case %d: git says tree %q, conflicts in %q; cw says %s, %+v", i, tree, paths, got.Tree, got.Conflicts)
		}
	}
	t.Logf("%d merges: %d clean, %d with conflicts, %d that git does not begin", mergeCases(), clean, conflicted, skipped)
	if clean*10 < mergeCases() || conflicted*10 < mergeCases() || (clean+conflicted)*2 < mergeCases() {
		t.Errorf("%d clean and %d conflicting are not enough", clean, conflicted)
	}
}

func (l *lab) mergeRequest(onto, head string) MergeRequest {
	return MergeRequest{
		Project: l.p, Onto: onto, Head: head, Strategy: cw.MergeCommit, Message: "Merge it",
		Name: "Ada", Email: "ada@example.com", At: time.Unix(1700000000, 0),
	}
}
