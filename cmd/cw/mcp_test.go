package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
	"cw/internal/mcp"
)

// everyTool is a daemon that offers a run all tools.
type everyTool struct{ *fakeServices }

func (everyTool) Toolbox(context.Context) (cw.Toolbox, error) {
	return cw.Toolbox{AgentID: "aaaaaaaaaaaa", Tools: cw.MayUse(cw.RunScopes(), nil, nil)}, nil
}

// A run with all scopes is offered every tool there is: no service is left out.
func TestMCPListsEveryTool(t *testing.T) {
	t.Parallel()
	theirs, in := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := mcp.Serve(t.Context(), toolServices(everyTool{newFake()}, "v0"), theirs, out)
		_ = out.Close()
		ended <- err
	}()
	lines := bufio.NewReader(answers)
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`,
	} {
		if _, err := fmt.Fprintln(in, line); err != nil {
			t.Fatal(err)
		}
	}
	var list struct {
		ID     int
		Result struct{ Tools []struct{ Name string } }
	}
	for list.ID != 2 {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(line, &list); err != nil {
			t.Fatal(err)
		}
	}
	listed, all := map[string]bool{}, map[string]bool{}
	for _, tool := range list.Result.Tools {
		listed[tool.Name] = true
	}
	for _, right := range cw.ToolRights() {
		all[right.Tool] = true
	}
	if diff := cmp.Diff(all, listed); diff != "" {
		t.Error(diff)
	}
	_ = in.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
