package crashlab

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

const (
	// patience bounds every wait; on a loaded machine things are slow.
	patience = 90 * time.Second
	pause    = 10 * time.Millisecond
)

// person asks the program for things while its daemon may die at any moment.
// What was not answered is asked for again, as a careful person would; what was
// answered is noted as promised.
type person struct {
	*lab.Lab
	*scene
	mend     func()        // brings the daemon back, or does nothing where somebody else does
	patience time.Duration // of one request
	// rough tells that the disk fails: then every failure may pass.
	rough bool
}

// ask does something until it is done or refused, however often the daemon dies
// under it.
func (p *person) ask(what string, do func(ctx context.Context) error) error {
	for end := time.Now().Add(p.patience); ; time.Sleep(pause) {
		p.mend()
		err := p.once(do)
		if err == nil {
			return nil
		}
		if !p.passing(err) || time.Now().After(end) {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
}

// roughWait bounds one request on a disk that fails: a daemon that could not
// sync waits for its end.
const roughWait = 10 * time.Second

// once does something, and on a failing disk not for ever.
func (p *person) once(do func(ctx context.Context) error) error {
	if !p.rough {
		return do(p.T.Context())
	}
	return within(p.T.Context(), roughWait, do)
}

// within does something, and gives up after a while.
func within(ctx context.Context, most time.Duration, do func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	err := do(ctx)
	if ctx.Err() != nil && err != nil {
		return cw.Errorf(cw.CodeUnreachable, "no answer within %s", most).Because(err)
	}
	return err
}

// passing tells whether an error may be gone in a moment, when the daemon, or
// the disk, is back.
func (p *person) passing(err error) bool {
	switch cw.ErrorCode(err) {
	case cw.CodeUnreachable, cw.CodeInternal:
		return true
	case cw.CodeFailed: // a shim that was killed before it started anything leaves nothing behind
		return p.rough || strings.Contains(err.Error(), "its supervisor ended before it")
	case cw.CodeRefused: // until what an earlier daemon began is over
		return strings.Contains(err.Error(), "is not settled") || p.rough && strings.Contains(err.Error(), "disk")
	}
	return false
}

// spawn makes an agent, with a name or without. Asking again with the same key
// never makes a second one.
func (p *person) spawn(s fakecli.Script, name string) (view cw.AgentView, err error) {
	s.Book = p.Books
	req := cw.SpawnRequest{
		RequestKey: cw.NewID(), Name: name, Goal: s.Goal(), Projects: []string{p.Repo}, Provider: "fake",
		Env: map[string]string{"PATH": os.Getenv("PATH"), fakecli.KeyVariable: p.canary},
	}
	err = p.ask("spawn", func(ctx context.Context) error {
		view, err = p.Client().Spawn(ctx, req)
		return err
	})
	return view, err
}

// agent looks at an agent.
func (p *person) agent(ref string) (view cw.AgentView, err error) {
	err = p.ask("look at the agent", func(ctx context.Context) error {
		view, err = p.Client().Agent(ctx, ref)
		return err
	})
	return view, err
}

// until waits until an agent is as wanted.
func (p *person) until(ref, what string, want func(cw.AgentView) bool) (cw.AgentView, error) {
	for end := time.Now().Add(patience); ; time.Sleep(3 * pause) {
		v, err := p.agent(ref)
		if err != nil || want(v) {
			return v, err
		}
		if time.Now().After(end) {
			return v, fmt.Errorf("waited in vain until %s: it is %s %s (%s), session %d, settling %v, %d questions, %d queued", what,
				v.Status, v.Reason, v.Error, v.SessionNumber, v.Settling, len(v.PendingQuestions), v.QueuedMessages)
		}
	}
}

// atRest tells whether nothing goes on for an agent, nor will by itself.
func atRest(v cw.AgentView) bool {
	goesOn := v.DeletedAt == nil && (v.Status == cw.StatusWaitingForInput && len(v.PendingQuestions) == 0 ||
		v.Status == cw.StatusIdle && v.QueuedMessages > 0)
	return v.Status.AtRest() && !v.Settling && !goesOn
}

// answer answers the open questions in order, in one request.
func (p *person) answer(v cw.AgentView, answers ...string) error {
	req := cw.AnswersRequest{Answers: map[cw.QuestionID]string{}}
	for i, q := range v.PendingQuestions {
		req.Answers[q.ID] = answers[i%len(answers)]
	}
	err := p.ask("answer", func(ctx context.Context) error {
		_, err := p.Client().Answer(ctx, req)
		if cw.ErrorCode(err) == cw.CodeRefused && p.answered(req) {
			return nil // it was stored, and the daemon died before it could say so
		}
		return err
	})
	if err == nil {
		p.gave(v.ID, req.Answers)
	}
	return err
}

// answered tells whether the questions have just these answers.
func (p *person) answered(req cw.AnswersRequest) bool {
	for id, answer := range req.Answers {
		var q cw.QuestionView
		err := p.ask("look at the question", func(ctx context.Context) (err error) {
			q, err = p.Client().Question(ctx, string(id))
			return err
		})
		if err != nil || q.Status != cw.QuestionAnswered || q.Answer != answer {
			return false
		}
	}
	return true
}

// tell gives the agent a text by do, once: before it is given again, the
// agent's messages are looked at.
func (p *person) tell(v cw.AgentView, text string, do func(ctx context.Context) error) error {
	err := p.ask("tell it", func(ctx context.Context) error {
		err := do(ctx)
		if err == nil {
			return nil
		}
		if there, lookErr := p.holds(v, text); lookErr != nil || there {
			return lookErr
		}
		return err
	})
	if err == nil {
		p.promise(v.ID, text)
	}
	return err
}

// holds tells whether an agent has a text among its messages.
func (p *person) holds(v cw.AgentView, text string) (there bool, err error) {
	err = p.ask("look at the messages", func(ctx context.Context) error {
		all, err := cw.SomePages(ctx, 0, func(ctx context.Context, q cw.PageQuery) (cw.Page[cw.Message], error) {
			return p.Client().Messages(ctx, string(v.ID), q)
		})
		there = slices.ContainsFunc(all, func(m cw.Message) bool { return strings.Contains(m.Body, text) })
		return err
	})
	return there, err
}

// send writes to an agent.
func (p *person) send(v cw.AgentView, text string) error {
	return p.tell(v, text, func(ctx context.Context) error {
		_, err := p.Client().Send(ctx, string(v.ID), cw.SendRequest{Text: text})
		return err
	})
}

// resume starts another run with a text.
func (p *person) resume(v cw.AgentView, text string) error {
	return p.tell(v, text, func(ctx context.Context) error {
		_, err := p.Client().Resume(ctx, string(v.ID), cw.ResumeRequest{Text: text})
		return err
	})
}

func (p *person) stop(v cw.AgentView) error {
	return p.ask("stop", func(ctx context.Context) error {
		_, err := p.Client().Stop(ctx, string(v.ID), cw.StopRequest{Now: true})
		return err
	})
}

func (p *person) remove(v cw.AgentView) error {
	return p.ask("remove", func(ctx context.Context) error {
		_, err := p.Client().Remove(ctx, string(v.ID))
		return err
	})
}

func (p *person) restore(v cw.AgentView) error {
	return p.ask("restore", func(ctx context.Context) error {
		_, err := p.Client().Restore(ctx, string(v.ID))
		return err
	})
}

func (p *person) open(v cw.AgentView) error {
	return p.ask("open", func(ctx context.Context) error {
		_, err := p.Client().OpenWorktree(ctx, string(v.ID))
		return err
	})
}
