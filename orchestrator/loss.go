package orchestrator

import (
	"context"
	"encoding/json"
	"fmt"

	"cw/internal/cw"
	"cw/internal/proc"
)

// autoResume tells whether an agent is to go on by itself after a restart of
// the machine: its own option says so, or one of its projects.
func (o *Orchestrator) autoResume(ctx context.Context, st cw.RunState) bool {
	var opts struct {
		AutoResume bool `json:"autoResume"`
	}
	if err := json.Unmarshal([]byte(st.Agent.OptionsJSON), &opts); err != nil {
		o.Log.Warn("read the agent's options", "agent", st.Agent.Alias, "error", err)
	}
	if opts.AutoResume {
		return true
	}
	for _, t := range st.Worktrees {
		p, err := o.Store.ProjectByRef(ctx, string(t.ProjectID))
		if err != nil {
			o.Log.Warn("read the project's policy", "agent", st.Agent.Alias, "project", t.Project, "error", err)
			continue
		}
		if p.AutoResume {
			return true
		}
	}
	return false
}

// killedText says what is known of a CLI that a signal ended, and not one of
// cw's. Memory is named only where the kernel's counter moved meanwhile.
func killedText(e proc.Exit) string {
	text := fmt.Sprintf("the CLI was ended by %s, not by cw", signalName(e.Signal))
	if e.OOMKills > 0 {
		text += fmt.Sprintf(", perhaps for want of memory: the kernel ended %d of the processes around it for that while it ran", e.OOMKills)
	}
	return text
}
