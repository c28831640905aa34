package board

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

var update = flag.Bool("update", false, "write the screens anew")

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

func TestScreens(t *testing.T) {
	for name, v := range map[string]View{
		"80x24": sample(80, 24), "140x40": sample(140, 40), "160x50": sample(160, 50), "40x10": sample(40, 10), "30x8": sample(30, 8),
		"small": sample(20, 5), "asking-80x24": asking(80, 24), "asking-140x40": asking(140, 40), "long-80x24": longAsking(80, 24), "long-140x40": longAsking(140, 40), "long-40x10": longAsking(40, 10), "opened-80x24": opened(80, 24),
		"sheet-80x24": sheet(80, 24), "lost-80x24": lost(80, 24), "evil-80x24": evil(80, 24), "evil-140x40": evil(140, 40),
		"empty-80x24": {Width: 80, Height: 24, Now: epoch, Sight: Sight{At: epoch}}, "empty-140x40": {Width: 140, Height: 40, Now: epoch},
	} {
		t.Run(name, func(t *testing.T) {
			compare(t, name, v)
			v.Look.ASCII = true
			compare(t, name+"-ascii", v)
		})
	}
	coloured := sample(80, 24)
	coloured.Look.Colour = true
	compare(t, "colour-80x24", coloured)
}

// TestDocumented: the screen in docs/top.md is one that is drawn.
func TestDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/top.md")
	if err != nil {
		t.Fatal(err)
	}
	var screen strings.Builder
	for _, l := range Draw(sample(80, 24)) {
		screen.WriteString(strings.TrimRight(l, " ") + "\n")
	}
	if !strings.Contains(string(doc), screen.String()) {
		t.Errorf("docs/top.md does not show this screen:\n%s", screen.String())
	}
}

// compare draws a view, looks at its measures and compares it with what is kept.
func compare(t *testing.T, name string, v View) {
	t.Helper()
	lines := Draw(v)
	checkMeasures(t, v, lines)
	got := strings.Join(lines, "|\n") + "|\n"
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// checkMeasures: each line has exactly the width of the screen, however a terminal
// counts, and holds nothing that it would obey.
func checkMeasures(t *testing.T, v View, lines []string) {
	t.Helper()
	if len(lines) != v.Height {
		t.Errorf("%d lines on a screen of %d", len(lines), v.Height)
	}
	for i, l := range lines {
		text := ansi.Strip(l)
		if g, w := ansi.GraphemeWidth.StringWidth(text), ansi.WcWidth.StringWidth(text); g != v.Width || w != v.Width {
			t.Errorf("line %d is %d and %d columns wide, not %d: %q", i+1, g, w, v.Width, text)
		}
		if !v.Look.Colour && l != text {
			t.Errorf("line %d holds a sequence: %q", i+1, l)
		}
		for _, r := range text {
			if hidden(r) || v.Look.ASCII && r > '~' {
				t.Errorf("line %d holds %U: %q", i+1, r, text)
			}
		}
	}
}

// FuzzMeasures: whatever agents write and however large the terminal is, each line
// has its width.
func FuzzMeasures(f *testing.F) {
	f.Add("plain", uint8(80), uint8(24), false)
	f.Add("\x1b[31m日本\u202e🙂", uint8(30), uint8(8), true)
	f.Add("🏳️‍🌈🇩🇪क्षe\u0301\u200d", uint8(200), uint8(50), false)
	f.Fuzz(func(t *testing.T, text string, width, height uint8, ascii bool) {
		v := asking(int(width), int(height))
		v.Look.ASCII = ascii
		for i := range v.Agents {
			v.Agents[i].Alias, v.Agents[i].Title, v.Agents[i].Error, v.Agents[i].Result = text, text, text, text
		}
		for i := range v.Inbox {
			v.Inbox[i].Text, v.Inbox[i].Agent = text, text
		}
		v.Asking.Questions[0].Text, v.Asking.Questions[0].Options[0].Label = text, text
		v.Log.Add(text)
		checkMeasures(t, v, Draw(v))
		v.Asking, v.Prompt = nil, &Prompt{Label: text, Text: text}
		checkMeasures(t, v, Draw(v))
		v.Prompt, v.Opened, v.Note = nil, true, Note{Text: text}
		checkMeasures(t, v, Draw(v))
		v.Sheet = NewSheet(text, text, true)
		checkMeasures(t, v, Draw(v))
	})
}

// TestMarksDiffer: no two marks of one list are the same, so that nothing is lost
// without colours, in both alphabets.
func TestMarksDiffer(t *testing.T) {
	differ := func(signs []sign) {
		marks, ascii := map[string]string{}, map[string]string{}
		for _, s := range signs {
			if other := marks[s.mark]; other != "" {
				t.Errorf("%s and %s are both %s", other, s.word, s.mark)
			}
			if other := ascii[s.ascii]; other != "" {
				t.Errorf("%s and %s are both %s", other, s.word, s.ascii)
			}
			if s.word == "" || wide(s.mark) != 1 || len(s.ascii) != 1 {
				t.Errorf("a mark of %q is not one column wide", s.word)
			}
			marks[s.mark], ascii[s.ascii] = s.word, s.word
		}
	}
	var states, kinds []sign
	for s := statePending; s <= stateError; s++ {
		states = append(states, s.sign())
	}
	for _, k := range cw.InboxKinds() {
		s, _ := kindSign(k)
		kinds = append(kinds, s)
	}
	differ(states)
	differ(kinds)
}
