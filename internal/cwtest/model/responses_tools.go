package model

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// The models of codex 0.169.0 are in "code mode": they have one tool that
// counts, exec, which runs JavaScript, and in there the real tools are
// functions. They are on offer here as "tools.exec_command" and the like, as
// the description of exec declares them.
const (
	codeMode = "exec"
	nested   = "tools."
)

// declared finds the functions in the description of exec.
var declared = regexp.MustCompile(`(?m)^declare const tools: \{ (\w+)\(`)

// toolNames lists the tools on offer. Those in a namespace other than
// "functions" are left out: nothing calls them.
func toolNames(tools []responsesTool) []string {
	var names []string
	for _, t := range tools {
		switch t.Type {
		case "namespace":
			if t.Name == "functions" {
				names = append(names, toolNames(t.Tools)...)
			}
		case "function", "custom":
			names = append(names, t.Name)
			if t.Name == codeMode {
				for _, m := range declared.FindAllStringSubmatch(t.Description, -1) {
					names = append(names, nested+m[1])
				}
			}
		}
	}
	return names
}

// shellScript runs a command to its end. exec_command lets go of a command
// after 10 s, exec of a script after 30 s; the pragma and the loop see to it
// that the model hears nothing before the command has ended.
const shellScript = `// @exec: {"yield_time_ms": 600000}
let r = await tools.exec_command(%s);
text(r.output);
while (r.session_id !== undefined) {
	r = await tools.write_stdin({session_id: r.session_id, yield_time_ms: 30000});
	text(r.output);
}
if (r.exit_code !== 0) throw new Error("Exit code " + r.exit_code);
`

// shell uses exec_command in a script that fails when the command does.
func (responses) shell(r *Request, command string) (toolCall, error) {
	return scriptCall(r, "exec_command", shellScript, map[string]any{"cmd": command})
}

// file uses apply_patch, which knows only whole lines; a text without a line
// break at its end is written through the shell.
func (p responses) file(r *Request, path, content string) (toolCall, error) {
	if !strings.HasSuffix(content, "\n") {
		return p.shell(r, writeCommand(path, content))
	}
	lines := strings.ReplaceAll(strings.TrimSuffix(content, "\n"), "\n", "\n+")
	patch := "*** Begin Patch\n*** Add File: " + path + "\n+" + lines + "\n*** End Patch\n"
	return scriptCall(r, "apply_patch", "await tools.apply_patch(%s);\n", patch)
}

// tool calls a function of code mode, or else a tool that takes JSON.
func (responses) tool(r *Request, name string, input map[string]any) (toolCall, error) {
	const script = "text(await tools.%s(%%s));\n"
	if r.Offers(nested + name) {
		return scriptCall(r, name, fmt.Sprintf(script, name), input)
	}
	if r.Offers(codeMode) && r.defers(name) {
		return anyScript(fmt.Sprintf(script, name), input)
	}
	if !r.Offers(name) {
		return toolCall{}, notOffered(r, name)
	}
	return jsonCall(name, input)
}

// scriptCall is a script that calls a function of code mode.
func scriptCall(r *Request, name, script string, argument any) (toolCall, error) {
	if !r.Offers(nested + name) {
		return toolCall{}, notOffered(r, name)
	}
	return anyScript(script, argument)
}

// anyScript is a script with its argument put in.
func anyScript(script string, argument any) (toolCall, error) {
	data, err := json.Marshal(argument)
	if err != nil {
		return toolCall{}, fmt.Errorf("input of a script: %w", err)
	}
	return toolCall{name: codeMode, script: fmt.Sprintf(script, data)}, nil
}

// deferredTools finds the MCP servers whose tools codex does not list: they are
// functions of code mode all the same.
var deferredTools = regexp.MustCompile(`\\n- (mcp__\w+): `)

// Defers tells whether the tools of an MCP server are there without being listed.
func (r *Request) Defers(server string) bool {
	return r.defers("mcp__" + server + "__")
}

// defers tells whether a tool is one of those.
func (r *Request) defers(tool string) bool {
	for _, m := range deferredTools.FindAllSubmatch(r.Raw, -1) {
		if strings.HasPrefix(tool, string(m[1])+"__") {
			return true
		}
	}
	return false
}
