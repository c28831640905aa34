package parsers

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"cw/internal/cw"
)

// Doing is what a CLI does this second, as its output tells it. It is a pure
// fold over events. The zero value is before the first output.
type Doing struct {
	Verb    cw.ActivityVerb
	Subject string
	Since   time.Time

	call  string // the tool call that is under way
	ended bool   // the first line of what it says is whole
}

// After is what it does after one more event. What agents of its own do is not
// told: it waits for them.
func (d Doing) After(ev cw.StreamEvent, at time.Time) Doing {
	if ev.ParentToolUseID != "" {
		return d
	}
	switch ev.Kind {
	case cw.StreamInit, cw.StreamResult:
		return Doing{Verb: cw.VerbThink, Since: at}
	case cw.StreamThinking:
		return d.speak(cw.VerbThink, ev.Text, at)
	case cw.StreamText:
		return d.speak(cw.VerbSay, ev.Text, at)
	case cw.StreamToolCall:
		verb := verbOf(ev.Tool)
		return Doing{Verb: verb, Subject: subjectOf(verb, ev.Tool, ev.Input), Since: at, call: ev.ToolUseID}
	case cw.StreamToolResult:
		if d.call == ev.ToolUseID { // of several calls the last one is shown
			return Doing{Verb: cw.VerbThink, Since: at}
		}
	}
	return d
}

// speak takes words, which may come in pieces.
func (d Doing) speak(verb cw.ActivityVerb, text string, at time.Time) Doing {
	if d.Verb != verb || d.call != "" || d.ended && strings.TrimSpace(text) != "" {
		d = Doing{Verb: verb, Since: at}
	}
	if d.ended || len(d.Subject) >= cw.SubjectMax {
		return d
	}
	whole := d.Subject + text
	if d.Subject != "" && strings.HasPrefix(text, " ") {
		whole = d.Subject + " " + text
	}
	d.Subject = cw.Subject(whole)
	d.ended = strings.Contains(strings.TrimLeft(whole, " \t\r\n"), "\n")
	return d
}

// verbWords names tools by what is in their names, in the order in which it is
// looked for: "apply_patch", "run_shell_command", "MultiEdit".
func verbWords() []struct {
	verb  cw.ActivityVerb
	words []string
} {
	return []struct {
		verb  cw.ActivityVerb
		words []string
	}{
		{cw.VerbPlan, []string{"todo", "taskcreate", "taskupdate", "update_plan", "plan_create", "plan_update", "exitplanmode"}},
		{cw.VerbRun, []string{"bash", "shell", "execute", "exec_", "run_command", "run_terminal", "terminal", "killshell"}},
		{cw.VerbFetch, []string{"fetch", "browse", "open_url"}},
		{cw.VerbEdit, []string{"edit", "patch", "replace", "delete", "move", "insert"}},
		{cw.VerbSearch, []string{"grep", "glob", "search", "find", "list", "rg"}},
		{cw.VerbWrite, []string{"write", "create_file", "create", "save_file", "new_file"}},
		{cw.VerbRead, []string{"read", "view", "open_file", "cat_file"}},
	}
}

// verbOf tells what a tool does by its name.
func verbOf(tool string) cw.ActivityVerb {
	name := strings.ToLower(tool)
	if at := strings.LastIndex(name, "__"); at >= 0 { // of an MCP server: mcp__cw__ask_user
		name = name[at+2:]
	}
	switch {
	case strings.HasPrefix(name, "ask"):
		return cw.VerbAsk
	case slices.Contains([]string{"task", "agent", "spawn_agent", "dispatch_agent", "subagent", "new_task"}, name) || strings.HasPrefix(name, "collab"):
		return cw.VerbDelegate
	case name == "ls":
		return cw.VerbSearch
	}
	for _, row := range verbWords() {
		for _, word := range row.words {
			if strings.Contains(name, word) {
				return row.verb
			}
		}
	}
	return cw.VerbUse
}

// subjectKeys are the fields of a tool's input that say what it is about, best
// first.
func subjectKeys(verb cw.ActivityVerb) []string {
	paths := []string{"file_path", "filePath", "notebook_path", "absolute_path", "path", "filename", "file"}
	switch verb {
	case cw.VerbRun:
		return []string{"command", "cmd", "commands", "script", "description"}
	case cw.VerbSearch:
		return append([]string{"pattern", "query", "regex", "q", "glob"}, paths...)
	case cw.VerbFetch:
		return []string{"url", "urls", "query", "prompt"}
	case cw.VerbAsk, cw.VerbDelegate:
		return []string{"question", "questions", "description", "title", "message", "prompt", "task"}
	case cw.VerbPlan:
		return []string{"title", "subject", "description"}
	case cw.VerbRead, cw.VerbEdit, cw.VerbWrite:
		return append(paths, "changes", "files", "paths")
	}
	return append([]string{"title", "name", "query", "url", "description"}, paths...)
}

// inShell is a command that a CLI wraps into a shell: /bin/bash -lc "…".
var inShell = cw.Pattern(`^(?:\S*/)?(?:ba|z|da)?sh -l?c (['"])((?s:.*))(['"])$`)

// subjectOf tells what a tool call is about. Of a tool without a verb of its own
// it begins with the tool's name.
func subjectOf(verb cw.ActivityVerb, tool string, input json.RawMessage) string {
	var fields map[string]json.RawMessage
	text := ""
	if json.Unmarshal(input, &fields) == nil {
		for _, key := range subjectKeys(verb) {
			if text = firstText(fields[key], 3); text != "" {
				break
			}
		}
	}
	if m := inShell().FindStringSubmatch(text); m != nil && m[1] == m[3] && verb == cw.VerbRun {
		text = m[2]
		if m[1] == `"` {
			text = strings.NewReplacer(`\"`, `"`, `\$`, `$`, `\\`, `\`).Replace(text)
		}
	}
	if verb == cw.VerbUse {
		text = tool + " " + text
	}
	return cw.Subject(text)
}

// firstText gives a text, or the first one in a list or an object: a command's
// words together.
func firstText(value json.RawMessage, deep int) string {
	value = bytes.TrimSpace(value)
	if len(value) == 0 || deep == 0 {
		return ""
	}
	switch value[0] {
	case '"':
		var text string
		_ = json.Unmarshal(value, &text) // what is no text is none
		return text
	case '[':
		var words []string
		if json.Unmarshal(value, &words) == nil {
			return strings.Join(words, " ")
		}
		var items []json.RawMessage
		if json.Unmarshal(value, &items) == nil && len(items) > 0 {
			return firstText(items[0], deep-1)
		}
	case '{':
		var fields map[string]json.RawMessage
		_ = json.Unmarshal(value, &fields) // likewise
		for _, key := range []string{"path", "question", "command", "title", "content"} {
			if text := firstText(fields[key], deep-1); text != "" {
				return text
			}
		}
	}
	return ""
}
