package cw

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"
)

// Waiting is an agent that waits for the answer of another one.
type Waiting struct {
	ConversationID ConversationID
	From           AgentID // waits
	To             AgentID // is asked
}

// WaitCycle gives the agents that would wait for each other if one asked another
// one now: the asking one, the asked one, and so on to the asking one again. nil
// when there would be no such circle.
func WaitCycle(waits []Waiting, from, to AgentID) []AgentID {
	if from == to {
		return []AgentID{from, to}
	}
	next := map[AgentID][]AgentID{}
	for _, w := range waits {
		next[w.From] = append(next[w.From], w.To)
	}
	// The way back, the shortest one, is looked for from the asked agent on.
	before := map[AgentID]AgentID{to: from}
	for queue := []AgentID{to}; len(queue) > 0; queue = queue[1:] {
		for _, n := range next[queue[0]] {
			if n == from {
				circle := []AgentID{from}
				for a := queue[0]; a != from; a = before[a] {
					circle = append(circle, a)
				}
				slices.Reverse(circle)
				return append([]AgentID{from}, circle...)
			}
			if _, seen := before[n]; !seen {
				before[n] = queue[0]
				queue = append(queue, n)
			}
		}
	}
	return nil
}

// Askable is an agent of a task or a phase that is asked.
type Askable struct {
	AgentID AgentID
	Alias   string
	Open    int       // questions to it that are not answered
	AskedAt time.Time // when it was last asked; zero: never
}

// ChooseAsked gives the agent that is asked of several: the one with the fewest
// open questions, then the one that was asked longest ago, then by name. false
// when there is none.
func ChooseAsked(agents []Askable) (Askable, bool) {
	if len(agents) == 0 {
		return Askable{}, false
	}
	return slices.MinFunc(agents, func(a, b Askable) int {
		return cmp.Or(cmp.Compare(a.Open, b.Open), a.AskedAt.Compare(b.AskedAt), cmp.Compare(a.Alias, b.Alias))
	}), true
}

// Reception is what becomes of a question to an agent.
type Reception string

// What can become of it.
const (
	ReceptionTaken     Reception = "taken"     // the agent runs, or is about to
	ReceptionQueued    Reception = "queued"    // it waits for the agent's next run
	ReceptionWakes     Reception = "wakes"     // the agent is resumed with it
	ReceptionCancelled Reception = "cancelled" // the agent is at rest, and nobody wants to wait
	ReceptionRefused   Reception = "refused"   // nobody knows whether the agent ever runs again
)

// ReceptionBy tells what becomes of a question to an agent with that status.
func ReceptionBy(status AgentStatus, removed, queue, wake bool) Reception {
	switch {
	case removed || status == StatusCrashed || status == StatusStopped:
		return ReceptionRefused
	case status.Alive():
		return ReceptionTaken
	case wake && status == StatusIdle:
		return ReceptionWakes
	case queue || wake:
		return ReceptionQueued
	}
	return ReceptionCancelled
}

// ConversationText is the metadata of a message that tells an agent a question of
// another one, or its answer.
type ConversationText struct {
	ConversationID ConversationID `json:"conversationId"`
	Kind           string         `json:"kind"`               // question or answer
	From           string         `json:"from"`               // name of the agent whose words they are
	Question       string         `json:"question,omitempty"` // of an answer: the beginning of what was asked
}

// The kinds of such texts.
const (
	TextQuestion = "question"
	TextAnswer   = "answer"
)

// ConversationTextOf reads what a message says of the conversation that its text
// belongs to; false for any other text.
func ConversationTextOf(m Message) (about ConversationText, ok bool) {
	if m.Origin != OriginAgent || m.MetadataJSON == "" || json.Unmarshal([]byte(m.MetadataJSON), &about) != nil {
		return ConversationText{}, false
	}
	return about, about.ConversationID != ""
}
