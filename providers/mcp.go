package providers

// ToolFile gives the file that makes cw's tool server known to the CLI, for one
// run: where it is written and what. Both are empty where the preset needs none.
func (p Preset) ToolFile(in Invocation) (path, text string) {
	if p.MCP.Style == none || in.CW == "" || in.Socket == "" {
		return "", ""
	}
	return file(p.MCP.File, p.MCP.Template, in)
}

// OffersTools tells whether cw's tool server is made known to the CLI.
func (p Preset) OffersTools() bool { return p.MCP.Style != none }

// wiresTools tells whether what the preset says of the tool server goes into a
// command: a server that is named in arguments alone has no file.
func (p Preset) wiresTools(in Invocation) bool {
	if p.MCP.File == "" {
		return p.OffersTools() && in.Socket != ""
	}
	return p.OffersTools() && in.MCPConfig != ""
}
