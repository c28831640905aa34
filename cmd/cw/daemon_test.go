package main

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
	"cw/internal/daemon"
	"cw/internal/proc"
)

func TestDaemonOptions(t *testing.T) {
	t.Parallel()
	serve, err := parsed(t, []string{"--report", "/x"},
		func(a *app, f func(context.Context, *serveOptions) error) runner { return newServeCmd(a, f) })
	if err != nil {
		t.Fatal(err)
	}
	sameOptions(t, &serveOptions{report: "/x"}, serve)
	for _, tc := range []struct {
		args []string
		want logsOptions
	}{
		{nil, logsOptions{lines: 100}},
		{[]string{"-f", "-n", "5"}, logsOptions{follow: true, lines: 5}},
		{[]string{"--follow", "--lines=-1"}, logsOptions{follow: true, lines: -1}},
	} {
		logs, err := parsed(t, tc.args,
			func(a *app, f func(context.Context, *logsOptions) error) runner { return newLogsCmd(a, f) })
		if err != nil {
			t.Fatal(err)
		}
		sameOptions(t, &tc.want, logs)
	}
	id, err := parsed(t, []string{"-n", "3"},
		func(a *app, f func(context.Context, *idOptions) error) runner { return newIDCmd(a, f) })
	if err != nil {
		t.Fatal(err)
	}
	sameOptions(t, &idOptions{count: 3}, id)
	demo, err := parsed(t, []string{"--keep"},
		func(a *app, f func(context.Context, *demoOptions) error) runner { return newDemoCmd(a, f) })
	if err != nil {
		t.Fatal(err)
	}
	sameOptions(t, &demoOptions{keep: true}, demo)
	shell, err := parsed(t, []string{"zsh"},
		func(a *app, f func(context.Context, *completionOptions) error) runner { return newCompletionCmd(a, f) })
	if err != nil {
		t.Fatal(err)
	}
	sameOptions(t, &completionOptions{shell: "zsh"}, shell)
}

func TestDaemon(t *testing.T) {
	t.Parallel()
	down := func(b *bench) { b.up = false }
	inside := func(b *bench) { b.env[proc.RunVariable] = "r1" }
	skewed := func(b *bench) {
		b.reach = func(context.Context) (cw.Services, error) {
			return nil, cw.Errorf(cw.CodeUnreachable, `this cw speaks version "1.0" of the API and the daemon "2.0"`).
				WithHint("`cw restart` starts the daemon of this version; agents run on")
		}
	}
	unknown := func(b *bench) {
		b.reach = func(context.Context) (cw.Services, error) {
			return nil, cw.Errorf(cw.CodeForbidden, "it cannot be told who is calling").WithHint("call again from a process that stays")
		}
	}
	checks := func(b *bench) {
		b.examine = func(context.Context, cw.Home) []daemon.Check {
			return []daemon.Check{
				{Name: "git", Status: daemon.CheckOK, Detail: "2.39.5"},
				{Name: "provider claude", Status: daemon.CheckWarn, Detail: "not installed", Fix: "npm install -g @anthropic-ai/claude-code"},
			}
		}
	}
	sessions(t, "daemon", []sessionCase{
		{"status", []string{"status"}, nil, 0},
		{"status json", []string{"status", "--json"}, nil, 0},
		{"status tasks", []string{"status"}, func(b *bench) {
			b.fake.status.TasksRunning, b.fake.status.TasksReady, b.fake.status.TasksWaiting, b.fake.status.Checkpoints, b.fake.status.Merges = 3, 1, 4, 1, 2
		}, 0},
		{"status cost", []string{"status"}, func(b *bench) {
			b.fake.costs = []cw.CostRow{{Key: "2026-01-02", Name: "2026-01-02", Runs: 4, CostUSD: 3.2, EstimatedUSD: 1.1, Unpriced: 1, UnderWay: 2}}
		}, 0},
		{"status down", []string{"status"}, down, 5},
		{"status down json", []string{"status", "--json"}, down, 5},
		{"stop", []string{"stop"}, nil, 0},
		{"stop json", []string{"stop", "--json"}, nil, 0},
		{"stop down", []string{"stop"}, down, 0},
		{"stop down json", []string{"stop", "--json"}, down, 0},
		{"stop skewed", []string{"stop"}, func(b *bench) { skewed(b); b.sigterm = 4243 }, 0},
		{"stop skewed inside", []string{"stop"}, func(b *bench) { skewed(b); inside(b) }, 4},
		{"status lost socket", []string{"status"}, func(b *bench) { down(b); b.sigterm = 4243 }, 5},
		{"stop lost socket", []string{"stop"}, func(b *bench) { down(b); b.sigterm = 4243 }, 0},
		{"stop lost socket inside", []string{"stop"}, func(b *bench) { down(b); inside(b); b.sigterm = 4243 }, 4},
		{"stop unknown caller", []string{"stop"}, func(b *bench) { unknown(b); b.sigterm = 4243 }, 0},
		{"stop unknown caller elsewhere", []string{"stop"}, unknown, 4},
		{"stop left token", []string{"stop"}, func(b *bench) { unknown(b); b.env["CW_TOKEN"], b.sigterm = "t", 4243 }, 4},
		{"stop breaks", []string{"stop"}, func(b *bench) {
			b.fake.errs["Shutdown"] = cw.Errorf(cw.CodeUnreachable, "the connection to the daemon broke")
			b.sigterm = 4243
		}, 0},
		{"stop forbidden", []string{"stop"}, func(b *bench) {
			b.fake.errs["Shutdown"] = cw.Errorf(cw.CodeForbidden, "an agent may not do this (shut-down)")
		}, 4},
		{"restart", []string{"restart"}, nil, 0},
		{"restart down", []string{"restart", "--json"}, down, 0},
		{"restart inside", []string{"restart"}, inside, 4},
		{"restart to nothing", []string{"restart"}, func(b *bench) {
			b.connect = func(context.Context) (cw.Services, error) {
				return nil, cw.Errorf(cw.CodeFailed, "port 7420 of 127.0.0.1 is taken").WithHint("take another")
			}
		}, 1},
		{"serve", []string{"serve"}, nil, 0},
		{"serve inside", []string{"serve"}, inside, 4},
		{"serve second", []string{"serve"}, func(b *bench) {
			b.serve = func(context.Context, cw.Home, map[string]string, io.Writer) error {
				return cw.Errorf(cw.CodeRefused, "a daemon (pid 7) already serves /home/lead/.cw")
			}
		}, 4},
		{"logs", []string{"logs"}, func(b *bench) { b.log = "one\x1b[31m\ntwo\nno end" }, 0},
		{"logs on terminal", []string{"logs"}, func(b *bench) { b.log, b.outTTY = "one\x1b[31m\ntwo\n", true }, 0},
		{"logs none", []string{"logs"}, nil, 0},
		{"logs bad number", []string{"logs", "-n", "x"}, nil, 2},
		{"doctor", []string{"doctor"}, checks, 0},
		{"doctor json", []string{"doctor", "--json"}, checks, 0},
		{"doctor fails", []string{"doctor"}, func(b *bench) {
			b.examine = func(context.Context, cw.Home) []daemon.Check {
				return []daemon.Check{{Name: "git", Status: daemon.CheckFail, Detail: "not installed", Fix: "install git"}}
			}
		}, 1},
		{"demo inside", []string{"demo"}, inside, 4},
		{"id none", []string{"id", "-n", "0"}, nil, 2},
		{"id words", []string{"id", "x"}, nil, 2},
		{"completion unknown", []string{"completion", "tcsh"}, nil, 2},
		{"no such flag", []string{"status", "--colour"}, nil, 2},
		{"no such command", []string{"statu"}, nil, 2},
		{"no such command json", []string{"--json", "statu"}, nil, 2},
	})
}

// TestNeverStartsDaemon: these commands only look.
func TestNeverStartsDaemon(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"status"}, {"stop"}, {"logs"}, {"doctor"}, {"id"}, {"completion", "bash"}, {"help"}, {"--help"}, {"--version"}, {"agent"},
	} {
		b := newBench(t)
		b.up = false
		b.execute(t.Context(), args)
		if b.started != 0 {
			t.Errorf("cw %s started a daemon", strings.Join(args, " "))
		}
	}
}

// TestStopWaits until the process is gone.
func TestStopWaits(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.session(t.Context(), "stop")
	if diff := cmp.Diff([]int{4242}, b.gonePIDs); diff != "" {
		t.Errorf("waited for (-want +got):\n%s", diff)
	}
}

// TestLogsFollow ends with Ctrl-C.
func TestLogsFollow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.log = "one\n"
	ctx, cancel := context.WithCancel(t.Context())
	inner := b.farEnds.log
	b.farEnds.log = func(ctx context.Context, path string, lines int, w io.Writer, follow bool) error {
		cancel()
		return inner(ctx, path, lines, w, follow)
	}
	text, code := b.session(ctx, "logs", "-f", "--json")
	if code != 130 || b.stdout.String() != `{"line":"one"}`+"\n" {
		t.Error(text)
	}
}

// TestServeReports: a detached daemon leaves word why it cannot serve, and
// writes nothing to a terminal that it does not have.
func TestServeReports(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	report, err := newStartReport(cw.Home(t.TempDir()))
	if err == nil {
		t.Fatalf("%s was made in a home without its folder", report)
	}
	home := cw.Home(t.TempDir())
	if err := os.MkdirAll(home.RunState(), 0o700); err != nil {
		t.Fatal(err)
	}
	if report, err = newStartReport(home); err != nil {
		t.Fatal(err)
	}
	if e := readStartReport(report); e != nil {
		t.Errorf("an empty report says %v", e)
	}
	b.serve = func(_ context.Context, _ cw.Home, _ map[string]string, terminal io.Writer) error {
		if terminal != nil {
			t.Error("a detached daemon was given a terminal")
		}
		return cw.Errorf(cw.CodeRefused, "the database is of a newer cw").WithHint("update cw").Because(os.ErrInvalid)
	}
	if _, code := b.session(t.Context(), "serve", "--report", report); code != 4 {
		t.Errorf("exit code %d", code)
	}
	want := &cw.Error{Code: cw.CodeRefused, Message: "the database is of a newer cw: invalid argument", Hint: "update cw"}
	if diff := cmp.Diff(want, readStartReport(report)); diff != "" {
		t.Errorf("report differs (-want +got):\n%s", diff)
	}
	// Nobody waits any more: nothing is left for nobody.
	if err := os.Remove(report); err != nil {
		t.Fatal(err)
	}
	b.session(t.Context(), "serve", "--report", report)
	if _, err := os.Stat(report); err == nil {
		t.Error("a report that nobody reads was made")
	}
}

func TestID(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.session(t.Context(), "id", "-n", "3")
	ids := strings.Fields(b.stdout.String())
	if len(ids) != 3 || !cw.IsID(ids[0]) || ids[0] == ids[1] {
		t.Errorf("ids: %q", ids)
	}
	b = newBench(t)
	b.session(t.Context(), "id", "--json")
	oneValue(t, b.stdout.Bytes())
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		b := newBench(t)
		if _, code := b.session(t.Context(), "completion", shell); code != 0 || !strings.Contains(b.stdout.String(), "cw") {
			t.Errorf("%s: exit %d", shell, code)
		}
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.session(t.Context(), "--version")
	if got := b.stdout.String(); got != "cw "+version()+"\n" {
		t.Errorf("got %q", got)
	}
}
