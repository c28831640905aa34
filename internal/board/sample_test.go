package board

import (
	"fmt"
	"strings"
	"time"

	"cw/internal/cw"
)

// epoch is when the tests look.
var epoch = time.Date(2026, 11, 20, 5, 15, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return epoch.Add(-d) }

// worker makes an agent that was made so many minutes ago.
func worker(name string, status cw.AgentStatus, initiative cw.InitiativeID, minutes int, usd float64, change func(*cw.AgentView)) cw.AgentView {
	v := cw.AgentView{CostUSD: usd, AccountName: "team-1"}
	v.ID, v.Alias, v.Status, v.InitiativeID, v.Provider = cw.AgentID("agent-"+name), name, status, initiative, "claude"
	v.CreatedAt, v.UpdatedAt, v.SessionNumber = ago(time.Duration(minutes)*time.Minute), epoch, 1
	v.Title = "Work on " + name
	if change != nil {
		change(&v)
	}
	return v
}

func busy(tool string, over, of int) func(*cw.AgentView) {
	return func(v *cw.AgentView) {
		v.Activity = &cw.Activity{State: cw.ActivityBusy, Tool: tool}
		if tool == "Edit" {
			v.Activity.Verb, v.Activity.Subject = "edit", "internal/webhook/deliver.go"
		}
		v.Plan = &cw.PlanSummary{Done: over, Of: of, Current: "Scheduler picks what is due, oldest first"}
	}
}

func asks(text string) func(*cw.AgentView) {
	return func(v *cw.AgentView) {
		v.PendingQuestions = []cw.Question{{
			ID: cw.QuestionID("q-" + v.Alias), AgentID: v.ID, Header: "Unique key", Text: text,
			Options: []cw.QuestionOption{
				{Label: "Endpoint and event", Description: "the pair (endpoint_id, event_id); survives a replay"},
				{Label: "Provider’s id", Description: "the header X-Delivery; two of three send it"},
				{Label: "Hash of the body", Description: "needs no schema change; equal bodies collide"},
			},
		}}
	}
}

func waits(kind cw.InboxKind, text, who string, minutes int) cw.InboxItem {
	return cw.InboxItem{
		Key: fmt.Sprint(kind, who), Kind: kind, Text: text, Count: 1, Since: ago(time.Duration(minutes) * time.Minute), Agent: who,
		AgentID: cw.AgentID("agent-" + who), Hint: "cw inbox",
	}
}

// sample is a busy morning.
func sample(width, height int) View {
	v := View{Now: epoch, Width: width, Height: height, AgentID: "agent-brave-otter", Sight: Sight{At: epoch}}
	v.Today = cw.CostRow{CostUSD: 12.40, EstimatedUSD: 3}
	v.Status.AgentsAlive, v.Dispatch.Limits.Machine = 6, 24
	for i, name := range []string{"Idempotent webhooks", "Vector search"} {
		v.Initiatives = append(v.Initiatives, cw.Initiative{ID: cw.InitiativeID(fmt.Sprint("in-", i)), Name: name, CreatedAt: ago(time.Hour * time.Duration(9-i))})
	}
	retry := epoch.Add(3 * 24 * time.Hour)
	silent := ago(11 * time.Minute)
	v.Agents = []cw.AgentView{
		worker("brave-otter", cw.StatusRunning, "in-0", 24, 1.84, busy("Bash", 5, 8)),
		worker("swift-lynx", cw.StatusWaitingForInput, "in-0", 23, 1.12, asks("Which key makes a webhook delivery unique?")),
		worker("calm-heron", cw.StatusRunning, "in-0", 22, 2.95, busy("Edit", 7, 8)),
		worker("tidy-beaver", cw.StatusRunning, "in-0", 21, 3.41, busy("", 8, 8)),
		worker("proud-bison", cw.StatusRunning, "in-0", 20, 1.27, func(v *cw.AgentView) {
			v.Activity = &cw.Activity{State: cw.ActivityStalled, LastAt: &silent}
		}),
		worker("witty-lemur", cw.StatusIdle, "in-0", 64, 3.88, func(v *cw.AgentView) { v.Result = "The web build is green." }),
		worker("quiet-badger", cw.StatusParked, "in-0", 58, 2.66, func(v *cw.AgentView) { v.RetryAt = &retry }),
		worker("sage-owl", cw.StatusIdle, "in-1", 19, 1.49, nil),
		worker("snowy-egret", cw.StatusRunning, "in-1", 18, 0.88, func(v *cw.AgentView) {
			v.Activity = &cw.Activity{State: cw.ActivityRetrying, Attempt: 3, Bucket: "transient"}
		}),
		worker("shy-panda", cw.StatusCrashed, "in-1", 33, 1.14, func(v *cw.AgentView) { v.Error = "it ended without its signal, twice" }),
		worker("eager-vole", cw.StatusStarting, "in-1", 12, 0.40, func(v *cw.AgentView) { v.SessionNumber = 2 }),
		worker("dusky-gull", cw.StatusPending, "", 1, 0, nil),
		worker("warm-seal", cw.StatusStopped, "", 18, 0.77, func(v *cw.AgentView) { v.Reason = cw.ReasonUser }),
		worker("stoic-yak", cw.StatusRunning, "", 5, 0.12, func(v *cw.AgentView) { v.Activity = &cw.Activity{State: cw.ActivityError} }),
	}
	v.Inbox = []cw.InboxItem{
		waits(cw.InboxQuestion, "Which key makes a webhook delivery unique?", "swift-lynx", 12),
		waits(cw.InboxCheckpoint, "Apply migration 0042 on staging, then confirm", "", 21),
		waits(cw.InboxProposal, "Phase 3 becomes 5 tasks, and 2 page edits", "sage-owl", 2),
		waits(cw.InboxStalled, "No output for 11m; it most likely waits for a key press", "proud-bison", 11),
		waits(cw.InboxLimit, "Weekly limit until Mon 09:00", "quiet-badger", 26),
		waits(cw.InboxCrashed, "It ended without its signal, twice", "shy-panda", 9),
		waits(cw.InboxMerge, "2 of 214 tests fail on the merge commit", "witty-lemur", 4),
	}
	v.Inbox[0].QuestionIDs, v.Inbox[0].Behind = []cw.QuestionID{"q-swift-lynx"}, 3
	v.Inbox[1].Task, v.Inbox[1].AgentID = "Migrate staging", ""
	v.Inbox[2].Count = 7
	v.Log.Add("I look at the scheduler first.", "→ Read internal/webhook/schedule.go", "± changed internal/webhook/schedule.go",
		"→ Bash go test ./internal/webhook", "  failed: exit status 1", "The scheduler took every due row at once.")
	return v
}

// asking is the sample with a question that is answered.
func asking(width, height int) View {
	v := sample(width, height)
	v.Pane, v.Item = PaneInbox, v.Inbox[0].Key
	v.Asking = &Asking{Who: "swift-lynx", Questions: v.Agents[1].PendingQuestions, Behind: 3}
	return v
}

// longAsking asks more than there is room for.
func longAsking(width, height int) View {
	v := asking(width, height)
	q := &v.Asking.Questions[0]
	q.Text = strings.Repeat("One sentence of a question that goes on and on.\n", 30)
	for i := range 9 {
		q.Options = append(q.Options, cw.QuestionOption{Label: fmt.Sprint("Option ", i+4)})
	}
	v.Asking.Pick(11)
	return v
}

func opened(width, height int) View {
	v := sample(width, height)
	v.Opened = true
	v.Log.Scroll(-2)
	v.Log.Add("one more")
	return v
}

func sheet(width, height int) View {
	v := sample(width, height)
	v.Sheet = NewSheet("brave-otter", "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-\tone\n+\ttwo\n", true)
	return v
}

// failed tells what went wrong, and what to do about it, in more than a line.
func failed(width, height int) View {
	v := sample(width, height)
	v.Note = Note{Bad: true, Text: "agent brave-otter crashed, so nothing can be sent to it; it goes on with cw agent resume brave-otter, and takes a text as its prompt with --text"}
	return v
}

func lost(width, height int) View {
	v := sample(width, height)
	v.Now = epoch.Add(31 * time.Second)
	v.Lost = &Lost{Since: v.Now, Next: v.Now.Add(3 * time.Second)}
	return v
}

// evil puts texts that terminals would obey, or that hide what they say, into all
// fields that an agent can write.
func evil(width, height int) View {
	v := asking(width, height)
	text := "\x1b]0;owned\x07\x1b[31mred\x1b[2J\u202egnp.exe\u200b日本語🙂👩‍👩‍👧‍👦🏳️‍🌈e\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\tक्षत्रिय\u2028🇩🇪\x00\u009b2J"
	for i := range v.Agents {
		a := &v.Agents[i]
		a.Alias, a.Title, a.Error, a.Result, a.LastSnippet, a.AccountName, a.Provider = text, text, text, text, text, text, text
		if a.Plan != nil {
			a.Plan.Current = text
		}
		if a.Activity != nil {
			a.Activity.Tool, a.Activity.Bucket = text, text
		}
		for j := range a.PendingQuestions {
			q := &a.PendingQuestions[j]
			q.Text, q.Header, q.Options[0].Label, q.Options[1].Description = text, text, text, text
		}
	}
	for i := range v.Inbox {
		it := &v.Inbox[i]
		it.Text, it.Agent, it.Task, it.Hint = text, text, text, text
	}
	v.Initiatives[0].Name = text
	v.Log.Add(text, text+text+text)
	v.Note = Note{Text: text, Bad: true}
	return v
}
