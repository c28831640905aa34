package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cw/internal/cw"
	"cw/internal/proc"
	"cw/internal/safefile"
	"cw/providers"
	"cw/worktree"
)

const (
	// stderrTail is how much of the CLI's standard error is looked at.
	stderrTail = 64 << 10
	// stderrShown is how much of it people see.
	stderrShown = 2 << 10
)

// completeTries is how often everything is asked for before what cannot be had
// becomes a warning: a run whose worktree nobody can read must end, too.
const completeTries = 4

// complete is the end of a run: observe, decide, act. Everything is derived
// from files and rows, so that after a crash it is simply done again; the one
// commit point is FinishRun, which happens at most once. A lenient one goes on
// without what it cannot look at or keep, and says so.
func (o *Orchestrator) complete(ctx context.Context, f *follower, obs proc.Observation, lenient bool) error {
	st, err := o.Store.RunState(ctx, f.state.Run.ID) // a stop may have been asked for since
	if err != nil {
		return fmt.Errorf("read run: %w", err)
	}
	o.Fail.Hit("finish/drained")
	ev, raw, err := o.observe(ctx, st, f, obs, lenient)
	if err != nil {
		return fmt.Errorf("look at the end of the run: %w", err)
	}
	o.Fail.Hit("finish/observed")
	whole, keepErr := keepOutput(st, raw)
	if keepErr != nil && !lenient {
		return fmt.Errorf("keep the run's files: %w", keepErr)
	}
	ev.OutputWhole = whole && keepErr == nil
	o.Fail.Hit("finish/kept")
	v := outcome(ev)
	if !whole {
		v.Warnings = append(v.Warnings, "it left more in .cw/output than is kept; the rest is in its worktree only")
	}
	if keepErr != nil {
		v.Warnings = append(v.Warnings, "its files could not be kept in the run directory: "+keepErr.Error())
	}
	trees, notes, err := o.handOver(ctx, st, ev)
	if err != nil {
		return fmt.Errorf("hand over the branch: %w", err)
	}
	v.Warnings = append(v.Warnings, notes...)
	v.CleanUp = v.CleanUp && allHandedOver(trees)
	o.Fail.Hit("finish/handed-over")
	suggested, err := o.planTurn(ctx, st.Agent)
	if err != nil {
		return err
	}
	defer suggested()
	proposals, err := o.suggested(ctx, st, &v, lenient)
	if err != nil {
		return fmt.Errorf("read what it suggests: %w", err)
	}
	v.CleanUp = v.CleanUp && v.Next == nil
	fin := finishOf(st, ev, v, trees)
	fin.Proposals = proposals
	if fin.Next, err = o.follows(ctx, st, ev, v, raw); err != nil {
		return fmt.Errorf("prepare what follows: %w", err)
	}
	fin.Events = finishEvents(st, fin)
	f.closeMeter()
	done, err := o.Store.FinishRun(ctx, fin)
	if err != nil {
		return fmt.Errorf("store the end of the run: %w", err)
	}
	o.Fail.Hit("finish/stored")
	if len(fin.Questions) > 0 {
		o.lookAtInbox()
	}
	if done {
		o.Log.Info("run ended", "agent", st.Agent.Alias, "status", v.Status, "reason", v.Reason, "goesOn", fin.Next != nil)
		o.sessionWindows(ctx, st, orDefault(ev.Summary.SessionID, st.Agent.SessionID))
		o.learn(ctx, st, v)
	}
	return o.hand(ctx, func(life context.Context) { o.carryOn(life, st.Agent.ID) })
}

// carryOn hands on what the end of a run leads to: the run that follows, a text
// that waits for the agent, the clean-up. All of it is in rows, and read from
// there: who stored them does not matter, and what is not done here is done by
// the next daemon.
func (o *Orchestrator) carryOn(ctx context.Context, agent cw.AgentID) {
	log := o.Log.With("agent", agent)
	_ = again(ctx, log, "look for what follows", func(int) error {
		view, err := o.Store.AgentView(ctx, string(agent))
		if err != nil {
			return fmt.Errorf("read agent: %w", err)
		}
		if last := view.Runs[len(view.Runs)-1]; view.Status == cw.StatusStarting && last.EndedAt == nil {
			o.launchNext(ctx, last.ID)
			return nil
		}
		o.goOn(ctx, agent)
		return o.cleanUpAll(ctx, agent)
	}) // what ctx interrupted is taken up by the next daemon
}

// observe gathers what decides. It returns the raw signal beside the evidence.
func (o *Orchestrator) observe(ctx context.Context, st cw.RunState, f *follower, obs proc.Observation, lenient bool) (evidence, []byte, error) {
	e := evidence{
		Mode: st.Agent.Mode, StopRequested: st.Run.StopRequested, State: obs.State,
		Rebooted: f.handle.BootID != "" && !f.handle.ThisBoot(),
		Summary:  f.summary, Unknown: f.reading.Unknown(), Output: f.offset,
		GaveUp: cmp.Or(f.endedFullText(obs), f.gaveUpText(obs)),
		Reason: st.Run.Reason, Resumed: st.Run.SessionNumber > 1 && !st.Run.Fresh,
		SessionNew: st.Run.Fresh, GaveUpAuth: f.trouble.Refused,
		Retries: cw.RetriesOf(st.Agent),
	}
	if st.Run.StopRequested == stopRule {
		e.StopRequested, e.Stalled = "", f.stallEnd()
	}
	if st.Run.StopRequested == stopBudget {
		e.StopRequested, e.Overspent = "", true
	}
	if e.Rebooted {
		e.AutoResume = o.autoResume(ctx, st)
	}
	if obs.Exit != nil {
		e.Exit = *obs.Exit
	}
	if o.Guards.Off("stop-first") {
		e.StopRequested = ""
	}
	if o.Guards.Off("reboot-known") {
		e.Rebooted = false
	}
	raw, sig, err := readSignal(st.Agent.AgentCwd)
	raw, sig = o.Redact.Mask(raw), maskSignal(o.Redact, sig)
	if err != nil {
		e.SignalTrouble, e.SignalBroken = o.Redact.MaskString(err.Error()), !errors.Is(err, errNoSignal)
	} else {
		e.Signal = &sig
	}
	stderr := o.Redact.Mask(tailOf(filepath.Join(st.Run.Dir, stderrFile), stderrTail))
	e.StderrTail = lastPart(stderr, stderrShown)
	if preset, err := o.Presets.Get(providerOf(st.Run, st.Agent)); err == nil {
		now := time.Now()
		e.StderrLimit, e.StderrAuth, e.SessionGone = preset.JudgeStderr(stderr, now)
		if e.StderrLimit == nil && e.GaveUp != "" { // what it tried again in vain
			e.StderrLimit = preset.JudgeLimit(f.trouble.Text, now)
		}
		e.Derived = preset.Signal == providers.SignalDerived
		e.SessionGone = e.SessionGone || preset.SessionGone(e.Summary.LastError.Text)
		e.NoRetries = preset.Command.From == providers.FromScript
		if err := o.askSession(ctx, preset, st, &e.Summary); err != nil {
			return e, raw, err
		}
	}
	if a, err := o.accountOf(ctx, providerOf(st.Run, st.Agent), st.Run.AccountID); err == nil {
		e.Mend = o.mendOf(a)
	}
	view, err := o.Store.AgentView(ctx, string(st.Agent.ID))
	if err != nil {
		return e, raw, fmt.Errorf("read its questions: %w", err)
	}
	e.Open = len(view.PendingQuestions)
	e.Overload = overloadOf(e, f.trouble.Text)
	e.Cost = spendOf(o.Prices, e.Summary, e.Summary.Usage, st.Run.Model)
	if e.Spent, e.Unwatched, err = o.spentAtEnd(ctx, st, f, e.Cost); err != nil {
		return e, raw, err
	}
	dead := obs.RecordedAt
	if dead.IsZero() {
		dead = time.Now() // it was lost, and its tree was killed before this
	}
	if e.Trees, err = o.lookAtTrees(ctx, st, dead, lenient); err != nil {
		return e, raw, err
	}
	if v := decide(e); awayFromAccount(v) && !e.NoRetries {
		e.Reserve, err = o.reserveOf(ctx, st, limitOf(e, v), lastWords(e))
	}
	return e, raw, err
}

// limitOf is the limit that ended a run; nil when something else did.
func limitOf(e evidence, v verdict) *cw.Limit {
	limit := seenLimit(e)
	switch {
	case v.Reason != cw.ReasonUsageLimit:
		return nil
	case limit == nil:
		return &cw.Limit{Kind: kindOverload, Text: e.Overload}
	}
	return limit
}

// learn keeps what the end of a run tells about its account: a login that was
// refused before and has worked is good again.
func (o *Orchestrator) learn(ctx context.Context, st cw.RunState, v verdict) {
	if v.Status == cw.StatusParked {
		o.lookAtParked()
	}
	if v.Status != cw.StatusIdle && v.Status != cw.StatusWaitingForInput {
		return
	}
	a, err := o.accountOf(ctx, providerOf(st.Run, st.Agent), st.Run.AccountID)
	if err == nil && a.Kind == cw.AccountOwn {
		o.setInvalid(ctx, a, "")
	}
}

// lookAtTrees looks at an agent's worktrees when whatever it ran is dead, since
// that time: what a git of its left that was killed goes first.
func (o *Orchestrator) lookAtTrees(ctx context.Context, st cw.RunState, dead time.Time, lenient bool) ([]treeEvidence, error) {
	var out []treeEvidence
	for _, t := range st.Worktrees {
		seen := treeEvidence{Project: t.Project, Dir: relative(st.Agent.AgentCwd, t.Path)}
		req, err := o.lookRequest(ctx, st.Agent, t)
		if err == nil {
			err = o.Repos.DropLocks(req, dead)
		}
		if err == nil {
			seen.Look, err = o.Repos.Look(ctx, req)
		}
		switch {
		case err != nil && (!lenient || ctx.Err() != nil):
			return nil, fmt.Errorf("look at worktree %s: %w", t.Path, err)
		case err != nil:
			seen.Trouble = err.Error()
		}
		out = append(out, seen)
	}
	return out, nil
}

func (o *Orchestrator) lookRequest(ctx context.Context, a cw.Agent, t cw.AgentWorktree) (worktree.LookRequest, error) {
	p, err := o.Store.ProjectByRef(ctx, string(t.ProjectID))
	if err != nil {
		return worktree.LookRequest{}, fmt.Errorf("find project %s: %w", t.Project, err)
	}
	return worktree.LookRequest{
		Project: p, AgentID: a.ID, Alias: a.Alias, Path: t.Path,
		BaseCommit: t.BaseCommit, Included: t.Included,
	}, nil
}

// handOver brings every branch with commits into the user's repository and
// gives the worktree rows as they are to be stored. A repository that cannot
// take the branch now is a warning, not a failure: the branch stays safe in
// the mirror.
func (o *Orchestrator) handOver(ctx context.Context, st cw.RunState, e evidence) ([]cw.AgentWorktree, []string, error) {
	var notes []string
	trees := make([]cw.AgentWorktree, len(st.Worktrees))
	for i, t := range st.Worktrees {
		look := e.Trees[i]
		if look.Trouble != "" {
			trees[i] = t // as far as it is known
			continue
		}
		t.HeadCommit, t.Commits, t.Dirty, t.Stat = look.Tip, look.Commits, len(look.Dirty), look.Stat
		if look.Missing {
			t.State = cw.WorktreeRemoved
		}
		req, err := o.lookRequest(ctx, st.Agent, t)
		if err != nil {
			return nil, nil, err
		}
		beside, err := o.Repos.KeepEnds(ctx, req, look.Tip)
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case err != nil:
			notes = append(notes, fmt.Sprintf("commits of %s beside its branch in %s may be lost: %v", st.Agent.Alias, t.Project, err))
		}
		notes = append(notes, beside...)
		if look.Commits > 0 {
			handed, err := o.Repos.HandOver(ctx, req.Project, st.Agent.ID, st.Agent.Alias, look.Tip)
			switch {
			case ctx.Err() != nil:
				return nil, nil, ctx.Err()
			case err != nil:
				notes = append(notes, fmt.Sprintf("the branch %s could not be brought into %s and is kept in cw's mirror: %v", t.Branch, t.Project, err))
			case handed.Note != "":
				notes = append(notes, handed.Note)
			}
			t.HandedOver = handed.Ref
			if handed.Missing != "" {
				notes = append(notes, handed.Missing)
			}
		}
		trees[i] = t
	}
	return trees, notes, nil
}

// allHandedOver tells whether every branch with commits is in the user's
// repository.
func allHandedOver(trees []cw.AgentWorktree) bool {
	return !slices.ContainsFunc(trees, func(t cw.AgentWorktree) bool { return t.Commits > 0 && t.HandedOver == "" })
}

// keepOutput copies signal.json and the agent's .cw/output into the run
// directory: the worktree may go, the run directory stays.
func keepOutput(st cw.RunState, raw []byte) (whole bool, err error) {
	if err := os.MkdirAll(st.Run.Dir, 0o700); err != nil {
		return true, fmt.Errorf("make run directory: %w", err)
	}
	if raw != nil {
		if err := writeFile(filepath.Join(st.Run.Dir, "signal.json"), raw); err != nil {
			return true, err
		}
	}
	return copyOutput(st.Agent.AgentCwd, filepath.Join(st.Run.Dir, "output"), outputLimits())
}

// tailOf reads the last n bytes of a file of ours; what cannot be read is
// empty: it is only evidence.
func tailOf(name string, n int64) []byte {
	data, _, err := safefile.ReadTail(name, n)
	if err != nil {
		return nil
	}
	return data
}

// lastPart gives the end of a text for people, whole lines where possible.
func lastPart(data []byte, n int) string {
	text := strings.TrimSpace(strings.ToValidUTF8(string(data), "\uFFFD"))
	if len(text) <= n {
		return text
	}
	text = strings.ToValidUTF8(text[len(text)-n:], "")
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		text = text[i+1:]
	}
	return "…" + text
}
