package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"cw/internal/cw"
	"cw/internal/daemon"
)

const (
	// tryTimeout is how long one task may take, unless the caller says otherwise.
	// A CLI that tries again in vain goes on for longer.
	tryTimeout = 5 * time.Minute
	// tryCleanMax bounds cleaning up.
	tryCleanMax = time.Minute
)

type providerTryOptions struct {
	app     *app
	name    string
	model   string
	script  string
	timeout time.Duration
	keep    bool
}

func newProviderTryCmd(a *app, runF func(context.Context, *providerTryOptions) error) *cobra.Command {
	opts := &providerTryOptions{app: a}
	cmd := &cobra.Command{
		Use:   "test NAME",
		Short: "Try a provider with a tiny real task, and see what works",
		Long: `Let a provider do tiny real tasks in a scratch repository, and report what works,
with times: that it starts, that its output is understood, that it commits, that it
signals its end, that its session is known and goes on, that it ends when it is
stopped. It costs a few requests of your own account: of the login, or the key in
the environment, that the program finds by itself.

Everything is in a temporary folder, with a CW_HOME and a daemon of its own that
has your presets, and is removed at the end, also after Ctrl-C. What the program
notes in its own configuration folder stays there.`,
		Example: "cw provider test claude\ncw provider test mytool --keep",
		Annotations: exits(
			"0  all that cw needs was seen", "1  something was not", "3  there is no such provider, or its program is not installed",
			"130  Ctrl-C",
		),
		Args: oneArg(&opts.name, providerWhat),
		RunE: start(a, runF, providerTryRun, opts),
	}
	fl := cmd.Flags()
	fl.StringVar(&opts.model, "model", "", "the `MODEL`, as the provider names it (default: the program's own)")
	fl.StringVar(&opts.script, "script", "", "provider script: the executable `FILE` that is the agent")
	fl.DurationVar(&opts.timeout, "timeout", tryTimeout, "how long each task may take: `TIME`")
	fl.BoolVar(&opts.keep, "keep", false, "keep the folder, and print where home and repository are")
	return cmd
}

func providerTryRun(ctx context.Context, o *providerTryOptions) error {
	a := o.app
	if o.timeout <= 0 {
		return usagef("--timeout %s is no time", o.timeout).WithHint("give one like 5m")
	}
	script, err := a.scriptPath(o.script)
	if err != nil {
		return err
	}
	home, err := a.home()
	if err != nil {
		return err
	}
	if a.inside(home) {
		return cw.Errorf(cw.CodeRefused, "the test starts a daemon of its own, which an agent may not").
			WithHint("a person runs it outside of the run")
	}
	// A reader that goes away must not end the process before it has cleaned up.
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGPIPE)
	defer stop()
	t, err := newTry(o, script)
	if err != nil {
		return err
	}
	err = t.run(ctx, home)
	if ctx.Err() != nil {
		err = cw.Errorf(cw.CodeInterrupted, "interrupted")
	}
	return errors.Join(err, t.close(ctx))
}

// try is one test of a provider. It shows the steps while it goes on.
type try struct {
	scratch
	outer   *app
	opts    *providerTryOptions
	script  string
	word    string // that the agent is to know of in its second run
	view    cw.ProviderView
	result  cw.ProviderTest
	trouble *cw.Error // why a task did not come to its end
}

func newTry(o *providerTryOptions, script string) (*try, error) {
	s, err := newScratch(*o.app, "cw-test-")
	if err != nil {
		return nil, err
	}
	return &try{scratch: s, outer: o.app, opts: o, script: script, word: cw.NewID()}, nil
}

func (t *try) run(ctx context.Context, home cw.Home) error {
	if err := t.prepare(ctx, home); err != nil {
		return err
	}
	t.app.note("%s gets three tiny tasks in %s: that costs a few requests of your own account", oneLine(t.view.Title), t.repo())
	if err := t.steps(ctx); err != nil {
		return err
	}
	if err := t.spent(ctx); err != nil {
		return err
	}
	t.result.OK = len(t.missing()) == 0
	if t.outer.json {
		if err := t.outer.printJSON(t.result); err != nil {
			return err
		}
	} else if cost := costFact(t.result.CostUSD, t.result.Usage); cost != "" {
		t.outer.printf("cost: %s\n", cost)
	}
	return t.verdict()
}

// prepare makes the repository, starts the daemon with the user's presets, and
// looks for the program.
func (t *try) prepare(ctx context.Context, home cw.Home) error {
	if err := copyPresets(home.Providers(), t.home().Providers()); err != nil {
		return err
	}
	if err := t.makeRepo(ctx); err != nil {
		return err
	}
	if err := t.open(ctx); err != nil {
		return err
	}
	var err error
	if t.view, err = t.svc.Provider(ctx, t.opts.name, t.env["PATH"]); err != nil {
		return err
	}
	switch {
	case t.view.Resume == "": // a file that cannot be read, and nothing before it
		return cw.Errorf(cw.CodeFailed, "there is nothing to test: %s", oneLine(t.view.Trouble)).WithHint("mend the file; cw provider show %s", cw.ShellWord(t.opts.name))
	case !t.view.Installed && t.view.Install != "":
		return cw.Errorf(cw.CodeNotFound, "%s is not installed", oneLine(t.view.Title)).WithHint("install it with: %s", oneLine(t.view.Install))
	case !t.view.Installed:
		return cw.Errorf(cw.CodeNotFound, "%s is not installed", oneLine(t.view.Title)).WithHint("its preset says where it is looked for; see docs/providers.md")
	case t.view.Trouble != "":
		t.app.note("warning: %s", oneLine(t.view.Trouble))
	}
	t.result = cw.ProviderTest{Provider: t.view.Name, Command: t.view.Command, Version: t.view.Version, Steps: []cw.ProviderStep{}}
	if t.script != "" {
		t.result.Command = t.script
	}
	return nil
}

// copyPresets takes the user's own presets along. What is no regular file, the
// daemon would not read either.
func copyPresets(from, to string) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return fmt.Errorf("make the folder of presets: %w", err)
	}
	entries, err := os.ReadDir(from)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return cw.Errorf(cw.CodeFailed, "your presets cannot be read").WithHint("look at %s", from).Because(err)
	}
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(from, e.Name())) // a preset may be a link
		ext := filepath.Ext(e.Name())
		if err != nil || !info.Mode().IsRegular() || ext != ".yaml" && ext != ".yml" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err != nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(to, e.Name()), data, 0o600); err != nil {
			return fmt.Errorf("copy a preset: %w", err)
		}
	}
	return nil
}

// makeRepo makes a repository with one commit.
func (t *try) makeRepo(ctx context.Context) error {
	if err := os.MkdirAll(t.repo(), 0o700); err != nil {
		return fmt.Errorf("make the repository: %w", err)
	}
	if err := os.WriteFile(filepath.Join(t.repo(), "README.md"), []byte("# A scratch repository\n"), 0o600); err != nil {
		return fmt.Errorf("make the repository: %w", err)
	}
	for _, args := range [][]string{
		{"init", "-q"},
		{"symbolic-ref", "HEAD", "refs/heads/main"},
		{"add", "README.md"},
		{"commit", "-q", "--no-gpg-sign", "-m", "Begin"},
	} {
		if _, err := t.git(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

// spawn makes an agent with a goal.
func (t *try) spawn(ctx context.Context, goal string) (cw.AgentView, error) {
	return t.app.spawn(ctx, t.svc, cw.SpawnRequest{
		RequestKey: cw.NewID(), Goal: goal, Mode: cw.ModeExecute, Projects: []string{t.repo()},
		Provider: t.view.Name, Model: t.opts.model, Script: t.script, Env: daemon.ForAgent(t.home(), t.env),
	})
}

// add notes a step and shows it.
func (t *try) add(s cw.ProviderStep) {
	t.result.Steps = append(t.result.Steps, s)
	if t.outer.json {
		return
	}
	p := t.outer.paint(t.outer.outTTY)
	mark := p.yellow("no")
	switch {
	case s.Skip:
		mark = p.dim("--")
	case s.Seen:
		mark = p.green("ok")
	}
	took := ""
	if s.Took > 0 {
		took = brief(s.Took)
	}
	t.outer.printf("%s  %-10s  %7s  %s\n", mark, s.Name, took, oneLine(s.Text))
}

// missing names the steps that were not seen.
func (t *try) missing() []string {
	var names []string
	for _, s := range t.result.Steps {
		if !s.Seen && !s.Skip {
			names = append(names, s.Name)
		}
	}
	return names
}

// verdict is an error with what to do, unless all was seen.
func (t *try) verdict() error {
	missing := t.missing()
	if len(missing) == 0 {
		return nil
	}
	err := cw.Errorf(cw.CodeFailed, "%s did not show: %s", oneLine(t.view.Title), strings.Join(missing, ", "))
	if t.trouble != nil {
		return err.WithHint("%s", t.trouble.Hint)
	}
	return err.WithHint("cw provider show %[1]s has what is known of it; cw provider test %[1]s --keep leaves its output to look at", cw.ShellWord(t.opts.name))
}

// close ends everything that the test started, and removes what it made.
func (t *try) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tryCleanMax)
	defer cancel()
	err := t.stopAll(ctx)
	if t.opts.keep {
		t.app.note("kept: CW_HOME=%s and the repository %s", t.home(), t.repo())
		return err
	}
	return errors.Join(err, t.remove(ctx))
}

// brief is a time in a few digits.
func brief(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
