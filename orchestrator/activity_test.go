package orchestrator

import (
	"encoding/json"
	"fmt"
	"testing"

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
	for _, line := range []string{
		`{"type":"thread.started","thread_id":"01a1fc4d-0000-7000-8000-000000000000"}` + "\n",
		fmt.Sprintf(command, 1),
		fmt.Sprintf(command, 2), // the same again
		fmt.Sprintf(retry, 1),
		fmt.Sprintf(retry, 2),
		`{"type":"item.completed","item":{"id":"i3","type":"agent_message","text":"on"}}` + "\n",
	} {
		tp.write([]byte(line))
		must(t, f.take(t.Context(), false))
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
		told = append(told, fmt.Sprintf("%s %q %d", p.Activity.State, p.Activity.Tool, p.Activity.Attempt))
	}
	want := []string{`busy "shell" 0`, `retrying "shell" 1`, `retrying "shell" 2`, `busy "shell" 0`}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
}
