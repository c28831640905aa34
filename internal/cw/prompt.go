package cw

import (
	"context"
	"strings"
)

// PromptRequest asks what an agent would be told.
type PromptRequest struct {
	Mode       Mode     `json:"mode" doc:"what the agent would be for"`
	Initiative string   `json:"initiative,omitempty" doc:"id or slug; default: that of the task or phase"`
	PhaseID    PhaseID  `json:"phaseId,omitempty" doc:"the phase it would work on, for detail"`
	TaskID     TaskID   `json:"taskId,omitempty" doc:"the task it would do, for execute"`
	Projects   []string `json:"projects,omitempty" doc:"ids, names or absolute paths of registered projects; default: those of the initiative"`
	Provider   string   `json:"provider,omitempty" doc:"whose CLI; default: as for a new agent"`
	Goal       string   `json:"goal,omitempty" doc:"its goal, when it has no task"`
}

// Check refuses a mode that is none, and one that lacks what it works on: an
// architect needs an initiative, or a phase or task of one, and an execute agent
// a task or a goal. CodeInvalid.
func (r PromptRequest) Check() error {
	if err := oneOf("mode", r.Mode, Modes()); err != nil {
		return err
	}
	switch {
	case r.Mode != ModeExecute && r.Initiative == "" && r.PhaseID == "" && r.TaskID == "":
		return Errorf(CodeInvalid, "an agent with mode %s works for an initiative", r.Mode).
			WithHint("name it: --initiative SLUG; cw initiative list shows all")
	case r.Mode == ModeExecute && r.TaskID == "" && strings.TrimSpace(r.Goal) == "":
		return Errorf(CodeInvalid, "an agent with mode %s needs a task or a goal", r.Mode).
			WithHint("name it: --task ID, or --goal TEXT")
	case len(r.Goal) > GoalMax:
		return Errorf(CodeInvalid, "the goal is %d bytes long, at most %d are taken", len(r.Goal), GoalMax).
			WithHint("put the material into a file of the repository and name it in the goal")
	}
	return nil
}

// PromptView is a prompt and its parts.
type PromptView struct {
	Text   string        `json:"text" doc:"exactly what the agent would be told; its own id and name are made when it is"`
	Tokens int           `json:"tokens" doc:"estimate: bytes divided by four"`
	Blocks []PromptBlock `json:"blocks" doc:"its parts, in order"`
}

// PromptBlock is one part of a prompt.
type PromptBlock struct {
	Tag    string `json:"tag" doc:"its tag"`
	Source string `json:"source" doc:"builtin, or the file of the project that replaces or extends it, several with commas"`
	Bytes  int    `json:"bytes" doc:"its length in the text, with its tags"`
	Tokens int    `json:"tokens" doc:"estimate: bytes divided by four"`
}

// PromptBuiltin is the source of a block that is cw's own.
const PromptBuiltin = "builtin"

// PromptService is what faces may do with prompts.
type PromptService interface {
	// Prompt renders what an agent would be told. It makes nothing. CodeInvalid as
	// PromptRequest.Check; CodeNotFound for an initiative, a phase, a task or a
	// project that is none.
	Prompt(ctx context.Context, req PromptRequest) (PromptView, error)
}
