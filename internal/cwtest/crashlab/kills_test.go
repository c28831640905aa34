package crashlab

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

const (
	// writers is how many agents write at any time.
	writers = 8
	// busyWriters is how many must write for a kill to count as one that fell
	// into work.
	busyWriters = 4
	// shimKills and agentKills go with the default number of daemon kills.
	shimKills, agentKills = 10, 50
)

// setting reads a number from the environment.
func setting(t *testing.T, name string, def int64) int64 {
	text := os.Getenv(name)
	if text == "" {
		return def
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatalf("%s=%q is no number", name, text)
	}
	return n
}

// storm is one round of random kills.
type storm struct {
	*lab.Lab
	rng *rand.Rand

	spawning atomic.Int32 // requests for an agent that are not answered yet

	mu      sync.Mutex
	scripts map[cw.AgentID]fakecli.Script // guarded by mu: every agent that was acknowledged
	killed  map[string]string             // guarded by mu: run → whom this test killed
}

// TestRandomKills kills the daemon again and again while agents write torn,
// huge and invalid lines and others are being spawned, and kills shims and
// agents beside. Then: no byte lost or doubled, no agent hurt by the daemon's
// death, none started twice, every end explained.
func TestRandomKills(t *testing.T) {
	kills := int(setting(t, "CW_LAB_KILLS", 200))
	seed := uint64(setting(t, "CW_LAB_SEED", time.Now().UnixNano()&0xffffff))
	t.Logf("CW_LAB_SEED=%d CW_LAB_KILLS=%d", seed, kills)
	s := &storm{
		Lab: lab.New(t, binary), rng: rand.New(rand.NewPCG(seed, 1)),
		scripts: map[cw.AgentID]fakecli.Script{}, killed: map[string]string{},
	}
	s.Start()
	ctx, stop := context.WithCancel(t.Context())
	var spawner sync.WaitGroup
	for i := range 3 {
		spawner.Go(func() { s.keepWriting(ctx, rand.New(rand.NewPCG(seed, uint64(2+i)))) })
	}
	for len(s.writing()) < writers {
		s.wait(20 * time.Millisecond)
	}
	inWork := s.rage(kills)
	stop()
	spawner.Wait()
	t.Logf("%d daemon kills, %d of them while at least %d agents wrote or one was spawned; %d agents; killed beside: %v",
		kills, inWork, busyWriters, len(s.scripts), count(s.killed))
	if inWork*4 < kills*3 {
		t.Errorf("only %d of %d kills fell into work", inWork, kills)
	}
	s.check()
}

// keepWriting spawns agents so that enough of them write.
func (s *storm) keepWriting(ctx context.Context, rng *rand.Rand) {
	for ctx.Err() == nil {
		if len(s.writing()) >= writers {
			s.wait(20 * time.Millisecond)
			continue
		}
		script := fakecli.Script{
			Book: s.Books, Seed: rng.Uint64(), Pieces: 1000 + rng.IntN(2500), PaceMS: 4,
			File: "work.txt", Content: "work\n", Commit: "Do the work", Signal: `{"status":"done","result":"ok"}`,
		}
		// Not ctx: when the storm is over, the last one must be known too.
		s.spawn(s.T.Context(), script)
	}
}

// spawn asks for an agent until it is acknowledged: with the same key, so that
// asking again never makes a second one.
func (s *storm) spawn(ctx context.Context, script fakecli.Script) {
	req := cw.SpawnRequest{
		RequestKey: cw.NewID(), Goal: script.Goal(), Projects: []string{s.Repo}, Provider: "fake",
		Env: map[string]string{"PATH": os.Getenv("PATH")},
	}
	s.spawning.Add(1)
	defer s.spawning.Add(-1)
	for {
		view, err := s.Client().Spawn(ctx, req)
		if err == nil {
			s.mu.Lock()
			s.scripts[view.ID] = script
			s.mu.Unlock()
			return
		}
		switch cw.ErrorCode(err) {
		case cw.CodeUnreachable, cw.CodeInternal: // killed in between
		default:
			s.T.Errorf("spawn: %v", err)
			return
		}
		s.wait(20 * time.Millisecond)
	}
}

// wait lets time pass: the kills must fall anywhere.
func (s *storm) wait(d time.Duration) { <-time.After(d) }

// writing lists the CLIs that live now.
func (s *storm) writing() []lab.Process {
	return slices.DeleteFunc(lab.Processes(string(s.Home)), func(p lab.Process) bool { return p.Shim || p.Run == "" })
}

// rage kills, and gives how many kills of the daemon fell into work: enough
// agents wrote, or a spawn was under way.
func (s *storm) rage(kills int) (inWork int) {
	shims, agents := max(1, kills*shimKills/200), max(1, kills*agentKills/200)
	for n := range kills {
		s.wait(time.Duration(15+s.rng.IntN(300)) * time.Millisecond)
		if shims > 0 && n%(max(1, kills/(shims+1))) == 1 {
			shims -= s.killOne("shim", func(p lab.Process) bool { return p.Shim })
		}
		if agents > 0 && s.rng.IntN(kills) < agentKills*kills/200*2 {
			agents -= s.killOne("agent", func(p lab.Process) bool { return !p.Shim && p.Run != "" })
		}
		if len(s.writing()) >= busyWriters || s.spawning.Load() > 0 {
			inWork++
		}
		s.Kill()
		s.Start()
	}
	for shims > 0 || agents > 0 {
		s.wait(20 * time.Millisecond)
		if shims > 0 {
			shims -= s.killOne("shim", func(p lab.Process) bool { return p.Shim })
		}
		if agents > 0 {
			agents -= s.killOne("agent", func(p lab.Process) bool { return !p.Shim && p.Run != "" })
		}
	}
	return inWork
}

// killOne kills a random process of a run that nothing was done to yet.
func (s *storm) killOne(what string, want func(lab.Process) bool) int {
	all := slices.DeleteFunc(lab.Processes(string(s.Home)), func(p lab.Process) bool { return !want(p) })
	s.mu.Lock()
	defer s.mu.Unlock()
	all = slices.DeleteFunc(all, func(p lab.Process) bool { return p.Run == "" || s.killed[p.Run] != "" })
	if len(all) == 0 {
		return 0
	}
	victim := all[s.rng.IntN(len(all))]
	s.killed[victim.Run] = what
	_ = syscall.Kill(victim.PID, syscall.SIGKILL) // it may have ended just now
	return 1
}

func count(m map[string]string) map[string]int {
	out := map[string]int{}
	for _, what := range m {
		out[what]++
	}
	return out
}

// check holds everything against the books.
func (s *storm) check() {
	s.T.Helper()
	books := map[string]fakecli.Book{}
	ends := map[string]int{}
	for id, script := range s.scripts {
		view := s.Rest(string(id))
		ends[string(view.Status)+" "+string(view.Reason)]++
		if len(books) == 0 || books[string(view.Runs[0].ID)].Run == "" {
			var err error
			if books, err = fakecli.ReadBooks(s.Books); err != nil {
				s.T.Fatal(err)
			}
		}
		for _, problem := range s.judge(view, script, books[string(view.Runs[0].ID)]) {
			s.T.Errorf("agent %s (%s %s): %s", view.Alias, view.Status, view.Reason, problem)
		}
	}
	for run, book := range books {
		// One that was killed may have opened its book and not yet written in it.
		if n := book.Starts(); n > 1 || n == 0 && s.killed[run] == "" {
			s.T.Errorf("run %s was started %d times", run, n)
		}
	}
	s.T.Logf("ends: %v; %d runs in the books", ends, len(books))
	for _, p := range lab.Processes(string(s.Home)) {
		if p.Run != "" {
			s.T.Errorf("left behind: %d %s", p.PID, p.Command)
		}
	}
}

// judge tells what is wrong with one agent.
func (s *storm) judge(v cw.AgentView, script fakecli.Script, book fakecli.Book) (problems []string) {
	bad := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	raw := s.Raw(string(v.ID), 1)
	all := fakecli.NewStream(script.Seed, script.Tame).Bytes(script.Pieces)
	if n := commonPrefix(raw, all); n < len(raw) {
		bad("stored output differs from what was written, from byte %d of %d", n, len(raw))
	}
	if int64(len(raw)) < book.Wrote() {
		bad("%d bytes are stored, %d were written", len(raw), book.Wrote())
	}
	if book.Ended() && len(raw) != len(all) {
		bad("%d bytes are stored of a run that wrote %d", len(raw), len(all))
	}
	switch by := s.killed[string(v.Runs[0].ID)]; {
	case by == "" && v.Status != cw.StatusIdle:
		bad("nobody touched it, and it is not idle: %s\n%s", v.Error, tail(s.DaemonLog()))
	case by == "" && (v.ExitCode == nil || *v.ExitCode != 0 || v.Commits() != 1):
		bad("nobody touched it: exit code %v, %d commits", v.ExitCode, v.Commits())
	case by != "" && !book.Ended() && v.Status != cw.StatusCrashed:
		bad("its %s was killed in mid work", by)
	case v.Status == cw.StatusCrashed && (v.Reason == "" || v.Error == ""):
		bad("its end is not explained")
	}
	if v.Status == cw.StatusIdle {
		head := lab.Git(s.T, s.Repo, "rev-parse", "refs/heads/"+v.Branch)
		if head != v.HeadCommit {
			bad("the branch in the user's repository is at %s, not at %s", head, v.HeadCommit)
		}
	}
	return problems
}

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

func tail(log string) string {
	const most = 4000
	if len(log) > most {
		return "…" + log[len(log)-most:]
	}
	return log
}
