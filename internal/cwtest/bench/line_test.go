//go:build linux

package bench

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

// line is a lab with an initiative whose tasks the dispatcher starts and merges.
type line struct {
	*rig
	l     *lab.Lab
	slug  string
	phase cw.PhaseID
}

// lineEnv lets the daemon start so many agents at once, whatever they may need of
// memory.
func lineEnv(agents int) []string {
	return []string{"CW_CONFIG_DISPATCH_MACHINE=" + strconv.Itoa(agents), "CW_CONFIG_DISPATCH_KEEPFREE=1MiB"}
}

// newLine makes an initiative in the repository of a lab whose daemon runs. It is
// held until begin.
func newLine(r *rig, l *lab.Lab, provider string) *line {
	r.Helper()
	_, err := l.Client().AddProject(r.Context(), cw.ProjectRequest{Path: l.Repo})
	r.must(err)
	in, err := l.Client().CreateInitiative(r.Context(), cw.CreateInitiativeRequest{Start: true, Name: "line", Projects: []string{l.Repo}})
	r.must(err)
	phase, err := l.Client().CreatePhase(r.Context(), cw.CreatePhaseRequest{Initiative: in.Slug, Name: "Work"})
	r.must(err)
	x := &line{rig: r, l: l, slug: in.Slug, phase: phase.ID}
	hold := true
	x.edit(cw.WorkEdit{Provider: &provider, Hold: &hold})
	return x
}

func (x *line) edit(e cw.WorkEdit) {
	x.Helper()
	_, err := x.l.Client().EditInitiative(x.Context(), x.slug, cw.InitiativeEdit{Work: &e})
	x.must(err)
}

// begin lets the tasks go.
func (x *line) begin() {
	x.Helper()
	hold := false
	x.edit(cw.WorkEdit{Hold: &hold})
}

// task makes a task.
func (x *line) task(req cw.CreateTaskRequest) cw.TaskID {
	x.Helper()
	req.PhaseID = x.phase
	t, err := x.l.Client().CreateTask(x.Context(), req)
	x.must(err)
	return t.ID
}

// accept says that a checkpoint is done.
func (x *line) accept(id cw.TaskID) {
	x.Helper()
	_, err := x.l.Client().DecideTask(x.Context(), id, cw.TaskVerdict{Accept: true})
	x.must(err)
}

// all waits until so many tasks have a status, as long as more and more do.
func (x *line) all(n int, status cw.TaskStatus) (tasks []cw.Task) {
	x.Helper()
	for len(tasks) < n {
		had := len(tasks)
		rarely(x.rig, fmt.Sprintf("more than %d of %d tasks are %s", had, n, status), func() bool {
			var err error
			tasks, err = x.l.Client().Tasks(x.Context(), cw.TaskFilter{Initiative: x.slug, Statuses: []cw.TaskStatus{status}})
			x.must(err)
			return len(tasks) > had
		})
	}
	return tasks
}

// rarely is until for what takes seconds, and is dear to ask for.
func rarely(r *rig, what string, ok func() bool) {
	r.Helper()
	until(r, what, func() bool {
		if ok() {
			return true
		}
		time.Sleep(50 * time.Millisecond)
		return false
	})
}

// learned waits until cw knows what an agent of a provider needs of memory: before
// that it lets few of many begin beside each other.
func learned(r *rig, l *lab.Lab, provider string, agents int) {
	r.Helper()
	if agents < 10 {
		return
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(string(l.Home), "cw.db")+"?mode=ro")
	r.must(err)
	defer db.Close()
	rarely(r, "cw knows what an agent needs of memory", func() bool {
		n := 0
		err := db.QueryRowContext(r.Context(), "SELECT count(*) FROM provider_peaks WHERE provider = ?", provider).Scan(&n)
		r.must(err)
		return n > 0
	})
}

// unblock times the dispatcher from the end of what a task waits for to the first
// step of its agent's process, beside agents that are asked for by hand.
func unblock(r *rig) []figure {
	l, p := newPens(r, lineEnv(4*r.unblocked+4)...)
	x := newLine(r, l, "pen")
	var gates, tasks []cw.TaskID
	for i := range r.unblocked {
		gate := x.task(cw.CreateTaskRequest{Name: fmt.Sprint("gate ", i), Type: cw.TaskCheckpointAction})
		gates = append(gates, gate)
		tasks = append(tasks, x.task(cw.CreateTaskRequest{Name: fmt.Sprint("task ", i), Body: "Write.", DependsOn: []cw.TaskID{gate}}))
	}
	x.begin()
	x.all(r.unblocked, cw.TaskReady) // people see the gates
	p.spawn(l, 1)                    // makes what is made once
	<-p.arrivals
	learned(r, l, "pen", 2*r.unblocked)
	arrived := func(begun time.Time, do func()) (cw.AgentID, time.Duration) {
		do()
		a := p.next()
		return a.agent, a.at.Sub(begun)
	}
	floor, ours := inTurn(r.unblocked, func(int) time.Duration {
		_, d := arrived(time.Now(), func() { p.spawnOne(l) })
		return d
	}, func(i int) time.Duration {
		agent, d := arrived(time.Now(), func() { x.accept(gates[i]) })
		if t, err := l.Client().Task(r.Context(), tasks[i]); err != nil || t.AgentID != agent || t.Status != cw.TaskRunning {
			r.Fatalf("agent %s began, the task is %s with agent %s: %v", agent, t.Status, t.AgentID, err)
		}
		return d
	})
	return latency("a task's dependency is done → its agent's process runs", ours, 0, 0,
		fmt.Sprintf("an agent asked for by hand: p50 %s, p99 %s", inMS(median(floor)), inMS(quantile(floor, 0.99))))
}

// crew has the dispatcher start many agents at once, beside as many that are asked
// for by hand.
func crew(r *rig) []figure {
	byHand := crewOf(r, func(l *lab.Lab, p *pens) func() {
		return func() {
			var wait sync.WaitGroup
			for range r.crew {
				wait.Go(func() { p.spawnOne(l) })
			}
			wait.Wait()
		}
	})
	own := crewOf(r, func(l *lab.Lab, p *pens) func() {
		x := newLine(r, l, "pen")
		for i := range r.crew {
			x.task(cw.CreateTaskRequest{Name: fmt.Sprint("task ", i), Body: "Write.", Paths: []string{fmt.Sprintf("src/p%d/**", i)}})
		}
		return x.begin
	})
	what := func(s string) string {
		return fmt.Sprintf("%d agents started at once by the dispatcher: %s", r.crew, s)
	}
	const floor = "asked for by hand, all at once: "
	cores := func(d time.Duration) string { return round(d.Seconds()) + " s of a core" }
	return []figure{
		{what: what("until the last one's process runs"), ours: round(own.took.Seconds()) + " s", floor: floor + round(byHand.took.Seconds()) + " s",
			value: own.took.Seconds() / byHand.took.Seconds(), goal: goal{unit: "×"}},
		{what: what("daemon's processor time for it"), ours: cores(own.cpu), floor: floor + cores(byHand.cpu),
			value: float64(own.cpu) / float64(max(byHand.cpu, tick)), goal: goal{unit: "×"}},
		{what: what("daemon's processor time while they work on"), ours: round(100*own.rest) + " % of a core", floor: floor + round(100*byHand.rest) + " % of a core",
			value: 100 * own.rest, goal: goal{unit: "% of a core"}},
		{what: what("daemon's memory (RSS), at most"), ours: round(own.most) + " MB", floor: floor + round(byHand.most) + " MB", value: own.most, goal: goal{bound: 100, unit: "MB"}},
		{what: what("daemon's memory (RSS), when they work on"), ours: round(own.now) + " MB", floor: floor + round(byHand.now) + " MB", value: own.now, goal: goal{bound: 100, unit: "MB"}},
	}
}

// crewCost is what it cost the daemon to start many agents.
type crewCost struct {
	took, cpu time.Duration
	rest      float64 // share of a core that it takes while they work
	now, most float64 // MB
}

// crewOf starts a daemon, makes ready, and has it start a crew.
func crewOf(r *rig, ready func(*lab.Lab, *pens) (begin func())) (c crewCost) {
	r.Helper()
	l, p := newPens(r, lineEnv(r.crew+1)...)
	defer func() { // the next daemon is to have the machine for itself
		l.Kill()
		p.release()
	}()
	pid := l.Serving().PID
	p.spawn(l, 1) // makes what is made once
	<-p.arrivals
	begin := ready(l, p)
	learned(r, l, "pen", r.crew)
	used, begun := cpu(r, pid), time.Now()
	begin()
	for range r.crew {
		c.took = max(c.took, p.next().at.Sub(begun))
	}
	rarely(r, "all agents are known to run", func() bool { return l.Serving().AgentsAlive == r.crew+1 })
	c.cpu = cpu(r, pid) - used
	used, begun = cpu(r, pid), time.Now()
	time.Sleep(r.load / 4) // they work, and say nothing
	c.rest = (cpu(r, pid) - used).Seconds() / time.Since(begun).Seconds()
	c.now, c.most = resident(r, pid)
	return c
}

// merges times the queue of one initiative, when much is ready at once and nothing
// is checked, beside git alone.
func merges(r *rig) []figure {
	l := lab.New(r, binary)
	l.Env = append(lineEnv(8), fakecli.KeyVariable+"=key")
	importFiles(r, l.Repo, min(r.files, 1000))
	lab.Git(r, l.Repo, "reset", "-q", "--hard")
	l.Start()
	x := newLine(r, l, "fake")
	for i := range r.merges {
		file := fmt.Sprintf("new/d%d/f%d.txt", i%7, i)
		script := fakecli.Script{
			Book: l.Books, Signal: `{"status":"done","result":"wrote a file"}`,
			Shell: fmt.Sprintf("mkdir -p $(dirname %[1]s) && echo %[2]d > %[1]s && git add -A && git commit -q -m 'Write %[2]d'", file, i),
		}
		x.task(cw.CreateTaskRequest{Name: fmt.Sprint("task ", i), Type: cw.TaskCheckpointVerify, Paths: []string{file}, Body: script.Goal()})
	}
	x.begin()
	tasks := x.all(r.merges, cw.TaskVerifying)
	_, err := l.Client().SetDispatch(r.Context(), cw.DispatchRequest{State: cw.DispatchPaused})
	r.must(err)
	for _, t := range tasks {
		x.accept(t.ID)
	}
	var heads []string
	all, err := l.Client().Merges(r.Context(), x.slug)
	r.must(err)
	for _, m := range all {
		heads = append(heads, m.Parts[0].Head)
	}
	before := plainMerges(r, l, heads)
	begun := time.Now()
	_, err = l.Client().SetDispatch(r.Context(), cw.DispatchRequest{State: cw.DispatchRunning})
	r.must(err)
	x.all(r.merges, cw.TaskDone)
	ours := lastMerged(x).Sub(begun)
	after := plainMerges(r, l, heads)
	if n := len(strings.Fields(lab.Git(r, mirrorOf(r, l), "ls-tree", "-r", "--name-only", "cw/"+x.slug, "new/"))); n != r.merges {
		r.Fatalf("%d files are on the branch, want %d", n, r.merges)
	}
	floor := (before + after) / 2
	perSecond := func(d time.Duration) string { return round(float64(r.merges)/d.Seconds()) + "/s" }
	return []figure{{
		what: fmt.Sprintf("merges of one initiative, %d in the queue, without checks", r.merges), ours: perSecond(ours),
		floor: "`git merge-tree --write-tree`, `commit-tree` and `update-ref`: " + perSecond(floor),
		value: float64(ours) / float64(floor), goal: goal{unit: "×"},
	}}
}

// lastMerged is when the last merge was stored.
func lastMerged(x *line) (last time.Time) {
	x.Helper()
	all, err := x.l.Client().Merges(x.Context(), x.slug)
	x.must(err)
	for _, m := range all {
		if m.MergedAt == nil {
			x.Fatalf("the merge of %s is %s", m.TaskID, m.Status)
		}
		if m.MergedAt.After(last) {
			last = *m.MergedAt
		}
	}
	return last
}

func mirrorOf(r *rig, l *lab.Lab) string {
	r.Helper()
	names, err := filepath.Glob(filepath.Join(l.Home.Repos(), "*.git"))
	r.must(err)
	if len(names) != 1 {
		r.Fatalf("mirrors: %q", names)
	}
	return names[0]
}

// plainMerges merges the same commits one after the other with nothing but git.
func plainMerges(r *rig, l *lab.Lab, heads []string) time.Duration {
	r.Helper()
	dir := filepath.Join(r.TempDir(), "plain.git")
	lab.Git(r, filepath.Dir(dir), "clone", "-q", "--bare", mirrorOf(r, l), dir)
	lab.Git(r, dir, "config", "user.name", "Shop Keeper")
	lab.Git(r, dir, "config", "user.email", "keeper@shop.invalid")
	onto := lab.Git(r, l.Repo, "rev-parse", "HEAD")
	lab.Git(r, dir, "update-ref", "refs/heads/plain", onto)
	return took(func() {
		for _, head := range heads {
			tree := lab.Git(r, dir, "merge-tree", "--write-tree", onto, head)
			commit := lab.Git(r, dir, "commit-tree", "-p", onto, "-p", head, "-m", "Merge", tree)
			lab.Git(r, dir, "update-ref", "refs/heads/plain", commit, onto)
			onto = commit
		}
	})
}

// arrival is an agent whose process runs.
type arrival struct {
	agent cw.AgentID
	at    time.Time
}

// next waits for an agent's process.
func (p *pens) next() arrival {
	p.r.Helper()
	ctx, cancel := context.WithTimeout(p.r.Context(), patience)
	defer cancel()
	select {
	case a := <-p.arrivals:
		return a
	case <-ctx.Done():
		p.r.Fatal("no agent begins")
		return arrival{}
	}
}

// spawnOne asks for an agent.
func (p *pens) spawnOne(l *lab.Lab) cw.AgentID {
	view, err := l.Client().Spawn(p.r.Context(), cw.SpawnRequest{
		RequestKey: cw.NewID(), Goal: "Write.", Projects: []string{l.Repo}, Provider: "pen",
		Env: map[string]string{"PATH": os.Getenv("PATH")},
	})
	if err != nil {
		p.r.Errorf("spawn: %v", err)
	}
	return view.ID
}
