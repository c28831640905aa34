package model

// shell uses gemini's run_shell_command.
func (gemini) shell(r *Request, command string) (toolCall, error) {
	if !r.Offers("run_shell_command") {
		return toolCall{}, notOffered(r, ToolShell)
	}
	return jsonCall("run_shell_command", map[string]any{"command": command, "description": "Run a command"})
}

// file uses gemini's write_file; without it the file is written through the
// shell.
func (p gemini) file(r *Request, path, content string) (toolCall, error) {
	if r.Offers("write_file") {
		return jsonCall("write_file", map[string]any{"file_path": path, "content": content})
	}
	return p.shell(r, writeCommand(path, content))
}

func (gemini) tool(r *Request, name string, input map[string]any) (toolCall, error) {
	if !r.Offers(name) {
		return toolCall{}, notOffered(r, name)
	}
	return jsonCall(name, input)
}
