package planning

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"cw/artifacts"
	"cw/internal/cw"
)

// noPlace is a position that a canonical text leaves out.
const noPlace = -1

// fileOf is the name of a target's canonical file.
func fileOf(target cw.ProposalTarget, id string) string { return string(target) + "s/" + id + ".md" }

// draftOf reads the canonical text of a target.
func draftOf(target cw.ProposalTarget, id, text string) (artifacts.Draft, error) {
	d, problems := artifacts.ReadDraft(fileOf(target, id), []byte(text))
	if len(problems) > 0 {
		return artifacts.Draft{}, fmt.Errorf("read a proposal's text: line %d: %s", problems[0].Line, problems[0].Text)
	}
	return d, nil
}

// currentText is the file of a proposal's target as it is now, and the revision
// of a page; "" when there is none, or when it is over. It names a place only
// when the proposal does, and then the one that the proposal saw: that others
// came or went is no change.
func currentText(s cw.InitiativeState, pr cw.Proposal) (text string, revision int) {
	switch pr.Target {
	case cw.TargetPage:
		if d := find(s.Pages, func(d cw.Document) bool { return string(d.ID) == pr.TargetID }); d != nil {
			page := *d
			page.Position = placeSeen(pr)
			return artifacts.PageFile(page), d.Revision
		}
	case cw.TargetDecision:
		if d, there := decisionOf(s, pr.TargetID); there {
			return artifacts.DecisionFile(d), 0
		}
	case cw.TargetPhase:
		if ph := find(s.Phases, func(ph cw.Phase) bool { return string(ph.ID) == pr.TargetID }); ph != nil && ph.Status != cw.PhaseArchived {
			phase := *ph
			phase.Position = placeSeen(pr)
			return artifacts.PhaseFile(phase), 0
		}
	case cw.TargetTask:
		if t := find(s.Tasks, func(t cw.Task) bool { return string(t.ID) == pr.TargetID }); t != nil && t.Status != cw.TaskCancelled {
			return artifacts.TaskFile(*t), 0
		}
	}
	return "", 0
}

// placeSeen is the place of the target in the text that the proposal began
// with.
func placeSeen(pr cw.Proposal) int {
	text := pr.Before
	if text == "" {
		text = pr.After
	}
	d, err := draftOf(pr.Target, pr.TargetID, text)
	if err != nil || !d.Has["position"] {
		return noPlace
	}
	if pr.Target == cw.TargetPage {
		return d.Page.Position
	}
	return d.Phase.Position
}

// decisionOf finds a decision on the pages of an initiative.
func decisionOf(s cw.InitiativeState, id string) (artifacts.Decision, bool) {
	for _, page := range s.Pages {
		if !strings.Contains(page.Body, id) {
			continue
		}
		if d, there := findDecision(page.Body, id); there {
			d.PageID = page.ID
			return d, true
		}
	}
	return artifacts.Decision{}, false
}

// changedAt is when a proposal's target last changed; "" when it is not there.
func changedAt(s cw.InitiativeState, pr cw.Proposal) string {
	var at time.Time
	switch pr.Target {
	case cw.TargetPage:
		if d := find(s.Pages, func(d cw.Document) bool { return string(d.ID) == pr.TargetID }); d != nil {
			at = d.UpdatedAt
		}
	case cw.TargetPhase:
		if ph := find(s.Phases, func(ph cw.Phase) bool { return string(ph.ID) == pr.TargetID }); ph != nil {
			at = ph.UpdatedAt
		}
	case cw.TargetTask:
		if t := find(s.Tasks, func(t cw.Task) bool { return string(t.ID) == pr.TargetID }); t != nil {
			at = t.UpdatedAt
		}
	}
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339Nano)
}

// digest is the same for the same suggestion about the same state. instead is the
// open proposal whose place it takes, and since when its target is as it is: what
// was replaced, or taken back, can be suggested again.
func digest(pr cw.Proposal, instead, since string) string {
	h := sha256.New()
	for _, part := range []string{string(pr.Target), pr.TargetID, string(pr.Action), pr.Before, pr.After, instead, since} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}
