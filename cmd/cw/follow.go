package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"cw/internal/cw"
)

const (
	// tickEvery is how often the line that moves is drawn.
	tickEvery = 120 * time.Millisecond
	// lookEvery is how often it is looked whether the daemon is still there, and
	// whether the agent is parked.
	lookEvery = 3 * time.Second
	// byItselfMax is how long an agent is waited for that is at rest and should go
	// on by itself: it may lack space on the disk, or a reason.
	byItselfMax = 30 * time.Second
	// reopenAfter is the pause before a stream that ended early is read on.
	reopenAfter = 300 * time.Millisecond
)

// follower shows what one agent does until it is at rest.
type follower struct {
	app          *app
	svc          cw.Services
	agent        cw.AgentView // as it was last seen
	query        cw.OutputQuery
	started      time.Time
	noWaitParked bool
	atQuestions  bool // stop when a call of the agent waits for people
	toldParked   bool
	prefix       string  // before each line
	talk         *talker // tells the agent what is typed meanwhile; nil: nothing is read
	shown        int     // session whose output was shown last
}

// atRest tells whether an agent does nothing until somebody acts, and cw has
// nothing to do for it either. One whose answers are in, or whose next prompt
// waits, goes on by itself.
func atRest(v cw.AgentView) bool {
	switch {
	case !v.Status.AtRest(), v.Settling:
		return false
	case v.Status == cw.StatusWaitingForInput:
		return len(v.PendingQuestions) > 0
	case v.Status == cw.StatusIdle:
		return v.QueuedMessages == 0 && (v.QueuedAnswers == 0 || len(v.PendingQuestions) > 0)
	}
	return true
}

// callWaits tells whether a call of an agent's present run waits for people:
// the agent runs, and goes on with the answers by itself.
func callWaits(v cw.AgentView) bool {
	if !v.Status.Alive() || len(v.Runs) == 0 {
		return false
	}
	run := v.Runs[len(v.Runs)-1].ID
	return slices.ContainsFunc(v.PendingQuestions, func(q cw.Question) bool { return q.Source == cw.AskedByTool && q.RunID == run })
}

// besides is what is looked at beside the output.
type besides struct {
	events  <-chan item[cw.Event]
	outages <-chan item[bool]
}

// run gives the agent as it was last seen, also beside an error. A parked
// agent is at rest when it is not to be waited for, and so is one of which a
// call waits for people, where they are to be asked.
func (f *follower) run(ctx context.Context) (cw.AgentView, error) {
	view := newScreen(f.app, f.agent.Alias, f.prefix, f.started)
	defer view.close()
	ctx, cancel := context.WithCancel(ctx)
	var pumps sync.WaitGroup
	defer pumps.Wait()
	defer cancel()
	beside := besides{
		events:  pump(ctx, &pumps, f.svc.Events(ctx, cw.EventQuery{Agent: string(f.agent.ID), Follow: true, Tail: true})),
		outages: pump(ctx, &pumps, f.outages(ctx)),
	}
	away := false
	var rests time.Time // since when it only should go on by itself
	for {
		last, err := f.stream(ctx, view, &beside)
		if errors.Is(err, errParked) {
			return f.agent, nil
		}
		f.query.AfterID = max(f.query.AfterID, last)
		if errors.Is(err, errAsked) {
			return f.agent, nil
		}
		var agent cw.AgentView
		if err == nil {
			agent, err = f.svc.Agent(ctx, string(f.agent.ID))
		}
		switch {
		case err == nil:
			f.agent = agent
			switch {
			case atRest(agent), agent.Status.AtRest() && !rests.IsZero() && time.Since(rests) > byItselfMax:
				return agent, nil
			case !agent.Status.AtRest():
				rests = time.Time{}
			case rests.IsZero():
				rests = time.Now()
			}
		case cw.ErrorCode(err) != cw.CodeUnreachable || saidItself(err):
			return f.agent, err
		case !away: // it ended between two calls; within one, the stream waits for it itself
			view.print(outageLine(view.paint, true))
		}
		away = err != nil
		if err := pause(ctx, reopenAfter); err != nil {
			return f.agent, err
		}
	}
}

// errParked ends a stream that is not to be waited for, and errAsked one whose
// agent waits for people.
var (
	errParked = errors.New("parked")
	errAsked  = errors.New("asked")
)

// stream shows one stream of output to its end, and the agent's events beside
// it. It gives the last chunk shown.
func (f *follower) stream(ctx context.Context, view *screen, beside *besides) (last int64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	var pumps sync.WaitGroup
	defer pumps.Wait()
	defer cancel()
	output := pump(ctx, &pumps, f.svc.OutputEvents(ctx, string(f.agent.ID), f.query))
	ticks := time.NewTicker(tickEvery)
	defer ticks.Stop()
	looks := time.NewTicker(lookEvery)
	defer looks.Stop()
	if err := f.look(ctx, view); err != nil {
		return 0, err
	}
	lines := renderer{paint: view.paint, cwd: f.agent.AgentCwd, session: max(f.shown, f.query.Session, 1)}
	defer func() {
		view.print(lines.flush()...)
		f.shown = lines.session
	}()
	for {
		select {
		case it, ok := <-output:
			if !ok {
				return last, ctx.Err()
			}
			if it.err != nil {
				return last, it.err
			}
			last = it.value.ChunkID
			view.print(lines.render(it.value)...)
			view.doing = lines.doing
		case it, ok := <-beside.events:
			if !ok || it.err != nil { // they only add to the picture
				beside.events = nil
				continue
			}
			if err := f.happened(ctx, it.value, view); err != nil {
				return last, err
			}
		case it, ok := <-beside.outages:
			if ok {
				view.print(outageLine(view.paint, it.value))
			}
		case <-looks.C: // its event may have been told before anybody listened
			if err := f.look(ctx, view); err != nil {
				return last, err
			}
		case line := <-f.talk.typed():
			said, err := f.talk.take(ctx, line)
			view.print(said...)
			if err != nil {
				return last, err
			}
		case <-ticks.C:
			if !f.talk.listens() { // it would be drawn over what is being typed
				view.tick()
			}
		}
	}
}

// happened shows what the output does not: that the agent goes on with another
// run, is silent, or is parked.
func (f *follower) happened(ctx context.Context, e cw.Event, view *screen) error {
	switch {
	case e.Type == cw.EventAgentResumed:
		view.print(view.paint.dim("── " + resumedText(payload[cw.AgentResumed](e))))
		return nil
	case e.Type == cw.EventAgentAccountSwitched:
		view.print(view.paint.yellow("── " + switchedText(payload[cw.AgentAccountSwitched](e))))
		return nil
	case e.Type == cw.EventAgentStalled:
		view.print(view.paint.yellow(stalledText(payload[cw.AgentStalled](e))))
		return nil
	case !e.Type.Stored() || e.Type == cw.EventAgentWarning:
		return nil
	}
	return f.look(ctx, view)
}

// look looks whether a call of the agent waits for people, and whether it is
// parked, which is said once.
func (f *follower) look(ctx context.Context, view *screen) error {
	agent, err := f.svc.Agent(ctx, string(f.agent.ID))
	if err != nil {
		return nil // the stream itself tells of what is wrong
	}
	if f.atQuestions && callWaits(agent) {
		f.agent = agent
		return errAsked
	}
	told := f.toldParked
	if f.toldParked = agent.Status == cw.StatusParked; !f.toldParked || told {
		return nil
	}
	f.agent = agent
	if f.noWaitParked {
		return errParked
	}
	view.print(view.paint.yellow(fmt.Sprintf("every account is at its limit; the agent is parked%s and goes on by itself", until(agent.RetryAt))))
	return nil
}

// outages tells when the daemon goes away (true) and when it is back. The
// stream itself waits for it without a word.
func (f *follower) outages(ctx context.Context) iter.Seq2[bool, error] {
	return func(yield func(bool, error) bool) {
		away := false
		for pause(ctx, lookEvery) == nil {
			_, err := f.app.reach(ctx)
			now := cw.ErrorCode(err) == cw.CodeUnreachable
			if now != away && !yield(now, nil) {
				return
			}
			away = now
		}
	}
}

func outageLine(p paint, away bool) string {
	if away {
		return p.yellow("the daemon is away; the agent works on, and is shown again when it is back (any cw command starts it)")
	}
	return p.dim("the daemon is back")
}

// until says until when, where that is known.
func until(t *time.Time) string {
	if t == nil {
		return ""
	}
	return " until " + clock(*t)
}

// clock is a time for people: to the minute, where they are.
func clock(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

// item is a value of a sequence, or the error that ended it.
type item[T any] struct {
	value T
	err   error
}

// pump reads a sequence in a goroutine, so that several can be waited for at
// once. The channel is closed at its end; ctx ends it early.
func pump[T any](ctx context.Context, wg *sync.WaitGroup, seq iter.Seq2[T, error]) <-chan item[T] {
	out := make(chan item[T])
	wg.Go(func() {
		defer close(out)
		for v, err := range seq {
			select {
			case out <- item[T]{v, err}:
			case <-ctx.Done():
				return
			}
		}
	})
	return out
}
