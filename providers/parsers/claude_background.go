package parsers

import "cw/internal/cw"

// backgroundTasks are the tasks of claude that run: commands and sub-agents. One
// that runs when the result of the call that began it is there outlives the call.
// The zero value is empty.
type backgroundTasks struct {
	byCall map[string]string // call -> its task, until its result
	told   map[string]bool   // tasks that outlive their call
}

// start notes a task that a call has begun.
func (b *backgroundTasks) start(task, call string) {
	if b.byCall == nil {
		b.byCall, b.told = map[string]string{}, map[string]bool{}
	}
	if task != "" && call != "" {
		remember(b.byCall, call, task)
	}
}

// outlives tells the task of a call that is over, when the task still runs.
func (b *backgroundTasks) outlives(call string) []cw.StreamEvent {
	task, runs := b.byCall[call]
	if !runs {
		return nil
	}
	delete(b.byCall, call)
	remember(b.told, task, true)
	return one(cw.StreamEvent{Kind: cw.StreamTaskBegan, ToolUseID: task, Tool: "a background task"})
}

// end tells that a task is over that outlived its call.
func (b *backgroundTasks) end(task string) []cw.StreamEvent {
	for call, of := range b.byCall {
		if of == task {
			delete(b.byCall, call)
		}
	}
	if !b.told[task] {
		return nil
	}
	delete(b.told, task)
	return one(cw.StreamEvent{Kind: cw.StreamTaskEnded, ToolUseID: task})
}
