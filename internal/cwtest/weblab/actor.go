package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"cw/internal/api"
	"cw/internal/cw"
)

// actor is one run of an agent that follows a script.
type actor struct {
	tell    *teller
	scripts string
}

// actorMain is the CLI of the agents; it gives the exit code.
func actorMain(args []string) int {
	prompt, err := io.ReadAll(os.Stdin)
	if err != nil {
		return giveUp(err)
	}
	dir := os.Getenv(scriptsVariable)
	steps, n, err := begin(dir, os.Getenv("CW_AGENT_ID"), string(prompt)+inputs())
	if err != nil {
		return giveUp(err)
	}
	session := ""
	if len(args) > 1 {
		session = args[1]
	}
	a := actor{tell: newTeller(os.Stdout, session, fmt.Sprintf("%s%d", os.Getenv("CW_RUN"), n)), scripts: dir}
	a.tell.init()
	for _, s := range steps {
		if s.Exit != nil {
			return *s.Exit
		}
		if err := a.do(s); err != nil {
			return giveUp(err)
		}
	}
	a.tell.result()
	return 0
}

// inputs are the files that say what an architect works for.
func inputs() string {
	text := ""
	for _, name := range []string{"initiative.md", "phase.md"} {
		data, _ := os.ReadFile(filepath.Join(".cw", "input", name)) // not there for agents without an assignment
		text += "\n" + string(data)
	}
	return text
}

func giveUp(err error) int {
	fmt.Fprintln(os.Stderr, "actor:", err)
	return 3
}

// do carries out one step.
func (a *actor) do(s step) error {
	switch {
	case s.Say != "":
		a.tell.say(s.Say)
	case s.Think != "":
		a.tell.think(s.Think)
	case s.Plan != nil:
		a.tell.tool(toolCall{Name: "TodoWrite", Input: map[string]any{"todos": s.Plan}, Output: "Todos have been modified"})
	case s.Tool != nil:
		a.tell.tool(*s.Tool)
	case s.Write != nil:
		return a.write(*s.Write)
	case s.Sh != "":
		a.sh(s.Sh)
	case s.Quiet != "":
		if out, err := exec.Command("sh", "-ec", s.Quiet).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", s.Quiet, err, out)
		}
	case s.Flood != nil:
		a.flood(*s.Flood)
	case s.Raw != "":
		a.tell.raw(s.Raw)
	case s.Error != "":
		fmt.Fprintln(os.Stderr, s.Error)
	case s.Ask != nil:
		return a.ask(*s.Ask)
	case s.Steps != nil:
		return asTool(func(c *api.Client) error {
			_, err := c.SetPlan(context.Background(), os.Getenv("CW_AGENT_ID"), *s.Steps)
			return err
		})
	case s.Tell != nil:
		return asTool(func(c *api.Client) error {
			_, err := c.MessageAgent(context.Background(), *s.Tell)
			return err
		})
	case s.Limit != nil:
		a.tell.limit(*s.Limit)
	case s.Cost != nil:
		a.tell.spend(*s.Cost)
	case s.Signal != nil:
		return leaveSignal(s.Signal)
	case s.Sleep > 0:
		time.Sleep(time.Duration(s.Sleep) * time.Millisecond) // the pace of a model, not a wait for anything
	case s.Wait != "":
		a.wait(s.Wait)
	case s.Hang:
		time.Sleep(24 * time.Hour) // longer than any test
	}
	return nil
}

func (a *actor) write(f file) error {
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o755); err != nil {
		return err
	}
	_, missing := os.Stat(f.Path)
	if err := os.WriteFile(f.Path, []byte(f.Text), 0o644); err != nil {
		return err
	}
	if !f.Hide {
		a.tell.wrote(f, missing != nil)
	}
	return nil
}

func (a *actor) sh(line string) {
	done := a.tell.call("Bash", map[string]any{"command": line})
	out, err := exec.Command("sh", "-c", line).CombinedOutput()
	done(string(out), err != nil)
}

// flood tells many things, evenly spread over its time.
func (a *actor) flood(f flood) {
	if f.Count > 0 {
		for i := range f.Count {
			a.tell.nth(i)
		}
		return
	}
	tick := time.NewTicker(time.Second / time.Duration(max(1, f.PerSecond)))
	defer tick.Stop()
	for i := range f.PerSecond * f.Seconds {
		a.tell.nth(i)
		<-tick.C
	}
}

func (a *actor) wait(name string) {
	for {
		if _, err := os.Stat(filepath.Join(a.scripts, name)); err == nil {
			return
		}
		time.Sleep(look)
	}
}

// ask asks people as a tool of the CLI does: again with the same key while the
// daemon is away.
func (a *actor) ask(req cw.PeopleRequest) error {
	done := a.tell.call("mcp__cw__question", req)
	client := toolClient()
	ctx := context.Background() // a process of its own
	if req.RequestKey == "" {
		req.RequestKey = cw.NewID()
	}
	asked, err := whileAway(func() ([]cw.Question, error) { return client.AskPeople(ctx, req) })
	if err != nil {
		return err
	}
	answered, err := whileAway(func() ([]cw.Question, error) { return client.AwaitAnswers(ctx, asked[0].RequestID) })
	if err != nil {
		return err
	}
	text := ""
	for _, q := range answered {
		text += q.Text + "\n" + string(q.Status) + ": " + q.Answer + "\n"
	}
	done(text, false)
	return nil
}

// toolClient calls the daemon as the tools of the run do.
func toolClient() *api.Client {
	return api.NewClient(api.ClientOptions{Socket: os.Getenv("CW_SOCKET"), Token: os.Getenv("CW_TOKEN")})
}

// asTool calls the daemon, again while it is away.
func asTool(call func(*api.Client) error) error {
	client := toolClient()
	_, err := whileAway(func() (struct{}, error) { return struct{}{}, call(client) })
	return err
}

// whileAway does something repeatable again while the daemon is away.
func whileAway[T any](do func() (T, error)) (T, error) {
	for {
		out, err := do()
		if cw.ErrorCode(err) != cw.CodeUnreachable {
			return out, err
		}
		time.Sleep(10 * look)
	}
}

// leaveSignal writes the signal whole or not at all.
func leaveSignal(content []byte) error {
	if err := os.WriteFile(cw.SignalPath+".tmp", content, 0o644); err != nil {
		return err
	}
	return os.Rename(cw.SignalPath+".tmp", cw.SignalPath)
}
