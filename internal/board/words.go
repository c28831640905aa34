package board

import (
	"fmt"
	"strings"
	"time"

	"cw/internal/cw"
)

// doing tells what an agent does at this moment, or why it does nothing.
func (v *View) doing(a cw.AgentView) string {
	switch s := stateOf(a); {
	case s == stateParked:
		return parkedText(a, v.Now.Location())
	case s == stateCrashed:
		return or(flat(a.Error), "Ended: "+strings.ReplaceAll(string(a.Reason), "_", " "))
	case s == stateStopped:
		return stoppedText(a.Reason)
	case s == stateStarting, s == statePending:
		return fmt.Sprintf("Starts run %d", max(a.SessionNumber, 1))
	case len(a.PendingQuestions) == 1:
		return "Asks " + flat(a.PendingQuestions[0].Text)
	case len(a.PendingQuestions) > 1:
		return "Asks " + count(len(a.PendingQuestions), "question")
	case s == stateWaiting:
		return "Goes on with the answers"
	case s == stateIdle:
		return v.resting(a)
	case s == stateStalled && a.Activity.LastAt != nil:
		return "No output for " + lasting(v.Now.Sub(*a.Activity.LastAt))
	case s == stateRetrying:
		return v.retrying(*a.Activity)
	}
	return v.working(a)
}

// working tells what a running agent does.
func (v *View) working(a cw.AgentView) string {
	if act := a.Activity; act != nil && act.Verb != "" {
		verb := string(act.Verb)
		return strings.TrimSpace(strings.ToUpper(verb[:1]) + flat(verb[1:]) + " " + flat(act.Subject))
	}
	if act := a.Activity; act != nil && act.Tool != "" {
		return strings.TrimSpace("Uses " + flat(act.Tool))
	}
	if a.Plan != nil && a.Plan.Current != "" {
		return flat(a.Plan.Current)
	}
	return or(flat(a.LastSnippet), flat(a.Title))
}

func (v *View) retrying(act cw.Activity) string {
	text := "Tries again"
	if act.Bucket != "" {
		text += ", " + flat(act.Bucket)
	}
	if act.Attempt > 0 {
		text += fmt.Sprintf(", attempt %d", act.Attempt)
	}
	if act.NextRetry != nil && act.NextRetry.After(v.Now) {
		text += ", in " + lasting(act.NextRetry.Sub(v.Now))
	}
	return text
}

// resting tells what becomes of the work of an agent that is idle.
func (v *View) resting(a cw.AgentView) string {
	for _, t := range v.Dispatch.Running {
		if t.AgentID == a.ID && (t.Status == cw.TaskVerifying || t.Status == cw.TaskMerging) {
			return strings.ToUpper(string(t.Status[:1])) + string(t.Status[1:]) + " " + flat(t.Name)
		}
	}
	for _, it := range v.Inbox {
		if it.AgentID == a.ID && (it.Kind == cw.InboxProposal || it.Kind == cw.InboxMerge || it.Kind == cw.InboxCheckpoint) {
			return flat(it.Text)
		}
	}
	return or(flat(a.Result), or(flat(a.NoChanges), flat(a.Title)))
}

func parkedText(a cw.AgentView, zone *time.Location) string {
	text := "Parked"
	if a.RetryAt != nil {
		text += " until " + a.RetryAt.In(zone).Format("Mon 15:04")
	}
	if account := accountOf(a); account != "" {
		text += ", " + account
	}
	return text
}

func stoppedText(r cw.Reason) string {
	switch r {
	case cw.ReasonUser:
		return "Stopped by a person"
	case cw.ReasonBudget:
		return "Stopped: its budget is spent"
	case cw.ReasonStalled:
		return "Stopped: it was silent for too long"
	}
	return "Stopped"
}

// accountOf names whose credentials an agent uses; a provider without accounts is
// named alone.
func accountOf(a cw.AgentView) string {
	if a.AccountName == "" {
		return flat(a.Provider)
	}
	return flat(a.Provider) + "/" + flat(a.AccountName)
}

// shortAccount is accountOf for a narrow column: c/team-1.
func shortAccount(a cw.AgentView) string {
	provider := flat(a.Provider)
	if a.AccountName == "" || provider == "" {
		return provider
	}
	return string([]rune(provider)[:1]) + "/" + flat(a.AccountName)
}

// spent is for how long an agent worked, from when it was made to its end.
func (v *View) spent(a cw.AgentView) time.Duration {
	end := v.Now
	if a.Status.AtRest() {
		end = a.UpdatedAt
		if n := len(a.Runs); n > 0 && a.Runs[n-1].EndedAt != nil {
			end = *a.Runs[n-1].EndedAt
		}
	}
	return end.Sub(a.CreatedAt)
}

// lasting is a duration as a row shows it: 7s, 24m, 1h04m, 4d.
func lasting(d time.Duration) string {
	switch d = max(d, 0).Truncate(time.Second); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd", int(d.Hours())/24)
}

// dollars writes a cost; "" for none.
func dollars(usd float64) string {
	switch {
	case usd <= 0:
		return ""
	case usd < 1000:
		return fmt.Sprintf("$%.2f", usd)
	}
	return fmt.Sprintf("$%.0f", usd)
}

// count writes a number with its noun: 1 question, 2 questions.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func or(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
