package main

import (
	"context"
	"errors"
	"testing"

	"cw/internal/board"
	"cw/internal/board/live"
	"cw/internal/cw"
)

// TestTop: the board is shown as the terminal can show it, and only on one.
func TestTop(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		env  environ
		pipe bool
		want board.Look
		code int
	}{
		"colours":     {env: environ{"LANG": "en_US.UTF-8"}, want: board.Look{Colour: true}},
		"NO_COLOR":    {env: environ{"LC_ALL": "C.utf8", "NO_COLOR": "1"}},
		"no colour":   {args: []string{"--no-color"}, env: environ{"LC_CTYPE": "de_DE.UTF-8"}},
		"ascii":       {args: []string{"--ascii"}, env: environ{"LANG": "C.UTF-8"}, want: board.Look{Colour: true, ASCII: true}},
		"no UTF-8":    {env: environ{"LC_ALL": "C", "LANG": "en_US.UTF-8"}, want: board.Look{Colour: true, ASCII: true}},
		"no terminal": {pipe: true, code: 2},
		"dumb":        {env: environ{"TERM": "dumb"}, code: 2},
		"json":        {args: []string{"--json"}, code: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.inTTY, b.outTTY, b.env = !c.pipe, !c.pipe, c.env
			var got *live.Options
			b.board = func(_ context.Context, o live.Options) error { got = &o; return nil }
			if code := b.execute(t.Context(), append([]string{"top"}, c.args...)); code != c.code {
				t.Fatalf("exit %d: %s", code, b.stderr.String())
			}
			switch {
			case c.code != 0 && got != nil:
				t.Error("the board was shown all the same")
			case c.code == 0 && (got == nil || got.Look != c.want):
				t.Errorf("it was shown with %+v", got)
			}
		})
	}
}

// TestTopEnds: what ends the board is told as of every command.
func TestTopEnds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.inTTY, b.outTTY = true, true
	b.board = func(context.Context, live.Options) error { return errors.New("the terminal is gone") }
	if code := b.execute(t.Context(), []string{"top"}); code != 1 {
		t.Errorf("exit %d: %s", code, b.stderr.String())
	}
}

// TestTopLines: the log on the board reads as cw agent attach shows it.
func TestTopLines(t *testing.T) {
	t.Parallel()
	lines := topLines(cw.AgentView{Agent: cw.Agent{AgentCwd: "/w", SessionNumber: 1}})
	got := lines(cw.OutputEvent{Session: 1, Event: cw.StreamEvent{Kind: cw.StreamFileChange, Path: "/w/a.go", Change: "add"}})
	if len(got) != 1 || got[0] != "± added a.go" {
		t.Errorf("lines %q", got)
	}
}
