package main

import (
	"github.com/spf13/cobra"
)

// agentWhat says in errors what a command wants.
const agentWhat = "an agent: its name or its id"

func newAgentCmd(a *app) *cobra.Command {
	group := newGroupCmd("agent", "The agents: start, watch, read, stop",
		newAgentSpawnCmd(a, nil), newAgentListCmd(a, nil), newAgentShowCmd(a, nil), newAgentLogsCmd(a, nil),
		newAgentAttachCmd(a, nil), newAgentDiffCmd(a, nil), newAgentStopCmd(a, nil))
	for _, cmd := range group.Commands() {
		if cmd.ValidArgsFunction == nil && cmd.Name() != "spawn" && cmd.Name() != "list" {
			cmd.ValidArgsFunction = completeAgents(a)
		}
	}
	return group
}
