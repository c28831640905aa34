package orchestrator

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"cw/internal/cw"
	"cw/internal/proc"
	"cw/worktree"
)

const (
	// stderrTail is how much of the CLI's standard error is looked at.
	stderrTail = 64 << 10
	// stderrShown is how much of it people see.
	stderrShown = 2 << 10
	// snippetMax is the greatest length of an agent's last words in lists.
	snippetMax = 200
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
	o.Fail.Hit("finish/handed-over")
	done, err := o.Store.FinishRun(ctx, finishOf(st, ev, v, trees))
	if err != nil {
		return fmt.Errorf("store the end of the run: %w", err)
	}
	o.Fail.Hit("finish/stored")
	if done {
		o.Log.Info("run ended", "agent", st.Agent.Alias, "status", v.Status, "reason", v.Reason)
	}
	return nil
}

// observe gathers what decides. It returns the raw signal beside the evidence.
func (o *Orchestrator) observe(ctx context.Context, st cw.RunState, f *follower, obs proc.Observation, lenient bool) (evidence, []byte, error) {
	e := evidence{
		Mode: st.Agent.Mode, StopRequested: st.Run.StopRequested, State: obs.State,
		Rebooted: f.handle.BootID != "" && !f.handle.ThisBoot(),
		Summary:  f.summary, Unknown: f.reading.Unknown(), Output: f.offset,
		GaveUp: f.gaveUpText(obs),
	}
	if obs.Exit != nil {
		e.Exit = *obs.Exit
	}
	raw, sig, err := readSignal(st.Agent.AgentCwd)
	if err != nil {
		e.SignalTrouble = err.Error()
	} else {
		e.Signal = &sig
	}
	stderr := tailOf(filepath.Join(st.Run.Dir, stderrFile), stderrTail)
	e.StderrTail = lastPart(stderr, stderrShown)
	if preset, err := o.Presets.Get(st.Agent.Provider); err == nil {
		e.StderrLimit, e.StderrAuth, _ = preset.JudgeStderr(stderr)
		if err := o.askSession(ctx, preset, st, &e.Summary); err != nil {
			return e, raw, err
		}
	}
	e.Trees, err = o.lookAtTrees(ctx, st, lenient)
	return e, raw, err
}

func (o *Orchestrator) lookAtTrees(ctx context.Context, st cw.RunState, lenient bool) ([]treeEvidence, error) {
	var out []treeEvidence
	for _, t := range st.Worktrees {
		seen := treeEvidence{Project: t.Project}
		req, err := o.lookRequest(ctx, st.Agent, t)
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
		if look.Commits > 0 {
			p, err := o.Store.ProjectByRef(ctx, string(t.ProjectID))
			if err != nil {
				return nil, nil, fmt.Errorf("find project %s: %w", t.Project, err)
			}
			handed, err := o.Repos.HandOver(ctx, p, st.Agent.ID, st.Agent.Alias, look.Tip)
			switch {
			case ctx.Err() != nil:
				return nil, nil, ctx.Err()
			case err != nil:
				notes = append(notes, fmt.Sprintf("the branch %s could not be brought into %s and is kept in cw's mirror: %v", t.Branch, t.Project, err))
			case handed.Note != "":
				notes = append(notes, handed.Note)
			}
			t.HandedOver = handed.Ref
		}
		trees[i] = t
	}
	return trees, notes, nil
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

// finishOf puts the decision into the words of the store.
func finishOf(st cw.RunState, e evidence, v verdict, trees []cw.AgentWorktree) cw.Finish {
	now := time.Now().UTC()
	f := cw.Finish{
		AgentID: st.Agent.ID, RunID: st.Run.ID,
		From:   []cw.AgentStatus{cw.StatusStarting, cw.StatusRunning},
		Status: v.Status, Reason: v.Reason, RetryAt: v.RetryAt, Error: v.Error,
		Result: v.Result, NoChanges: v.NoChanges, Warnings: v.Warnings,
		LastSnippet: snippet(v, e), TermSignal: signalName(e.Exit.Signal),
		CostUSD: e.Summary.CostUSD, Usage: e.Summary.Usage, Turns: e.Summary.Turns,
		ContextTokens: e.Summary.ContextTokens, ContextLimit: e.Summary.ContextLimit,
		UnknownLines: e.Unknown,
		EndedAt:      now, Worktrees: trees,
	}
	if st.Op != nil {
		f.OpID = st.Op.ID
	}
	if e.State == proc.StateExited && e.Exit.Signal == 0 && e.Exit.StartError == "" {
		code := e.Exit.Code
		f.ExitCode = &code
	}
	if e.Exit.EndedAt.Unix() > 0 {
		f.EndedAt = e.Exit.EndedAt.UTC()
	}
	if v.Result != "" {
		f.Assistant = &cw.Message{
			ID: cw.MessageID(cw.NewID()), AgentID: st.Agent.ID, RunID: st.Run.ID,
			Role: cw.RoleAssistant, Origin: "agent", Body: v.Result, CreatedAt: now,
		}
	}
	f.Questions = questionsOf(st, v.Questions, now)
	f.Events = finishEvents(st, f)
	return f
}

// signalName is a signal's name, "" for none.
func signalName(n int) string {
	if n == 0 {
		return ""
	}
	return orDefault(unix.SignalName(unix.Signal(n)), fmt.Sprintf("signal %d", n))
}

func snippet(v verdict, e evidence) string {
	for _, text := range []string{v.Error, v.Result, e.Summary.LastText.String()} {
		text = strings.Join(strings.Fields(text), " ")
		if text != "" {
			return cut(text, snippetMax)
		}
	}
	return ""
}

// cut shortens text to at most n characters.
func cut(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}

// questionsOf gives the agent's questions ids of cw's own and one group.
func questionsOf(st cw.RunState, asked []cw.SignalQuestion, now time.Time) []cw.Question {
	group := cw.RequestID(cw.NewID())
	out := make([]cw.Question, len(asked))
	for i, q := range asked {
		key := q.ID
		if key == "" {
			key = fmt.Sprintf("q%d", i+1)
		}
		out[i] = cw.Question{
			ID: cw.QuestionID(cw.NewID()), AgentID: st.Agent.ID, RunID: st.Run.ID, RequestID: group,
			Seq: i + 1, Key: key, Source: "signal", Header: q.Header, Text: q.Text,
			Options: q.Options, MultiSelect: q.MultiSelect, Status: cw.QuestionOpen, CreatedAt: now,
		}
	}
	return out
}

// finishEvents tells the end of a run: one event for the status, one for each
// question and warning.
func finishEvents(st cw.RunState, f cw.Finish) []cw.Event {
	self := cw.Actor{Kind: cw.ActorCW}
	name := st.Agent.Alias
	var out []cw.Event
	add := func(t cw.EventType, payload any) {
		out = append(out, cw.NewEvent(t, self, payload).About(st.Agent.ID, st.Run.ID))
	}
	for _, w := range f.Warnings {
		add(cw.EventAgentWarning, cw.AgentWarning{Name: name, Warning: w})
	}
	for _, q := range f.Questions {
		add(cw.EventQuestionRequested, cw.QuestionRequested{QuestionID: q.ID, RequestID: q.RequestID, Name: name, Question: q.Text})
	}
	switch f.Status {
	case cw.StatusWaitingForInput:
		add(cw.EventAgentWaiting, cw.AgentWaiting{Name: name, RequestID: f.Questions[0].RequestID, Questions: len(f.Questions)})
	case cw.StatusCrashed:
		add(cw.EventAgentCrashed, cw.AgentCrashed{Name: name, Reason: f.Reason, Error: f.Error, ExitCode: f.ExitCode, TermSignal: f.TermSignal, RetryAt: f.RetryAt})
	default:
		reason := f.Reason
		if f.Status == cw.StatusIdle {
			reason = cw.ReasonDone
		}
		add(cw.EventAgentStopped, stoppedPayload(name, reason, f))
	}
	return out
}

func stoppedPayload(name string, reason cw.Reason, f cw.Finish) cw.AgentStopped {
	p := cw.AgentStopped{Name: name, Reason: reason, NoChanges: f.NoChanges, ExitCode: f.ExitCode}
	for _, t := range f.Worktrees {
		p.Commits += t.Commits
	}
	if len(f.Worktrees) == 1 {
		p.HeadCommit = f.Worktrees[0].HeadCommit
	}
	return p
}

// tailOf reads the last n bytes of a file of ours; what cannot be read is
// empty: it is only evidence.
func tailOf(name string, n int64) []byte {
	f, err := openPlain(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	from := max(0, info.Size()-n)
	data, err := io.ReadAll(io.NewSectionReader(f, from, n))
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
