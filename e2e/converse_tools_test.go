package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/lab"
	"cw/internal/cwtest/model"
)

// The same by cw's tools, which the CLIs offer by names of their own.

// offered is the name under which the CLI offers a tool of cw's.
func offered(t *model.Turn, tool string) string {
	for _, name := range t.Tools {
		if strings.HasSuffix(name, "cw__"+tool) {
			return strings.TrimPrefix(name, "tools.")
		}
	}
	if t.Defers("cw") { // codex lists none of them
		return "mcp__cw__" + tool
	}
	t.Fatalf("no tool %s of cw is offered, only %v", tool, t.Tools)
	return ""
}

// withTools plays a scenario once cw's tools are there: on a slow machine claude
// begins without them, and has a tool that waits for them.
func withTools(s model.Scenario) model.Scenario {
	return func(t *model.Turn) model.Reply {
		if t.Offers("WaitForMcpServers") && !t.Offers("mcp__cw__listen") {
			t.Require(t.Number() < looksMost, "cw's tools do not come")
			return model.Say(waitsForTools).Call("WaitForMcpServers", map[string]any{})
		}
		return s(t)
	}
}

// toolOf is a tool that the block of the talk names.
func toolOf(t *model.Turn, name string) string {
	t.Find(talk(t), "(?:call|with) `"+name+"`")
	return offered(t, name)
}

// plainOutput is the last tool's output without the quoting of a CLI that shows
// it as JSON in JSON.
func plainOutput(t *model.Turn) string { return strings.ReplaceAll(t.Output(), `\`, "") }

// worksByTools is told a word, does its task, and answers with the word when it
// is asked by a tool.
func worksByTools(t *model.Turn) model.Reply {
	work := taskOf(t)
	switch lastSaid(t) {
	case "":
		return model.Say("The file.").Write(work.file, work.sentence+"\n")
	case "The file.":
		t.Output()
		return model.Say("I look.").Call(toolOf(t, "listen"), map[string]any{"timeout_seconds": 2})
	case "I look.":
		if !strings.Contains(plainOutput(t), `"conversationId"`) {
			t.Find(plainOutput(t), `"nothing_yet"`)
			t.Require(t.Number() < looksMost, "nobody asks")
			return model.Say("I look.").Call(toolOf(t, "listen"), map[string]any{"timeout_seconds": 2})
		}
		t.Find(plainOutput(t), `"question":"Which word\?"`)
		return model.Say("I answer.").Call(toolOf(t, "answer"), map[string]any{
			"conversation_id": t.Find(plainOutput(t), `"conversationId":"([a-z2-7]{12})"`),
			"answer":          "It is " + t.Find(t.Told("task"), `the word is (\w+)`) + ".",
		})
	case "I answer.":
		t.Find(plainOutput(t), `"status":"answered"`)
		return model.Say("The commit.").Shell(work.committing())
	case "The commit.":
		return signalCommit(t)
	}
	return model.Say("Wrote " + work.file + ".")
}

// asksByTools asks the agent that its task names by a tool.
func asksByTools(t *model.Turn) model.Reply {
	work := taskOf(t)
	switch lastSaid(t) {
	case "":
		other := t.Find(t.Told("task"), `agent ([a-z2-7]{12}) knows`)
		return model.Say("I ask.").Call(toolOf(t, "ask_agent"), map[string]any{"question": "Which word?", "agent_id": other})
	case "I ask.":
		if strings.Contains(plainOutput(t), `"status":"pending"`) { // the CLI waits no longer
			t.Require(t.Number() < looksMost, "nobody answers")
			return model.Say("I ask.").Call(toolOf(t, "ask_agent"), map[string]any{"conversation_id": t.Find(plainOutput(t), `"conversationId":"([a-z2-7]{12})"`)})
		}
		return model.Say("The file.").Write(work.file, work.sentence+" "+t.Find(plainOutput(t), `"answer":"(It is \w+\.)"`)+"\n")
	case "The file.":
		t.Output()
		return model.Say("The commit.").Shell(work.committing())
	case "The commit.":
		return signalCommit(t)
	}
	return model.Say("Wrote " + work.file + ".")
}

// TestTalkByTools: as TestTalkByCommands, with the tools that the presets wire
// in.
func TestTalkByTools(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ asks, knows provider }{{claude, codex}, {codex, claude}} {
		t.Run(tt.asks.name+" asks "+tt.knows.name, func(t *testing.T) {
			t.Parallel()
			l, _ := newPairLab(t, map[string]model.Scenario{tt.asks.name: toldAll(withTools(asksByTools)), tt.knows.name: toldAll(withTools(worksByTools))})
			asked := tt.knows.detached(t, l, knowing)
			asker := tt.asks.detached(t, l, needing(asked))
			talked(t, l, l.Rest(string(asker.ID)), l.Rest(string(asked.ID)))
		})
	}
}

// TestTalkByToolsNeedsItsBlock: the tools are there, and nobody says what for.
func TestTalkByToolsNeedsItsBlock(t *testing.T) {
	t.Parallel()
	withEach(t, func(t *testing.T, p provider) {
		l, srv := newPairLab(t, map[string]model.Scenario{p.name: without("inter_agent_communication", withTools(asksByTools))})
		a, _, code := p.run(t, l, needing(cw.AgentView{Agent: cw.Agent{ID: "k3v7q2mzt5ha"}}))
		if code != 1 || a.Agent.Status != cw.StatusCrashed || len(srv.TakeErrors()) == 0 {
			t.Errorf("exit %d, status %s: it went well without the block", code, a.Agent.Status)
		}
	})
}

// asksPeopleByTool asks people by a call that waits, and writes what they said
// behind its sentence.
func asksPeopleByTool(t *model.Turn) model.Reply {
	work := taskOf(t)
	switch lastSaid(t) {
	case "":
		t.Find(t.Told("signal_format"), `outside the signal and cw's tools`)
		question := map[string]any{
			"question": "Which word?", "header": "Word", "multiSelect": false,
			"options": []map[string]any{{"label": "ahoy", "description": "as at sea"}, {"label": "hello", "description": "as ashore"}},
		}
		return model.Say("I ask people.").Call(offered(t, "ask_user_question"), map[string]any{"questions": []any{question}})
	case "I ask people.":
		return model.Say("The file.").Write(work.file, work.sentence+" It is "+t.Find(plainOutput(t), `"answer":"(\w+)"`)+".\n")
	case "The file.":
		t.Output()
		return model.Say("The commit.").Shell(work.committing())
	case "The commit.":
		return signalCommit(t)
	}
	return model.Say("Wrote " + work.file + ".")
}

// TestAskedByAToolAcrossAKill: a call of claude waits for people. The daemon is
// killed and another one started; what a person then answers reaches the call.
func TestAskedByAToolAcrossAKill(t *testing.T) {
	t.Parallel()
	l, _ := newLab(t, claude, toldAll(withTools(asksPeopleByTool)))
	l.Start()
	v := claude.detached(t, l, `Write the sentence "Good morning." into morning.txt. Ask people for the word behind it.`)
	l.Until(string(v.ID), func(v cw.AgentView) bool { return len(v.PendingQuestions) == 1 && v.Status == cw.StatusRunning })
	l.Kill()
	l.Start()
	q := openQuestion(t, l, v.Alias)
	cwDo(t, l, "", "question", "answer", string(q.ID), "ahoy")
	v = l.Rest(string(v.ID))
	if v.Status != cw.StatusIdle || len(v.Runs) != 1 || v.Commits() != 1 {
		t.Fatalf("status %s (%s %s), %d runs, %d commits\n%s", v.Status, v.Reason, v.Error, len(v.Runs), v.Commits(), l.DaemonLog())
	}
	if got := committed(t, l, v, "morning.txt"); got != "Good morning. It is ahoy." {
		t.Errorf("committed %q", got)
	}
	nothingLeft(t, l)
}

// openQuestion is the only open question of an agent, as the list shows it.
func openQuestion(t *testing.T, l *lab.Lab, alias string) cw.QuestionView {
	t.Helper()
	var open []cw.QuestionView
	must(t, json.Unmarshal([]byte(cwDo(t, l, "", "question", "list", "--json", "--agent", alias)), &open))
	if len(open) != 1 {
		t.Fatalf("%d open questions", len(open))
	}
	return open[0]
}
