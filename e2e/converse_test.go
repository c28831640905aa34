package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/lab"
	"cw/internal/cwtest/model"
)

// newPairLab makes a lab whose daemon knows claude and codex. Which scenario an
// agent plays depends on its CLI alone.
func newPairLab(t *testing.T, scenarios map[string]model.Scenario) (*lab.Lab, *model.Server) {
	t.Helper()
	protocols := map[string]string{"anthropic": claude.name, "responses": codex.name}
	srv := model.New(t, model.Route(func(r *model.Request) model.Scenario { return scenarios[protocols[r.Protocol]] }))
	l := lab.New(t, binary)
	home := filepath.Dir(l.Repo)
	l.Env = append(claude.environ(t, home, srv.URL), codex.environ(t, home, srv.URL)...)
	return l, srv
}

// byCommands takes cw's tools from the CLIs: their agents talk by commands.
func byCommands(t *testing.T, l *lab.Lab) {
	t.Helper()
	for _, p := range []provider{claude, codex} {
		plain := "name: " + p.name + "\nextends: " + p.name + "\nmcp: {style: none}\n"
		must(t, os.WriteFile(filepath.Join(l.Home.Providers(), p.name+".yaml"), []byte(plain), 0o600))
	}
}

// goals of an agent that knows a word, and of one that needs it.
const knowing = `Write the sentence "Good evening." into evening.txt. You may be asked for a word: the word is ahoy.`

func needing(other cw.AgentView) string {
	return `Write the sentence "Good morning." into morning.txt. Behind it stands the answer to "Which word?", which agent ` + string(other.ID) + ` knows.`
}

// detached starts an agent with a goal and does not wait.
func (p provider) detached(t *testing.T, l *lab.Lab, goal string, args ...string) cw.AgentView {
	t.Helper()
	a, stderr, code := p.run(t, l, append(append([]string{"--detach"}, args...), goal)...)
	if code != 0 {
		t.Fatalf("exit %d\n%s\n%s", code, stderr, l.DaemonLog())
	}
	return a.Agent
}

// conversations lists those of an agent as people see them.
func conversations(t *testing.T, l *lab.Lab, agent string) []cw.ConversationView {
	t.Helper()
	var all []cw.ConversationView
	must(t, json.Unmarshal([]byte(cwDo(t, l, "", "conversation", "list", "--json", "--agent", agent)), &all))
	return all
}

// talked checks that two agents did their work, and what they said to each
// other.
func talked(t *testing.T, l *lab.Lab, asker, asked cw.AgentView) {
	t.Helper()
	for _, v := range []cw.AgentView{asker, asked} {
		if v.Status != cw.StatusIdle || v.Commits() != 1 || len(v.Runs) != 1 || len(v.Warnings) > 0 {
			t.Errorf("%s is %s (%s %s) with %d commits after %d runs, warnings %q\n%s", v.Provider, v.Status, v.Reason, v.Error, v.Commits(), len(v.Runs), v.Warnings, l.DaemonLog())
		}
	}
	if t.Failed() {
		return
	}
	if got := committed(t, l, asked, "evening.txt"); got != "Good evening." {
		t.Errorf("%s committed %q", asked.Provider, got)
	}
	if got := committed(t, l, asker, "morning.txt"); got != "Good morning. It is ahoy." {
		t.Errorf("%s committed %q", asker.Provider, got)
	}
	all := conversations(t, l, asker.Alias)
	if len(all) != 1 {
		t.Fatalf("%d conversations", len(all))
	}
	c := all[0]
	if c.FromAgentID != asker.ID || c.ToAgentID != asked.ID || c.FromRunID != asker.Runs[0].ID || c.DeliveredRunID != asked.Runs[0].ID {
		t.Errorf("it is of %s to %s, runs %s and %s", c.FromAgentID, c.ToAgentID, c.FromRunID, c.DeliveredRunID)
	}
	if c.Status != cw.ConversationAnswered || c.Question != "Which word?" || c.Answer != "It is ahoy." || c.DeliveredAt == nil || c.FetchedAt == nil {
		t.Errorf("conversation %+v", c)
	}
	nothingLeft(t, l)
}

// TestTalkByCommands: one CLI asks, the other one, in the middle of its work,
// finds the question by its listener and answers; both go on and are done.
func TestTalkByCommands(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name        string
		asks, knows provider
		args        []string // of the one that knows
	}{
		{"claude asks codex", claude, codex, nil},
		{"codex asks claude", codex, claude, nil},
		{"claude asks codex in its sandbox", claude, codex, []string{"--sandbox", "workspace"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l, _ := newPairLab(t, map[string]model.Scenario{tt.asks.name: toldAll(asksAnother), tt.knows.name: toldAll(listensAndWorks)})
			byCommands(t, l)
			asked := tt.knows.detached(t, l, knowing, tt.args...)
			asker := tt.asks.detached(t, l, needing(asked))
			talked(t, l, l.Rest(string(asker.ID)), l.Rest(string(asked.ID)))
		})
	}
}

// TestTalkNeedsItsBlock: nobody can ask, and nobody listens, who is not told
// how.
func TestTalkNeedsItsBlock(t *testing.T) {
	t.Parallel()
	withEach(t, func(t *testing.T, p provider) {
		for _, tt := range []struct {
			name, goal string
			scenario   model.Scenario
		}{
			{"asks", needing(cw.AgentView{Agent: cw.Agent{ID: "k3v7q2mzt5ha"}}), asksAnother}, {"listens", knowing, listensAndWorks},
		} {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				l, srv := newPairLab(t, map[string]model.Scenario{p.name: without("inter_agent_communication", tt.scenario)})
				byCommands(t, l)
				a, _, code := p.run(t, l, tt.goal)
				if code != 1 || a.Agent.Status != cw.StatusCrashed || len(srv.TakeErrors()) == 0 {
					t.Errorf("exit %d, status %s: it went well without the block", code, a.Agent.Status)
				}
			})
		}
	})
}
