package parsers

import (
	"encoding/json"
	"fmt"
	"strings"

	"cw/internal/cw"
)

// item reads a step of a turn. Tools come twice, started and completed; texts,
// warnings and changes once.
func (p *codexParser) item(lineType string, it codexItem) (events []cw.StreamEvent, known bool) {
	done := lineType == "item.completed"
	switch it.Type {
	case "agent_message":
		if !done || it.Text == "" {
			return nil, true
		}
		p.attempt, p.said = 0, it.Text
		return one(cw.StreamEvent{Kind: cw.StreamText, Text: it.Text + "\n"}), true
	case "reasoning":
		if !done || it.Text == "" {
			return nil, true
		}
		p.attempt = 0
		return one(cw.StreamEvent{Kind: cw.StreamThinking, Text: it.Text + "\n"}), true
	case "error": // a warning: the run goes on
		return one(cw.StreamEvent{Kind: cw.StreamWarning, Text: clip(it.Message, codexTextClip)}), true
	case "todo_list": // with all its steps each time
		p.attempt = 0
		return one(cw.StreamEvent{Kind: cw.StreamPlan, ToolUseID: it.ID, Input: object("items", it.Items), Steps: listSteps(it.Items)}), true
	case "command_execution", "mcp_tool_call", "file_change", "web_search", "collab_tool_call":
		return p.tool(it, done), true
	}
	return nil, false
}

// tool tells the call once and, when it is done, its result.
func (p *codexParser) tool(it codexItem, done bool) []cw.StreamEvent {
	p.attempt = 0
	var events []cw.StreamEvent
	if !p.calls[it.ID] {
		remember(p.calls, it.ID, true)
		events = append(events, cw.StreamEvent{Kind: cw.StreamToolCall, ToolUseID: it.ID, Tool: it.toolName(), Input: it.input()})
	}
	if !done {
		return events
	}
	delete(p.calls, it.ID)
	result := cw.StreamEvent{Kind: cw.StreamToolResult, ToolUseID: it.ID, Text: it.output()}
	if it.Status == "failed" || it.Status == "declined" {
		result.IsError, result.Bucket = true, cw.BucketTool
		result.PermissionDenied = it.Status == "declined" || isCodexDenial(it.Error.Message)
	}
	events = append(events, result)
	if it.Type != "file_change" || result.IsError {
		return events
	}
	for _, c := range it.Changes {
		events = append(events, cw.StreamEvent{Kind: cw.StreamFileChange, ToolUseID: it.ID, Path: c.Path, Change: changeOf(c.Kind)})
	}
	return events
}

// isCodexDenial knows the words with which a tool is refused for want of
// approval: "MCP tool call requires approval, but approval policy is never".
func isCodexDenial(text string) bool {
	return strings.Contains(text, "requires approval, but approval policy is never")
}

// changeOf gives codex's kind of a change in our words.
func changeOf(kind string) string {
	switch kind {
	case "add", "delete":
		return kind
	}
	return "modify" // update
}

// toolName names the tool as other CLIs do.
func (it codexItem) toolName() string {
	switch it.Type {
	case "command_execution":
		return "shell"
	case "file_change":
		return "apply_patch"
	case "mcp_tool_call":
		return "mcp__" + it.Server + "__" + it.Tool
	case "collab_tool_call":
		return it.Tool
	}
	return it.Type
}

func (it codexItem) input() json.RawMessage {
	switch it.Type {
	case "command_execution":
		return object("command", it.Command)
	case "file_change":
		return object("changes", it.Changes)
	case "web_search":
		return object("query", it.Query)
	case "collab_tool_call":
		return object("prompt", it.Prompt)
	}
	return it.Arguments
}

// output gives what the tool said. A command that failed silently says at
// least its exit code.
func (it codexItem) output() string {
	switch {
	case it.Error.Message != "":
		return it.Error.Message
	case it.Type == "mcp_tool_call":
		return it.Result.text()
	case it.Output == "" && it.ExitCode != nil && *it.ExitCode != 0:
		return fmt.Sprintf("exit code %d", *it.ExitCode)
	}
	return it.Output
}

// object makes a JSON object of one field.
func object(name string, value any) json.RawMessage {
	data, err := json.Marshal(map[string]any{name: value})
	if err != nil {
		return nil // a broken part of a broken line
	}
	return data
}
