package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
)

// exec changes rows in a way that no rule watches over.
func (b *bench) exec(statement string, args ...any) {
	b.t.Helper()
	b.must(b.state.write.Exec(statement, args...).Error)
}

// addCheck stores a run of another kind beside those of an agent.
func (b *bench) addCheck(agent cw.AgentID) {
	b.t.Helper()
	b.must(b.state.write.Create(&cw.Run{
		ID: cw.RunID(cw.NewID()), AgentID: agent, Kind: cw.RunCheck, SessionNumber: 9, CostUSD: 99, CreatedAt: time.Now(),
	}).Error)
}

// TestAgentsOfAFilter: removed agents are in no list, and those of other
// providers and initiatives not in the list of one.
func TestAgentsOfAFilter(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	sale, other := b.initiative("Sale"), b.initiative("Other")
	b.addAgent(cw.Agent{ID: "aaaaaaaaaaaa", Alias: "one", Provider: "claude", InitiativeID: sale.ID})
	b.addAgent(cw.Agent{ID: "bbbbbbbbbbbb", Alias: "two", Provider: "codex", InitiativeID: other.ID})
	b.addAgent(cw.Agent{ID: "cccccccccccc", Alias: "gone", Provider: "codex", InitiativeID: sale.ID, DeletedAt: new(time.Now())})
	for _, c := range []struct {
		filter cw.AgentFilter
		want   []string
	}{
		{cw.AgentFilter{}, []string{"one", "two"}},
		{cw.AgentFilter{Provider: "codex"}, []string{"two"}},
		{cw.AgentFilter{Initiative: "sale"}, []string{"one"}},
		{cw.AgentFilter{Initiative: string(other.ID)}, []string{"two"}},
		{cw.AgentFilter{Provider: "codex", Initiative: "sale"}, nil},
		{cw.AgentFilter{SeenBy: "aaaaaaaaaaaa"}, []string{"one"}},
		{cw.AgentFilter{SeenBy: "nobodyatall2"}, nil},
	} {
		c.filter.Sort = "name"
		page, err := b.AgentViews(t.Context(), c.filter)
		b.must(err)
		var got []string
		for _, v := range page.Items {
			got = append(got, v.Alias)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.filter, got, c.want)
		}
	}
	_, err := b.AgentViews(t.Context(), cw.AgentFilter{Initiative: "sail"})
	refuses(t, err, cw.CodeNotFound, "sail")
}

// TestViewHoldsWhatIsItsOwn: a run of another kind is none of the agent's runs
// and costs it nothing, and a question that was answered no longer waits.
func TestViewHoldsWhatIsItsOwn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := b.runningAgent("brave-otter")
	b.addCheck(in.Agent.ID)
	for i, status := range []cw.QuestionStatus{cw.QuestionAnswered, cw.QuestionOpen, cw.QuestionWithdrawn} {
		b.must(b.state.write.Create(&cw.Question{
			ID: cw.QuestionID(cw.NewID()), AgentID: in.Agent.ID, RequestID: "r", Seq: i + 1, Text: string(status), Status: status,
		}).Error)
	}
	view, err := b.AgentView(t.Context(), "brave-otter")
	b.must(err)
	if len(view.Runs) != 1 || view.Runs[0].ID != in.Run.ID || view.CostUSD != 0 || view.PID != 4711 {
		t.Errorf("runs %+v, cost %v, pid %d", view.Runs, view.CostUSD, view.PID)
	}
	if len(view.PendingQuestions) != 1 || view.PendingQuestions[0].Status != cw.QuestionOpen {
		t.Errorf("questions %+v", view.PendingQuestions)
	}
	live, err := b.LiveRuns(t.Context()) // who calls from below a check is no person
	b.must(err)
	if len(live) != 2 || live[0].ID != in.Run.ID || live[0].Kind != cw.RunAgent || live[1].Kind != cw.RunCheck {
		t.Errorf("live runs %+v", live)
	}
}

// TestProjectPages: each order in pages of one, where the names are not in the
// order of the times.
func TestProjectPages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i, name := range []string{"c", "a", "b"} {
		p := project(name)
		p.CreatedAt = time.Unix(1_800_000_000+int64(i), 0).UTC()
		b.must(b.AddProject(t.Context(), p, event(cw.EventProjectAdded, name)))
	}
	for sort, want := range map[string]string{"": "abc", "name": "abc", "-name": "cba", "createdAt": "cab", "-createdAt": "bac"} {
		got, q := "", cw.PageQuery{Limit: 1, Sort: sort}
		for range 5 {
			page, err := b.ProjectPage(t.Context(), q)
			b.must(err)
			for _, p := range page.Items {
				got += p.Name
			}
			if q.Cursor = page.Next; q.Cursor == "" {
				break
			}
		}
		if got != want {
			t.Errorf("by %q: %s, want %s", sort, got, want)
		}
	}
}

// TestNoAgent names the agent that was probably meant, and does not say a long
// word again.
func TestNoAgent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.addAgent(cw.Agent{ID: "aaaaaaaaaaaa", Alias: "brave-otter"})
	b.addAgent(cw.Agent{ID: "bbbbbbbbbbbb", Alias: "calm-bear"})
	for word, hint := range map[string]string{
		"brve-ottr": "did you mean brave-otter?", "calmbear": "did you mean calm-bear?", "otter": "all agents: cw agent list",
		strings.Repeat("x", 1000): "all agents: cw agent list",
	} {
		_, err := b.AgentByRef(t.Context(), word)
		refuses(t, err, cw.CodeNotFound, hint)
		if text := fmt.Sprint(err); len(text) > 200 {
			t.Errorf("an error of %d bytes", len(text))
		}
	}
}
