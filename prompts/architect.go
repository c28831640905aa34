package prompts

// architectBlocks are the blocks of a mode that reads the code and suggests: the
// mode's own between those that all of them share, in the order that the table
// of execute has.
func architectBlocks(mode string, own ...Block) []Block {
	blocks := []Block{
		{Tag: "role", Order: 10, Source: mode + "/role.md", MaxLen: 500},
		{Tag: "input_files", Order: 30, Source: "shared/input_files.md", MaxLen: 2000},
		{Tag: "codebase_exploration", Order: 35, Source: "shared/codebase_exploration.md", MaxLen: 1600},
		{Tag: "output_format", Order: 40, Source: mode + "/output_format.md", MaxLen: 1300},
		{Tag: "id_generation", Order: 50, Source: "shared/id_generation.md", MaxLen: 400},
		{Tag: "signal_format", Order: 60, Source: "shared/signal_format.md", MaxLen: 2900},
		{Tag: "session_startup", Order: 70, Source: "shared/session_startup.md", MaxLen: 2300},
	}
	for i, b := range own {
		b.Order, b.Source = 80+10*i, mode+"/"+b.Tag+".md"
		blocks = append(blocks, b)
	}
	return append(blocks,
		Block{Tag: "progress_tracking", Order: 140, Source: "shared/progress_tracking.md", MaxLen: 1300},
		Block{Tag: "context_management", Order: 150, Source: "shared/context_management.md", MaxLen: 800},
		Block{Tag: "definition_of_done", Order: 160, Source: mode + "/definition_of_done.md", MaxLen: 1300},
		Block{Tag: "workspace", Order: 170, Source: "shared/workspace.md", MaxLen: 1200},
		Block{Tag: "inter_agent_communication", Order: 180, Source: "shared/inter_agent_communication.md", MaxLen: 3800},
	)
}

// discussBlocks are the blocks of mode discuss: what has to be decided, and by
// whom.
func discussBlocks() []Block {
	return architectBlocks("discuss",
		Block{Tag: "analysis_method", MaxLen: 2000},
		Block{Tag: "question_quality", MaxLen: 1800},
		Block{Tag: "decision_quality", MaxLen: 1500},
		Block{Tag: "question_categories", MaxLen: 1000},
		Block{Tag: "rules", MaxLen: 1000},
	)
}

// refineBlocks are the blocks of mode refine: pages that are true and clear.
func refineBlocks() []Block {
	return architectBlocks("refine",
		Block{Tag: "improvement_priorities", MaxLen: 1500},
		Block{Tag: "rules", MaxLen: 1000},
	)
}

// planBlocks are the blocks of mode plan: an initiative cut into phases.
func planBlocks() []Block {
	return architectBlocks("plan",
		Block{Tag: "phase_design", MaxLen: 1700},
		Block{Tag: "dependencies", MaxLen: 700},
		Block{Tag: "file_ownership", MaxLen: 600},
		Block{Tag: "specificity", MaxLen: 1000},
		Block{Tag: "existing_context", MaxLen: 800},
	)
}

// detailBlocks are the blocks of mode detail: a phase cut into tasks.
func detailBlocks() []Block {
	return architectBlocks("detail",
		Block{Tag: "task_body_requirements", MaxLen: 1600},
		Block{Tag: "file_ownership", MaxLen: 700},
		Block{Tag: "task_sizing", MaxLen: 1300},
		Block{Tag: "checkpoint_tasks", MaxLen: 1000},
		Block{Tag: "existing_context", MaxLen: 900},
	)
}
