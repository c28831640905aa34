package main

import (
	"github.com/spf13/cobra"

	"cw/internal/cw"
)

// agentWhat says in errors what a command wants.
const agentWhat = "an agent: its name or its id"

func newAgentCmd(a *app) *cobra.Command {
	group := newGroupCmd("agent", "The agents: start, watch, answer, resume, stop, remove",
		newAgentSpawnCmd(a, nil), newAgentListCmd(a, nil), newAgentShowCmd(a, nil), newAgentLogsCmd(a, nil),
		newAgentMessagesCmd(a, nil), newAgentAttachCmd(a, nil), newAgentDiffCmd(a, nil), newAgentOpenCmd(a, nil),
		newAgentShellCmd(a, nil), newAgentAnswerCmd(a, nil), newAgentSendCmd(a, nil), newAgentResumeCmd(a, nil), newAgentStopCmd(a, nil), newAgentRemoveCmd(a, nil),
		newAgentRestoreCmd(a, nil))
	for _, cmd := range group.Commands() {
		switch cmd.Name() {
		case "spawn", "list":
		case "restore":
			cmd.ValidArgsFunction = completeAgents(a, cw.AgentFilter{Removed: true})
		default:
			cmd.ValidArgsFunction = completeAgents(a, cw.AgentFilter{})
		}
	}
	return group
}
