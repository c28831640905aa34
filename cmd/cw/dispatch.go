package main

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

func newDispatchCmd(a *app) *cobra.Command {
	return newGroupCmd("dispatch", "Which tasks run, and why the others wait",
		newDispatchStatusCmd(a, nil), newDispatchPlanCmd(a, nil),
		newDispatchSetCmd(a, cw.DispatchPaused, nil), newDispatchSetCmd(a, cw.DispatchRunning, nil), newDispatchSetCmd(a, cw.DispatchDraining, nil),
		newDispatchRetryCmd(a, nil))
}

// stateFact says what a state of the dispatcher means.
func stateFact(p paint, s cw.DispatchState) string {
	switch s {
	case cw.DispatchRunning:
		return p.green("running") + ": what is ready is started"
	case cw.DispatchPaused:
		return p.yellow("paused") + ": nothing is started or merged, and agents work on; cw dispatch resume lets it go on"
	case cw.DispatchDraining:
		return p.yellow("draining") + ": nothing is started, and what is done is merged; cw dispatch resume lets it go on"
	}
	return oneLine(string(s))
}

// limitsFact says how many agents may work at once.
func limitsFact(l cw.DispatchLimits) string {
	parts := []string{count(l.Machine, "agent") + " on this machine"}
	for _, limit := range []struct {
		n    int
		what string
	}{{l.Provider, "of a provider"}, {l.Account, "of an account"}, {l.Project, "in a project"}, {l.Initiative, "of an initiative"}} {
		if limit.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", limit.n, limit.what))
		}
	}
	return "at most " + strings.Join(parts, ", ")
}

// printDispatchTasks prints tasks that do not wait as a table. whole tells that
// they are of several initiatives.
func (a *app) printDispatchTasks(tasks []cw.DispatchTask, whole bool) {
	header := []string{"ID", "STATUS", "PRIORITY", "AGENT", "INITIATIVE", "SINCE", "TASK"}
	agents := false
	var rows [][]string
	for _, t := range tasks {
		agents = agents || t.Agent != ""
		rows = append(rows, []string{
			string(t.ID), string(t.Status), string(t.Priority), agentCell(t), t.Initiative, elapsed(a.now().Sub(t.Since)), cut(oneLine(t.Name), titleMax),
		})
	}
	if !agents {
		header, rows = without(header, rows, "AGENT")
	}
	if !whole {
		header, rows = without(header, rows, "INITIATIVE")
	}
	if a.outTTY {
		header, rows = narrow(header, rows, a.width()-columnGap, "PRIORITY", "INITIATIVE", "SINCE", "AGENT")
	}
	table(a.out, "  ", header, rows)
}

// agentCell names the agent of a task, and where it stands unless it works.
func agentCell(t cw.DispatchTask) string {
	if t.Agent == "" || t.AgentStatus == cw.StatusRunning {
		return t.Agent
	}
	return t.Agent + bracketed(string(t.AgentStatus))
}

// printWaiting prints tasks that wait, each with its reason below it. Nothing of
// a reason is cut: it is what people look for. whole tells that they are of
// several initiatives.
func (a *app) printWaiting(tasks []cw.DispatchTask, whole bool) {
	p := a.paint(a.outTTY)
	width := 0
	for _, t := range tasks {
		width = max(width, utf8.RuneCountInString(oneLine(string(t.ID))))
	}
	for _, t := range tasks {
		of := ""
		if whole {
			of = p.dim(bracketed(oneLine(t.Initiative)))
		}
		a.printf("  %s  %s%s\n", pad(oneLine(string(t.ID)), width), cut(oneLine(t.Name), nameMax), of)
		margin := strings.Repeat(" ", width+2*columnGap)
		if t.Wait == nil { // of a later daemon
			continue
		}
		a.printf("%s%s\n", margin, waitColour(t.Wait.Code)(p, waitText(*t.Wait)))
		if t.Wait.Hint != "" {
			a.printf("%s%s %s\n", margin, p.dim("→"), oneLine(t.Wait.Hint))
		}
	}
}

// waitText is a reason with the time until which it holds.
func waitText(w cw.WaitReason) string {
	return oneLine(fmt.Sprintf("%s: %s", w.Code, w.Text)) + bracketed(strings.TrimSpace(until(w.Until)))
}

// waitColour makes stand out what somebody has to act on.
func waitColour(c cw.WaitCode) func(paint, string) string {
	switch c {
	case cw.WaitBlocked, cw.WaitCircle:
		return paint.red
	case cw.WaitPerson, cw.WaitPaused, cw.WaitProject, cw.WaitBudget:
		return paint.yellow
	}
	return paint.dim
}

// noteNoPaths says which tasks nothing keeps others away from.
func (a *app) noteNoPaths(tasks []cw.DispatchTask) {
	var bare []string
	for _, t := range tasks {
		if t.NoPaths {
			bare = append(bare, oneLine(string(t.ID)))
		}
	}
	if len(bare) == 0 {
		return
	}
	some := strings.Join(bare[:min(len(bare), shownBare)], ", ")
	if len(bare) > shownBare {
		some += fmt.Sprintf(" and %d more", len(bare)-shownBare)
	}
	a.note("%s not say which paths %s (%s), so others may change the same files: cw task edit ID --path GLOB",
		plural(len(bare), "a task does", "tasks do"), plural(len(bare), "it touches", "they touch"), some)
}

// shownBare is how many tasks without paths are named.
const shownBare = 5
