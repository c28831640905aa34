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
	case cw.EventTaskCheckpoint:
		p := payload[cw.TaskCheckpoint](e)
		return fmt.Sprintf("%s (%s, %s)", oneLine(p.Name), p.TaskID, p.Type), true
	case cw.EventTaskBlocked:
		p := payload[cw.TaskBlockedBy](e)
		return fmt.Sprintf("%s (%s): %s", oneLine(p.Name), p.TaskID, oneLine(p.Reason)), true
	case cw.EventTaskOutside:
		p := payload[cw.TaskOutside](e)
		return fmt.Sprintf("%s (%s): %s", oneLine(p.Name), p.TaskID, oneLine(cw.OutsideFiles{Total: p.Total, Files: p.Files}.Text())), true
	case cw.EventMergeQueued, cw.EventMergeChecking, cw.EventMergeConflicted, cw.EventMergeRed, cw.EventMergeMerged, cw.EventMergeDismissed:
		return mergeEventText(payload[cw.MergeChanged](e)), true
	case cw.EventInitiativeLanded:
		p := payload[cw.InitiativeLanded](e)
		return fmt.Sprintf("%s is on %s of %s (%.12s)", oneLine(p.Slug), oneLine(p.Into), oneLine(p.Project), p.Commit), true
	case cw.EventDispatchChanged:
		p := payload[cw.DispatchChanged](e)
		return string(p.State), true
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

// mergeEventText tells of the work on a task.
func mergeEventText(p cw.MergeChanged) string {
	text := fmt.Sprintf("%s (%s)", oneLine(p.Task), p.TaskID)
	if p.Name != "" {
		text += " by " + oneLine(p.Name)
	}
	if p.Text != "" {
		text += ": " + oneLine(p.Text)
	}
	return text
}
