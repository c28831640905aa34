package main

import (
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
	case cw.EventAgentCrashed, cw.EventSecurityRefused, cw.EventMirrorRestored:
		return l.paint.red(text)
	case cw.EventAgentWarning, cw.EventAgentWaiting, cw.EventQuestionRequested:
		return l.paint.yellow(text)
	case cw.EventAgentStopped:
		return l.paint.green(text)
	}
	return text
}

// name is the agent's name, from this event or an earlier one, else its id.
func (l *eventLines) name(e cw.Event) string {
	if e.AgentID == "" {
		return "-"
	}
	if name := oneLine(payload[struct{ Name string }](e).Name); name != "" {
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
	case cw.EventQuestionRequested:
		return payload[cw.QuestionRequested](e).Question
	}
	if text, known := agentEventText(e); known {
		return text
	}
	return string(e.Data)
}

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
		return string(p.State) + bracketed(p.Tool), true
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
