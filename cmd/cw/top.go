package main

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"cw/internal/board"
	"cw/internal/board/live"
	"cw/internal/cw"
)

type topOptions struct {
	app     *app
	ascii   bool
	noColor bool
}

func newTopCmd(a *app, runF func(context.Context, *topOptions) error) *cobra.Command {
	opts := &topOptions{app: a}
	cmd := &cobra.Command{
		Use:   "top",
		Short: "Show the board: what waits for you, and who works at what",
		Long: `Show the board on this terminal, live: what waits for you, which agents work and at
what, and the log of the selected one. Questions are answered, agents watched, told
something and stopped with single keys; ? lists them. Quitting stops nothing.

It works in 80 columns and 24 lines and over ssh; from 140 columns on it has panes.
For pipes there is cw status --watch.`,
		Example:     "cw top\ncw top --ascii --no-color",
		Annotations: exits("2  stdin or stdout is no terminal"),
		Args:        noArgs,
		RunE:        start(a, runF, topRun, opts),
	}
	cmd.Flags().BoolVar(&opts.ascii, "ascii", false, "draw with ASCII alone (default: when the locale is not UTF-8)")
	cmd.Flags().BoolVar(&opts.noColor, "no-color", false, "no colours, as with NO_COLOR")
	return cmd
}

func topRun(ctx context.Context, o *topOptions) error {
	a := o.app
	switch {
	case a.json, !a.inTTY, !a.outTTY, a.env["TERM"] == "dumb":
		return usagef("top needs a terminal that it can draw on").WithHint("cw status --watch prints lines, and cw inbox --json and cw agent list --json what they say")
	}
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	return a.board(ctx, live.Options{
		Services: svc,
		Now:      a.now,
		Zone:     a.zone(),
		Look:     board.Look{Colour: a.paint(true).on && !o.noColor, ASCII: o.ascii || !a.utf8()},
		Lines:    topLines,
	})
}

// topLines makes readable lines of an agent's output, as cw agent attach shows
// them.
func topLines(v cw.AgentView) func(cw.OutputEvent) []string {
	r := renderer{cwd: v.AgentCwd}
	return r.render
}

// utf8 tells whether the terminal's locale is one of UTF-8.
func (a *app) utf8() bool {
	locale := strings.ToLower(cmp.Or(a.env["LC_ALL"], a.env["LC_CTYPE"], a.env["LANG"]))
	return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
}
