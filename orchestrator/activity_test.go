package orchestrator

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"cw/internal/cw"

	"github.com/google/go-cmp/cmp"
)

// TestActivityIsTold: those who follow hear when an agent does something else,
// and nothing while it goes on as before.
func TestActivityIsTold(t *testing.T) {
	t.Parallel()
	tp := newTape(t, "codex")
	f := tp.follower()
	defer f.close()
	command := `{"type":"item.started","item":{"id":"i%d","type":"command_execution","command":"x","aggregated_output":"","exit_code":null,"status":"in_progress"}}` + "\n"
	retry := `{"type":"error","message":"Reconnecting... %d/5 (stream disconnected)"}` + "\n"
	for n, line := range []string{
		`{"type":"thread.started","thread_id":"01a1fc4d-0000-7000-8000-000000000000"}` + "\n",
		fmt.Sprintf(command, 1),
		fmt.Sprintf(command, 2), // the same again
		fmt.Sprintf(retry, 1),
		fmt.Sprintf(retry, 2),
		`{"type":"item.completed","item":{"id":"i3","type":"agent_message","text":"on"}}` + "\n",
	} {
		tp.write([]byte(line))
		must(t, f.take(t.Context(), false))
		if n > 0 && f.teller.due.IsZero() && n != 2 {
			t.Errorf("line %d: it is told at once, however often", n)
		}
		f.keepTelling(f.teller.at.Add(activityEvery))
		f.teller.at = time.Now() // as if the next line came at once
	}
	var told []string
	for _, ev := range tp.live {
		if ev.Type != cw.EventAgentActivity {
			continue
		}
		var p cw.AgentActivity
		must(t, json.Unmarshal(ev.Data, &p))
		if p.AgentID != tp.state.Agent.ID || ev.AgentID != p.AgentID || ev.RunID != tp.state.Run.ID {
			t.Errorf("it is about %s %s %s", p.AgentID, ev.AgentID, ev.RunID)
		}
		told = append(told, fmt.Sprintf("%s %q %d %s %s", p.Activity.State, p.Activity.Tool, p.Activity.Attempt, p.Activity.Verb, p.Activity.Subject))
	}
	want := []string{
		`busy "" 0 think `, `busy "shell" 0 run x`,
		`retrying "shell" 1 run x`, `retrying "shell" 2 run x`, `busy "shell" 0 say on`,
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
}
