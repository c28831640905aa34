package model

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// toolCall is a call as the CLI at hand understands it: with input, or with a
// script in words of its own for a tool that takes no JSON.
type toolCall struct {
	name   string
	input  json.RawMessage // "" when there is a script
	script string
}

// toolbox maps the calls of a scenario onto the tools that a CLI offers. An
// error means that nothing on offer can do it.
type toolbox interface {
	// shell runs a command in the CLI's working directory, to its end.
	shell(r *Request, command string) (toolCall, error)
	// file writes a file at an absolute path, its directories too.
	file(r *Request, path, content string) (toolCall, error)
	// tool calls a tool by its own name. The input is never nil.
	tool(r *Request, name string, input map[string]any) (toolCall, error)
}

// toolCalls maps the calls of a reply onto the tools that the CLI offers.
func toolCalls(box toolbox, r *Request, calls []Call) ([]toolCall, error) {
	var mapped []toolCall
	for _, c := range calls {
		offered, err := mapCall(box, r, c)
		if err != nil {
			return nil, err
		}
		mapped = append(mapped, offered)
	}
	return mapped, nil
}

func mapCall(box toolbox, r *Request, c Call) (toolCall, error) {
	switch c.Name {
	case ToolShell:
		command, _ := c.Input["command"].(string)
		return box.shell(r, command)
	case ToolWrite:
		path, _ := c.Input["path"].(string)
		content, _ := c.Input["content"].(string)
		if !filepath.IsAbs(path) {
			if r.Dir == "" {
				return toolCall{}, fmt.Errorf("write %s: the request does not tell the working directory", path)
			}
			path = filepath.Join(r.Dir, path)
		}
		return box.file(r, path, content)
	}
	input := c.Input
	if input == nil {
		input = map[string]any{} // no API knows a call without input
	}
	return box.tool(r, c.Name, input)
}

// jsonCall is the call of a tool that takes JSON.
func jsonCall(name string, input map[string]any) (toolCall, error) {
	data, err := json.Marshal(input)
	if err != nil {
		return toolCall{}, fmt.Errorf("input of tool %s: %w", name, err)
	}
	return toolCall{name: name, input: data}, nil
}

// writeCommand writes a file where no tool but the shell can.
func writeCommand(path, content string) string {
	return fmt.Sprintf("mkdir -p %s && printf %%s %s > %s",
		shellQuote(filepath.Dir(path)), shellQuote(content), shellQuote(path))
}

func notOffered(r *Request, tool string) error {
	return fmt.Errorf("no tool for %s is offered, only %s", tool, strings.Join(r.Tools, ", "))
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
