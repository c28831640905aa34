package talker

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"cw/internal/api"
	"cw/internal/cw"
)

// Command is the first argument that turns a test binary into this agent.
const Command = "talker-agent"

// Main makes the process such an agent, and never returns, when it was started as
// one; else it does nothing.
func Main() {
	if len(os.Args) < 3 || os.Args[1] != Command {
		return
	}
	if err := serve(os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "talker:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Preset is the YAML of a provider whose CLI is this agent, at the test's
// socket.
func Preset(self, socket string) string {
	return fmt.Sprintf("name: talker\ntitle: Talker\ncommand:\n  paths: [%q]\nspawn:\n  args: [%q, %q]\npromptMode: stdin\nparser: lines\nstop:\n  grace: 1s\n", self, Command, socket)
}

// order is what a test tells an agent. One of the fields below Number is set.
type order struct {
	Number int      // of the order; its reports have it
	Run    []string // a command; each line of its output, and its end, is reported
	// Ask asks another agent by the API, so often, one after the other.
	Ask *Asking
	// Answer answers whatever the agent is asked, from now on, with these words.
	Answer string
}

// Asking is a series of questions to one agent, each of which is waited for.
type Asking struct {
	To       string // the agent that is asked
	Times    int
	Question string
}

// Asked is what came of a series.
type Asked struct {
	Answered int
	Refused  map[cw.Code]int // by code
	Took     []time.Duration // of those that were answered, from the question to the answer
}

// report is what an agent tells of an order.
type report struct {
	Number int
	At     int64 // of the machine's monotonic clock, in ns
	Line   string
	Over   bool
	Code   int // exit code of a command
	Asked  Asked
	Error  string
}

// Now is the machine's monotonic clock, which all processes share, in ns.
func Now() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // this clock is always there
	return t.Nano()
}

type agent struct {
	client *api.Client
	self   string

	mu  sync.Mutex
	out *json.Encoder // guarded by mu
}

// serve takes orders until the test lets go.
func serve(socket string) error {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	a := &agent{
		client: api.NewClient(api.ClientOptions{Socket: os.Getenv("CW_SOCKET"), Token: os.Getenv("CW_TOKEN")}),
		self:   os.Getenv("CW_AGENT_ID"), out: json.NewEncoder(conn),
	}
	a.tell(report{Line: a.self})
	ctx, cancel := context.WithCancel(context.Background()) // a process of its own
	defer cancel()
	for orders := json.NewDecoder(bufio.NewReader(conn)); ; {
		var o order
		if err := orders.Decode(&o); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		go a.obey(ctx, o) // ends with its order, or the process
	}
}

func (a *agent) tell(r report) {
	r.At = Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	_ = a.out.Encode(r) // the test may have let go
}

func (a *agent) obey(ctx context.Context, o order) {
	last := report{Number: o.Number, Over: true}
	var err error
	switch {
	case len(o.Run) > 0:
		last.Code, err = a.run(o)
	case o.Ask != nil:
		last.Asked, err = a.ask(ctx, *o.Ask)
	default:
		err = a.answer(ctx, o)
	}
	if err != nil {
		last.Error = err.Error()
	}
	a.tell(last)
}

// run runs a command and reports each line when it comes.
func (a *agent) run(o order) (code int, err error) {
	cmd := exec.Command(o.Run[0], o.Run[1:]...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	a.tell(report{Number: o.Number, Line: "start"})
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			break
		}
		a.tell(report{Number: o.Number, Line: line})
	}
	err = cmd.Wait()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// ask asks again and again.
func (a *agent) ask(ctx context.Context, s Asking) (Asked, error) {
	out := Asked{Refused: map[cw.Code]int{}}
	for range s.Times {
		begun := time.Now()
		c, err := a.client.Ask(ctx, cw.AskRequest{RequestKey: cw.NewID(), Question: s.Question, AgentID: s.To})
		if code := cw.ErrorCode(err); err != nil && (code == cw.CodeRefused || code == cw.CodeTooMany || code == cw.CodeForbidden) {
			out.Refused[code]++
			continue
		}
		if err != nil {
			return out, err
		}
		if c, err = a.client.AwaitConversation(ctx, string(c.ID)); err != nil {
			return out, err
		}
		if c.Status == cw.ConversationAnswered {
			out.Answered++
			out.Took = append(out.Took, time.Since(begun))
		}
	}
	return out, nil
}

// answer answers for ever.
func (a *agent) answer(ctx context.Context, o order) error {
	a.tell(report{Number: o.Number, Line: "start"})
	for q, err := range a.client.PendingConversations(ctx, a.self) {
		if err != nil {
			return err
		}
		if _, err := a.client.AnswerConversation(ctx, string(q.ConversationID), cw.ConversationAnswer{Answer: o.Answer}); err != nil {
			return err
		}
	}
	return nil
}
