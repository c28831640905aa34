package e2e

import (
	"encoding/json"
	"slices"
	"strings"

	"cw/internal/cw"
	"cw/internal/cwtest/model"
)

// The scenarios of agents that talk with each other by the commands of their
// prompt's last block. They know nothing of each other but what their task, the
// commands' output and the block tell them.

// toldAll plays a scenario of an agent that was told all blocks, in their order.
func toldAll(s model.Scenario) model.Scenario {
	return func(t *model.Turn) model.Reply {
		t.RequireTags(executeTags...)
		return s(t)
	}
}

// talk is the block that tells how.
func talk(t *model.Turn) string { return t.Told("inter_agent_communication") }

// self is the agent's own id, as its workspace tells it.
func self(t *model.Turn) string { return t.Find(t.Told("workspace"), "id `([a-z2-7]{12})`") }

// listening is the command that starts the listener.
func listening(t *model.Turn) string {
	return t.Find(talk(t), "(?m)^set -m; cw listen --agent-id "+self(t)+` > .*$`)
}

// looking looks into the listener's file, and whether it lives.
func looking(t *model.Turn) string {
	return t.Find(talk(t), "between steps\\*\\*.*: `(cat [^`]+)`") + "; true"
}

// lookingAnew is what the block tells an agent whose listener does not live.
func lookingAnew(t *model.Turn) string {
	return t.Find(talk(t), "Then check by `(cw listen [^`]+)` instead; exit code 6")
}

// answering is the command that answers.
func answering(t *model.Turn, answer string, to cw.ConversationID) string {
	command := t.Find(talk(t), "`(cw answer 'TEXT' --conversation-id ID)`")
	return strings.NewReplacer("TEXT", answer, " ID", " "+string(to)).Replace(command)
}

// asking is the command that asks an agent.
func asking(t *model.Turn, question, agent string) string {
	command := t.Find(talk(t), `(?m)^cw ask 'TEXT' --from `+self(t)+` --agent-id AGENT --timeout 90s$`)
	return strings.NewReplacer("TEXT", question, "AGENT", agent).Replace(command)
}

// letGo stops the listener.
func letGo(t *model.Turn) string { return t.Find(talk(t), "remove its files: `(p=[^`]+)`") }

// lastSaid is what the model said in its last turn: where it stands.
func lastSaid(t *model.Turn) string {
	for _, said := range slices.Backward(t.Current().Answers()) {
		if said != waitsForTools {
			return said
		}
	}
	return ""
}

// waitsForTools is said while cw's tools are not there yet: nothing was done.
const waitsForTools = "I wait for the tools."

// lastResult is what the last tool call gave, failed or not.
func lastResult(t *model.Turn) model.ToolResult {
	results := t.Current().Results()
	t.Require(len(results) > 0, "no tool has been called since the prompt")
	return results[len(results)-1]
}

// questionIn takes the question out of a listener's output.
func questionIn(t *model.Turn, output string) (q cw.PendingConversation, found bool) {
	for line := range strings.Lines(output) {
		if strings.HasPrefix(line, "{") && strings.Contains(line, `"question":`) {
			t.Require(json.Unmarshal([]byte(line), &q) == nil, "no question: %s", line)
			t.Require(cw.IsID(string(q.ConversationID)) && cw.IsID(string(q.FromAgentID)), "a question without ids: %s", line)
			return q, true
		}
	}
	return q, false
}

// writing is a task of one file, which is told as goalOf words it.
type writing struct{ sentence, file string }

func taskOf(t *model.Turn) writing {
	return writing{t.Find(t.Told("task"), `sentence "(.+?)"`), t.Find(t.Told("task"), `into (\S+?)\.\s`)}
}

func (w writing) committing() string {
	return "git add " + w.file + " && git commit -qm 'Add " + w.file + "' && git rev-parse HEAD"
}

// looksMost bounds how often an agent looks for a question.
const looksMost = 60

// listensAndWorks is told a word, does its task, and answers with the word when
// it is asked, in the middle of its work.
func listensAndWorks(t *model.Turn) model.Reply {
	work := taskOf(t)
	switch said := lastSaid(t); said {
	case "":
		return model.Say("I listen.").Shell(listening(t))
	case "I listen.":
		t.Output()
		return model.Say("The file.").Write(work.file, work.sentence+"\n")
	case "The file.", "I look.", "I look anew.":
		return looksOn(t, said)
	case "I answer.":
		q := lastQuestion(t)
		var closed struct{ ConversationID, Status string }
		t.Require(json.Unmarshal([]byte(t.Output()), &closed) == nil, "cw answer printed %q", t.Output())
		t.Require(closed.ConversationID == string(q.ConversationID) && closed.Status == "answered", "cw answer printed %q", t.Output())
		return model.Say("I listen again.").Shell(listening(t))
	case "I listen again.":
		t.Output()
		return model.Say("Nobody else?").Shell(looking(t))
	case "Nobody else?":
		_, more := questionIn(t, t.Output())
		t.Require(!more, "the question came again: %s", t.Output())
		return model.Say("The commit.").Shell(work.committing())
	case "The commit.":
		head := t.Find(t.Output(), `[0-9a-f]{40}`)
		return model.Say("I listen no more.").Shell(letGo(t) + "; echo " + head + "; ls .cw/tmp")
	case "I listen no more.":
		t.Require(!strings.Contains(t.Output(), "listen"), "the listener's files are still there: %s", t.Output())
		return signalCommit(t)
	}
	return model.Say("Wrote " + work.file + ".")
}

// looksOn looks for a question, by the listener or without it, until there is
// one, and answers it.
func looksOn(t *model.Turn, said string) model.Reply {
	last := lastResult(t)
	if said != "The file." {
		if q, found := questionIn(t, last.Text); found {
			word := t.Find(t.Told("task"), `the word is (\w+)`)
			t.Find(q.Question, `Which word\?`)
			return model.Say("I answer.").Shell(answering(t, "It is "+word+".", q.ConversationID))
		}
	}
	t.Require(t.Number() < looksMost, "nobody asks")
	anew := said == "I look anew." || said == "I look." && !strings.Contains(last.Text, "cw listen")
	if anew {
		t.Require(said == "I look." || strings.Contains(last.Text, "Exit code 6"), "cw listen said %q", last.Text)
		return model.Say("I look anew.").Shell(lookingAnew(t))
	}
	return model.Say("I look.").Shell("sleep 0.5; " + looking(t))
}

// lastQuestion is the last question that was found.
func lastQuestion(t *model.Turn) cw.PendingConversation {
	for _, r := range slices.Backward(t.Current().Results()) {
		if q, found := questionIn(t, r.Text); found {
			return q
		}
	}
	t.Fatalf("there was no question")
	return cw.PendingConversation{}
}

// asksAnother asks the agent that its task names, and writes the answer behind
// its sentence.
func asksAnother(t *model.Turn) model.Reply {
	work := taskOf(t)
	switch lastSaid(t) {
	case "":
		other := t.Find(t.Told("task"), `agent ([a-z2-7]{12}) knows`)
		return model.Say("I ask.").Shell(asking(t, "Which word?", other))
	case "I ask.":
		answer := t.Find(t.Output(), `(?m)^(It is \w+\.)\n*\z`)
		return model.Say("The file.").Write(work.file, work.sentence+" "+answer+"\n")
	case "The file.":
		t.Output()
		return model.Say("The commit.").Shell(work.committing())
	case "The commit.":
		return signalCommit(t)
	}
	return model.Say("Wrote " + work.file + ".")
}
