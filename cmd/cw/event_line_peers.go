package main

import (
	"fmt"

	"cw/internal/cw"
)

// peerEventText tells of questions of agents to each other.
func peerEventText(e cw.Event) (text string, known bool) {
	switch e.Type {
	case cw.EventConversationCreated:
		p := payload[cw.ConversationCreated](e)
		return between(p.From, p.To) + ": " + oneLine(p.Question), true
	case cw.EventConversationDelivered:
		p := payload[cw.ConversationMoved](e)
		return between(p.From, p.To) + bracketed(string(p.ConversationID)), true
	case cw.EventConversationAnswered:
		p := payload[cw.ConversationMoved](e)
		return between(p.To, p.From) + ": " + oneLine(p.Answer), true
	case cw.EventConversationCancelled:
		p := payload[cw.ConversationMoved](e)
		return between(p.From, p.To) + ": " + oneLine(p.Reason), true
	}
	return "", false
}

func between(from, to string) string {
	if to == "" {
		to = "whoever comes"
	}
	return oneLine(from) + " → " + oneLine(to)
}

// stepsEventText tells of agents' own plans.
func stepsEventText(e cw.Event) (text string, known bool) {
	switch e.Type {
	case cw.EventPlanCreated, cw.EventPlanRevised:
		p := payload[cw.PlanChanged](e)
		if len(p.Steps) == 0 { // another revision followed at once, and its event has the steps
			return fmt.Sprintf("%s (revision %d)", oneLine(p.Title), p.Revision), true
		}
		return fmt.Sprintf("%s (%d steps, revision %d)", oneLine(p.Title), len(p.Steps), p.Revision), true
	case cw.EventPlanStepStarted, cw.EventPlanStepCompleted:
		p := payload[cw.PlanStepMoved](e)
		return fmt.Sprintf("%d of %d: %s is %s", p.Done, p.Of, oneLine(p.Title), p.Status), true
	}
	return "", false
}
