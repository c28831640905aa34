package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"cw/internal/cw"
)

const (
	// exitPeople is the word of a report for a walk that ended where only people can
	// let tasks go on.
	exitPeople = "people"
	// changesSettle is how long changes are gathered before it is looked what they
	// are: one transaction tells several.
	changesSettle = 100 * time.Millisecond
	// heldUpAfter is how long the same thing holds up a merge before it counts as
	// one that does not pass by itself: the dispatcher tries again several times.
	heldUpAfter = time.Minute
)

// taskWatch is how a walk waits for tasks.
type taskWatch struct {
	walk    *walk
	changes <-chan item[cw.Event] // nil: only the ticks tell
	ticks   <-chan time.Time
	before  *executeView // of the last look
	still   bool         // nothing went on by itself at the last look
	away    bool         // the daemon was not there
	asks    bool         // agents' questions are answered here
	held    map[cw.TaskID]holdUp
}

// holdUp is what holds up a merge, and since when it is known.
type holdUp struct {
	why   string
	since time.Time
}

// execute waits until every task of the initiative is done, and tells what
// happens on the way. Tasks are started by the daemon: who leaves changes nothing
// about them. Its error is where it ended before its end.
func (w *walk) execute(ctx context.Context) error {
	w.report.Step = cw.ModeExecute
	w.say("%s", w.plan.place(cw.ModeExecute))
	watching, cancel := context.WithCancel(ctx)
	var pumps sync.WaitGroup
	defer pumps.Wait()
	defer cancel()
	ticks := time.NewTicker(lookEvery)
	defer ticks.Stop()
	t := taskWatch{walk: w, ticks: ticks.C, asks: true}
	t.changes = pump(watching, &pumps, w.svc.Events(watching, cw.EventQuery{Initiative: string(w.initiative.ID), Follow: true, Tail: true}))
	for {
		over, err := t.turn(ctx)
		switch {
		case ctx.Err() != nil && (err != nil || !over):
			return w.leftTasks()
		case over || err != nil:
			return err
		}
	}
}

// turn looks once, tells what changed, does what is to be done, and waits until it
// is worth to look again. over tells that the walk ends, with or without an
// error.
func (t *taskWatch) turn(ctx context.Context) (over bool, err error) {
	w := t.walk
	v, err := w.lookAtTasks(ctx)
	if err != nil {
		return false, t.outage(ctx, err)
	}
	v.held = t.heldUp(v.merges)
	t.tell(v)
	m := nextExecute(v, w.noWaitParked)
	w.report.Tasks = append([]cw.DispatchTask{}, slices.Concat(v.status.Running, v.status.Ready, v.status.Waiting)...)
	if m.over {
		return true, w.allDone(v)
	}
	if answered, err := t.answer(ctx, m.asking); answered || err != nil {
		t.still = false
		return false, err
	}
	if len(m.people)+len(m.parked) == 0 {
		t.still = false
		t.changes, err = awaitChange(ctx, t.changes, t.ticks)
		return false, err
	}
	if t.still { // twice in a row: what is told was not read at one moment
		return true, w.leftToPeople(m)
	}
	t.still = true
	return false, pause(ctx, reopenAfter)
}

// heldUp tells which merges are held up by the same thing for a while already.
func (t *taskWatch) heldUp(merges []cw.Merge) map[cw.TaskID]bool {
	now, out := map[cw.TaskID]holdUp{}, map[cw.TaskID]bool{}
	for _, m := range merges {
		if m.Wait == "" || m.Status != cw.MergeQueued && m.Status != cw.MergeChecking {
			continue
		}
		h := t.held[m.TaskID]
		if h.why != m.Wait {
			h = holdUp{why: m.Wait, since: time.Now()}
		}
		now[m.TaskID] = h
		out[m.TaskID] = time.Since(h.since) >= heldUpAfter
	}
	t.held = now
	return out
}

// outage waits for a daemon that went away. Any other error is given back.
func (t *taskWatch) outage(ctx context.Context, err error) error {
	if cw.ErrorCode(err) != cw.CodeUnreachable || saidItself(err) {
		return err
	}
	if a := t.walk.app; !t.away {
		fmt.Fprintln(a.err, a.paint(a.errTTY).yellow("the daemon is away; agents work on, and it goes on here when it is back (any cw command starts it)"))
	}
	t.away = true
	return pause(ctx, lookEvery)
}

// tell writes what changed since the last look.
func (t *taskWatch) tell(v executeView) {
	a := t.walk.app
	p := a.paint(a.errTTY)
	if t.away {
		t.away = false
		fmt.Fprintln(a.err, outageLine(p, false))
	}
	for _, line := range executeLines(t.before, v) {
		fmt.Fprintln(a.err, line.shown(p))
	}
	t.before = &v
}

// answer answers what agents ask, until the terminal is closed at a question.
func (t *taskWatch) answer(ctx context.Context, asking []cw.AgentView) (answered bool, err error) {
	if !t.asks {
		return false, nil
	}
	answered, err = t.walk.answerTasks(ctx, asking)
	if errors.Is(err, io.EOF) {
		t.asks, err = false, nil
	}
	return answered, err
}

// lookAtTasks reads what there is. The dispatcher is asked first: what it tells is
// then never newer than where the tasks are.
func (w *walk) lookAtTasks(ctx context.Context) (executeView, error) {
	id, slug := string(w.initiative.ID), oneLine(w.initiative.Slug)
	v := executeView{asking: map[cw.AgentID]cw.AgentView{}}
	var err error
	if v.status, err = w.svc.Dispatch(ctx, id); err != nil {
		return v, fmt.Errorf("look at the tasks of %s: %w", slug, err)
	}
	now, err := w.svc.Initiative(ctx, id)
	if err != nil {
		return v, fmt.Errorf("look at %s: %w", slug, err)
	}
	for _, t := range now.Tasks { // those of archived phases are never done
		if slices.ContainsFunc(now.Phases, func(ph cw.Phase) bool { return ph.ID == t.PhaseID }) {
			v.tasks = append(v.tasks, t)
		}
	}
	if v.merges, err = w.svc.Merges(ctx, id); err != nil {
		return v, fmt.Errorf("look at the merges of %s: %w", slug, err)
	}
	open, err := allQuestions(ctx, w.svc, cw.QuestionFilter{Statuses: []cw.QuestionStatus{cw.QuestionOpen}})
	if err != nil {
		return v, fmt.Errorf("list the questions: %w", err)
	}
	for _, t := range v.status.Running {
		if !slices.ContainsFunc(open, func(q cw.QuestionView) bool { return q.AgentID == t.AgentID }) {
			continue
		}
		agent, err := w.svc.Agent(ctx, string(t.AgentID))
		if err != nil {
			return v, fmt.Errorf("look at %s: %w", t.Agent, err)
		}
		if callWaits(agent) || agent.Status == cw.StatusWaitingForInput && len(agent.PendingQuestions) > 0 {
			v.asking[t.AgentID] = agent
		}
	}
	return v, nil
}

// awaitChange waits until something happened, or for a while. It gives the
// channel on which it is told, nil when it was closed: then there is the while
// alone. The error is the end of ctx.
func awaitChange(ctx context.Context, changes <-chan item[cw.Event], while <-chan time.Time) (<-chan item[cw.Event], error) {
	for {
		select {
		case it, ok := <-changes:
			switch {
			case !ok || it.err != nil:
				changes = nil
				continue
			case !it.value.Type.Stored(): // what an agent does just now changes no task
				continue
			}
			if err := pause(ctx, changesSettle); err != nil {
				return changes, err
			}
			return drained(changes), nil
		case <-while:
			return changes, nil
		case <-ctx.Done():
			return changes, ctx.Err()
		}
	}
}

// drained takes what waits on a channel already: the next look sees all of it.
func drained(changes <-chan item[cw.Event]) <-chan item[cw.Event] {
	for {
		select {
		case it, ok := <-changes:
			if !ok || it.err != nil {
				return nil
			}
		default:
			return changes
		}
	}
}

// answerTasks answers what agents ask, as far as the file of answers or a person
// at the terminal does.
func (w *walk) answerTasks(ctx context.Context, asking []cw.AgentView) (answered bool, err error) {
	for _, agent := range asking {
		w.keep(agent)
		answers, err := w.answers(ctx, agent)
		if err != nil {
			return answered, err
		}
		if len(answers) == 0 {
			continue
		}
		if agent, err = w.app.answerFor(ctx, w.svc, agent, answers); err != nil {
			return answered, err
		}
		w.keep(agent)
		answered = true
	}
	return answered, nil
}

// allDone reports that every task is done, and how the work is landed.
func (w *walk) allDone(v executeView) error {
	w.report.Step, w.report.Tasks = "", []cw.DispatchTask{}
	slug := cw.ShellWord(oneLine(w.initiative.Slug))
	if len(v.tasks) == 0 {
		w.app.note("%s has no tasks", slug)
		return nil
	}
	w.app.note("every task is done; cw initiative diff %[1]s shows what came of it, cw merge %[1]s brings it into your repositories", slug)
	return nil
}

// leftTasks is the error of a person who leaves.
func (w *walk) leftTasks() error {
	w.report.ExitReason = exitDetached
	return cw.Errorf(cw.CodeInterrupted, "you left; the tasks of %s go on", oneLine(w.initiative.Slug)).
		WithHint("come back with %s; cw dispatch pause starts no more of them", w.again())
}

// leftToPeople is the error of a walk that ends where nothing goes on by itself.
func (w *walk) leftToPeople(m executeMove) error {
	if len(m.people) == 0 {
		w.report.ExitReason = exitParked
		return cw.Errorf(cw.CodeTimeout, "%s until an account is back", plural(len(m.parked), "1 task waits", fmt.Sprintf("%d tasks wait", len(m.parked)))).
			WithHint("it goes on by itself; come back with %s", w.again())
	}
	w.report.ExitReason = exitPeople
	for i, t := range w.report.Tasks { // one that runs has its reason only here
		if at := slices.IndexFunc(m.people, func(p cw.DispatchTask) bool { return p.ID == t.ID }); at >= 0 {
			w.report.Tasks[i] = m.people[at]
		}
	}
	if !w.app.json {
		w.app.printf("\n%s\n", w.app.paint(w.app.outTTY).bold("only you can let these go on"))
		w.app.printWaiting(m.people, false)
	}
	return cw.Errorf(cw.CodeWaiting, "%s for you", plural(len(m.people), "1 task waits", fmt.Sprintf("%d tasks wait", len(m.people)))).
		WithHint("cw dispatch status %s tells what each waits for; then go on with %s", cw.ShellWord(oneLine(w.initiative.Slug)), w.again())
}
