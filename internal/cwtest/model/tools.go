package model

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// toolCall is a call as the CLI at hand understands it.
type toolCall struct {
	name  string
	input json.RawMessage
}

// toolCalls maps the calls of a reply onto the tools that the CLI offers.
func toolCalls(r *Request, calls []Call) ([]toolCall, error) {
	var mapped []toolCall
	for _, c := range calls {
		offered, err := mapCall(r, c)
		if err != nil {
			return nil, err
		}
		if offered.Input == nil {
			offered.Input = map[string]any{} // the API knows no call without input
		}
		input, err := json.Marshal(offered.Input)
		if err != nil {
			return nil, fmt.Errorf("input of tool %s: %w", offered.Name, err)
		}
		mapped = append(mapped, toolCall{offered.Name, input})
	}
	return mapped, nil
}

// mapCall returns the same call with the names of the tools on offer.
func mapCall(r *Request, c Call) (Call, error) {
	switch c.Name {
	case ToolShell:
		command, _ := c.Input["command"].(string)
		return shellCall(r, command)
	case ToolWrite:
		path, _ := c.Input["path"].(string)
		content, _ := c.Input["content"].(string)
		return writeCall(r, path, content)
	}
	if !r.Offers(c.Name) {
		return Call{}, notOffered(r, c.Name)
	}
	return c, nil
}

// shellCall uses claude's Bash.
func shellCall(r *Request, command string) (Call, error) {
	if !r.Offers("Bash") {
		return Call{}, notOffered(r, ToolShell)
	}
	return Call{"Bash", map[string]any{"command": command, "description": "Run a command"}}, nil
}

// writeCall uses claude's Write, which wants an absolute path; a CLI without
// such a tool writes through its shell.
func writeCall(r *Request, path, content string) (Call, error) {
	if !filepath.IsAbs(path) {
		if r.Dir == "" {
			return Call{}, fmt.Errorf("write %s: the request does not tell the working directory", path)
		}
		path = filepath.Join(r.Dir, path)
	}
	if r.Offers("Write") {
		return Call{"Write", map[string]any{"file_path": path, "content": content}}, nil
	}
	return shellCall(r, fmt.Sprintf("mkdir -p %s && printf %%s %s > %s",
		shellQuote(filepath.Dir(path)), shellQuote(content), shellQuote(path)))
}

func notOffered(r *Request, tool string) error {
	return fmt.Errorf("no tool for %s is offered, only %s", tool, strings.Join(r.Tools, ", "))
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
