package board

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"cw/internal/cw"
)

// head is the first line: how many are how, what today cost, and whether this is
// live.
func (v *View) head() line {
	end := v.freshness()
	tail := line{}
	if usd := dollars(v.Today.CostUSD); usd != "" {
		if v.Today.EstimatedUSD > 0 {
			usd = "~" + usd
		}
		if v.panes() {
			usd += " today"
		}
		tail = append(tail, span{usd + "  ", plain})
	}
	if slots := v.slots(); slots != "" && v.panes() {
		tail = append(tail, span{slots + "  ", plain})
	}
	tail = append(tail, end, span{" ", plain})
	out := line{{" cw top", bold}, {"   ", plain}}
	room := v.Width - width(out) - width(tail)
	counts := v.counts()
	for len(counts) > 0 && width(flatten(counts)) > room {
		counts = counts[:len(counts)-1]
	}
	out = append(out, flatten(counts)...)
	return append(append(out, span{strings.Repeat(" ", max(v.Width-width(out)-width(tail), 0)), plain}), tail...)
}

// counts tells how many agents are how; who works is always told.
func (v *View) counts() []line {
	n := map[state]int{}
	for _, a := range v.Agents {
		s := stateOf(a)
		switch s {
		case stateStarting, statePending, stateRetrying, stateError:
			s = stateRunning
		}
		n[s]++
	}
	shown := []state{stateRunning, stateWaiting, stateStalled, stateCrashed, stateParked}
	if v.panes() {
		shown = append(shown, stateIdle)
	}
	var out []line
	for _, s := range shown {
		if n[s] == 0 && s != stateRunning {
			continue
		}
		sg := s.sign()
		number := span{fmt.Sprint(n[s]), sg.ink}
		if n[s] == 0 {
			number.ink = plain
		}
		out = append(out, line{number, {" " + strings.ToLower(sg.word) + "  ", plain}})
	}
	return out
}

// slots tells how many agents may work at once.
func (v *View) slots() string {
	if v.Dispatch.Limits.Machine == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d slots", v.Status.AgentsAlive, v.Dispatch.Limits.Machine)
}

func (v *View) freshness() span {
	switch {
	case v.Lost != nil && v.At.IsZero():
		return span{"lost", fail}
	case v.Lost != nil:
		return span{"as of " + v.At.In(v.Now.Location()).Format(time.TimeOnly), fail}
	case v.At.IsZero():
		return span{"reading", dim}
	}
	return span{"live", done}
}

// foot is the last line: what is typed or asked, what went wrong, else the keys.
func (v *View) foot() line {
	switch {
	case v.Prompt != nil:
		return v.promptLine()
	case v.Confirm != "":
		return line{{" " + shorten(v.Confirm, max(v.Width-14, 4)), need}, {"  y", bold}, {" yes  ", plain}, {"n", bold}, {" no", plain}}
	case v.Lost != nil:
		return line{{" " + lostText(*v.Lost, v.Now), fail}}
	}
	if note := v.noteLines(); len(note) > 0 {
		return note[len(note)-1]
	}
	return v.keys()
}

// noteMax is how many lines at the bottom an error and its hint may take.
const noteMax = 4

// noteLines draws what is told at the bottom. What does not fit in a line covers
// those above it, so that a hint is read to its end.
func (v *View) noteLines() []line {
	if v.Note.Text == "" || v.Prompt != nil || v.Confirm != "" || v.Lost != nil {
		return nil
	}
	look := plain
	if v.Note.Bad {
		look = fail
	}
	var out []line
	for _, text := range wrap(flat(v.Note.Text), v.Width-2) {
		if out = append(out, line{{" " + text, look}}); len(out) == noteMax {
			break
		}
	}
	return out
}

// promptLine shows the end of what is typed, with a cursor behind it.
func (v *View) promptLine() line {
	label := shorten(flat(v.Prompt.Label), v.Width*2/3)
	text, room := spaced(ending(v.Prompt.Text)), v.Width-wide(label)-4
	if over := wide(text) - max(room, 0); over > 0 {
		text = ansi.GraphemeWidth.TruncateLeft(text, over, "")
	}
	return line{{" " + label + " ", bold}, {text, plain}, {"▌", work}}
}

// ending gives the end of a text, as much as a line may show.
func ending(s string) string {
	if len(s) <= lineMax {
		return s
	}
	return strings.ToValidUTF8(s[len(s)-lineMax:], "")
}

// lostText says that the daemon is away, and what that means.
func lostText(l Lost, now time.Time) string {
	wait := int(math.Ceil(max(l.Next.Sub(now), 0).Seconds()))
	return fmt.Sprintf("Connection lost %s. Trying again in %d s. Agents go on working.", l.Since.In(now.Location()).Format(time.TimeOnly), wait)
}

// keys are those that work here.
func (v *View) keys() line {
	enter := v.Look.enter()
	var pairs [][2]string
	switch {
	case v.Sheet != nil:
		pairs = append(append(pairs, v.Sheet.Keys...), [][2]string{{"j/k", "scroll"}, {"space", "page"}, {"q", "back"}}...)
	case v.Asking != nil && v.Asking.Sent:
		return line{{" The answers are on their way.", dim}}
	case v.Asking != nil:
		pairs = [][2]string{{"1–" + fmt.Sprint(min(max(len(v.Asking.Question().Options), 1), 9)), "pick"}, {enter, "send answer"}, {"o", "own words"}, {"n", "next"}, {"Esc", "back"}}
	case v.Opened:
		pairs = [][2]string{{"m", "message"}, {"a", "answer"}, {"r", "diff"}, {"s", "stop"}, {"j/k", "scroll"}, {"f", "follow"}, {"q", "back"}, {"?", "keys"}}
	case v.Pane == PaneInbox:
		pairs = [][2]string{{"j/k", "move"}, {enter, "open"}, {"a", "answer"}, {"y", "accept"}, {"d", "dismiss"}, {"n", "next"}, {"2", "agents"}, {"/", "filter"}, {"?", "keys"}}
	default:
		pairs = [][2]string{{"j/k", "move"}, {enter, "open"}, {"a", "answer"}, {"r", "diff"}, {"m", "message"}, {"s", "stop"}, {"1", "inbox"}, {"/", "filter"}, {"?", "keys"}}
	}
	return keyLine(pairs, v.Width)
}

// keyLine shows as many keys as there is room for; the last is always there.
func keyLine(pairs [][2]string, room int) line {
	draw := func(p [2]string) line { return line{{" " + p[0], bold}, {" " + p[1] + " ", plain}} }
	last := draw(pairs[len(pairs)-1])
	var out line
	for _, p := range pairs[:len(pairs)-1] {
		if next := draw(p); width(out)+width(next)+width(last) <= room {
			out = append(out, next...)
		}
	}
	return append(out, last...)
}

// enter names the key.
func (l Look) enter() string {
	if l.ASCII {
		return "enter"
	}
	return "↵"
}

// factsOf tells what an agent is, in one line.
func (v *View) factsOf(a cw.AgentView) line {
	parts := []string{fmt.Sprintf("run %d", max(a.SessionNumber, 1)), lasting(v.spent(a))}
	for _, p := range []string{dollars(a.CostUSD), accountOf(a)} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	if n := len(a.Runs); n > 0 && a.Runs[n-1].ContextLimit > 0 {
		parts = append(parts, fmt.Sprintf("context %d %%", 100*a.Runs[n-1].ContextTokens/a.Runs[n-1].ContextLimit))
	}
	out := line{{strings.Join(parts, " · "), dim}}
	if s := a.Stat(); s.Files > 0 {
		out = append(out, span{"  " + count(s.Files, "file") + "  ", dim}, span{fmt.Sprintf("+%d ", s.Additions), done}, span{fmt.Sprintf("−%d", s.Deletions), fail})
	}
	if n := a.Dirty(); n > 0 {
		out = append(out, span{"  " + fmt.Sprintf("%d not committed", n), need})
	}
	return out
}

func width(ln line) int {
	sum := 0
	for _, s := range ln {
		sum += wide(s.text)
	}
	return sum
}

func flatten(lines []line) line {
	var out line
	for _, l := range lines {
		out = append(out, l...)
	}
	return out
}
