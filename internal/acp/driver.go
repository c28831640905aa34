package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync/atomic"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"cw/internal/cw"
)

// promptMax bounds the prompt. It is one message.
const promptMax = 32 << 20

// Config says what one turn needs. Paths are absolute.
type Config struct {
	Argv    []string // the agent; Argv[0] is its path
	Env     []string // its whole environment
	Cwd     string   // its working directory, and the session's
	Resume  string   // the session to go on with; "": a new one
	Model   string   // of the session; "": the agent's own choice
	Mode    string   // of the session, in the agent's own words; "": as the agent begins
	Servers string   // a file of MCP servers; "": none
	Version string   // of this program, told to the agent
	Prompt  io.Reader
	Out     io.Writer // the lines
	Err     io.Writer // the agent's stderr, and what it writes to stdout that is no message
	Waits   Waits
}

// Waits are how long the agent is waited for. Together the last three are below
// the time that a stopped run is given (10 s).
type Waits struct {
	Answer time.Duration // for an answer to what comes before the prompt
	Cancel time.Duration // for the end of a turn that was cancelled
	EOF    time.Duration // for its end once its input has ended
	Term   time.Duration // for its end after SIGTERM
}

// DefaultWaits are those of real agents. The slowest seen under load took 7 s
// for initialize and 6 s for a session (opencode 1.18.33).
func DefaultWaits() Waits {
	return Waits{Answer: 3 * time.Minute, Cancel: 3 * time.Second, EOF: 3 * time.Second, Term: 3 * time.Second}
}

// driver is one turn.
type driver struct {
	cfg  Config
	out  *lineWriter
	conn *conn
	// prompted: what the agent says from here on is about this turn. Before it
	// come the history of a session that is loaded, and lists of commands.
	prompted  atomic.Bool
	cancelled atomic.Bool
	session   sdk.SessionId // set before prompted
}

// Run starts the agent, lets it do one turn, and ends it. It returns when the
// agent is gone. CodeInterrupted when ctx ended the turn, CodeInvalid when it
// could not begin for want of a prompt, CodeFailed for everything else; a line
// of output tells the same. The end of a turn is no success: agents end one
// with nothing done too.
func Run(ctx context.Context, cfg Config) error {
	prompt, err := readPrompt(cfg.Prompt)
	if err != nil {
		return err
	}
	d := &driver{cfg: cfg, out: newLineWriter(cfg.Out)}
	servers, err := readServers(cfg.Servers)
	if err != nil {
		return d.fail("", err)
	}
	p, err := startProcess(cfg.Argv, cfg.Env, cfg.Cwd, cfg.Err)
	if err != nil {
		return d.fail("", err)
	}
	d.conn = newConn(p.stdin, p.stdout, d)
	method, err := d.turn(ctx, prompt, servers)
	if errors.Is(err, errEnded) && ctx.Err() == nil {
		err = fmt.Errorf("the agent ended in the middle of its turn: %s", p.end())
	}
	interrupted := ctx.Err() != nil && (err != nil || d.cancelled.Load())
	p.stop(cfg.Waits.EOF, cfg.Waits.Term)
	<-d.conn.ended // it says the last of it while it ends
	p.stdout.Close()
	d.conn.close()
	switch {
	case interrupted:
		return cw.Errorf(cw.CodeInterrupted, "the turn was cancelled")
	case err != nil:
		return d.fail(method, err)
	}
	return d.out.failed()
}

func readPrompt(r io.Reader) (string, error) {
	prompt, err := io.ReadAll(io.LimitReader(r, promptMax+1))
	switch {
	case err != nil:
		return "", cw.Errorf(cw.CodeFailed, "the prompt cannot be read").Because(err)
	case len(prompt) == 0:
		return "", cw.Errorf(cw.CodeInvalid, "there is no prompt").WithHint("it is read from stdin")
	case len(prompt) > promptMax:
		return "", cw.Errorf(cw.CodeInvalid, "the prompt has more than %d bytes", promptMax)
	}
	return string(prompt), nil
}

// turn gives an error and what it is about.
func (d *driver) turn(ctx context.Context, prompt string, servers []sdk.McpServer) (method string, err error) {
	if method, err = d.open(ctx, servers); err != nil {
		return method, err
	}
	d.prompted.Store(true)
	asked := d.conn.ask(sdk.AgentMethodSessionPrompt, sdk.PromptRequest{
		SessionId: d.session, Prompt: []sdk.ContentBlock{sdk.TextBlock(prompt)},
	})
	answer, err := asked.wait(ctx)
	if err != nil && ctx.Err() != nil {
		answer, err = d.cancel(ctx, asked)
	}
	if err != nil {
		return sdk.AgentMethodSessionPrompt, err
	}
	var result struct {
		StopReason sdk.StopReason  `json:"stopReason"`
		Usage      json.RawMessage `json:"usage"`
		Meta       json.RawMessage `json:"_meta"`
	}
	if err := json.Unmarshal(answer, &result); err != nil {
		return sdk.AgentMethodSessionPrompt, fmt.Errorf("its answer cannot be read: %w", err)
	}
	d.out.write(line{Type: lineResult, StopReason: result.StopReason, Usage: result.Usage, Meta: result.Meta})
	return "", nil
}

// cancel asks the agent to end the turn, and gives it a moment to say so.
func (d *driver) cancel(ctx context.Context, prompt asked) (json.RawMessage, error) {
	d.cancelled.Store(true)
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), d.cfg.Waits.Cancel)
	defer done()
	d.conn.notify(sdk.AgentMethodSessionCancel, sdk.CancelNotification{SessionId: d.session})
	return prompt.wait(ctx)
}

// fail writes what went wrong as a line and gives it as an error.
func (d *driver) fail(method string, err error) error {
	l := line{Type: lineError, Method: method, Message: err.Error()}
	if method != "" {
		l.Message = method + ": " + l.Message
	}
	text := l.Message
	if e, ok := errors.AsType[*sdk.RequestError](err); ok {
		l.Code, l.Message = e.Code, e.Message
		if e.Data != nil {
			l.Data, _ = json.Marshal(e.Data) // it was read as JSON
		}
	}
	d.out.write(l)
	return cw.Errorf(cw.CodeFailed, "%s", text)
}

// notified passes on what the agent says about its turn. What it says to other
// clients is of no interest.
func (d *driver) notified(method string, params json.RawMessage) {
	if method != sdk.ClientMethodSessionUpdate || !d.prompted.Load() {
		return
	}
	var n struct {
		SessionID sdk.SessionId   `json:"sessionId"`
		Update    json.RawMessage `json:"update"`
		Meta      json.RawMessage `json:"_meta"`
	}
	if json.Unmarshal(params, &n) != nil || len(n.Update) == 0 {
		d.out.write(line{Type: lineWarning, Message: "an update cannot be read", Data: params})
		return
	}
	if ofNoInterest(n.Update) {
		return
	}
	if n.SessionID == d.session {
		n.SessionID = ""
	}
	d.out.write(line{Type: lineUpdate, SessionID: n.SessionID, Update: n.Update, Meta: n.Meta})
}

// ofNoInterest tells lists that a person could choose from. They are long, and
// come between the session and the prompt as well as after it.
func ofNoInterest(update json.RawMessage) bool {
	var u struct {
		Kind string `json:"sessionUpdate"`
	}
	_ = json.Unmarshal(update, &u)
	return u.Kind == "available_commands_update" || u.Kind == "config_option_update"
}

// requested grants every permission. Nothing else is offered: files and
// terminals are the agent's own business.
func (d *driver) requested(method string, params json.RawMessage) any {
	if method != sdk.ClientMethodSessionRequestPermission {
		d.out.write(line{Type: lineRefused, Method: method})
		return nil
	}
	var a permissionAsked
	_ = json.Unmarshal(params, &a) // what cannot be read has no options
	var chosen *sdk.PermissionOption
	if !d.cancelled.Load() {
		chosen = grant(a.Options)
	}
	d.out.write(line{Type: linePermission, ToolCall: a.ToolCall, Option: chosen})
	return permissionAnswer(chosen)
}

// garbage goes where people look for words of a program.
func (d *driver) garbage(text []byte) {
	_, _ = d.cfg.Err.Write(append(text[:len(text):len(text)], '\n'))
}

// Check refuses a Config that cannot work. CodeInvalid.
func (cfg Config) Check() error {
	switch {
	case len(cfg.Argv) == 0:
		return cw.Errorf(cw.CodeInvalid, "there is no agent to start").WithHint("name it behind --")
	case !filepath.IsAbs(cfg.Cwd):
		return cw.Errorf(cw.CodeInvalid, "the working directory %q is not absolute", cfg.Cwd)
	}
	return nil
}
