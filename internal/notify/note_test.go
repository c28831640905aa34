package notify

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"cw/internal/cw"
)

// TestEveryEventHasWords: whatever happens, people are told something readable.
func TestEveryEventHasWords(t *testing.T) {
	t.Parallel()
	for _, info := range cw.EventTable() {
		data, err := json.Marshal(info.Payload)
		if err != nil {
			t.Fatal(err)
		}
		for _, payload := range []string{string(data), "", "null", "[]", `{"name":5}`, "{"} {
			n := noteOf(cw.Event{Seq: 3, Type: info.Type, AgentID: "k3v7q2mzt5ha", Data: json.RawMessage(payload)})
			if n.Title == "" || n.ID != 3 || n.Type != info.Type || len(n.Data) == 0 {
				t.Errorf("%s with %s: %+v", info.Type, payload, n)
			}
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü", 5000)
	for _, c := range []struct {
		of          cw.EventType
		payload     any
		title, body string
	}{
		{cw.EventAgentCrashed, cw.AgentCrashed{Name: "brave-otter", Reason: cw.ReasonLost, Error: "gone"}, "brave-otter crashed: lost", "gone"},
		{cw.EventAgentStalled, cw.AgentStalled{Name: "brave-otter", Seconds: 90, Tool: "Bash"}, "brave-otter is silent for 1m30s", "it uses Bash"},
		{cw.EventBudgetSpent, cw.BudgetReached{Name: "prices", LimitUSD: 5, SpentUSD: 5.25}, "the budget of prices is spent", "$5.25 of $5.00; its agents are asked to commit and stop"},
		{cw.EventDiskLow, cw.DiskState{FreeBytes: 500 << 20, FloorBytes: 1 << 30}, "the disk is nearly full", "500 MiB are free; below 1024 MiB no run is started"},
		{cw.EventQuestionReminded, cw.QuestionRemindedPayload{Name: "brave-otter", Question: " why? \n"}, "brave-otter still waits for an answer", "why?"},
		{cw.EventProjectAdded, cw.ProjectChanged{Name: "sh\x1bop\n"}, "shop : a repository was registered", ""},
		{cw.EventQuestionRequested, cw.QuestionRequested{Name: "a", Question: long}, "a asks", strings.Repeat("ü", bodyMax-1) + "…"},
	} {
		n := noteOf(cw.NewEvent(c.of, cw.Actor{}, c.payload))
		if n.Title != c.title || n.Body != c.body || !utf8.ValidString(n.Body) {
			t.Errorf("%s: %q, %.100q", c.of, n.Title, n.Body)
		}
	}
}
