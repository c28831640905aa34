package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cw/internal/cw"
	"cw/internal/daemon"
)

// A spawn is asked for again while the daemon is away, for spawnMax with
// pauses of up to spawnPause. The request key makes that safe: there is one
// agent at most.
const (
	spawnMax   = 30 * time.Second
	spawnPause = time.Second
)

// stdinName is the file name that means standard input.
const stdinName = "-"

// spawnFlags is what `run` and `agent spawn` have in common.
type spawnFlags struct {
	words      []string // the goal, as arguments
	promptFile string
	mode       string
	provider   string
	model      string
	base       string
	name       string
	script     string
	sandbox    string
	account    string
	budget     string
	autoResume bool
	// goalless means that the goal may be left out: what the agent works for says
	// it, and the daemon knows that.
	goalless bool
}

func (f *spawnFlags) define(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.promptFile, "prompt-file", "", "read the goal from this `FILE`, - for stdin")
	fl.StringVar(&f.mode, "mode", string(cw.ModeExecute), "what the agent is for: its `MODE` is "+commaList(cw.Modes()))
	fl.StringVar(&f.base, "base", "", "the branch or commit `REF` to start from (default: what is checked out)")
	fl.StringVar(&f.name, "name", "", "the agent's `NAME`, like brave-otter (default: a free one)")
	f.defineCLI(fl)
	fl.StringVar(&f.budget, "budget", "", "what it may cost, in US dollars: `USD` (default: no limit)")
	fl.BoolVar(&f.autoResume, "auto-resume", false, "go on by itself after a restart of the machine (default: what the project says)")
	hyphensBehind(cmd, "a goal", `-- "-v prints nothing"`)
}

// defineCLI defines the flags that say which CLI works, and how it is started.
func (f *spawnFlags) defineCLI(fl *pflag.FlagSet) {
	fl.StringVar(&f.provider, "provider", "", "the CLI that works: `NAME` is claude, codex, script, or a preset of yours (default: the configured one, else the first that is installed)")
	fl.StringVar(&f.model, "model", "", "the `MODEL`, as the provider names it")
	fl.StringVar(&f.script, "script", "", "provider script: the executable `FILE` that is the agent")
	fl.StringVar(&f.sandbox, "sandbox", "", "where the CLI's own sandbox lets the agent write: `WHERE` is workspace, or off for no sandbox (default: off, or as configured)")
	fl.StringVar(&f.account, "account", "", "the `ACCOUNT` of the provider to begin with: its name, PROVIDER/NAME or id (default: the one that is due)")
}

// hyphensBehind says in errors about flags where words go that look like one.
func hyphensBehind(cmd *cobra.Command, what, example string) {
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return flagError(err).
			WithHint("%[1]s --help lists the flags; %[2]s that begins with a hyphen goes behind --: %[1]s %[3]s", cmd.CommandPath(), what, example)
	})
}

// request makes the request, with the caller's goal and environment.
func (f *spawnFlags) request(ctx context.Context, a *app) (cw.SpawnRequest, error) {
	goal, err := f.goal(a)
	if err != nil {
		return cw.SpawnRequest{}, err
	}
	if err := f.confirmWords(ctx, a); err != nil {
		return cw.SpawnRequest{}, err
	}
	req, err := f.requestFor(a)
	req.Goal = goal
	return req, err
}

// requestFor makes the request without a goal.
func (f *spawnFlags) requestFor(a *app) (cw.SpawnRequest, error) {
	script, err := a.scriptPath(f.script)
	if err != nil {
		return cw.SpawnRequest{}, err
	}
	budget, err := f.budgetUSD()
	if err != nil {
		return cw.SpawnRequest{}, err
	}
	home, err := a.home()
	if err != nil {
		return cw.SpawnRequest{}, err
	}
	return cw.SpawnRequest{
		RequestKey: cw.NewID(),
		Mode:       cw.Mode(f.mode),
		Base:       f.base,
		Provider:   f.provider,
		Model:      f.model,
		Name:       f.name,
		Script:     script,
		Sandbox:    cw.Sandbox(f.sandbox),
		AccountID:  f.account,
		BudgetUSD:  budget,
		AutoResume: f.autoResume,
		Env:        daemon.ForAgent(home, a.env),
	}, nil
}

// budgetUSD reads the budget; 0 for none. CodeInvalid.
func (f *spawnFlags) budgetUSD() (float64, error) {
	if f.budget == "" {
		return 0, nil
	}
	limit, err := parseDollars(f.budget)
	if err != nil {
		return 0, err
	}
	return limit, cw.CheckBudget(cw.BudgetAgent, limit)
}

// goal reads the goal from wherever the caller put it.
func (f *spawnFlags) goal(a *app) (string, error) {
	file := f.promptFile
	if len(f.words) == 1 && f.words[0] == stdinName {
		if file != "" && file != stdinName {
			return "", usagef("the goal is to come both from stdin and from %s", file).WithHint("give one of them")
		}
		file = stdinName
	} else if file != "" && len(f.words) > 0 {
		return "", usagef("the goal is given both as words and by --prompt-file").WithHint("give one of them")
	}
	if f.goalless && file == "" && len(f.words) == 0 {
		return "", nil
	}
	goal := strings.Join(f.words, " ")
	if file != "" {
		var err error
		if goal, err = a.readGoal(file); err != nil {
			return "", err
		}
	}
	switch {
	case strings.TrimSpace(goal) == "":
		return "", usagef("the goal is empty").
			WithHint(`say what is to be done, in quotes, for example "make the tests of the parser pass"`)
	case !utf8.ValidString(goal): // JSON would put other characters in its place
		return "", usagef("the goal is not UTF-8 text").WithHint("convert it, for example with iconv -t utf-8")
	case len(goal) > cw.GoalMax:
		return "", usagef("the goal is longer than %s", size(cw.GoalMax)).
			WithHint("put long material into a file of the repository and name it in the goal")
	}
	return goal, nil
}

// confirmWords asks whether several words are one goal: they may be a command
// that was mistyped, and an agent costs money. Where nobody can be asked they are
// refused. CodeInvalid, or CodeInterrupted when the answer is no.
func (f *spawnFlags) confirmWords(ctx context.Context, a *app) error {
	if len(f.words) < 2 {
		return nil
	}
	goal := strings.Join(f.words, " ")
	if !a.asks() {
		return usagef("the goal is %d separate words", len(f.words)).WithHint("put the goal in quotes: %s", cw.ShellWord(oneLine(goal)))
	}
	keys := a.newAsker()
	fmt.Fprintf(a.err, "start an agent with the goal %q?\n", goal)
	answer, err := keys.choose(ctx, "yes or no: ", "yes", "no")
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if answer != "yes" {
		return cw.Errorf(cw.CodeInterrupted, "no agent was started").WithHint("a goal in quotes starts one without a question")
	}
	return nil
}

// readGoal reads a little more than a goal may have, so that a longer one is
// noticed and an endless one ends.
func (a *app) readGoal(file string) (string, error) {
	in := a.in
	if file != stdinName {
		path, err := a.abs(file)
		if err != nil {
			return "", err
		}
		f, err := os.Open(path)
		if err != nil {
			return "", usagef("the goal cannot be read").WithHint("--prompt-file names a file that you can read, or - for stdin").Because(err)
		}
		defer f.Close()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, cw.GoalMax+1))
	if err != nil {
		return "", usagef("the goal cannot be read").WithHint("--prompt-file names a file that you can read, or - for stdin").Because(err)
	}
	return string(b), nil
}

// scriptPath makes the name of an executable independent of the working
// directory.
func (a *app) scriptPath(script string) (string, error) {
	if script == "" {
		return "", nil
	}
	return a.abs(script)
}

// spawn asks for an agent.
func (a *app) spawn(ctx context.Context, svc cw.Services, req cw.SpawnRequest) (cw.AgentView, error) {
	return uncut(ctx, a, "the agent is just being made; a moment, to tell its name (Ctrl-C again to leave at once)",
		func(ctx context.Context) (cw.AgentView, error) { return a.trySpawn(ctx, svc, req) })
}

// uncut makes a call that Ctrl-C does not cut off, since nobody could say then
// what became of it: meanwhile is said instead. A second Ctrl-C ends the
// process.
func uncut[T any](ctx context.Context, a *app, meanwhile string, call func(context.Context) (T, error)) (T, error) {
	done := make(chan item[T], 1)
	go func() {
		value, err := call(context.WithoutCancel(ctx))
		done <- item[T]{value, err}
	}()
	interrupted := ctx.Done()
	for {
		select {
		case got := <-done:
			return got.value, got.err
		case <-interrupted:
			a.note("%s", meanwhile)
			interrupted = nil
		}
	}
}

// trySpawn repeats the request while the daemon goes away in the middle: it
// ends, is restarted, or is started anew by connect, which never does so inside
// of a run. ctx does not end, so an interruption is the daemon's own end.
func (a *app) trySpawn(ctx context.Context, svc cw.Services, req cw.SpawnRequest) (cw.AgentView, error) {
	deadline := time.Now().Add(spawnMax)
	for try := 1; ; try++ {
		agent, err := svc.Spawn(ctx, req)
		if !wentAway(err) {
			return agent, err
		}
		if try == 1 {
			a.note("the daemon went away while the agent was being made; asking again")
		}
		for wait := time.Duration(try) * 100 * time.Millisecond; wentAway(err); {
			if time.Now().After(deadline) {
				return cw.AgentView{}, perhapsSpawned(req, err)
			}
			if err := pause(ctx, min(wait, spawnPause)); err != nil {
				return cw.AgentView{}, err
			}
			var again cw.Services
			if again, err = a.connect(ctx); err == nil {
				svc = again
			}
		}
		if err != nil {
			return cw.AgentView{}, fmt.Errorf("ask for the agent again: %w", err)
		}
	}
}

// wentAway tells whether the daemon is not there, or ended during a call.
func wentAway(err error) bool {
	code := cw.ErrorCode(err)
	return code == cw.CodeUnreachable || code == cw.CodeInterrupted
}

// perhapsSpawned is the error of a spawn that nobody answered to the end.
func perhapsSpawned(req cw.SpawnRequest, err error) *cw.Error {
	who := "the agent"
	if req.Name != "" {
		who = req.Name
	}
	return cw.Errorf(cw.CodeUnreachable, "the daemon went away, and does not say whether %s was made", who).
		WithHint("it may be running on: cw agent list").Because(err)
}
