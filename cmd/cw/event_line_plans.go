package main

import (
	"fmt"

	"cw/internal/cw"
)

// planEventText tells of initiatives and what belongs to them.
func planEventText(e cw.Event) (text string, known bool) {
	switch e.Type {
	case cw.EventInitiativeCreated, cw.EventInitiativeChanged:
		p := payload[cw.InitiativeChanged](e)
		return oneLine(p.Name) + bracketed(oneLine(p.Slug+", "+string(p.Status))), true
	case cw.EventPageCreated, cw.EventPageChanged, cw.EventPageRemoved:
		p := payload[cw.PageChanged](e)
		return fmt.Sprintf("%s (%s, revision %d)", oneLine(p.Title), p.PageID, p.Revision), true
	case cw.EventPhaseCreated, cw.EventPhaseChanged:
		p := payload[cw.PhaseChanged](e)
		return fmt.Sprintf("%s (%s, %s)", oneLine(p.Name), p.PhaseID, p.Status), true
	case cw.EventTaskCreated, cw.EventTaskChanged:
		p := payload[cw.TaskChanged](e)
		return fmt.Sprintf("%s (%s, %s)", oneLine(p.Name), p.TaskID, p.Status), true
	case cw.EventProposalCreated, cw.EventProposalAccepted, cw.EventProposalDismissed, cw.EventProposalSuperseded:
		p := payload[cw.ProposalChanged](e)
		text := fmt.Sprintf("%s %s: %s (%s)", p.Action, p.Target, oneLine(p.Title), p.ProposalID)
		if p.Note != "" {
			text += ": " + oneLine(p.Note)
		}
		return text, true
	}
	return "", false
}
