package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"cw/internal/cw"
)

// Limits of what is shown of one event. `agent logs --raw` has everything.
const (
	lineMax    = 4096 // characters of one line of text
	summaryMax = 120  // characters of a tool's input
	pendingMax = 1 << 20
)

// renderer makes readable lines of an agent's stream. Words may come in pieces
// of any size: a line is given once it is whole.
type renderer struct {
	paint   paint
	cwd     string // of the agent: paths below it are shown without it
	session int    // whose output was rendered last; 0: none
	doing   string // what the agent does now, for the moving line
	failed  string // the last error that was shown
	pending strings.Builder
	parent  string // the tool call whose sub-agent speaks in pending
}

// render gives the lines that are whole after this event.
func (r *renderer) render(e cw.OutputEvent) []string {
	var out []string
	if e.Session != r.session {
		out = append(out, r.flush()...)
		if r.session != 0 {
			out = append(out, r.paint.dim(fmt.Sprintf("── session %d", e.Session)))
		}
		r.session = e.Session
	}
	if e.Event.Kind == cw.StreamText {
		return append(out, r.text(e.Event)...)
	}
	shown := r.event(e.Event)
	if len(shown) == 0 {
		return out
	}
	out = append(out, r.flush()...)
	for _, line := range shown {
		out = append(out, indent(e.Event.ParentToolUseID)+line)
	}
	return out
}

// flush gives what is left of a line that has no end yet.
func (r *renderer) flush() []string {
	if r.pending.Len() == 0 {
		return nil
	}
	text := r.pending.String()
	r.pending.Reset()
	return textLines(text, indent(r.parent))
}

// text takes a piece of the model's words and gives the lines it completes.
func (r *renderer) text(e cw.StreamEvent) []string {
	var out []string
	if e.ParentToolUseID != r.parent {
		out = r.flush()
		r.parent = e.ParentToolUseID
	}
	r.doing = "writes"
	r.pending.WriteString(e.Text)
	if !strings.Contains(e.Text, "\n") && r.pending.Len() < pendingMax {
		return out
	}
	all := r.pending.String()
	r.pending.Reset()
	end := strings.LastIndexByte(all, '\n') + 1
	if end == 0 {
		end = len(all)
	}
	r.pending.WriteString(all[end:])
	return append(out, textLines(all[:end], indent(r.parent))...)
}

// indent sets off what a sub-agent says and does.
func indent(parent string) string {
	if parent == "" {
		return ""
	}
	return "  "
}

func textLines(text, margin string) []string {
	out := strings.Split(strings.TrimSuffix(clean(text), "\n"), "\n")
	for i, line := range out {
		out[i] = margin + cut(strings.TrimRight(line, " \t"), lineMax)
	}
	return out
}

// event gives the lines for an event that is not text.
func (r *renderer) event(e cw.StreamEvent) []string {
	p := r.paint
	switch e.Kind {
	case cw.StreamInit:
		if e.Model == "" {
			return nil
		}
		return []string{p.dim("model " + oneLine(e.Model))}
	case cw.StreamThinking:
		r.doing = "thinks"
	case cw.StreamToolCall:
		what := r.toolSummary(e.Input)
		r.doing = cut(strings.TrimSpace(oneLine(e.Tool)+" "+what), summaryMax)
		return []string{p.cyan("→ "+oneLine(e.Tool)) + spaced(what)}
	case cw.StreamToolResult:
		r.doing = ""
		return r.toolResult(e)
	case cw.StreamFileChange:
		return []string{p.green("± "+changeVerb(e.Change)) + spaced(r.within(oneLine(e.Path)))}
	case cw.StreamLimit:
		return []string{p.yellow(limitLine(e))}
	case cw.StreamRetry:
		r.doing = fmt.Sprintf("tries again, attempt %d", e.Attempt)
		return []string{p.yellow("tries again" + delayed(e.Delay) + ": " + cut(oneLine(e.Text), summaryMax))}
	case cw.StreamWarning:
		return []string{p.yellow("warning: ") + cut(oneLine(e.Text), lineMax)}
	case cw.StreamError:
		r.failed = e.Text
		return []string{p.red("error: ") + cut(oneLine(e.Text), lineMax)}
	case cw.StreamCompaction:
		return []string{p.dim("the context was shortened" + bracketed(oneLine(e.Text)))}
	case cw.StreamResult:
		r.doing = ""
		return r.result(e)
	}
	return nil // plan and usage are for figures; kinds of a newer daemon are passed over
}

// toolResult shows only what went wrong: the rest is the model's business.
func (r *renderer) toolResult(e cw.StreamEvent) []string {
	first, _, _ := strings.Cut(strings.TrimSpace(clean(e.Text)), "\n")
	switch {
	case e.PermissionDenied:
		return []string{r.paint.red("  refused: ") + cut(oneLine(first), summaryMax)}
	case e.IsError:
		return []string{r.paint.red("  failed: ") + cut(oneLine(first), summaryMax)}
	}
	return nil
}

// result shows an error; a good result stands in the report, and its words
// were shown as text before.
func (r *renderer) result(e cw.StreamEvent) []string {
	if e.IsError && r.failed != "" && strings.TrimSpace(e.Text) == strings.TrimSpace(r.failed) {
		return nil // it was the last error
	}
	if e.IsError {
		return []string{r.paint.red("ended with an error: ") + cut(oneLine(e.Text), lineMax)}
	}
	var parts []string
	if e.Turns > 0 {
		parts = append(parts, count(e.Turns, "turn"))
	}
	if e.CostUSD > 0 {
		parts = append(parts, dollars(e.CostUSD))
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{r.paint.dim("done: " + strings.Join(parts, ", "))}
}

func limitLine(e cw.StreamEvent) string {
	if e.Limit == nil {
		return "usage limit"
	}
	words := "usage limit"
	if e.Limit.Warning {
		words = "near the usage limit"
	}
	words += until(e.Limit.Until)
	if e.Limit.Text != "" {
		words += ": " + cut(oneLine(e.Limit.Text), summaryMax)
	}
	return words
}

func changeVerb(change string) string {
	switch change {
	case "add":
		return "added"
	case "delete":
		return "deleted"
	}
	return "changed"
}

// delayed tells when something comes, as far as the CLI said.
func delayed(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return " in " + waiting(d)
}

// waiting is a short delay as people read it.
func waiting(d time.Duration) string {
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	return elapsed(d)
}

func spaced(s string) string {
	if s == "" {
		return ""
	}
	return " " + s
}

func bracketed(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

// toolSummary picks what people want to see of a tool's input: the command,
// the file, the pattern; else the input itself.
func (r *renderer) toolSummary(input json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil {
		return cut(oneLine(string(input)), summaryMax)
	}
	for _, name := range []string{"command", "file_path", "notebook_path", "path", "pattern", "query", "url", "description", "prompt", "subject"} {
		var text string
		if json.Unmarshal(fields[name], &text) == nil && strings.TrimSpace(text) != "" {
			return cut(r.within(oneLine(text)), summaryMax)
		}
	}
	var compact bytes.Buffer
	if len(fields) == 0 || json.Compact(&compact, input) != nil {
		return ""
	}
	return cut(oneLine(compact.String()), summaryMax)
}

// within shortens paths below the agent's working directory.
func (r *renderer) within(text string) string {
	if r.cwd == "" {
		return text
	}
	return strings.ReplaceAll(text, r.cwd+"/", "")
}

// dollars writes a cost. Small costs keep a digit that tells something.
func dollars(cost float64) string {
	if cost < 0.1 {
		return fmt.Sprintf("$%.4f", cost)
	}
	return fmt.Sprintf("$%.2f", cost)
}
