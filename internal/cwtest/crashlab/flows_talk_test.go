package crashlab

import (
	"os"
	"path/filepath"
	"slices"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
)

// peer is the agent that the agent of a course asks.
const peer = "wise-heron"

// The words of a conversation.
const question, reply = "How many?", "Seven."

// talkFlows are those of agents that talk with each other, or with people by a
// call. Whoever asks, listens or waits lives on while daemons die, and goes on.
func talkFlows() []flow {
	return []flow{
		{"ask", []string{"conversation/asked", "conversation/delivered", "conversation/answered"}, toAsked},
		{"wake", resumes([]string{"conversation/asked", "resume/intended", "conversation/woken"}, []string{"conversation/delivered", "conversation/answered"}), toWoken},
		{"queue", resumes([]string{"conversation/asked", "resume/intended"}, []string{"conversation/answered"}), toQueued},
		{"people asked by a call", []string{"question/asked", "answer/stored", "question/fetched"}, toTold},
		{"message to one that is idle", resumes([]string{"agent-message/stored", "resume/intended"}, nil), toMessaged},
		{"message to one that runs", []string{"agent-message/stored", "resume/intended"}, toMailed},
	}
}

// asksPeer is a run that asks the peer, and then works.
func asksPeer(how ...string) fakecli.Script {
	s := works("work.txt")
	s.Talk.Asks = append([]string{question, "--agent-id", peer}, how...)
	return s
}

// hears is a run that waits for a question, answers it, and then works.
func hears(file string) fakecli.Script {
	s := works(file)
	s.Hears, s.Answer = 1, reply
	return s
}

// meet spawns the peer and waits until it is as wanted.
func (c *course) meet(s fakecli.Script, what string, want func(cw.AgentView) bool) cw.AgentView {
	c.T.Helper()
	_, err := c.spawn(s, peer)
	c.need(err)
	v, err := c.until(peer, what, want)
	c.need(err)
	return v
}

// parted waits until both agents rest after so many runs of the peer.
func (c *course) parted(runs int) {
	c.T.Helper()
	c.settled(1)
	_, err := c.until(peer, "the peer rests", func(v cw.AgentView) bool { return atRest(v) && v.SessionNumber >= runs })
	c.need(err)
}

// toAsked: an agent asks one that runs, and both go on.
func toAsked(c *course) {
	c.meet(hears("peer.txt"), "it runs", func(v cw.AgentView) bool { return v.Status == cw.StatusRunning })
	c.start(asksPeer())
	c.parted(1)
}

// toWoken: an agent asks one that is idle, and wakes it.
func toWoken(c *course) {
	next := hears("more.txt")
	first := works("peer.txt")
	first.Next = &next
	c.meet(first, "it is idle", func(v cw.AgentView) bool { return atRest(v) })
	c.start(asksPeer("--wake"))
	c.parted(2)
}

// toQueued: an agent asks one that is idle and waits; a person lets that one go
// on, and it has the question in its prompt.
func toQueued(c *course) {
	next := hears("more.txt")
	next.Book = c.Books
	c.meet(works("peer.txt"), "it is idle", func(v cw.AgentView) bool { return atRest(v) })
	c.start(asksPeer("--queue"))
	c.need(c.ask("wait for the question", c.isAsked))
	v, err := c.agent(peer)
	c.need(err)
	c.need(c.resume(v, "Go on. "+next.Text()))
	c.parted(2)
}

// toTold: a run asks people by a call, waits for their answers, and then works.
func toTold(c *course) {
	s := works("work.txt")
	s.Ask = &cw.PeopleRequest{RequestKey: "call-1", ToolUseID: "toolu_1", Questions: []cw.ToolQuestion{
		{Header: "Colour", Question: "Which colour?", Options: []cw.QuestionOption{{Label: "red"}, {Label: "blue"}}},
		{Header: "Number", Question: "How many?", Options: []cw.QuestionOption{{Label: "one"}, {Label: "two"}}},
	}}
	c.start(s)
	v := c.wait("it asks", func(v cw.AgentView) bool { return len(v.PendingQuestions) > 0 })
	if v.Status != cw.StatusRunning || len(v.PendingQuestions) != 2 {
		c.T.Errorf("it is %s and asks %d questions", v.Status, len(v.PendingQuestions))
	}
	c.need(c.answer(v, "blue", "two"))
	v = c.settled(1)
	if told := c.book(v).Told(); !slices.Equal(told, []string{"blue", "two"}) {
		c.T.Errorf("it was told %q", told)
	}
}

// messages spawns the agent: its run sends the peer work in a message, waits for
// the response, and then works itself.
func (c *course) messages(to cw.AgentView) {
	c.T.Helper()
	next := works("more.txt")
	next.Book, next.Expect = c.Books, []string{fakecli.Say("mail")}
	text := "Do this, please: " + fakecli.Say("mail") + " " + next.Text()
	s := works("work.txt")
	s.Message = &cw.AgentMessageRequest{RequestKey: "call-1", AgentID: string(to.Mode), Session: peer, Content: text}
	c.start(s)
	c.promise(to.ID, text)
}

// responded waits until both agents rest, and checks what the agent was told.
func (c *course) responded() {
	c.T.Helper()
	c.parted(2)
	v, err := c.agent(name)
	c.need(err)
	if got := c.book(v).Responded(); !slices.Equal(got, []string{"complete: ok"}) {
		c.T.Errorf("the responses are %q", got)
	}
}

// toMessaged: an agent messages one that is idle, which starts with it.
func toMessaged(c *course) {
	c.messages(c.meet(works("peer.txt"), "it is idle", atRest))
	c.responded()
}

// toMailed: an agent messages one that runs, which has the text with its next
// run.
func toMailed(c *course) {
	s := works("peer.txt")
	s.Wait = filepath.Join(c.Books, "go")
	to := c.meet(s, "it runs", func(v cw.AgentView) bool { return v.Status == cw.StatusRunning })
	c.messages(to)
	_, err := c.until(peer, "the text waits for it", func(v cw.AgentView) bool { return v.QueuedMessages == 1 })
	c.need(err)
	c.need(os.WriteFile(s.Wait, nil, 0o600))
	c.responded()
}
