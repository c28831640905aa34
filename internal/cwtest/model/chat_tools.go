package model

import "slices"

// offer is a tool of a CLI that can do the work of a portable one.
type offer struct {
	name  string
	input func(what ...string) map[string]any
}

// chatShells are the tools that run a command.
var chatShells = []offer{
	{"bash", func(w ...string) map[string]any { // opencode, copilot
		return map[string]any{"command": w[0], "description": "Run a command"}
	}},
	{"run_shell_command", func(w ...string) map[string]any { // qwen
		return map[string]any{"command": w[0], "description": "Run a command", "is_background": false}
	}},
	{"run_commands", func(w ...string) map[string]any { // cline
		return map[string]any{"commands": []string{w[0]}}
	}},
	{"Bash", func(w ...string) map[string]any { return map[string]any{"command": w[0]} }}, // cn
}

// chatWriters are the tools that write a file.
var chatWriters = []offer{
	{"write", func(w ...string) map[string]any { // opencode
		return map[string]any{"filePath": w[0], "content": w[1]}
	}},
	{"write_file", func(w ...string) map[string]any { // qwen
		return map[string]any{"file_path": w[0], "content": w[1]}
	}},
	{"Write", func(w ...string) map[string]any { // cn
		return map[string]any{"filepath": w[0], "content": w[1]}
	}},
}

func (chat) shell(r *Request, command string) (toolCall, error) {
	return r.callOffered(ToolShell, chatShells, command)
}

// file uses a tool that overwrites; copilot's create does not, and cline's
// editor is one for many things: with them the file is written through the
// shell.
func (p chat) file(r *Request, path, content string) (toolCall, error) {
	if call, err := r.callOffered(ToolWrite, chatWriters, path, content); err == nil {
		return call, nil
	}
	return p.shell(r, writeCommand(path, content))
}

func (chat) tool(r *Request, name string, input map[string]any) (toolCall, error) {
	if !r.Offers(name) {
		return toolCall{}, notOffered(r, name)
	}
	return jsonCall(name, input)
}

// callOffered calls the first of the tools that the CLI offers.
func (r *Request) callOffered(portable string, tools []offer, what ...string) (toolCall, error) {
	i := slices.IndexFunc(tools, func(o offer) bool { return r.Offers(o.name) })
	if i < 0 {
		return toolCall{}, notOffered(r, portable)
	}
	return jsonCall(tools[i].name, tools[i].input(what...))
}
