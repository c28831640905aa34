package model

import (
	"encoding/json"
	"regexp"
	"strings"
)

// What the CLIs that speak chat and gemini put around the user's words and the
// output of commands, each seen in the version that e2e/package.json pins.

// addSystem adds to the system prompt; in the middle of a conversation it is a
// note.
func (r *Request) addSystem(text string) {
	if len(r.Conversation) > 0 {
		r.Conversation = append(r.Conversation, Message{Kind: KindNote, Text: text})
		return
	}
	r.System = strings.TrimPrefix(r.System+"\n"+text, "\n")
	if dir := findDir(text); dir != "" {
		r.Dir = dir
	}
}

// clock is what copilot puts before each prompt.
var clock = regexp.MustCompile(`\A<current_datetime>[^<]*</current_datetime>\s*`)

// startedIn is how gemini and qwen tell where they are, in notes of their own.
var startedIn = regexp.MustCompile(`(?:\*\*Workspace Directories:\*\*\s+- |I'm currently working in the directory: )(/[^\n]*)`)

// addSaid adds one text of the user's: what the CLI put into it becomes notes,
// the rest is a prompt.
func (r *Request) addSaid(text string) {
	if m := startedIn.FindStringSubmatch(text); m != nil && r.Prompt() == "" {
		r.Dir = m[1]
	}
	if strings.HasPrefix(text, "<session_context>") { // gemini
		r.Conversation = append(r.Conversation, Message{Kind: KindNote, Text: text})
		return
	}
	if at := clock.FindString(text); at != "" {
		r.Conversation = append(r.Conversation, Message{Kind: KindNote, Text: strings.TrimSpace(at)})
		text = text[len(at):]
	}
	r.Conversation = append(r.Conversation, userMessages(text)...)
}

// commandOutputs find the output of a command and its exit code in what a CLI
// makes of them: gemini, qwen, copilot. opencode and cn tell the model the output
// alone, so that a failure cannot be seen.
var commandOutputs = []*regexp.Regexp{
	regexp.MustCompile(`(?s)\A<untrusted_context>\n(?:Output: )?(.*?)\n?(?:Error: [^\n]*\n)?(?:Exit Code: (\d+)\n)?(?:Signal: [^\n]*\n)?(?:Process Group PGID: \d+\n)?</untrusted_context>\z`),
	regexp.MustCompile(`(?s)\ACommand: .*\nDirectory: [^\n]*\nOutput: (.*)\nError: [^\n]*\nExit Code: (\S+)\nSignal: [^\n]*\n`),
	regexp.MustCompile(`(?s)\A(.*?)\n?<shellId: \S+ completed with exit code (\d+)>\z`),
}

// commandResult is what a tool gave, without what the CLI puts around the output
// of a command. A command that failed has its exit code as the last line.
func commandResult(id, text string) ToolResult {
	if outputs, ok := clineOutputs(text); ok {
		return outputs.result(id)
	}
	for _, form := range commandOutputs {
		m := form.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		output := strings.TrimSuffix(m[1], "(empty)")
		if m[2] == "" || m[2] == "0" || m[2] == "(none)" {
			return ToolResult{ID: id, Text: output}
		}
		return ToolResult{ID: id, Text: strings.TrimSuffix(output, "\n") + "\nExit code " + m[2], Failed: true}
	}
	return ToolResult{ID: id, Text: text}
}

// clineResults is what cline's run_commands gives: one entry for each command.
type clineResults []struct {
	Query   string `json:"query"`
	Result  string `json:"result"`
	Error   string `json:"error"`
	Success *bool  `json:"success"`
}

func clineOutputs(text string) (clineResults, bool) {
	var outputs clineResults
	if !strings.HasPrefix(text, `[{"query":`) || json.Unmarshal([]byte(text), &outputs) != nil {
		return nil, false
	}
	return outputs, true
}

// exitLine stands above the output of a command of cline's that failed.
var exitLine = regexp.MustCompile(`(?m)\A\[Command exited with code (\d+)\]\n`)

func (c clineResults) result(id string) ToolResult {
	var texts []string
	failed := false
	for _, output := range c {
		text := output.Result
		if m := exitLine.FindStringSubmatch(text); m != nil {
			text = strings.TrimSuffix(text[len(m[0]):], "\n") + "\nExit code " + m[1]
		} else if output.Error != "" {
			text += output.Error
		}
		texts = append(texts, text)
		failed = failed || output.Success != nil && !*output.Success
	}
	return ToolResult{ID: id, Text: strings.Join(texts, "\n"), Failed: failed}
}
