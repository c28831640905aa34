package main

import (
	"fmt"
	"strings"

	"cw/internal/cw"
)

// executeName is how much of the name of a task a line shows.
const executeName = 40

// executeLine is one line about a change.
type executeLine struct {
	name, text string
	paint      func(paint, string) string // of the text
}

// shown writes the line.
func (l executeLine) shown(p paint) string {
	text := oneLine(l.text)
	if l.paint != nil {
		text = l.paint(p, text)
	}
	if l.name == "" {
		return "  " + text
	}
	return "  " + p.bold(cut(oneLine(l.name), executeName)) + "  " + text
}

// executeLines tells what changed between two looks: one line for each task that
// stands somewhere else, and for the dispatcher. At the first look, which has no
// other before it, what is done is not told.
func executeLines(before *executeView, now executeView) []executeLine {
	var lines []executeLine
	was := executeView{status: cw.DispatchStatus{State: cw.DispatchRunning}}
	if before != nil {
		was = *before
	}
	if now.status.State != was.status.State {
		lines = append(lines, executeLine{text: "the dispatcher is " + stateFact(paint{}, now.status.State), paint: paint.yellow})
	}
	if now.status.Pressure != was.status.Pressure && now.status.Pressure != "" {
		lines = append(lines, executeLine{text: "nothing is started: " + now.status.Pressure, paint: paint.yellow})
	}
	if text := now.accounts(); text != was.accounts() && text != "" {
		lines = append(lines, executeLine{text: "no task is started: " + text, paint: paint.yellow})
	}
	old := map[cw.TaskID]cw.Task{}
	for _, t := range was.tasks {
		old[t.ID] = t
	}
	done := 0
	for _, t := range was.tasks {
		if t.Status == cw.TaskDone {
			done++
		}
	}
	for _, t := range now.tasks {
		line := now.stage(t)
		beside, known := old[t.ID]
		switch {
		case line.text == "", before == nil && t.Status == cw.TaskDone, known && was.stage(beside).text == line.text:
			continue
		case t.Status == cw.TaskDone && beside.Status != cw.TaskDone:
			done++
			line.text += fmt.Sprintf(", %d of %d", done, len(now.tasks))
		}
		line.name = t.Name
		lines = append(lines, line)
	}
	return lines
}

// accounts says what the first task that waits for an account waits for: that is
// told once for all.
func (v executeView) accounts() string {
	for _, d := range v.status.Waiting {
		if code(d) == cw.WaitAccount {
			return d.Wait.Text
		}
	}
	return ""
}

// stage says where a task stands; no text for one of which there is nothing to
// tell yet.
func (v executeView) stage(t cw.Task) executeLine {
	merge, merges := v.mergeOf(t.ID)
	if t.Status == cw.TaskDone {
		if merges && merge.Status == cw.MergeMerged {
			return executeLine{text: strings.TrimSpace("merged" + bracketed(mergedCell(merge))), paint: paint.green}
		}
		return executeLine{text: "done", paint: paint.green}
	}
	for _, d := range v.status.Waiting {
		if d.ID == t.ID {
			return waitStage(d)
		}
	}
	for _, d := range v.status.Running {
		if d.ID == t.ID {
			return v.runningStage(t, d, merge, merges)
		}
	}
	return executeLine{}
}

// waitStage tells of a task that waits what somebody has to do about, or that it
// is tried again. What passes by itself is the common case, and not told.
func waitStage(d cw.DispatchTask) executeLine {
	c := code(d)
	switch {
	case c == cw.WaitPaused, c == "": // told once for all
		return executeLine{}
	case c == cw.WaitPerson:
		return executeLine{text: "waits for you: " + hinted(*d.Wait), paint: paint.yellow}
	case c == cw.WaitBlocked:
		return executeLine{text: "is blocked: " + hinted(*d.Wait), paint: paint.red}
	case c == cw.WaitRetry:
		return executeLine{text: d.Wait.Text, paint: paint.yellow}
	case forPeople(d):
		return executeLine{text: "waits: " + hinted(*d.Wait), paint: paint.yellow}
	}
	return executeLine{}
}

func hinted(w cw.WaitReason) string {
	if w.Hint == "" {
		return w.Text
	}
	return w.Text + "; " + w.Hint
}

// runningStage tells of a task whose agent works, or whose work is on its way.
func (v executeView) runningStage(t cw.Task, d cw.DispatchTask, merge cw.Merge, merges bool) executeLine {
	if d.Status == cw.TaskVerifying && merges && merge.Wait != "" && !merge.AwaitsPerson() {
		return executeLine{text: "is held up: " + merge.Wait, paint: paint.yellow}
	}
	if why := v.standsStill(d); why != nil && why.Code == cw.WaitPerson {
		return executeLine{text: hinted(*why), paint: paint.yellow}
	}
	switch {
	case d.Status == cw.TaskVerifying && merges && merge.Status == cw.MergeQueued:
		return executeLine{text: "waits to be merged"}
	case d.Status == cw.TaskVerifying:
		return executeLine{text: "is checked"}
	case d.Status == cw.TaskMerging:
		return executeLine{text: "is being merged"}
	case d.Agent == "": // it is just being started
		return executeLine{}
	case merges && (merge.Status == cw.MergeConflicted || merge.Status == cw.MergeRed):
		return backStage(t, d, merge)
	case d.AgentStatus == cw.StatusParked:
		return executeLine{text: d.Agent + " is parked: every account is at its limit", paint: paint.yellow}
	}
	return executeLine{text: d.Agent + " works on it", paint: paint.cyan}
}

// backStage tells of work that went back to its agent, and why.
func backStage(t cw.Task, d cw.DispatchTask, merge cw.Merge) executeLine {
	why, _, _ := strings.Cut(strings.TrimSpace(clean(t.Blocked)), "\n")
	if merge.Status == cw.MergeConflicted {
		if why == "" {
			why = "does not go together with what is merged"
		}
		return executeLine{text: fmt.Sprintf("%s (%s): %s brings them together", why, count(merge.Conflicts, "conflict"), d.Agent), paint: paint.yellow}
	}
	if why == "" {
		why = "a check is red"
	}
	if merge.Reds > 1 {
		why += fmt.Sprintf(" (%d times so far)", merge.Reds)
	}
	return executeLine{text: why + evidenceText(merge.Evidence) + ": " + d.Agent + " mends it", paint: paint.yellow}
}

// evidenceText is the last line of what a check printed.
func evidenceText(evidence string) string {
	lines := strings.Split(strings.TrimSpace(clean(evidence)), "\n")
	if last := oneLine(lines[len(lines)-1]); last != "" {
		return ", " + cut(last, summaryMax)
	}
	return ""
}

// asksText says what an agent asks, in the words of its first question.
func asksText(v cw.AgentView) string {
	if len(v.PendingQuestions) == 0 {
		return v.Alias + " asks"
	}
	text := v.Alias + " asks: " + cut(oneLine(v.PendingQuestions[0].Text), summaryMax)
	if n := len(v.PendingQuestions) - 1; n > 0 {
		text += fmt.Sprintf(" (and %d more)", n)
	}
	return text
}
