package crashlab

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
)

// model is what people know of one agent in a storm: what they did to it and
// were told is done. One person deals with an agent at a time.
type model struct {
	busy    sync.Mutex
	removed bool
	acts    int
}

// models are those of all agents that were acknowledged.
type models struct {
	mu  sync.Mutex
	all map[string]*model // guarded by mu: by id
	ids []string          // guarded by mu: in the order in which they were made
}

func (m *models) add(id cw.AgentID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all[string(id)] == nil {
		m.all[string(id)] = &model{}
		m.ids = append(m.ids, string(id))
	}
}

// newest draws one of the newest agents.
func (m *models) newest(rng *rand.Rand) (string, *model) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.ids) == 0 {
		return "", nil
	}
	id := m.ids[len(m.ids)-1-rng.IntN(min(len(m.ids), 4*writers))]
	return id, m.all[id]
}

// actsMost bounds what is done to one agent, so that others get their turn.
const actsMost = 5

// life draws what an agent does in its first runs. Files have different names,
// so that each is work of its own.
func life(rng *rand.Rand) fakecli.Script {
	s := works("work-" + cw.NewID() + ".txt")
	s.Seed, s.Pieces, s.PaceMS = rng.Uint64(), 200+rng.IntN(1000), 4
	next := works("next-" + cw.NewID() + ".txt")
	switch rng.IntN(6) {
	case 0, 1: // it asks first
		next.File = s.File + ".answered"
		s.Signal, s.Next = asks, &next
	case 2: // it must be told to write its signal
		next = fakecli.Script{Pieces: pieces, Signal: nothing}
		s.Signal, s.Next = "", &next
	case 3: // it must be told to commit
		next.Commit, next.Shell = "", "git add -A . && git commit -q -m 'Commit the work'"
		s.Commit, s.Next = "", &next
	}
	return s
}

// makeAgents spawns agents so that enough of them write.
func (s *storm) makeAgents(ctx context.Context, rng *rand.Rand) {
	for ctx.Err() == nil {
		if len(s.writing()) >= writers {
			s.wait(2 * pause)
			continue
		}
		s.acting.Add(1)
		v, err := s.spawn(life(rng), "")
		s.acting.Add(-1)
		if err != nil {
			s.wrong("%v", err)
			return
		}
		s.models.add(v.ID)
	}
}

// deal is a person who looks at one agent after the other and does something
// that makes sense for it.
func (s *storm) deal(ctx context.Context, rng *rand.Rand) {
	for ctx.Err() == nil {
		s.wait(pause)
		id, m := s.models.newest(rng)
		if m == nil || !m.busy.TryLock() {
			continue
		}
		if m.acts < actsMost {
			if err := s.act(id, m, rng); err != nil {
				s.wrong("agent %s: %v\n%s", id, err, tail(s.DaemonLog()))
			}
		}
		m.busy.Unlock()
	}
}

// act does one thing to an agent.
func (s *storm) act(id string, m *model, rng *rand.Rand) error {
	v, err := s.agent(id)
	if err != nil || v.Settling {
		return err
	}
	do := s.choice(v, m, rng)
	if do == nil {
		return nil
	}
	m.acts++
	s.acting.Add(1)
	defer s.acting.Add(-1)
	err = do()
	if cw.ErrorCode(err) == cw.CodeRefused {
		return s.mayRefuse(v, err)
	}
	s.done.Add(1)
	return err
}

// mayRefuse accepts a refusal when the agent is not any more as the person saw
// it: it was killed, or went on by itself.
func (s *storm) mayRefuse(before cw.AgentView, refused error) error {
	now, err := s.agent(string(before.ID))
	if err != nil {
		return err
	}
	if now.Status == before.Status && now.SessionNumber == before.SessionNumber && now.UpdatedAt.Equal(before.UpdatedAt) {
		return fmt.Errorf("it is %s as before: %w", now.Status, refused)
	}
	return nil
}

// choice draws what a person does with an agent as it is, nil for nothing.
func (s *storm) choice(v cw.AgentView, m *model, rng *rand.Rand) func() error {
	mark := fakecli.Say(cw.NewID())
	next := works("more-" + cw.NewID() + ".txt")
	next.Book, next.Expect, next.Seed, next.Pieces, next.PaceMS = s.Books, []string{mark}, rng.Uint64(), 50+rng.IntN(500), 4
	text := "Now " + mark + " " + next.Text()
	dice := rng.IntN(10)
	switch {
	case m.removed && dice < 5:
		return func() error { err := s.restore(v); m.removed = m.removed && err != nil; return err }
	case m.removed:
		return nil
	case v.Status == cw.StatusWaitingForInput && len(v.PendingQuestions) > 0 && dice < 8:
		return func() error { return s.answer(v, "red", "as many as "+mark) }
	case v.Status == cw.StatusIdle && dice < 3, v.Status == cw.StatusRunning && dice == 0:
		return func() error { return s.send(v, text) }
	case v.Status == cw.StatusRunning && dice == 1:
		return func() error { return s.stop(v) }
	case (v.Status == cw.StatusCrashed || v.Status == cw.StatusStopped || v.Status == cw.StatusIdle) && dice < 6:
		return func() error { return s.resume(v, text) }
	case v.Status.AtRest() && dice > 7:
		return func() error { err := s.remove(v); m.removed = err == nil; return err }
	}
	return nil
}

// compare holds every agent against its model.
func (s *storm) compare() (broken []problem) {
	known := map[string]cw.AgentView{}
	ends := map[string]int{}
	for _, v := range s.views {
		known[string(v.ID)] = v
		end := string(v.Status) + " " + string(v.Reason)
		if v.DeletedAt != nil {
			end += " removed"
		}
		ends[end]++
	}
	bad := func(format string, args ...any) {
		broken = append(broken, problem{"model", fmt.Sprintf(format, args...)})
	}
	for id, m := range s.models.all {
		v, ok := known[id]
		if !ok {
			bad("agent %s is not known any more", id)
			continue
		}
		if (v.DeletedAt != nil) != m.removed {
			bad("%s: removed %v, and people were told %v", v.Alias, v.DeletedAt, m.removed)
		}
		for _, r := range v.Runs {
			// One whose session a kill had kept from being made is told again what to do.
			hurt := s.killed[string(r.ID)] != "" || s.books[string(r.ID)].Gone()
			if !hurt && r.Outcome == cw.StatusCrashed && r.OutcomeReason != cw.ReasonNoSignal {
				bad("%s, run %d: nobody touched it, and it crashed: %s %s", v.Alias, r.SessionNumber, r.OutcomeReason, v.Error)
			}
		}
	}
	if len(known) != len(s.models.all) {
		bad("%d agents are known, %d were acknowledged", len(known), len(s.models.all))
	}
	s.t.Logf("ends: %v", ends)
	return broken
}
