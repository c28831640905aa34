package cw

import "strings"

// VerdictMax is how long the comment of a verdict may be, in bytes, and all its
// answers together.
const VerdictMax = 64 << 10

// Check refuses a state that is none. CodeInvalid.
func (r DispatchRequest) Check() error {
	return oneOf("state of the dispatcher", r.State, DispatchStates())
}

// Check refuses a rejection that does not say why or answers something, a comment
// that is too long or no text, and more answers than may be asked for. CodeInvalid.
func (v TaskVerdict) Check() error {
	switch {
	case !v.Accept && strings.TrimSpace(v.Comment) == "":
		return Errorf(CodeInvalid, "the rejection does not say why").WithHint("say with a comment what is to be different: whoever works on it next is told")
	case len(v.Comment) > VerdictMax:
		return Errorf(CodeInvalid, "the comment has %d bytes, at most %d are taken", len(v.Comment), VerdictMax).WithHint("put the rest into the text of the task")
	case !v.Accept && len(v.Answers) > 0:
		return Errorf(CodeInvalid, "a rejection answers nothing").WithHint("reject it with a comment alone, or decide it with the answers")
	case len(v.Answers) > TaskQuestionsMax:
		return Errorf(CodeInvalid, "there are %d answers, and a decision asks at most %d questions", len(v.Answers), TaskQuestionsMax)
	}
	size := 0
	for id, answer := range v.Answers {
		size += len(id) + len(answer)
	}
	if size > VerdictMax {
		return Errorf(CodeInvalid, "the answers have %d bytes together, at most %d are taken", size, VerdictMax).WithHint("put the rest into the text of the task")
	}
	return CheckText("the comment", v.Comment)
}

// Checkpoint tells whether a person has a part in tasks of this type.
func (t TaskType) Checkpoint() bool {
	return t == TaskCheckpointVerify || t == TaskCheckpointDecide || t == TaskCheckpointAction
}

// AwaitsVerdict tells whether the next word on the task is a person's: a
// checkpoint whose result is there, or that is reached. A result that was
// accepted already is checked and merged; then another verdict is refused.
func (t Task) AwaitsVerdict() bool {
	switch t.Type {
	case TaskCheckpointVerify:
		return t.Status == TaskVerifying
	case TaskCheckpointDecide, TaskCheckpointAction:
		return t.Status == TaskReady
	}
	return false
}

// AwaitsPerson tells whether somebody has to look at the work before it is checked
// and merged.
func (m Merge) AwaitsPerson() bool {
	return m.Status == MergeQueued && m.Verify && m.VerifiedBy == ""
}

// WaitCodes lists all reasons, in the order in which they are looked at.
func WaitCodes() []WaitCode {
	return []WaitCode{
		WaitPhase, WaitCircle, WaitDependency, WaitPerson, WaitBlocked, WaitProject, WaitRetry, WaitPaused, WaitPaths, WaitBudget, WaitAccount,
		WaitLimit, WaitResources,
	}
}

// MergeStatuses lists all statuses in the order in which people read them.
func MergeStatuses() []MergeStatus {
	return []MergeStatus{MergeQueued, MergeChecking, MergeConflicted, MergeRed, MergeMerged, MergeDismissed}
}
