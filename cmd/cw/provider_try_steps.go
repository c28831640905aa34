package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"cw/internal/cw"
	"cw/internal/daemon"
	"cw/internal/proc"
)

const (
	// tryLook is how often is looked how the agent is.
	tryLook = 200 * time.Millisecond
	// tryBusy is how long an agent that is to be stopped may work, when nothing
	// tells that it is at its tool: from its first output on, or without any.
	tryBusy, tryMute = 5 * time.Second, 30 * time.Second
	// tryDeep is how long it works on then: what its tool starts is to be there.
	tryDeep = time.Second
)

// The files of the tasks.
const (
	tryFirst  = "hello.txt"
	trySecond = "again.txt"
)

// The tasks. The second names a sentence that only the first one tells.
func (t *try) firstGoal() string {
	return fmt.Sprintf(`Write the sentence "hello %s" into %s. Commit that file, and do nothing else: this only tries whether you can work here.`, t.word, tryFirst)
}

const (
	tryNextGoal = `Write the sentence that you wrote into ` + tryFirst + ` once more, into ` + trySecond + `. Commit that file, and do nothing else.`
	tryLongGoal = `Run the command sleep 300 in your shell, in the foreground, and wait until it is over. Then you are done. Change no file.`
)

// steps does the tasks one after another. An error is one of cw or of the
// caller; what the provider does not do is a step that was not seen.
func (t *try) steps(ctx context.Context) error {
	v, err := t.tryWork(ctx)
	if err != nil {
		return err
	}
	if v.Status != cw.StatusIdle {
		for _, name := range []string{cw.TryResume, cw.TryStop} {
			t.add(cw.ProviderStep{Name: name, Text: "not tried"})
		}
		t.add(mcpStep(t.view))
		return nil
	}
	if err := t.tryResume(ctx, v); err != nil {
		return err
	}
	if err := t.tryStop(ctx); err != nil {
		return err
	}
	t.add(mcpStep(t.view))
	return nil
}

// tryWork lets an agent do the first task: five steps.
func (t *try) tryWork(ctx context.Context) (cw.AgentView, error) {
	began := time.Now()
	v, err := t.spawn(ctx, t.firstGoal())
	if err != nil {
		return v, err
	}
	heard, v, err := t.watch(ctx, v, began)
	if err != nil {
		return v, err
	}
	took := time.Since(began)
	t.add(startStep(heard, v))
	t.add(streamStep(t.view, heard, v))
	t.add(t.workStep(ctx, v, tryFirst, took))
	t.add(signalStep(t.view, v))
	t.add(sessionStep(t.view, v))
	return v, nil
}

// tryResume lets the agent go on with its session.
func (t *try) tryResume(ctx context.Context, v cw.AgentView) error {
	if t.view.Resume == "none" {
		t.add(cw.ProviderStep{Name: cw.TryResume, Skip: true, Text: "it cannot: the next run is a new session with a hand-over"})
		return nil
	}
	began := time.Now()
	before := v
	v, err := t.svc.Resume(ctx, string(v.ID), cw.ResumeRequest{Text: tryNextGoal, Env: daemon.ForAgent(t.home(), t.env)})
	if err != nil {
		return err
	}
	if _, v, err = t.watch(ctx, v, began); err != nil {
		return err
	}
	s := t.workStep(ctx, v, trySecond, time.Since(began))
	s.Name = cw.TryResume
	// The run that was to go on may have found no session; then another one follows.
	fresh := func(r cw.Run) bool { return r.SessionNumber > before.SessionNumber && r.Fresh }
	if slices.ContainsFunc(v.Runs, fresh) {
		s.Seen, s.Text = false, "it went on, but not with its session: cw gave it a hand-over"
	} else if s.Seen {
		s.Text = "it knows of its first task: " + s.Text
	}
	t.add(s)
	return nil
}

// tryStop stops an agent in the middle of a long task.
func (t *try) tryStop(ctx context.Context) error {
	began := time.Now()
	v, err := t.spawn(ctx, tryLongGoal)
	if err != nil {
		return err
	}
	if v, err = t.untilBusy(ctx, v, began); err != nil {
		return err
	}
	if v.Status != cw.StatusRunning {
		t.add(cw.ProviderStep{Name: cw.TryStop, Text: "it was not at work when it was to be stopped: " + restText(v)})
		return nil
	}
	if err := pause(ctx, tryDeep); err != nil {
		return err
	}
	seen, err := proc.Observe(v.Runs[len(v.Runs)-1].Dir)
	if err != nil {
		return fmt.Errorf("look at the run: %w", err)
	}
	before, err := proc.LookAtTree(seen.Handle)
	if err != nil {
		return fmt.Errorf("look at its processes: %w", err)
	}
	asked := time.Now()
	if _, err = t.svc.Stop(ctx, string(v.ID), cw.StopRequest{}); err != nil {
		return err
	}
	took := time.Since(asked)
	after, err := proc.LookAtTree(seen.Handle)
	if err != nil {
		return fmt.Errorf("look at its processes: %w", err)
	}
	s := cw.ProviderStep{Name: cw.TryStop, Took: took, Seen: after.Processes == 0, Text: countProcesses(before.Processes) + " gone"}
	if !s.Seen {
		s.Text = countProcesses(after.Processes) + " left behind"
	}
	t.add(s)
	return nil
}

// untilBusy waits until an agent is in the middle of its task, or will not be:
// it is at rest, it is parked, or its time is over.
func (t *try) untilBusy(ctx context.Context, v cw.AgentView, began time.Time) (cw.AgentView, error) {
	for first := (time.Time{}); ; {
		if err := pause(ctx, tryLook); err != nil {
			return v, err
		}
		now, err := t.svc.Agent(ctx, string(v.ID))
		if err != nil {
			return v, err
		}
		v = now
		if v.Activity != nil && v.Activity.LastAt != nil && first.IsZero() {
			first = time.Now()
		}
		switch {
		case v.Status.AtRest(), v.Status == cw.StatusParked, time.Since(began) > t.opts.timeout,
			v.Activity != nil && v.Activity.Tool != "", !first.IsZero() && time.Since(first) > tryBusy, v.Status == cw.StatusRunning && time.Since(began) > tryMute:
			return v, nil
		}
	}
}

// heard is what was heard of a run.
type heard struct {
	first time.Duration // until the first word; 0 for none
	kinds []cw.StreamKind
	count int
}

func (h *heard) add(e cw.StreamEvent, since time.Duration) {
	if h.count++; h.count == 1 {
		h.first = since
	}
	if !slices.Contains(h.kinds, e.Kind) {
		h.kinds = append(h.kinds, e.Kind)
	}
}

// watch follows an agent until it is at rest, and all is done that cw does by
// itself.
func (t *try) watch(ctx context.Context, v cw.AgentView, began time.Time) (heard, cw.AgentView, error) {
	follow, cancel := context.WithTimeoutCause(ctx, t.opts.timeout, errTimeUp)
	var pumps sync.WaitGroup
	defer pumps.Wait()
	defer cancel()
	query := cw.OutputQuery{Session: v.SessionNumber, Until: cw.UntilRest}
	output := pump(follow, &pumps, t.svc.OutputEvents(follow, string(v.ID), query))
	ticks := time.NewTicker(tryLook)
	defer ticks.Stop()
	var h heard
	for {
		select {
		case it, ok := <-output:
			switch {
			case !ok:
				output = nil
			case it.err == nil:
				h.add(it.value.Event, time.Since(began))
			}
			continue
		case <-ticks.C:
		case <-follow.Done():
		}
		now, err := t.svc.Agent(ctx, string(v.ID))
		if err != nil {
			return h, v, err
		}
		v = now
		if late := errors.Is(context.Cause(follow), errTimeUp); output == nil && atRest(v) || v.Status == cw.StatusParked || late {
			t.failed(v, late)
			return h, v, ctx.Err()
		}
	}
}

// failed keeps why a task did not come to its end, for what to do about it.
func (t *try) failed(v cw.AgentView, late bool) {
	switch _, err := judge(v); {
	case late && !atRest(v):
		t.trouble = cw.Errorf(cw.CodeFailed, "it still worked").WithHint("give it more time with --timeout, or look what it waits for: cw provider test %s --keep", cw.ShellWord(t.opts.name))
	case v.Reason == cw.ReasonAuth || v.Reason == cw.ReasonUsageLimit || v.Status == cw.StatusParked:
		t.trouble = cw.Errorf(cw.CodeFailed, "no account").WithHint("log in to %s, or give it a key that is good and not at its limit, then test it again", oneLine(t.view.Title))
	case err != nil:
		t.trouble = cw.Errorf(cw.CodeFailed, "%s", err.Message).WithHint("cw provider show %[1]s has what is known of it; cw provider test %[1]s --keep leaves its output to look at", cw.ShellWord(t.opts.name))
	}
}

// spent sums what the agents cost, as far as that is known.
func (t *try) spent(ctx context.Context) error {
	agents, err := cw.AllAgents(ctx, t.svc, cw.AgentFilter{})
	for _, v := range agents {
		t.result.CostUSD += v.CostUSD
		t.result.Usage = t.result.Usage.Add(v.Usage)
	}
	return err
}

// startStep judges how a run began.
func startStep(h heard, v cw.AgentView) cw.ProviderStep {
	s := cw.ProviderStep{Name: cw.TryStart, Took: h.first}
	switch {
	case h.count > 0:
		s.Seen, s.Text = v.Reason != cw.ReasonStartFailed, "until its first words"
	case v.Status == cw.StatusIdle:
		s.Seen, s.Text = true, "it printed nothing"
	}
	if !s.Seen {
		s.Text = restText(v)
	}
	return s
}

// streamStep judges what was understood of the output.
func streamStep(p cw.ProviderView, h heard, v cw.AgentView) cw.ProviderStep {
	s := cw.ProviderStep{Name: cw.TryStream}
	unknown := 0
	for _, r := range v.Runs {
		unknown += r.UnknownLines
	}
	if !p.Structured {
		s.Skip, s.Text = true, "its output is text alone: "+count(h.count, "line")
		return s
	}
	var kinds []string
	for _, k := range h.kinds {
		kinds = append(kinds, string(k))
	}
	s.Text = fmt.Sprintf("%s (%s)", count(h.count, "event"), strings.Join(kinds, ", "))
	if unknown > 0 {
		s.Text += fmt.Sprintf(", and %s that cw does not know", count(unknown, "line"))
	}
	s.Seen = slices.ContainsFunc(h.kinds, func(k cw.StreamKind) bool {
		return k == cw.StreamText || k == cw.StreamToolCall || k == cw.StreamFileChange
	})
	return s
}

// workStep looks whether the word of the first task stands in a commit that is
// in the repository.
func (t *try) workStep(ctx context.Context, v cw.AgentView, file string, took time.Duration) cw.ProviderStep {
	s := cw.ProviderStep{Name: cw.TryWork, Took: took}
	text, err := t.git(ctx, "show", "agent/"+v.Alias+":"+file)
	switch {
	case err == nil && strings.Contains(text, t.word):
		s.Seen, s.Text = true, file+" is committed, on its branch"
	case err == nil:
		s.Text = file + " is committed, but not with what it was to hold"
	case v.Status != cw.StatusIdle:
		s.Text = restText(v)
	default:
		s.Text = file + " is not committed"
	}
	return s
}

func signalStep(p cw.ProviderView, v cw.AgentView) cw.ProviderStep {
	s := cw.ProviderStep{Name: cw.TrySignal, Seen: v.Status == cw.StatusIdle, Text: "it told that it is done"}
	reminded := slices.ContainsFunc(v.Runs, func(r cw.Run) bool { return r.Reason == cw.RunMissingSignal })
	switch {
	case p.Signal == "derived":
		s.Seen, s.Skip, s.Text = false, true, "it writes none: cw judges by its exit and its commits"
	case !s.Seen:
		s.Text = restText(v)
	case reminded:
		s.Text += ", once it was asked to in a run of its own"
	}
	return s
}

func sessionStep(p cw.ProviderView, v cw.AgentView) cw.ProviderStep {
	s := cw.ProviderStep{Name: cw.TrySession, Seen: v.SessionID != "", Text: v.SessionID}
	switch {
	case s.Seen:
	case p.SessionID == "none" || p.Resume == "none":
		s.Skip, s.Text = true, "it has none that is told"
	default:
		s.Text = "its output told none"
	}
	return s
}

func mcpStep(p cw.ProviderView) cw.ProviderStep {
	s := cw.ProviderStep{Name: cw.TryMCP, Skip: true, Text: "not yet: cw has no tools of its own to offer"}
	if p.MCP == "none" {
		s.Text = "its preset makes no servers known to it"
	}
	return s
}

// restText says how an agent is.
func restText(v cw.AgentView) string {
	why := string(v.Reason)
	if first, _, _ := strings.Cut(strings.TrimSpace(clean(v.Error)), "\n"); first != "" {
		why = first
	}
	return string(v.Status) + colonText(why)
}

func colonText(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}
