package prompts

// executeBlocks are the blocks of mode execute: one agent does one task.
//
// The last two tell the agent who and where it is. They stay last, so that
// whatever is added before them cannot push them out of sight.
func executeBlocks() []Block {
	return []Block{
		{Tag: "role", Order: 10, Source: "execute/role.md", MaxLen: 500},
		{Tag: "task", Order: 20, Source: "execute/task.md", MaxLen: 50},
		{Tag: "input_files", Order: 30, Source: "shared/input_files.md", MaxLen: 2000},
		{Tag: "output_format", Order: 40, Source: "execute/output_format.md", MaxLen: 1000},
		{Tag: "id_generation", Order: 50, Source: "shared/id_generation.md", MaxLen: 400},
		{Tag: "signal_format", Order: 60, Source: "shared/signal_format.md", MaxLen: 2900},
		{Tag: "session_startup", Order: 70, Source: "shared/session_startup.md", MaxLen: 2300},
		{Tag: "execution_protocol", Order: 80, Source: "execute/execution_protocol.md", MaxLen: 1800},
		{Tag: "anti_patterns", Order: 90, Source: "execute/anti_patterns.md", MaxLen: 2000},
		{Tag: "scope_rules", Order: 100, Source: "execute/scope_rules.md", MaxLen: 1300},
		{Tag: "test_integrity", Order: 110, Source: "shared/test_integrity.md", MaxLen: 1300},
		{Tag: "deviation_rules", Order: 120, Source: "shared/deviation_rules.md", MaxLen: 1300},
		{Tag: "git_workflow", Order: 130, Source: "shared/git_workflow.md", MaxLen: 1700},
		{Tag: "progress_tracking", Order: 140, Source: "shared/progress_tracking.md", MaxLen: 1300},
		{Tag: "context_management", Order: 150, Source: "shared/context_management.md", MaxLen: 800},
		{Tag: "definition_of_done", Order: 160, Source: "execute/definition_of_done.md", MaxLen: 1300},
		{Tag: "workspace", Order: 170, Source: "shared/workspace.md", MaxLen: 1200},
		{Tag: "inter_agent_communication", Order: 180, Source: "shared/inter_agent_communication.md", MaxLen: 3800},
	}
}

// derivedBlocks are the blocks of mode execute for a CLI that edits files and runs
// no commands: nothing that only a command can do is asked of it.
func derivedBlocks() []Block {
	return []Block{
		{Tag: "role", Order: 10, Source: "derived/role.md", MaxLen: 500},
		{Tag: "task", Order: 20, Source: "execute/task.md", MaxLen: 50},
		{Tag: "rules", Order: 100, Source: "derived/rules.md", MaxLen: 1200},
	}
}
