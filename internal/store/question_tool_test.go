package store

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"cw/internal/cw"
)

func (b *bench) asking(in cw.SpawnIntent, key string, texts ...string) cw.Asking {
	a := cw.Asking{AgentID: in.Agent.ID, RunID: in.Run.ID, RequestKey: key, By: cw.Actor{Kind: cw.ActorAgent, ID: string(in.Agent.ID)}}
	for i, q := range questions(texts...) {
		q.Source, q.Status, q.Seq = cw.AskedByTool, cw.QuestionOpen, i+1
		a.Questions = append(a.Questions, q)
	}
	return a
}

func (b *bench) askPeople(a cw.Asking) []cw.Question {
	b.t.Helper()
	asked, _, err := b.AskPeople(b.t.Context(), a)
	b.must(err)
	return asked
}

// TestAskPeople: one group for each key, whoever repeats it, in the limits.
func TestAskPeople(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in, other := b.runningAgent("brave-otter"), b.runningAgent("calm-bear")
	var all sync.WaitGroup
	groups := make([]cw.RequestID, 8)
	for i := range groups {
		all.Go(func() {
			if asked, _, err := b.AskPeople(t.Context(), b.asking(in, "k", "a", "b")); err == nil && len(asked) == 2 {
				groups[i] = asked[0].RequestID
			}
		})
	}
	all.Wait()
	for _, g := range groups {
		if g == "" || g != groups[0] {
			t.Fatalf("groups %q", groups)
		}
	}
	if g := b.askPeople(b.asking(other, "k", "c"))[0].RequestID; g == groups[0] {
		t.Error("another agent's key gives the group")
	}
	for i := range cw.ToolQuestionsOpen - 2 {
		b.askPeople(b.asking(in, "", fmt.Sprint(i)))
	}
	_, _, err := b.AskPeople(t.Context(), b.asking(in, "", "one too many"))
	refuses(t, err, cw.CodeRefused, "20 of your questions")
	if again := b.askPeople(b.asking(in, "k", "a", "b")); again[0].RequestID != groups[0] {
		t.Error("at the limit the key gives another group")
	}
	_, err = b.FinishRun(t.Context(), finish(other, cw.StatusRunning, cw.StatusIdle))
	b.must(err)
	_, _, err = b.AskPeople(t.Context(), b.asking(other, "", "too late"))
	refuses(t, err, cw.CodeRefused, "is over")
}

// TestAnswersAreTakenOnce: a call takes the answers, or a run is told them; the
// second of both finds nothing.
func TestAnswersAreTakenOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := b.runningAgent("brave-otter")
	first, second := b.askPeople(b.asking(in, "1", "a"))[0], b.askPeople(b.asking(in, "2", "b"))[0]
	untold := func(want ...string) []cw.QuestionID {
		t.Helper()
		left, err := b.UntoldAnswers(t.Context(), in.Agent.ID)
		b.must(err)
		same(t, "untold", strings.Join(texts(left), " "), strings.Join(want, " "))
		var ids []cw.QuestionID
		for _, q := range left {
			ids = append(ids, q.ID)
		}
		return ids
	}
	untold()
	b.answer("brave-otter")
	stale := untold("a", "b")
	got, err := b.FetchAnswers(t.Context(), first.RequestID, in.Run.ID)
	b.must(err)
	again, err := b.FetchAnswers(t.Context(), first.RequestID, in.Run.ID)
	b.must(err)
	if got[0].FetchedAt == nil || !again[0].FetchedAt.Equal(*got[0].FetchedAt) {
		t.Errorf("fetched %v, then %v", got[0].FetchedAt, again[0].FetchedAt)
	}
	left := untold("b")
	_, err = b.FinishRun(t.Context(), finish(in, cw.StatusRunning, cw.StatusIdle))
	b.must(err)
	ready, err := b.ReadyAgents(t.Context())
	b.must(err)
	same(t, "ready", ready, []cw.AgentID{in.Agent.ID})
	_, err = b.FetchAnswers(t.Context(), second.RequestID, in.Run.ID)
	refuses(t, err, cw.CodeRefused, "is over")
	next := nextRun(in.Agent.ID, 2, "answers")
	next.Told = stale
	if err := b.IntendRun(t.Context(), next); err == nil || cw.ErrorCode(err) == cw.CodeRefused {
		t.Fatalf("what a call took is told: %v", err)
	}
	next.Told = left
	b.must(b.IntendRun(t.Context(), next))
	untold()
}

// TestExpiredStaysWithdrawn: a removal takes back what is open, a restoring asks
// that again and nothing else.
func TestExpiredStaysWithdrawn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := b.restingAgent("brave-otter", cw.StatusWaitingForInput, "a", "b")
	open := b.agent("brave-otter").PendingQuestions
	b.must(b.RemindQuestion(t.Context(), open[0].ID, time.Now()))
	done, err := b.ExpireQuestion(t.Context(), open[0].ID, "nobody answered within 1h")
	b.must(err)
	if again, err := b.ExpireQuestion(t.Context(), open[0].ID, "again"); !done || again || err != nil {
		t.Errorf("withdrawn %v, then %v, %v", done, again, err)
	}
	b.removeAgent(in.Agent.ID)
	q, err := b.QuestionByID(t.Context(), string(open[1].ID))
	b.must(err)
	same(t, "reason", q.Reason, cw.WithdrawnRemoved)
	b.must(b.change(t.Context(), "restore", func(tx *tx) error {
		a, err := tx.loadAgent(in.Agent.ID)
		if err != nil {
			return err
		}
		return tx.reopenQuestions(a, cw.Actor{Kind: cw.ActorPerson})
	}))
	q, err = b.QuestionByID(t.Context(), string(open[1].ID))
	b.must(err)
	if first, err := b.QuestionByID(t.Context(), string(open[0].ID)); err != nil || !first.Unanswered() || q.Status != cw.QuestionOpen || q.Reason != "" {
		t.Errorf("restored: %s (%s), %s (%s), %v", first.Status, first.Reason, q.Status, q.Reason, err)
	}
}
