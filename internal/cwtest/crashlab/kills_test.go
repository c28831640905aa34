package crashlab

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

const (
	// writers is how many agents write at any time.
	writers = 8
	// busyWriters is how many must write for a kill to count as one that fell
	// into work.
	busyWriters = 4
	// daemonKills is the default; shimKills and agentKills go with it.
	daemonKills, shimKills, agentKills = 24, 3, 8
	// spawners make agents and persons deal with them, all at once.
	spawners, persons = 3, 3
)

// setting reads a number from the environment.
func setting(t *testing.T, name string, def int64) int64 {
	t.Helper()
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

// seedOf is the seed of what is drawn by lot.
func seedOf(t *testing.T) uint64 {
	t.Helper()
	seed := uint64(setting(t, "CW_LAB_SEED", time.Now().UnixNano()&0xffffff))
	t.Logf("CW_LAB_SEED=%d", seed)
	return seed
}

// storm is one round of random kills, while agents write and people deal with
// them.
type storm struct {
	*person
	t    *testing.T
	rng  *rand.Rand // of who kills
	seed uint64

	acting atomic.Int32 // requests that are not answered yet
	done   atomic.Int32 // that were, by people

	models models
}

func newStorm(t *testing.T) *storm {
	t.Helper()
	seed := seedOf(t)
	l := lab.New(t, binary)
	s := &storm{t: t, rng: rand.New(rand.NewPCG(seed, 1)), seed: seed, models: models{all: map[string]*model{}}}
	// While the storm rages a daemon may not live long enough for any request.
	s.person = &person{Lab: l, scene: newScene(l), mend: func() {}, patience: 24 * time.Hour}
	l.Env = []string{fakecli.KeyVariable + "=" + s.canary}
	return s
}

// TestRandomKills kills the daemon again and again while agents write torn,
// huge and invalid lines, ask questions, are answered, written to, stopped,
// resumed, removed and restored; and kills shims and agents beside. Then every
// invariant must hold, and every agent be as the model has it.
func TestRandomKills(t *testing.T) {
	t.Parallel()
	kills := int(setting(t, "CW_LAB_KILLS", daemonKills))
	s := newStorm(t)
	s.Start()
	inWork := 0
	s.meanwhile(func() { inWork = s.rage(kills) })
	results.row("random kills (seed "+strconv.FormatUint(s.seed, 10)+")", "%d of the daemon, %d of them into work; %v of others; %d agents, %d requests of people answered",
		kills, inWork, count(s.killed), len(s.models.all), s.done.Load())
	if inWork*4 < kills*3 {
		s.wrong("only %d of %d kills fell into work", inWork, kills)
	}
	s.settle()
	for _, p := range append(s.judge(), s.compare()...) {
		s.wrong("%s", p)
	}
	if t.Failed() {
		t.Logf("log:\n%s", tail(s.DaemonLog()))
	}
}

// wrong fails the test, and says so in the table as well: a daemon's log between
// the two is long.
func (s *storm) wrong(format string, args ...any) {
	s.t.Helper()
	s.t.Errorf(format, args...)
	results.row("WRONG in "+s.t.Name(), "%.400s", strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", " / "))
}

// meanwhile does something while agents are made and people deal with them, and
// returns when all of them have let go.
func (s *storm) meanwhile(do func()) {
	ctx, stop := context.WithCancel(s.t.Context())
	var crowd sync.WaitGroup
	for i := range spawners {
		crowd.Go(func() { s.makeAgents(ctx, rand.New(rand.NewPCG(s.seed, uint64(10+i)))) })
	}
	for i := range persons {
		crowd.Go(func() { s.deal(ctx, rand.New(rand.NewPCG(s.seed, uint64(20+i)))) })
	}
	for end := time.Now().Add(patience); len(s.writing()) < busyWriters; s.wait(pause) {
		if time.Now().After(end) {
			s.wrong("only %d agents write", len(s.writing()))
			break
		}
	}
	do()
	stop()
	crowd.Wait()
}

// wait lets time pass: the kills must fall anywhere.
func (s *storm) wait(d time.Duration) { <-time.After(d) }

// writing lists the CLIs that live now.
func (s *storm) writing() []lab.Process {
	return slices.DeleteFunc(lab.Processes(string(s.Home)), func(p lab.Process) bool { return p.Shim || p.Run == "" })
}

// rage kills, and gives how many kills of the daemon fell into work: enough
// agents wrote, or a request was under way.
func (s *storm) rage(kills int) (inWork int) {
	shims, agents := max(1, kills*shimKills/daemonKills), max(1, kills*agentKills/daemonKills)
	for n := range kills {
		s.wait(time.Duration(15+s.rng.IntN(250)) * time.Millisecond)
		if shims > 0 && n%(max(1, kills/(shims+1))) == 1 {
			shims -= s.killOne("shim", func(p lab.Process) bool { return p.Shim })
		}
		if agents > 0 && s.rng.IntN(kills) < agentKills*kills/daemonKills*2 {
			agents -= s.killOne("agent", func(p lab.Process) bool { return !p.Shim })
		}
		if len(s.writing()) >= busyWriters || s.acting.Load() > 0 {
			inWork++
		}
		s.Kill()
		s.Start()
	}
	for end := time.Now().Add(patience); (shims > 0 || agents > 0) && time.Now().Before(end); s.wait(20 * time.Millisecond) {
		if shims > 0 {
			shims -= s.killOne("shim", func(p lab.Process) bool { return p.Shim })
		}
		if agents > 0 {
			agents -= s.killOne("agent", func(p lab.Process) bool { return !p.Shim })
		}
	}
	return inWork
}

// killOne kills a random process of a run that nothing was done to yet.
func (s *storm) killOne(what string, want func(lab.Process) bool) int {
	all := slices.DeleteFunc(lab.Processes(string(s.Home)), func(p lab.Process) bool { return p.Run == "" || !want(p) })
	if len(all) == 0 || !s.kills(all[s.rng.IntN(len(all))], what) {
		return 0
	}
	return 1
}

// settle waits until nothing goes on any more, and takes everything in.
func (s *storm) settle() {
	s.t.Helper()
	for ref := range s.models.all {
		if _, err := s.until(ref, "it rests", atRest); err != nil {
			s.wrong("agent %s: %v", ref, err)
		}
	}
	s.look()
}

func count(m map[string]string) map[string]int {
	out := map[string]int{}
	for what := range maps.Values(m) {
		out[what]++
	}
	return out
}
