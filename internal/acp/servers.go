package acp

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	sdk "github.com/coder/acp-go-sdk"
)

// serversMax bounds the file of MCP servers.
const serversMax = 1 << 20

// serverEntry is one server of the file, in the form that most CLIs read.
type serverEntry struct {
	Type    string            `json:"type"` // stdio, http, sse; missing: by what is there
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
}

// readServers reads a file {"mcpServers": {NAME: {command, args, env} or
// {type, url, headers}}}. No path means no servers. They come sorted by name.
func readServers(path string) ([]sdk.McpServer, error) {
	servers := []sdk.McpServer{} // agents want a list, and no null
	if path == "" {
		return servers, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read MCP servers: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, serversMax+1))
	if err != nil {
		return nil, fmt.Errorf("read MCP servers: %w", err)
	}
	if len(data) > serversMax {
		return nil, fmt.Errorf("read MCP servers: %s has more than %d bytes", path, serversMax)
	}
	var file struct {
		Servers map[string]serverEntry `json:"mcpServers"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("read MCP servers of %s: %w", path, err)
	}
	for _, name := range slices.Sorted(maps.Keys(file.Servers)) {
		server, err := file.Servers[name].server(name)
		if err != nil {
			return nil, fmt.Errorf("read MCP servers of %s: %w", path, err)
		}
		servers = append(servers, server)
	}
	return servers, nil
}

func (e serverEntry) server(name string) (sdk.McpServer, error) {
	headers := []sdk.HttpHeader{}
	for _, header := range slices.Sorted(maps.Keys(e.Headers)) {
		headers = append(headers, sdk.HttpHeader{Name: header, Value: e.Headers[header]})
	}
	env := []sdk.EnvVariable{}
	for _, variable := range slices.Sorted(maps.Keys(e.Env)) {
		env = append(env, sdk.EnvVariable{Name: variable, Value: e.Env[variable]})
	}
	switch {
	case e.Command != "":
		return sdk.McpServer{Stdio: &sdk.McpServerStdio{Name: name, Command: e.Command, Args: append([]string{}, e.Args...), Env: env}}, nil
	case e.URL != "" && e.Type == "sse":
		return sdk.McpServer{Sse: &sdk.McpServerSseInline{Type: "sse", Name: name, Url: e.URL, Headers: headers}}, nil
	case e.URL != "":
		return sdk.McpServer{Http: &sdk.McpServerHttpInline{Type: "http", Name: name, Url: e.URL, Headers: headers}}, nil
	}
	return sdk.McpServer{}, fmt.Errorf("server %q has neither a command nor a url", name)
}
