package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"cw/internal/cw"
)

// eventLines turns events into lines for people.
type eventLines struct {
	paint paint
	width int                   // of the terminal; 0: lines are not cut
	names map[cw.AgentID]string // as they were told so far
}

func newEventLines(a *app) *eventLines {
	l := &eventLines{paint: a.paint(a.outTTY), names: map[cw.AgentID]string{}}
	if a.outTTY {
		l.width = a.width()
	}
	return l
}

// Widths of the columns; what is longer moves the rest of its line.
const (
	seqWidth  = 5
	typeWidth = 18
	nameWidth = 14
)

// line is an event in one line: number, time, type, agent, and what it says.
func (l *eventLines) line(e cw.Event) string {
	seq := "-" // live
	if e.Seq > 0 {
		seq = strconv.FormatInt(e.Seq, 10)
	}
	layout := time.DateTime
	if l.width > 0 {
		layout = "01-02 15:04:05" // a terminal has little room, and whoever looks knows the year
	}
	head := fmt.Sprintf("%*s  %s", seqWidth, seq, e.At.Local().Format(layout))
	kind := fmt.Sprintf("%-*s", typeWidth, oneLine(string(e.Type)))
	rest := fmt.Sprintf("%-*s  %s", nameWidth, l.name(e), oneLine(eventText(e)))
	if l.width > 0 {
		rest = cut(rest, l.width-len(head)-len(kind)-2*columnGap)
	}
	rest = strings.TrimRight(rest, " ")
	return l.paint.dim(head) + "  " + l.kind(e.Type, kind) + "  " + rest
}

func (l *eventLines) kind(t cw.EventType, text string) string {
	switch t {
	case cw.EventAgentCrashed, cw.EventSecurityRefused, cw.EventMirrorRestored, cw.EventTaskBlocked:
		return l.paint.red(text)
	case cw.EventAgentWarning, cw.EventAgentWaiting, cw.EventAgentStalled, cw.EventAgentPurged, cw.EventQuestionRequested, cw.EventQuestionReminded, cw.EventDiskLow,
		cw.EventTaskCheckpoint, cw.EventTaskOutside, cw.EventMergeConflicted, cw.EventMergeRed, cw.EventDispatchChanged:
		return l.paint.yellow(text)
	case cw.EventAgentStopped, cw.EventDiskOK, cw.EventMergeMerged, cw.EventInitiativeLanded:
		return l.paint.green(text)
	}
	return text
}

// name is the agent's name, from this event or an earlier one, else its id.
func (l *eventLines) name(e cw.Event) string {
	if e.AgentID == "" {
		return "-"
	}
	ofTask := strings.HasPrefix(string(e.Type), "task:") // whose payload has the name of the task
	if name := oneLine(payload[struct{ Name string }](e).Name); name != "" && !ofTask {
		l.names[e.AgentID] = name
		return name
	}
	if name := l.names[e.AgentID]; name != "" {
		return name
	}
	return oneLine(string(e.AgentID))
}

// payload reads what an event says; what cannot be read is empty.
func payload[T any](e cw.Event) (out T) {
	_ = json.Unmarshal(e.Data, &out) // a later version may say it in another way
	return out
}

// eventText says shortly what an event tells; a type that this version does
// not know is shown as it came.
func eventText(e cw.Event) string {
	switch e.Type {
	case cw.EventProjectAdded, cw.EventProjectRemoved:
		p := payload[cw.ProjectChanged](e)
		return p.Name + bracketed(p.Path)
	case cw.EventProjectTrusted, cw.EventProjectUntrusted:
		p := payload[cw.ProjectTrusted](e)
		return p.Name + bracketed(fmt.Sprintf("%.12s", p.Digest))
	case cw.EventTokenCreated, cw.EventTokenRevoked:
		p := payload[cw.TokenChanged](e)
		return p.Name + bracketed(commaList(p.Scopes))
	case cw.EventSecurityRefused:
		p := payload[cw.SecurityRefused](e)
		if p.PID > 0 {
			return fmt.Sprintf("%s (pid %d)", p.What, p.PID)
		}
		return p.What
	case cw.EventMirrorRestored:
		p := payload[cw.MirrorRestored](e)
		return p.Project + bracketed(commaList(p.Changed))
	case cw.EventProjectChanged:
		p := payload[cw.ProjectPolicies](e)
		return fmt.Sprintf("%s (stall %s, autoResume %t, agentSpawn %d)", p.Name, p.Stall, p.AutoResume, p.AgentSpawn)
	case cw.EventDiskLow, cw.EventDiskOK:
		p := payload[cw.DiskState](e)
		return fmt.Sprintf("%s free, no run starts below %s", size(p.FreeBytes), size(p.FloorBytes))
	}
	for _, text := range []func(cw.Event) (string, bool){agentEventText, lifeEventText, questionEventText, accountEventText, planEventText, peerEventText, stepsEventText} {
		if text, known := text(e); known {
			return text
		}
	}
	return string(e.Data)
}

// questionEventText tells of questions, and of what waits for an agent.
func questionEventText(e cw.Event) (text string, known bool) {
	switch e.Type {
	case cw.EventQuestionRequested:
		return payload[cw.QuestionRequested](e).Question, true
	case cw.EventQuestionAnswered:
		p := payload[cw.QuestionAnsweredPayload](e)
		return fmt.Sprintf("%s: %s, %d open", p.QuestionID, cw.AnswerText(p.Answer), p.Open), true
	case cw.EventQuestionWithdrawn:
		p := payload[cw.QuestionWithdrawnPayload](e)
		return fmt.Sprintf("%s: %s", p.QuestionID, p.Reason), true
	case cw.EventQuestionReminded:
		p := payload[cw.QuestionRemindedPayload](e)
		return fmt.Sprintf("%s waits since %s: %s", p.QuestionID, clock(p.AskedAt), oneLine(p.Question)), true
	case cw.EventMessageQueued:
		return "a text waits for the next run", true
	}
	return "", false
}

// lifeEventText tells how an agent goes on, comes and goes.
func lifeEventText(e cw.Event) (text string, known bool) {
	switch e.Type {
	case cw.EventAgentResumed:
		return resumedText(payload[cw.AgentResumed](e)), true
	case cw.EventAgentStalled:
		return stalledText(payload[cw.AgentStalled](e)), true
	case cw.EventAgentAccountSwitched:
		return switchedText(payload[cw.AgentAccountSwitched](e)), true
	case cw.EventAgentParked:
		p := payload[cw.AgentParked](e)
		return "waits for an account" + until(p.RetryAt) + ": " + oneLine(p.Text), true
	case cw.EventAgentRemoved:
		p := payload[cw.AgentRemoved](e)
		return "kept until " + clock(p.Until) + bracketed(strings.Join(p.Trash, ", ")), true
	case cw.EventAgentRestored:
		return "from the " + payload[cw.AgentRestored](e).From, true
	case cw.EventAgentPurged:
		p := payload[cw.AgentPurged](e)
		return fmt.Sprintf("%s, %s: %s", p.Path, size(p.Bytes), p.Reason), true
	}
	return "", false
}

// accountEventText tells of accounts and budgets.
func accountEventText(e cw.Event) (text string, known bool) {
	switch e.Type {
	case cw.EventAccountAdded, cw.EventAccountChanged, cw.EventAccountRemoved, cw.EventAccountRefreshed:
		p := payload[cw.AccountChanged](e)
		return accountText(p.Provider, p.Name, p.Text), true
	case cw.EventAccountExhausted:
		p := payload[cw.AccountExhausted](e)
		return accountText(p.Provider, p.Name, "at its limit until "+clock(p.Until)) + bracketed(oneLine(p.Text)), true
	case cw.EventAccountInvalid:
		p := payload[cw.AccountInvalid](e)
		return accountText(p.Provider, p.Name, p.Why), true
	case cw.EventBudgetWarning, cw.EventBudgetSpent:
		p := payload[cw.BudgetReached](e)
		return fmt.Sprintf("%s %s: %s of %s are spent", p.Scope, oneLine(p.Name), dollars(p.SpentUSD), dollars(p.LimitUSD)), true
	}
	return "", false
}

func accountText(provider, name, text string) string {
	return oneLine(provider + "/" + name + ": " + text)
}

// resumedText says why an agent gets another run.
func resumedText(p cw.AgentResumed) string {
	text := fmt.Sprintf("run %d: %s", p.SessionNumber, whyRun(p.Reason))
	if p.Fresh {
		text += ", in a new session that is told what happened"
	}
	if p.Why != "" {
		text += ": " + oneLine(p.Why)
	}
	return text
}

// whyRun says for people why a run was started.
func whyRun(r cw.RunReason) string {
	switch r {
	case cw.RunSpawn:
		return "the first"
	case cw.RunAnswers:
		return "goes on with the answers"
	case cw.RunMissingSignal:
		return "asked once more for the signal"
	case cw.RunFiles:
		return "asked to correct files that could not be taken"
	case cw.RunCommit:
		return "asked to commit what is left"
	case cw.RunFollowUp:
		return "goes on"
	case cw.RunStalled:
		return "goes on after a silence"
	case cw.RunReboot:
		return "goes on after a restart of the machine"
	case cw.RunFailover:
		return "goes on with an account that can be used"
	case cw.RunWake:
		return "another agent asks it something"
	case cw.RunConflict:
		return "its work does not go together with what is merged"
	case cw.RunCheckRed:
		return "its work fails a check"
	case cw.RunReview:
		return "a person did not accept its work"
	case cw.RunBudget:
		return "its budget is spent, asked to commit what it has and to end"
	}
	return oneLine(string(r))
}

// switchedText says with which account an agent goes on, and why.
func switchedText(p cw.AgentAccountSwitched) string {
	from, to := oneLine(p.FromName), oneLine(p.ToName)
	if p.FromProvider != p.ToProvider {
		from, to = oneLine(p.FromProvider)+"/"+from, oneLine(p.ToProvider)+"/"+to
	}
	why := map[cw.Reason]string{
		cw.ReasonUsageLimit: "is at its limit", cw.ReasonAuth: "was refused", cw.ReasonUser: "is not to be used any more",
	}[p.Reason]
	text := fmt.Sprintf("%s %s, it goes on with %s", from, cmp.Or(why, "cannot be used"), to)
	if p.Session != "kept" {
		text += ", in a new session that is told what happened"
	}
	return text
}

// stalledText says that an agent is silent, and what is known about it.
func stalledText(p cw.AgentStalled) string {
	text := "silent for " + elapsed(time.Duration(p.Seconds)*time.Second)
	switch {
	case p.Tool != "":
		text += ", uses " + oneLine(p.Tool)
	case p.LastTool != "":
		text += ", last tool " + oneLine(p.LastTool)
	}
	text += fmt.Sprintf(", %.1f s of CPU, %s, %s", p.CPUSeconds, countProcesses(p.Processes), count(p.Connections, "connection"))
	if p.Policy == cw.StallResume {
		text += "; it is stopped and goes on with a note"
	}
	return text
}

func countProcesses(n int) string { return fmt.Sprintf("%d %s", n, plural(n, "process", "processes")) }

func agentEventText(e cw.Event) (text string, known bool) {
	switch e.Type {
	case cw.EventAgentSpawned:
		p := payload[cw.AgentSpawned](e)
		return p.Provider + ": " + p.Title, true
	case cw.EventAgentStarting:
		p := payload[cw.AgentStarting](e)
		return fmt.Sprintf("run %d (%s)", p.SessionNumber, p.Reason), true
	case cw.EventAgentRunning:
		p := payload[cw.AgentRunning](e)
		return fmt.Sprintf("run %d, pid %d", p.SessionNumber, p.PID), true
	case cw.EventAgentOutput:
		p := payload[cw.AgentOutput](e)
		return fmt.Sprintf("run %d, %s", p.SessionNumber, size(int64(p.Length))), true
	case cw.EventAgentActivity:
		p := payload[cw.AgentActivity](e).Activity
		text := string(p.State) + bracketed(p.Tool)
		if p.Subject != "" {
			text += fmt.Sprintf(", %s: %s", p.Verb, p.Subject)
		}
		return text, true
	case cw.EventAgentWaiting:
		return count(payload[cw.AgentWaiting](e).Questions, "question"), true
	case cw.EventAgentWarning:
		return payload[cw.AgentWarning](e).Warning, true
	case cw.EventAgentStopped:
		p := payload[cw.AgentStopped](e)
		return fmt.Sprintf("%s, %s", p.Reason, count(p.Commits, "commit")), true
	case cw.EventAgentCrashed:
		p := payload[cw.AgentCrashed](e)
		return fmt.Sprintf("%s: %s", p.Reason, p.Error), true
	}
	return "", false
}

// commaList joins words of any kind with commas.
func commaList[T ~string](list []T) string {
	out := make([]string, len(list))
	for i, word := range list {
		out[i] = string(word)
	}
	return strings.Join(out, ", ")
}
