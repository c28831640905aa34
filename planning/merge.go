package planning

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"cw/artifacts"
	"cw/internal/cw"
)

// merged is a page made of what a proposal suggests and of what became of the
// page since the text that the proposal was made from.
type merged struct {
	draft     artifacts.Draft
	conflicts int // passages that both sides changed
}

// mergeable tells whether a proposal whose target changed can be merged with
// what the target is now: it changes a page that is there.
func mergeable(s cw.InitiativeState, pr cw.Proposal) bool {
	current, _ := currentText(s, pr)
	return pr.Target == cw.TargetPage && pr.Action == cw.ActionUpdate && current != ""
}

// mergePage merges three ways. What both sides changed is decided by take; with
// none it is marked in the text and counted. Decisions that came onto the page
// meanwhile stay on it in any case.
func mergePage(s cw.InitiativeState, pr cw.Proposal, take cw.ProposalTake) (merged, error) {
	current, _ := currentText(s, pr)
	var drafts [3]artifacts.Draft
	for i, text := range []string{pr.Before, current, pr.After} {
		d, err := draftOf(pr.Target, pr.TargetID, text)
		if err != nil {
			return merged{}, fmt.Errorf("merge the proposal %s: %w", pr.ID, err)
		}
		drafts[i] = d
	}
	base, now, suggested := drafts[0].Page, drafts[1].Page, drafts[2].Page
	m := merged{draft: drafts[2]}
	m.draft.Page.Title = string(mergeValue(&m, take, base.Title, now.Title, suggested.Title))
	m.draft.Page.ParentID = mergeValue(&m, take, base.ParentID, now.ParentID, suggested.ParentID)
	body, conflicts := mergeBodies(base.Body, now.Body, suggested.Body, take)
	m.draft.Page.Body, m.conflicts = body, m.conflicts+conflicts
	return m, nil
}

// mergeValue merges something that is all of one side or of the other.
func mergeValue[T comparable](m *merged, take cw.ProposalTake, base, now, suggested T) T {
	switch {
	case suggested == base || suggested == now:
		return now
	case now == base || take == cw.TakeSuggested:
		return suggested
	case take == cw.TakeCurrent:
		return now
	}
	m.conflicts++
	return suggested
}

// mergeBodies merges the texts of a page. Decisions that are only in the current
// text are taken out of it first and put into the merged one: they are entries
// of their own, wherever else the page was changed.
func mergeBodies(base, now, suggested string, take cw.ProposalTake) (body string, conflicts int) {
	var noted []artifacts.Decision
	for _, id := range decisionIDs(now) {
		if d, there := findDecision(now, id); there && !strings.Contains(base, markBegin+id+markEnd) {
			noted = append(noted, d)
			now = dropDecision(now, id)
		}
	}
	if len(noted) > 0 && !hasDecisions(base) {
		now = dropEmptySection(now)
	}
	lines, conflicts := merge3(wholeLines(base), wholeLines(now), wholeLines(suggested), take)
	body = strings.Join(lines, "")
	for _, d := range noted {
		body = putDecision(body, d)
	}
	return body, conflicts
}

// wholeLines are the lines of a text, each with its end.
func wholeLines(text string) []string {
	if text = strings.Trim(text, "\n"); text == "" {
		return nil
	}
	return linesOf(text + "\n")
}

// decisionIDs are the ids of the decisions on a page, in their order.
func decisionIDs(body string) []string {
	var ids []string
	for line := range strings.Lines(body) {
		id, begins := strings.CutPrefix(strings.TrimSpace(line), markBegin)
		if id, ends := strings.CutSuffix(id, markEnd); begins && ends {
			ids = append(ids, id)
		}
	}
	return once(ids)
}

func hasDecisions(body string) bool { return decisionsHead(strings.Split(body, "\n")) >= 0 }

// decisionsHead is the line of the heading of decisions; -1 for none.
func decisionsHead(lines []string) int {
	for _, h := range headings(lines) {
		if h.level == 2 && h.title == decisionsHeading[3:] {
			return h.line
		}
	}
	return -1
}

// dropEmptySection takes away a heading of decisions below which there is none.
func dropEmptySection(body string) string {
	lines := strings.Split(body, "\n")
	at := decisionsHead(lines)
	if at < 0 {
		return body
	}
	next := at + 1
	for next < len(lines) && strings.TrimSpace(lines[next]) == "" {
		next++
	}
	if next < len(lines) && !heading.MatchString(lines[next]) {
		return body
	}
	return joined(lines[:at], lines[next:])
}

// merge3 merges the lines of two texts that were made of one. A passage that both
// changed, each in its way, is a conflict.
func merge3(base, now, suggested []string, take cw.ProposalTake) (out []string, conflicts int) {
	inNow, inSuggested := places(base, now), places(base, suggested)
	i, n, s := 0, 0, 0
	for {
		for i < len(base) && inNow[i] == n && inSuggested[i] == s {
			out = append(out, base[i])
			i, n, s = i+1, n+1, s+1
		}
		if i == len(base) && n == len(now) && s == len(suggested) {
			return out, conflicts
		}
		end := i
		for end < len(base) && (inNow[end] < 0 || inSuggested[end] < 0) {
			end++
		}
		toN, toS := len(now), len(suggested)
		if end < len(base) {
			toN, toS = inNow[end], inSuggested[end]
		}
		was, mine, theirs := base[i:end], now[n:toN], suggested[s:toS]
		switch {
		case slices.Equal(theirs, was) || slices.Equal(theirs, mine):
			out = append(out, mine...)
		case slices.Equal(mine, was) || take == cw.TakeSuggested:
			out = append(out, theirs...)
		case take == cw.TakeCurrent:
			out = append(out, mine...)
		default:
			out = append(out, marked(mine, theirs)...)
			conflicts++
		}
		i, n, s = end, toN, toS
	}
}

// marked shows a conflict as git does.
func marked(mine, theirs []string) []string {
	return slices.Concat([]string{"<<<<<<< the page\n"}, mine, []string{"=======\n"}, theirs, []string{">>>>>>> the suggestion\n"})
}

// places tells for each line of a text where it is in another; -1 for nowhere.
func places(base, text []string) []int {
	out := make([]int, 0, len(base))
	at := 0
	for _, e := range compare(base, text) {
		switch e.kind {
		case ' ':
			out = append(out, at)
			at++
		case '-':
			out = append(out, -1)
		default:
			at++
		}
	}
	return out
}

// seen names what a proposal's target is now, so that a choice that was made
// about something else can be told from one about this.
func seen(s cw.InitiativeState, pr cw.Proposal) string {
	text, revision := currentText(s, pr)
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\n%s", revision, text))
	return hex.EncodeToString(sum[:6])
}
