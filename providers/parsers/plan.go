package parsers

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"cw/internal/cw"
)

// The lists of steps that CLIs keep by themselves, each in the form of its CLI.
// What is no step is left out, what is too long is cut: a list is never refused.

// todoSteps reads {"todos": […]}: claude's TodoWrite, qwen's todo_write,
// opencode's todowrite and gemini's write_todos. nil: there is no step in it.
func todoSteps(input json.RawMessage) []cw.PlanStep {
	var list struct {
		Todos []nativeStep `json:"todos"`
	}
	if unlessWrongType(json.Unmarshal(input, &list)) != nil {
		return nil
	}
	return planSteps(list.Todos)
}

// listSteps reads a bare list: the items of codex's todo_list and the entries of
// ACP's plan. nil: there is no step in it.
func listSteps(input json.RawMessage) []cw.PlanStep {
	var list []nativeStep
	if unlessWrongType(json.Unmarshal(input, &list)) != nil {
		return nil
	}
	return planSteps(list)
}

// nativeStep is one step, with the fields of all forms.
type nativeStep struct {
	title  string
	status cw.StepStatus
}

// UnmarshalJSON takes what is there; a step of another form has no title.
func (s *nativeStep) UnmarshalJSON(data []byte) error {
	var step struct {
		Content     looseText `json:"content"`     // claude, qwen, opencode, ACP
		Text        looseText `json:"text"`        // codex
		Description looseText `json:"description"` // gemini
		Status      looseText `json:"status"`
		Completed   looseFlag `json:"completed"` // codex
	}
	if err := unlessWrongType(json.Unmarshal(data, &step)); err != nil {
		return err
	}
	s.status = nativeStatus(string(step.Status))
	if step.Completed {
		s.status = cw.StepCompleted
	}
	for _, t := range []looseText{step.Content, step.Text, step.Description} {
		if s.title = planTitle(string(t)); s.title != "" {
			break
		}
	}
	return nil
}

// looseText is a string, and empty where something else stands.
type looseText string

// UnmarshalJSON never fails.
func (t *looseText) UnmarshalJSON(data []byte) error {
	var s string
	if json.Unmarshal(data, &s) == nil {
		*t = looseText(s)
	}
	return nil
}

// looseFlag is true only where true stands.
type looseFlag bool

// UnmarshalJSON never fails.
func (f *looseFlag) UnmarshalJSON(data []byte) error {
	*f = looseFlag(bytes.Equal(bytes.TrimSpace(data), []byte("true")))
	return nil
}

// nativeStatus reads a status as CLIs write it; what is not known is pending.
func nativeStatus(s string) cw.StepStatus {
	switch s {
	case "in_progress":
		return cw.StepInProgress
	case "completed":
		return cw.StepCompleted
	case "cancelled", "canceled", "deleted", "skipped":
		return cw.StepSkipped
	}
	return cw.StepPending
}

// planSteps gives the steps that have a title, as many as a plan may have.
func planSteps(list []nativeStep) []cw.PlanStep {
	var steps []cw.PlanStep
	for _, s := range list {
		if s.title != "" && len(steps) < cw.PlanStepsMax {
			steps = append(steps, cw.PlanStep{ID: stepID(len(steps)), Title: s.title, Status: s.status})
		}
	}
	return steps
}

// planTitle makes one line of a text, as long as a title may be.
func planTitle(s string) string {
	// A first cut keeps a huge text from being taken apart whole.
	s = s[:min(len(s), 8*utf8.UTFMax*cw.PlanTitleMax)]
	s = strings.Join(strings.Fields(strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\x00", " ")), " ")
	if utf8.RuneCountInString(s) <= cw.PlanTitleMax {
		return s
	}
	runes := []rune(s)
	return strings.TrimSpace(string(runes[:cw.PlanTitleMax-1])) + "…"
}
