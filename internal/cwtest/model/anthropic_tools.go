package model

// shell uses claude's Bash.
func (anthropic) shell(r *Request, command string) (toolCall, error) {
	if !r.Offers("Bash") {
		return toolCall{}, notOffered(r, ToolShell)
	}
	return jsonCall("Bash", map[string]any{"command": command, "description": "Run a command"})
}

// file uses claude's Write, which wants an absolute path; without it the file
// is written through the shell.
func (p anthropic) file(r *Request, path, content string) (toolCall, error) {
	if r.Offers("Write") {
		return jsonCall("Write", map[string]any{"file_path": path, "content": content})
	}
	return p.shell(r, writeCommand(path, content))
}

func (anthropic) tool(r *Request, name string, input map[string]any) (toolCall, error) {
	if !r.Offers(name) {
		return toolCall{}, notOffered(r, name)
	}
	return jsonCall(name, input)
}
