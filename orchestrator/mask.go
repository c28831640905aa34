package orchestrator

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"

	"cw/artifacts"
	"cw/internal/cw"
	"cw/internal/redact"
)

// The live secrets are masked where texts come in: a run's output before it is
// stored and parsed, its signal and the end of its standard error when they are
// read. maskedStore is what stands behind that: nothing that cw says by itself,
// errors of programs included, goes to the store around it.

// Secrets of runs that stay known: a key of somebody's environment lives on when
// its run is over, and a run finds what the one before it left.
const (
	keptPerRun  = 64
	keptOfEnded = 256
)

// learnSecrets notes the secrets that a run is given, before it has them. A
// daemon that comes after this one finds them in the run directory.
func (o *Orchestrator) learnSecrets(st cw.RunState, secrets []string) error {
	var known []string
	// Of the run before, and of a start of this one that was begun before.
	for _, dir := range []string{o.Home.RunDir(st.Agent.Alias, st.Run.SessionNumber-1), st.Run.Dir} {
		known = append(known, o.keptSecrets(dir)...)
	}
	known = newest(append(known, secrets...), keptPerRun)
	o.Redact.Put(ownerOf(st.Run.ID), known...)
	return o.Keeper.Keep(filepath.Join(st.Run.Dir, redact.FileName), known)
}

// recallSecrets notes the secrets of a run that an earlier daemon started.
func (o *Orchestrator) recallSecrets(run cw.Run) {
	if secrets := o.keptSecrets(run.Dir); len(secrets) > 0 {
		o.Redact.Put(ownerOf(run.ID), secrets...)
	}
}

func (o *Orchestrator) keptSecrets(dir string) []string {
	secrets, err := o.Keeper.Recall(filepath.Join(dir, redact.FileName))
	if err != nil {
		o.Log.Error("the secrets of a run are not known, and what is printed of them is not masked", "dir", dir, "error", err)
	}
	return secrets
}

// forgetSecrets takes back what learnSecrets noted: the run is over, and all of
// its texts are stored. They count as secrets of the past, of which only the
// newest stay.
func (o *Orchestrator) forgetSecrets(run cw.Run) {
	secrets := o.keptSecrets(run.Dir)
	if len(secrets) == 0 {
		return
	}
	o.mu.Lock()
	o.past = newest(append(o.past, secrets...), keptOfEnded)
	past := slices.Clone(o.past)
	o.mu.Unlock()
	o.Redact.Put("past runs", past...)
	o.Redact.Put(ownerOf(run.ID))
}

// newest gives the last n texts, each once.
func newest(texts []string, n int) []string {
	var out []string
	for _, t := range slices.Backward(texts) {
		if len(out) < n && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	slices.Reverse(out)
	return out
}

func ownerOf(run cw.RunID) string { return "run/" + string(run) }

// maskPiece masks what was read of the raw output. sure is how much of it is
// final: behind that a secret may have begun. With end nothing follows.
func (f *follower) maskPiece(piece []byte, end bool) (masked []byte, sure int) {
	set := f.o.Redact
	return set.MaskWindow(f.raw.Before(set.Reach()), piece, end)
}

// maskSignal masks every text of a signal.
func maskSignal(set *redact.Set, s cw.Signal) cw.Signal {
	s.Result, s.NoChanges, s.Error = set.MaskString(s.Result), set.MaskString(s.NoChanges), set.MaskString(s.Error)
	s.Unknown = maskAll(set, s.Unknown)
	s.Questions = slices.Clone(s.Questions)
	for i, q := range s.Questions {
		q.ID, q.Text, q.Header = set.MaskString(q.ID), set.MaskString(q.Text), set.MaskString(q.Header)
		q.Options = maskOptions(set, q.Options)
		s.Questions[i] = q
	}
	return s
}

func maskOptions(set *redact.Set, options []cw.QuestionOption) []cw.QuestionOption {
	out := slices.Clone(options)
	for i, opt := range out {
		out[i] = cw.QuestionOption{Label: set.MaskString(opt.Label), Description: set.MaskString(opt.Description)}
	}
	return out
}

// maskOutput masks every text of an agent's output, before it is compared with
// what is stored.
func maskOutput(set *redact.Set, out artifacts.Output) artifacts.Output {
	out.Summary = set.MaskString(out.Summary)
	for _, drafts := range []*[]artifacts.Draft{&out.Pages, &out.Decisions, &out.Phases, &out.Tasks} {
		*drafts = slices.Clone(*drafts)
		for i := range *drafts {
			d := &(*drafts)[i]
			for _, text := range []*string{
				&d.Page.Title, &d.Page.Body, &d.Phase.Name, &d.Phase.Body, &d.Task.Name, &d.Task.Body, &d.Decision.Title, &d.Decision.Body,
				&d.Reason,
			} {
				*text = set.MaskString(*text)
			}
			d.Task.Paths, d.Task.Checks = maskAll(set, d.Task.Paths), maskAll(set, d.Task.Checks)
		}
	}
	out.Problems = slices.Clone(out.Problems)
	for i := range out.Problems {
		out.Problems[i].Text = set.MaskString(out.Problems[i].Text)
	}
	return out
}

func maskAll(set *redact.Set, texts []string) []string {
	out := slices.Clone(texts)
	for i, t := range out {
		out[i] = set.MaskString(t)
	}
	return out
}

// maskedStore is a Store that masks what cw says. What a person says is kept as
// it was said: it goes to an agent.
type maskedStore struct {
	Store
	set *redact.Set
}

func (s maskedStore) FinishRun(ctx context.Context, f cw.Finish) (bool, error) {
	f.Error, f.Result, f.NoChanges = s.set.MaskString(f.Error), s.set.MaskString(f.Result), s.set.MaskString(f.NoChanges)
	f.LastSnippet, f.Warnings = s.set.MaskString(f.LastSnippet), maskAll(s.set, f.Warnings)
	if f.Assistant != nil {
		m := *f.Assistant
		m.Body = s.set.MaskString(m.Body)
		f.Assistant = &m
	}
	if f.Exhausted != nil {
		e := *f.Exhausted
		e.Text = s.set.MaskString(e.Text)
		f.Exhausted = &e
	}
	if f.Next != nil {
		next := s.intent(*f.Next)
		f.Next = &next
	}
	f.Events = s.events(f.Events)
	return s.Store.FinishRun(ctx, f)
}

func (s maskedStore) IntendRun(ctx context.Context, in cw.RunIntent) error {
	return s.Store.IntendRun(ctx, s.intent(in))
}

func (s maskedStore) intent(in cw.RunIntent) cw.RunIntent {
	in.Messages = slices.Clone(in.Messages)
	for i, m := range in.Messages {
		if m.Origin != cw.OriginPerson {
			in.Messages[i].Body = s.set.MaskString(m.Body)
		}
	}
	in.Events = s.events(in.Events)
	return in
}

// AskPeople masks what an agent says. Its key and the id of its call are kept.
func (s maskedStore) AskPeople(ctx context.Context, a cw.Asking) ([]cw.Question, bool, error) {
	a.Questions = slices.Clone(a.Questions)
	for i := range a.Questions {
		q := &a.Questions[i]
		q.Header, q.Text, q.Options = s.set.MaskString(q.Header), s.set.MaskString(q.Text), maskOptions(s.set, q.Options)
	}
	return s.Store.AskPeople(ctx, a)
}

func (s maskedStore) QueueAgentMessage(ctx context.Context, m cw.Message, ev cw.Event) (cw.Message, bool, error) {
	m.Body = s.set.MaskString(m.Body)
	return s.Store.QueueAgentMessage(ctx, m, s.event(ev))
}

func (s maskedStore) AddWarning(ctx context.Context, agent cw.AgentID, warning string, ev cw.Event) error {
	return s.Store.AddWarning(ctx, agent, s.set.MaskString(warning), s.event(ev))
}

func (s maskedStore) AddEvents(ctx context.Context, events ...cw.Event) error {
	return s.Store.AddEvents(ctx, s.events(events)...)
}

func (s maskedStore) EndOp(ctx context.Context, op cw.OpID, worktrees []cw.AgentWorktree, failed string) error {
	return s.Store.EndOp(ctx, op, worktrees, s.set.MaskString(failed))
}

func (s maskedStore) ChangePlan(ctx context.Context, c cw.PlanChange) (before, after cw.Plan, turn cw.PlanTurn, err error) {
	c.Title, c.Steps = s.set.MaskString(c.Title), slices.Clone(c.Steps)
	for i := range c.Steps {
		step := &c.Steps[i]
		step.Title, step.Description = s.set.MaskString(step.Title), s.set.MaskString(step.Description)
	}
	return s.Store.ChangePlan(ctx, c)
}

func (s maskedStore) SetInvalid(ctx context.Context, id cw.AccountID, why string, ev cw.Event) error {
	return s.Store.SetInvalid(ctx, id, s.set.MaskString(why), s.event(ev))
}

func (s maskedStore) events(events []cw.Event) []cw.Event {
	out := slices.Clone(events)
	for i, ev := range out {
		out[i] = s.event(ev)
	}
	return out
}

// event masks the payload. A mask could only break it where a secret begins with
// the letter of an escape; then nothing is left of it but its type.
func (s maskedStore) event(ev cw.Event) cw.Event {
	data := s.set.Mask(ev.Data)
	if !json.Valid(data) && len(data) > 0 {
		data = []byte("{}")
	}
	ev.Data = data
	return ev
}
