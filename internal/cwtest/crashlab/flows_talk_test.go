package crashlab

import (
	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
)

// peer is the agent that the agent of a course asks.
const peer = "wise-heron"

// The words of a conversation.
const question, reply = "How many?", "Seven."

// talkFlows are those of agents that talk with each other, through cw's own
// commands. Whoever asks or listens lives on while daemons die, and goes on.
func talkFlows() []flow {
	return []flow{
		{"ask", []string{"conversation/asked", "conversation/delivered", "conversation/answered"}, toAsked},
		{"wake", resumes([]string{"conversation/asked", "resume/intended", "conversation/woken"}, []string{"conversation/delivered", "conversation/answered"}), toWoken},
		{"queue", resumes([]string{"conversation/asked", "resume/intended"}, []string{"conversation/answered"}), toQueued},
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
