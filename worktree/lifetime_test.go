package worktree

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// lifetime is the life of one worktree, step by step, and what must not be lost of
// it: the files that an agent or a person wrote since the last commit, and the
// commits.
type lifetime struct {
	*agent
	rng     *rand.Rand
	steps   []string
	work    map[string]string // content by path
	commits []string
	count   int

	trash, keepRef string // where it lies while it is not at its place
	away           bool
}

// lifetimeStep is something that happens to a worktree at its place, or, with away,
// to one that is not.
type lifetimeStep struct {
	name string
	away bool
	do   func(h *lifetime)
}

func lifetimeSteps() []lifetimeStep {
	return []lifetimeStep{
		{name: "write", do: func(h *lifetime) { h.put("work/" + h.next()) }},
		{name: "write", do: func(h *lifetime) { h.put([]string{"README.md", "src/a.txt", "made.txt", "build/made"}[h.rng.IntN(4)]) }},
		{name: "write an ignored file", do: func(h *lifetime) { h.put("build/" + h.next()) }},
		{name: "delete", do: func(h *lifetime) {
			if name := h.one(); name != "" {
				_ = os.Remove(filepath.Join(h.path, name))
				delete(h.work, name)
			}
		}},
		{name: "commit", do: (*lifetime).commitAll},
		{name: "commit on another branch", do: func(h *lifetime) {
			name := h.req.Alias + "-side-" + h.next()
			git(h.t, h.path, "checkout", "-q", "-b", name)
			h.commitAll()
		}},
		{name: "commit and reset", do: func(h *lifetime) {
			kept := maps.Clone(h.work)
			h.commitAll()
			git(h.t, h.path, "reset", "-q", "--mixed", "HEAD~1")
			h.work = kept
		}},
		{name: "end of a run", do: (*lifetime).endRun},
		{name: "set-up", do: func(h *lifetime) { h.setUp("set-"+h.next(), h.commands) }},
		{name: "set-up, killed", do: func(h *lifetime) {
			if err := h.m.BeginSetUp(ctx(h.t), h.lookRequest(), "set-"+h.next()); err != nil {
				h.t.Fatal(err)
			}
			h.commands(h.path)
			h.remove()
		}},
		{name: "remove", do: (*lifetime).remove},
		{name: "clean up", do: func(h *lifetime) {
			removed, _, err := h.m.RemoveClean(ctx(h.t), h.lookRequest())
			if err != nil {
				h.t.Fatal(err)
			}
			if removed && len(h.work) > 0 {
				h.t.Errorf("it was removed with %q in it", slices.Sorted(maps.Keys(h.work)))
			}
			h.away = removed
		}},
		{name: "resume", do: func(h *lifetime) { h.restore() }},
		{name: "restore", away: true, do: func(h *lifetime) { h.restore() }},
		{name: "restore", away: true, do: func(h *lifetime) { h.restore() }},
		{name: "purge", away: true, do: func(h *lifetime) {
			if h.trash != "" {
				h.purge(h.trash)
				h.trash = ""
			}
		}},
	}
}

func (h *lifetime) next() string { h.count++; return fmt.Sprint(h.count) }

// put writes a file of the agent's, or of a person's who works in its place.
func (h *lifetime) put(name string) {
	text := fmt.Sprintf("%s %d %s\n", h.req.Alias, h.count, h.next())
	write(h.t, h.path, name, text)
	h.work[name] = text
}

// one names one of the files that are work.
func (h *lifetime) one() string {
	names := slices.Sorted(maps.Keys(h.work))
	if len(names) == 0 {
		return ""
	}
	return names[h.rng.IntN(len(names))]
}

func (h *lifetime) commitAll() {
	git(h.t, h.path, "add", "--all")
	git(h.t, h.path, "commit", "-q", "--allow-empty", "-m", "change "+h.next())
	h.commits = append(h.commits, git(h.t, h.path, "rev-parse", "HEAD"))
	maps.DeleteFunc(h.work, func(name, _ string) bool { return !strings.HasPrefix(name, "build/") })
}

// commands are what a set-up or a teardown of the project does, careless of what
// is there.
func (h *lifetime) commands(dir string) {
	deeds := []func(){
		func() { write(h.t, dir, "made.txt", "by a command "+h.next()) },
		func() { write(h.t, dir, "build/made", "by a command "+h.next()) },
		func() { write(h.t, dir, "README.md", "by a command "+h.next()) },
		func() { _, _ = tryGit(dir, "clean", "-qfdx") },
		func() { _, _ = tryGit(dir, "checkout", "-q", "--", ".") },
		func() { _, _ = tryGit(dir, "reset", "-q", "--hard") },
		func() { _ = os.RemoveAll(filepath.Join(dir, "work")) },
		func() { _ = os.RemoveAll(filepath.Join(dir, "build")) },
		func() {
			if name := h.one(); name != "" {
				_ = os.Remove(filepath.Join(dir, name))
			}
		},
		func() {
			if name := h.one(); name != "" {
				write(h.t, dir, name, "by a command "+h.next())
			}
		},
	}
	for range 1 + h.rng.IntN(3) {
		deeds[h.rng.IntN(len(deeds))]()
	}
}

// remove takes the steps of a removal: what a killed set-up changed is put back,
// everything is kept, the teardown runs, and the folder goes to the trash.
func (h *lifetime) remove() {
	h.t.Helper()
	if _, err := h.m.SettleBaseline(ctx(h.t), h.lookRequest()); err != nil {
		h.t.Fatal(err)
	}
	name := "removal-" + h.next()
	snap := h.keep(name)
	if snap.Alone == "" {
		h.commands(h.path)
		if _, err := h.m.PutBackWork(ctx(h.t), h.lookRequest(), snap.Ref, "the teardown"); err != nil {
			h.t.Fatal(err)
		}
	}
	h.check("taken down", h.path)
	trash, err := h.m.MoveToTrash(ctx(h.t), h.lookRequest(), filepath.Join(h.home, "trash", h.req.Alias+"-"+name))
	if err != nil {
		h.t.Fatal(err)
	}
	h.trash, h.keepRef, h.away = trash, snap.Ref, true
}

// endRun keeps what was committed beside the branch, as the end of a run does.
func (h *lifetime) endRun() {
	h.t.Helper()
	if _, err := h.m.KeepEnds(ctx(h.t), h.lookRequest(), h.look().Tip); err != nil {
		h.t.Fatal(err)
	}
}

func (h *lifetime) restore() {
	h.t.Helper()
	req := h.ensureRequest()
	req.Trash, req.KeepRef = h.trash, h.keepRef
	if !h.away {
		req.Trash, req.KeepRef = "", ""
	}
	out, err := h.m.Ensure(ctx(h.t), req)
	if err != nil {
		h.t.Fatal(err)
	}
	h.added.Included = out.Included
	h.trash, h.keepRef, h.away = "", "", false
}

// check compares the files of a folder with what was written there last.
func (h *lifetime) check(when, dir string) {
	h.t.Helper()
	for name, want := range h.work {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(got) != want {
			h.t.Errorf("%s: %s holds %q, want %q (%v)", when, name, got, want, err)
		}
	}
}

// TestLifetimes lets agents, persons, set-ups, teardowns, removals and restorings
// follow one another in any order: no byte and no commit is ever lost.
func TestLifetimes(t *testing.T) {
	t.Parallel()
	const shards, length = 2, 9
	each := often(260)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	repo := newRepo(t)
	write(t, repo, ".gitignore", "build/\n")
	git(t, repo, "add", ".")
	git(t, repo, "commit", "-qm", "ignore")
	var mu sync.Mutex
	tried := map[string]int{}
	t.Cleanup(func() {
		t.Logf("%v", tried)
		for _, s := range lifetimeSteps() {
			if tried[s.name] < each/10 && !t.Failed() {
				t.Errorf("%s was tried %d times", s.name, tried[s.name])
			}
		}
	})
	for shard := range shards {
		t.Run(fmt.Sprint(shard), func(t *testing.T) {
			t.Parallel()
			l := newLabFor(t, repo)
			l.ensure()
			var all []string
			for i := range each {
				h := &lifetime{rng: rand.New(rand.NewPCG(seed, uint64(shard*each+i))), work: map[string]string{}}
				h.agent = l.addRequest(l.request(fmt.Sprintf("agent-%d", i)))
				h.live(length)
				if t.Failed() {
					t.Fatalf("lifetime %d: %q", i, h.steps)
				}
				all = append(all, h.commits...)
				mu.Lock()
				for _, name := range h.steps {
					tried[name]++
				}
				mu.Unlock()
			}
			l.forgetful()
			l.holds(all, "at the end")
		})
	}
}

// live takes steps by lot, and brings the worktree back at the end.
func (h *lifetime) live(length int) {
	steps := lifetimeSteps()
	for len(h.steps) < length && !h.t.Failed() {
		s := steps[h.rng.IntN(len(steps))]
		if s.away != h.away {
			continue
		}
		h.steps = append(h.steps, s.name)
		s.do(h)
		if !h.away {
			h.check("after "+s.name, h.path)
		}
	}
	if h.away && !h.t.Failed() {
		h.steps = append(h.steps, "restore")
		h.restore()
		h.check("at the end", h.path)
	}
	if !h.t.Failed() {
		h.endRun()
	}
	_ = removeStubborn(h.path) // the disk need not hold all of them
}
