package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"cw/internal/cw"
)

// work begins the agents that are to begin, and watches them, and those that
// work already, to their ends.
func (w *walk) work(ctx context.Context, m walkMove, phases []cw.Phase) error {
	w.say("%s", w.plan.place(m.step))
	agents := slices.Clone(m.follow)
	for _, phase := range m.begin {
		agent, err := w.begin(ctx, m.step, phase)
		if err != nil {
			return err
		}
		agents = append(agents, agent)
		if ctx.Err() != nil {
			break // Ctrl-C meanwhile: no more are begun
		}
	}
	followers, err := w.followers(ctx, agents)
	if err != nil {
		return err
	}
	for _, v := range agents {
		w.app.header(v)
		if i := slices.IndexFunc(phases, func(ph cw.Phase) bool { return ph.ID == phaseOf(v) }); i >= 0 {
			fmt.Fprintf(w.app.err, "  phase: %s\n", cut(oneLine(phases[i].Name), nameMax))
		}
	}
	err = w.watch(ctx, followers)
	for i, f := range followers {
		agents[i] = f.agent
		w.keep(f.agent)
	}
	return w.judge(ctx, agents, err)
}

// begin starts an agent for a phase, or with "" for the initiative as a whole.
func (w *walk) begin(ctx context.Context, step cw.Mode, phase cw.PhaseID) (cw.AgentView, error) {
	req := w.request(step)
	req.RequestKey, req.Mode, req.InitiativeID, req.PhaseID = cw.NewID(), step, w.initiative.ID, phase
	agent, err := w.app.spawn(ctx, w.svc, req)
	if err == nil {
		w.plan.own[agent.ID] = true
	}
	return agent, err
}

// followers show what agents do: of one that began before, what it does from now
// on.
func (w *walk) followers(ctx context.Context, agents []cw.AgentView) ([]*follower, error) {
	names := agentNames(w.app.paint(w.app.errTTY), agents)
	out := make([]*follower, len(agents))
	for i, v := range agents {
		f := &follower{
			app: w.app, svc: w.svc, agent: v, started: w.app.now(), noWaitParked: w.noWaitParked, query: cw.OutputQuery{Until: cw.UntilRest},
			atQuestions: true,
		}
		if len(agents) > 1 {
			f.prefix = names[i] + " │ "
		}
		if !w.plan.own[v.ID] {
			var err error
			if f.query.AfterID, err = lastChunk(ctx, w.svc, v); err != nil {
				return nil, err
			}
		}
		out[i] = f
	}
	return out, nil
}

// watch shows what agents do, side by side, until each is at rest. What they ask
// is answered then, and they go on, as long as there are answers. io.EOF when
// the terminal is closed at a question.
func (w *walk) watch(ctx context.Context, followers []*follower) error {
	for goesOn := true; goesOn; {
		if err := followAll(ctx, followers); err != nil {
			return err
		}
		goesOn = false
		for _, f := range followers {
			answers, err := w.answers(ctx, f.agent)
			if err != nil {
				return err
			}
			if len(answers) == 0 {
				continue
			}
			if f.agent, err = w.app.answerFor(ctx, w.svc, f.agent, answers); err != nil {
				return err
			}
			goesOn = true
		}
	}
	return nil
}

// answers are what the file of answers has for an agent that waits; without any,
// what a person says. None when there is nobody to ask.
func (w *walk) answers(ctx context.Context, agent cw.AgentView) (map[cw.QuestionID]string, error) {
	open := viewsOf(agent)
	if agent.Status != cw.StatusWaitingForInput && !callWaits(agent) || len(open) == 0 {
		return nil, nil
	}
	answers, unknown, err := matchAnswers(w.given, open)
	if err != nil {
		return nil, err
	}
	// Each is given once: another question of the same name is another one.
	w.given = slices.DeleteFunc(w.given, func(g namedAnswer) bool { return !slices.Contains(unknown, g.name) })
	if len(answers) > 0 || !w.app.asks() {
		return answers, nil
	}
	return w.keys.askAll(ctx, open)
}

// followAll follows agents side by side until each is at rest.
func followAll(ctx context.Context, followers []*follower) error {
	errs := make([]error, len(followers))
	var all sync.WaitGroup
	for i, f := range followers {
		all.Go(func() { f.agent, errs[i] = f.run(ctx) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// agentNames are the names of agents that are shown together, each in a colour
// and as wide as the widest.
func agentNames(p paint, agents []cw.AgentView) []string {
	width := 0
	for _, v := range agents {
		width = max(width, len(v.Alias))
	}
	colours := []func(string) string{p.cyan, p.yellow, p.green}
	names := make([]string, len(agents))
	for i, v := range agents {
		names[i] = colours[i%len(colours)](fmt.Sprintf("%-*s", width, v.Alias))
	}
	return names
}

// judge tells how agents ended. Its error is where the walk ends with that. err
// is what ended the watching.
func (w *walk) judge(ctx context.Context, agents []cw.AgentView, err error) error {
	var atWork []string
	for _, v := range agents {
		if walking(v) && len(v.PendingQuestions) == 0 {
			atWork = append(atWork, v.Alias)
		}
	}
	names := strings.Join(atWork, " and ")
	switch {
	case err == nil, errors.Is(err, io.EOF): // Ctrl-D at a question
	case ctx.Err() != nil && len(atWork) == 0:
		w.report.ExitReason = exitWaiting
		return cw.Errorf(cw.CodeInterrupted, "you left; nothing was answered").WithHint("%s asks again", w.again())
	case ctx.Err() != nil:
		w.report.ExitReason = exitDetached
		return cw.Errorf(cw.CodeInterrupted, "you left; %s %s on", names, plural(len(atWork), "goes", "go")).
			WithHint("come back with %s, end it with cw agent stop %s", w.again(), strings.Join(atWork, " "))
	case cw.ErrorCode(err) == cw.CodeUnreachable && !saidItself(err):
		return cw.Errorf(cw.CodeUnreachable, "the agents of %s cannot be watched any more", oneLine(w.initiative.Slug)).
			WithHint("they may be running on: cw agent list; come back with %s", w.again()).Because(err)
	default:
		return err
	}
	var verdict error
	for _, v := range agents {
		if why, bad := judge(v); why == exitDone && bad == nil {
			w.tell(v)
		} else if err := w.ended(v); verdict == nil {
			verdict = err
		}
	}
	return verdict
}

// tell says that an agent is done, and what it says about it.
func (w *walk) tell(v cw.AgentView) {
	p := w.app.paint(w.app.errTTY)
	fmt.Fprintf(w.app.err, "\n%s  %s\n", p.bold(v.Alias), p.status(v.Status))
	facts(w.app.err, "  ", [][2]string{
		{"result", clean(v.Result)},
		{"cost", costFact(v.CostUSD, v.Usage)},
		{"warnings", clean(strings.Join(v.Warnings, "\n"))},
	})
}

// ended reports an agent that did not come to its end, and gives the error with
// which the walk ends.
func (w *walk) ended(v cw.AgentView) error {
	why, verdict := judge(v)
	if verdict == nil {
		return cw.Errorf(cw.CodeFailed, "%s is %s, which no step ends with", v.Alias, v.Status).WithHint("look at it: cw agent show %s", v.Alias)
	}
	w.report.ExitReason = why
	if !w.app.json {
		w.app.printReport(newReport(v, why, w.app.now().Sub(v.CreatedAt)), "", nil, "")
	}
	switch why {
	case exitWaiting:
		return verdict.WithHint("answer with cw agent answer %s; then go on with %s", v.Alias, w.again())
	case exitParked:
		return verdict.WithHint("it goes on by itself; come back with %s", w.again())
	}
	return verdict.WithHint("%s; then go on with %s, or begin the step anew with --from %s", verdict.Hint, w.again(), v.Mode)
}
