package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/spf13/cobra"
)

// logLines is how many lines of the daemon's log are shown by default.
const logLines = 100

type logsOptions struct {
	app    *app
	follow bool
	lines  int
}

func newLogsCmd(a *app, runF func(context.Context, *logsOptions) error) *cobra.Command {
	opts := &logsOptions{app: a}
	cmd := &cobra.Command{
		Use:   "logs",
		Short: "Show the daemon's log",
		Long: `Show the daemon's log, also when no daemon runs. What an agent wrote is shown by
cw agent logs.`,
		Example: "cw logs -n 20\ncw logs -f",
		Args:    noArgs,
		RunE:    start(a, runF, logsRun, opts),
	}
	cmd.Flags().BoolVarP(&opts.follow, "follow", "f", false, "go on with what is added, until Ctrl-C")
	cmd.Flags().IntVarP(&opts.lines, "lines", "n", logLines, "the last `N` lines; -1 for all")
	return cmd
}

func logsRun(ctx context.Context, o *logsOptions) error {
	a := o.app
	home, err := a.home()
	if err != nil {
		return err
	}
	w := &logWriter{app: a}
	err = a.log(ctx, home.DaemonLog(), o.lines, w, o.follow)
	if flushed := w.flush(); err == nil {
		err = flushed
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		a.note("there is no log yet: no daemon was started in %s", home)
		return nil
	case err == nil && o.follow:
		return ctx.Err()
	}
	return err
}

// logWriter passes whole lines on: as they are, made safe for a terminal, or
// as one JSON value a line.
type logWriter struct {
	app  *app
	part []byte
}

func (w *logWriter) Write(b []byte) (int, error) {
	w.part = append(w.part, b...)
	for {
		line, rest, whole := bytes.Cut(w.part, []byte("\n"))
		if !whole {
			return len(b), nil
		}
		w.part = rest
		if err := w.line(string(line)); err != nil {
			return 0, err
		}
	}
}

func (w *logWriter) line(line string) error {
	if w.app.json {
		return w.app.printJSONLine(struct {
			Line string `json:"line"`
		}{line})
	}
	if w.app.outTTY {
		line = clean(line)
	}
	_, err := io.WriteString(w.app.out, line+"\n")
	return err
}

// flush gives a last line that has no end.
func (w *logWriter) flush() error {
	if len(w.part) == 0 {
		return nil
	}
	line := string(w.part)
	w.part = nil
	return w.line(line)
}
