package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"

	"cw/internal/cw"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// instructions are what the model is told of the server as a whole.
const instructions = "cw runs you, beside other agents and for people. These tools reach them: ask people, keep your plan, talk to other agents, " +
	"read your task, and leave the signal that says how your work stands. An answer is one JSON value; an error is {\"type\":\"error\",\"error_text\":…} " +
	"and says what to mend. " + dataNote

// Config is what the server works with. A service that is nil has no tools.
type Config struct {
	Toolbox  cw.ToolService // needed
	Agents   Agents
	People   People
	Planning Planning
	Plans    Plans
	Talk     Talk
	Messages cw.AgentMessageService
	Version  string
}

// server is one session with a CLI.
type server struct {
	Config
	tools []tool
	gone  chan struct{} // closed when the CLI hung up
	once  sync.Once

	mu  sync.Mutex
	box *cw.Toolbox // guarded by mu; the last that the daemon gave
}

// Serve answers a CLI until it closes in, or ctx ends. Nothing but the protocol
// is written to out.
func Serve(ctx context.Context, c Config, in io.Reader, out io.Writer) error {
	s := &server{Config: c, gone: make(chan struct{})}
	for _, t := range tools() {
		if t.there == nil || t.there(c) {
			s.tools = append(s.tools, t)
		}
	}
	srv := sdk.NewServer(&sdk.Implementation{Name: "cw", Title: "cw", Version: c.Version}, &sdk.ServerOptions{
		Instructions: instructions,
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
	})
	for _, t := range s.tools {
		srv.AddTool(t.described(), s.handler(t))
	}
	srv.AddReceivingMiddleware(s.offer)
	lines := newLines(in, out, s.hangUp, s.tooDeep)
	defer s.hangUp()
	err := srv.Run(ctx, lines)
	if ctx.Err() != nil || lines.ended() {
		return nil
	}
	return err
}

// hangUp ends what waits: nobody is there for its answer.
func (s *server) hangUp() { s.once.Do(func() { close(s.gone) }) }

// offer leaves out of the list of tools what the run may not use. Without the
// daemon's word nothing is offered.
func (s *server) offer(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		res, err := next(ctx, method, req)
		all, is := res.(*sdk.ListToolsResult)
		if err != nil || !is {
			return res, err
		}
		box, err := s.fetch(ctx, true)
		switch {
		case cw.ErrorCode(err) == cw.CodeForbidden:
			box = cw.Toolbox{}
		case err != nil:
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: errorText(err).Text}
		}
		all.Tools = slices.DeleteFunc(all.Tools, func(t *sdk.Tool) bool { return !slices.Contains(box.Tools, t.Name) })
		return all, nil
	}
}

// fetch gives the toolbox of the run: as it was told before, unless anew is
// asked for, and then what was told before only when the daemon is away.
func (s *server) fetch(ctx context.Context, anew bool) (cw.Toolbox, error) {
	s.mu.Lock()
	known := s.box
	s.mu.Unlock()
	if known != nil && !anew {
		return *known, nil
	}
	most := quickMost
	if anew {
		most = listMost
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	box, err := persist(ctx, s.gone, s.Toolbox.Toolbox)
	if err != nil && known != nil && cw.ErrorCode(err) != cw.CodeForbidden {
		return *known, nil
	}
	if err != nil {
		return cw.Toolbox{}, err
	}
	s.mu.Lock()
	s.box = &box
	s.mu.Unlock()
	return box, nil
}

// handler makes the tool's handler of the protocol. Every error is an answer.
func (s *server) handler(t tool) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		res, err := s.call(ctx, t, req)
		if err != nil {
			return refused(err), nil
		}
		return res, nil
	}
}

// call does one call. A fault in it is an error like any other: the CLI's other
// calls go on.
func (s *server) call(ctx context.Context, t tool, req *sdk.CallToolRequest) (res *sdk.CallToolResult, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("%s failed: %v", t.name, fault)
		}
	}()
	box, err := s.fetch(ctx, false)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(box.Tools, t.name) {
		return nil, cw.Errorf(cw.CodeForbidden, "this run may not use %s", t.name).WithHint("go on without it")
	}
	c := call{Config: s.Config, box: box, useID: useID(req), gone: s.gone}
	value, err := t.act(ctx, c, req.Params.Arguments)
	if err != nil {
		return nil, err
	}
	return answered(value)
}

// tooDeep answers a call whose arguments are nested deeper than the protocol's
// library reads: with the error that its own check has.
func (s *server) tooDeep(name string, arguments json.RawMessage) *sdk.CallToolResult {
	at := slices.IndexFunc(s.tools, func(t tool) bool { return t.name == name })
	if at < 0 {
		return refused(cw.Errorf(cw.CodeInvalid, "there is no tool %.80q", name))
	}
	var ignored any
	if err := decode(s.tools[at].fields, arguments, &ignored); err != nil {
		return refused(err)
	}
	return refused(cw.Errorf(cw.CodeInvalid, "the message is nested too deeply").WithHint("send plain arguments"))
}

// useID gives the call as claude names it.
func useID(req *sdk.CallToolRequest) string {
	id, _ := req.Params.Meta["claudecode/toolUseId"].(string)
	if len(id) > cw.RequestKeyMax {
		return ""
	}
	return id
}
