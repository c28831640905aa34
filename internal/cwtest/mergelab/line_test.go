package mergelab

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

// The texts of the person who decides on checkpoints.
const (
	decided  = "we sell by weight"
	rejected = "the window is still dirty"
)

// rareSteps are reached seldom, or at the beginning alone, so daemons die there
// first; the others come with every merge.
func rareSteps() []string {
	return []string{"worktree/integration-fetched", "worktree/integration-made", "dispatch/branches", "dispatch/started", "merge/given-back"}
}

func oftenSteps() []string {
	return []string{
		"dispatch/queued", "dispatch/task-moved", "merge/scratch", "merge/checked", "merge/intended", "merge/moved", "merge/stored",
		"worktree/integration-moved", "worktree/scratch-added", "worktree/scratch-removed", "commands/intended", "commands/ended",
	}
}

// anywhere stands for a death at any moment.
const anywhere = ""

// deaths are the daemons of a test: each dies at its step, or at a moment that is
// drawn by lot, and the last one lives.
type deaths struct {
	h     *house
	rng   *rand.Rand
	steps []string // of the daemon that lives and of those after it
	base  []string // environment without a failpoint
	at    time.Time
	count int
}

// launch starts the next daemon.
func (d *deaths) launch() {
	d.h.Env = slices.Clone(d.base)
	if len(d.steps) > 0 {
		if d.steps[0] == anywhere {
			d.at = time.Now().Add(time.Duration(100+d.rng.IntN(900)) * time.Millisecond)
		} else {
			d.h.Env = append(d.h.Env, "CW_FAILPOINT="+d.steps[0])
		}
	}
	d.h.Launch()
}

// mend kills a daemon whose time has come, and starts the next one after each
// that died.
func (d *deaths) mend() {
	if len(d.steps) > 0 && d.steps[0] == anywhere && time.Now().After(d.at) {
		d.h.Kill()
	}
	if !d.h.Ended(0) {
		return
	}
	if len(d.steps) == 0 {
		d.h.T.Fatalf("the daemon ended by itself\n%s", d.h.DaemonLog())
	}
	d.count++
	d.steps = d.steps[1:]
	d.launch()
}

// seedOf is the seed of what is drawn by lot.
func seedOf(t *testing.T) uint64 {
	t.Helper()
	seed := uint64(time.Now().UnixNano() & 0xffffff)
	if text := os.Getenv("CW_LAB_SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("CW_LAB_SEED=%q is no number", text)
		}
		seed = n
	}
	t.Logf("CW_LAB_SEED=%d", seed)
	return seed
}

// check is the program that the repository is checked with. It notes each commit
// that it finds good.
const check = `set -e
if grep -rn BROKEN caps; then echo "something is BROKEN"; exit 1; fi
n=$(cat caps/limit-*.txt 2>/dev/null | wc -l)
if [ "$n" -gt 3 ]; then echo "LIMIT: $n lines are too many"; exit 1; fi
if grep -rn '^<<<<<<< ' . --include=*.md; then exit 1; fi
if [ -n "$LEDGER" ]; then git rev-parse HEAD >> "$LEDGER"; fi
`

// TestLine brings an initiative of 25 tasks in four phases to a landed branch,
// while the daemon is killed at every step of dispatching, merging and landing
// and at random moments.
func TestLine(t *testing.T) {
	t.Parallel()
	seed := seedOf(t)
	rng := rand.New(rand.NewPCG(seed, 1))
	h := newHouse(t, nil)
	ledger := filepath.Join(h.Books, "checked")
	h.commit(h.Repo, "Furnish the shop", map[string]string{
		"check.sh": check, "caps/none.txt": "none\n", "old.txt": "one\ntwo\nthree\n", "gone.txt": "gone\n",
		"cw.yaml": fmt.Sprintf("env:\n  LEDGER: %s\nchecks:\n  - name: words\n    run: sh check.sh\n    timeout: 1m\n", ledger),
	})
	h.open()
	h.trust()
	mine := h.belongings()
	_, err := h.Client().SetDispatch(t.Context(), cw.DispatchRequest{State: cw.DispatchPaused})
	h.need(err)
	all := h.plan()
	h.Kill()

	often := oftenSteps()
	rng.Shuffle(len(often), func(i, j int) { often[i], often[j] = often[j], often[i] })
	d := &deaths{h: h, rng: rng, base: h.Env}
	for i, step := range append(rareSteps(), often...) {
		d.steps = append(d.steps, step)
		if i%2 == 1 { // never between the first two, which come once
			d.steps = append(d.steps, anywhere)
		}
	}
	d.launch()
	h.mend = d.mend
	began := time.Now()
	h.until("it goes on", func() bool {
		_, err := h.Client().SetDispatch(t.Context(), cw.DispatchRequest{State: cw.DispatchRunning})
		return err == nil
	})
	h.within(4*patience, "all tasks are done", func() bool {
		h.decide()
		tasks, err := h.Client().Tasks(t.Context(), cw.TaskFilter{Initiative: slug})
		return err == nil && !slices.ContainsFunc(tasks, func(x cw.Task) bool { return x.Status != cw.TaskDone })
	})
	if left := slices.DeleteFunc(d.steps, func(s string) bool { return s == anywhere }); len(left) > 0 {
		t.Fatalf("no daemon died at %v", left)
	}
	d.steps = nil
	t.Logf("%d daemons died in %s", d.count, time.Since(began).Round(time.Millisecond))
	h.same(mine)
	h.merged(all, ledger)
	h.removeCrashed()
	h.tidy()
	h.land(d, mine)
}

// plan makes the phases and tasks, and gives the names of those with work.
func (h *house) plan() (withWork []string) {
	gate := func(name string) string { return filepath.Join(h.Books, name) }
	ground, clash := h.phase(slug, "Ground"), h.phase(slug, "Clash")
	people := h.phase(slug, "People", ground)
	end := h.phase(slug, "End", clash, people)
	make := func(phase cw.PhaseID, jobs ...job) {
		for _, j := range jobs {
			h.task(phase, j)
			if j.does.Shell != "" || j.does.Next != nil {
				withWork = append(withWork, j.name)
			}
		}
	}
	make(ground,
		job{name: "shelf-all", paths: []string{"shelf/**"}, does: writes("shelf-all", "shelf/all.txt", "all")},
		job{name: "shelf-one", paths: []string{"shelf/one.txt"}, does: writes("shelf-one", "shelf/one.txt", "one")},
		job{name: "shelf-two", paths: []string{"shelf/two.txt"}, does: writes("shelf-two", "shelf/two.txt", "two")},
		job{name: "guide", paths: []string{"docs/**"}, does: writes("guide", "docs/guide.md", "guide")},
		job{name: "guide-more", paths: []string{"docs/**"}, after: []string{"guide"}, does: shell("guide-more", "grep -q guide docs/guide.md", "echo more >> docs/more.md")},
		job{name: "tool", paths: []string{"tools/*"}, does: shell("tool", "mkdir -p tools; echo 'exit 0' > tools/run; chmod +x tools/run; ln -sf run tools/link")},
	)
	broken := writes("broken", "caps/broken.txt", "BROKEN")
	mended := writes("broken", "caps/broken.txt", "whole")
	mended.Expect = []string{`the check "words"`, "something is BROKEN"}
	broken.Next = &mended
	two := writes("limit-1", "caps/limit-1.txt", "a", "b")
	other := writes("limit-2", "caps/limit-2.txt", "c", "d")
	for _, s := range []*fakecli.Script{&two, &other} { // whichever comes second is too much
		s.Shell = fmt.Sprintf("mkdir -p %[1]s; touch %[1]s/$$; while [ \"$(ls %[1]s | wc -l)\" -lt 2 ]; do sleep 0.02; done\n", gate("limits")) + s.Shell
		name := strings.TrimPrefix(s.Signal, `{"status":"done","result":"did `)[:len("limit-1")]
		less := writes(name, "caps/"+name+".txt", "e")
		less.Expect = []string{"LIMIT: 4 lines are too many"}
		s.Next = &less
	}
	crash := shell("crash", "echo crash > crash.txt")
	crash.Shell = fmt.Sprintf("if mkdir %s 2>/dev/null; then echo '{\"status\":\"error\",\"error\":\"the tool broke\"}' > .cw/output/signal.json; exit 0; fi\n", gate("crashed")) +
		crash.Shell + "\necho '" + crash.Signal + "' > .cw/output/signal.json"
	crash.Signal = ""
	limit := writes("limited", "limited.txt", "limited")
	make(clash,
		job{name: "title-1", does: clashes("title-1", gate("titles"), 3)},
		job{name: "title-2", does: clashes("title-2", gate("titles"), 3)},
		job{name: "title-3", does: clashes("title-3", gate("titles"), 3)},
		job{name: "broken", paths: []string{"caps/broken.txt"}, does: broken},
		job{name: "limit-1", paths: []string{"caps/limit-1.txt"}, does: two},
		job{name: "limit-2", paths: []string{"caps/limit-2.txt"}, does: other},
		job{name: "crash", paths: []string{"crash.txt"}, does: crash},
		job{name: "limited", paths: []string{"limited.txt"}, does: fakecli.Script{Limited: map[string]int{fakecli.AnyAccount: 2}, Next: &limit}},
	)
	clean := writes("window", "window.txt", "clean")
	clean.Expect = []string{rejected}
	window := writes("window", "window.txt", "dirty")
	window.Next = &clean
	make(people,
		job{name: "decide", kind: cw.TaskCheckpointDecide},
		job{name: "act", kind: cw.TaskCheckpointAction},
		job{name: "by-weight", paths: []string{"weight.txt"}, after: []string{"decide"}, does: writes("by-weight", "weight.txt", "weight")},
		job{name: "after-act", paths: []string{"act.txt"}, after: []string{"act"}, does: writes("after-act", "act.txt", "act")},
		job{name: "window", kind: cw.TaskCheckpointVerify, paths: []string{"window.txt"}, does: window},
	)
	make(end,
		job{name: "rename", paths: []string{"old.txt", "new.txt"}, does: shell("rename", "if [ -f old.txt ]; then git mv old.txt new.txt; fi; echo four >> new.txt")},
		job{name: "delete", paths: []string{"gone.txt"}, does: shell("delete", "rm -f gone.txt")},
		job{name: "sum", does: shell("sum", "cat shelf/*.txt weight.txt > sum.txt")},
		job{name: "last", after: []string{"sum", "rename", "delete"}, does: shell("last", "cp sum.txt last.txt; cp new.txt newer.txt")},
		job{name: "nothing", after: []string{"sum"}, does: fakecli.Script{Signal: `{"status":"done","result":"looked","noChanges":"it is good as it is"}`}},
	)
	return withWork
}

// decide does what a person does at checkpoints: decide, act, and reject a result
// once before accepting it; and learns of them from the inbox alone. The daemon
// may die at any of it.
func (h *house) decide() {
	ctx, cancel := context.WithTimeout(h.T.Context(), time.Minute)
	defer cancel()
	in, err := h.Client().Inbox(ctx, slug)
	if err != nil {
		return
	}
	for _, it := range in.Items {
		switch {
		case it.Kind == cw.InboxCheckpoint && it.MergeID == "":
			_, _ = h.Client().DecideTask(ctx, it.TaskID, cw.TaskVerdict{Accept: true, Comment: decided}) // asked again when it was not stored
		case it.Kind == cw.InboxCheckpoint:
			m, there := h.mergeOf(it.Task)
			if !there { // the daemon is dead
				return
			}
			_, _ = h.Client().DecideTask(ctx, it.TaskID, cw.TaskVerdict{Accept: m.Evidence != "", Comment: rejected})
		case it.Kind == cw.InboxBlocked || it.Kind == cw.InboxCrashed || strings.Contains(it.Hint, "cw dispatch retry"):
			h.T.Fatalf("%s waits for somebody: %s %s", it.Task, it.Kind, it.Text)
		}
	}
}

// merged looks that every task came onto the branch exactly once, by a commit
// that was checked, with everything that its agent did.
func (h *house) merged(withWork []string, ledger string) {
	t := h.T
	t.Helper()
	rows, err := h.Client().Integrations(t.Context(), slug)
	h.need(err)
	if len(rows) != 1 {
		t.Fatalf("there are %d branches", len(rows))
	}
	head := h.inMirror("rev-parse", "refs/heads/"+branch)
	if rows[0].Head != head {
		t.Errorf("the branch is at %s, and said to be at %s", head, rows[0].Head)
	}
	h.until("the user is shown the head of the branch", func() bool {
		return lab.Git(t, h.Repo, "rev-parse", "refs/remotes/"+branch) == head
	})
	good, err := os.ReadFile(ledger)
	h.need(err)
	times := map[string]int{}
	for line := range strings.Lines(h.inMirror("log", "--first-parent", "--format=%H %(trailers:key=Task,valueonly,separator=%x2C)", rows[0].BaseCommit+".."+head)) {
		commit, task, _ := strings.Cut(strings.TrimSpace(line), " ")
		times[task]++
		if !strings.Contains(string(good), commit) {
			t.Errorf("%s is on the branch and was never checked", commit)
		}
	}
	for _, name := range withWork {
		if n := times[string(h.tasks[name])]; n != 1 {
			t.Errorf("%s was merged %d times", name, n)
		}
		delete(times, string(h.tasks[name]))
	}
	if len(times) > 0 {
		t.Errorf("on the branch are also %v", times)
	}
	merges, err := h.Client().Merges(t.Context(), slug)
	h.need(err)
	conflicts, reds := 0, 0
	for _, m := range merges {
		if m.Status != cw.MergeMerged {
			t.Errorf("a merge of %s is %s", m.TaskID, m.Status)
		}
		conflicts, reds = conflicts+m.Conflicts, reds+m.Reds
	}
	if conflicts < 2 || reds < 2 {
		t.Errorf("%d conflicts and %d red checks on the way, at least 2 of each were to be", conflicts, reds)
	}
	h.agentsOnce(len(withWork) + 2) // that crashed, and that which found nothing to do
	h.looksRight(head)
}

// agentsOnce looks that there was exactly one agent for each task, and that no run
// was started twice.
func (h *house) agentsOnce(want int) {
	h.T.Helper()
	agents, err := cw.AllAgents(h.T.Context(), h.Client(), cw.AgentFilter{})
	h.need(err)
	if len(agents) != want {
		h.T.Errorf("there were %d agents, %d were to be", len(agents), want)
	}
	books, err := fakecli.ReadBooks(h.Books)
	h.need(err)
	for run, b := range books {
		if b.Starts() != 1 {
			h.T.Errorf("run %s was started %d times", run, b.Starts())
		}
	}
	second := slices.DeleteFunc(agents, func(a cw.AgentView) bool { return a.TaskID != h.tasks["crash"] || a.Status == cw.StatusCrashed })
	if len(second) != 1 {
		h.T.Fatalf("%d agents did what the first one crashed at", len(second))
	}
	prompt, err := os.ReadFile(filepath.Join(h.Home.RunDir(second[0].Alias, 1), "prompt.md"))
	h.need(err)
	if !strings.Contains(string(prompt), "the tool broke") {
		h.T.Errorf("the second agent was not told what failed:\n%s", prompt)
	}
}

// removeCrashed removes the agent that crashed, as a person would: it keeps its
// worktree, so that it can be resumed, until then.
func (h *house) removeCrashed() {
	h.T.Helper()
	agents, err := cw.AllAgents(h.T.Context(), h.Client(), cw.AgentFilter{})
	h.need(err)
	for _, a := range agents {
		if a.Status == cw.StatusCrashed {
			_, err := h.Client().Remove(h.T.Context(), string(a.ID))
			h.need(err)
		}
	}
}

// looksRight checks the branch out somewhere else: the checks are green, and all
// work is there.
func (h *house) looksRight(head string) {
	h.T.Helper()
	dir := filepath.Join(filepath.Dir(h.Repo), "look")
	lab.Git(h.T, h.Repo, "clone", "-q", "--no-checkout", h.Repo, dir)
	lab.Git(h.T, dir, "fetch", "-q", "origin", "refs/remotes/"+branch)
	lab.Git(h.T, dir, "checkout", "-q", "--detach", head)
	lab.Git(h.T, dir, "-c", "alias.check=!sh check.sh", "check")
	for name, want := range map[string]string{
		"shelf/all.txt": "all\n", "shelf/one.txt": "one\n", "shelf/two.txt": "two\n", "docs/guide.md": "guide\n", "docs/more.md": "more\n",
		"caps/broken.txt": "whole\n", "crash.txt": "crash\n", "limited.txt": "limited\n", "weight.txt": "weight\n", "act.txt": "act\n",
		"window.txt": "clean\n", "new.txt": "one\ntwo\nthree\nfour\n", "last.txt": "all\none\ntwo\nweight\n", "tools/link": "exit 0\n",
	} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			h.T.Errorf("%s holds %q (%v), it was to be %q", name, got, err, want)
		}
	}
	for _, name := range []string{"old.txt", "gone.txt"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			h.T.Errorf("%s is still there", name)
		}
	}
	readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
	h.need(err)
	for _, name := range []string{"title-1", "title-2", "title-3"} {
		if strings.Count(string(readme), name) != 1 {
			h.T.Errorf("the README holds %s %d times:\n%s", name, strings.Count(string(readme), name), readme)
		}
	}
}

// land brings the branch onto the user's main, which is checked out, while the
// daemon dies at each step of it.
func (h *house) land(d *deaths, mine map[string]string) {
	t := h.T
	t.Helper()
	h.Kill()
	d.steps = []string{"worktree/land-fetched", "worktree/landed", "merge/landed"}
	d.launch()
	h.until("it is landed", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		_, err := h.Client().Land(ctx, slug, cw.LandRequest{})
		return err == nil && len(d.steps) == 0
	})
	head := h.inMirror("rev-parse", "refs/heads/"+branch)
	if at := lab.Git(t, h.Repo, "rev-parse", "main"); at != head {
		t.Errorf("main is at %s, it was to be at %s", at, head)
	}
	mine["refs/heads/main"], mine["trees"] = head, lab.Git(t, h.Repo, "worktree", "list")
	h.same(mine)
	h.tidy()
}
