package main

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type agentOpenOptions struct {
	app   *app
	ref   string
	print bool
}

func newAgentOpenCmd(a *app, runF func(context.Context, *agentOpenOptions) error) *cobra.Command {
	opts := &agentOpenOptions{app: a}
	cmd := &cobra.Command{
		Use:   "open NAME",
		Short: "Open an agent's worktree in your editor",
		Long: `Open the worktree of an agent in $VISUAL, else in $EDITOR, as a shell would run
it with the folder as its last word: "code --new-window" works. The worktree is
brought back first when it was cleaned up. It stays while the editor runs, and
10 minutes longer, which is all for an editor that returns at once; what you
change there and do not commit stays anyhow.`,
		Example: "cw agent open brave-otter\nVISUAL='code -n' cw agent open brave-otter\ncd \"$(cw agent open --print brave-otter)\"",
		Annotations: exits(
			"2  no editor is set",
			"4  the agent is removed, or something else stands in the worktree's place",
			"N  the exit code of the editor",
		),
		Args: oneArg(&opts.ref, agentWhat),
		RunE: start(a, runF, agentOpenRun, opts),
	}
	cmd.Flags().BoolVar(&opts.print, "print", false, "print where the worktree is, and open nothing; so does --json")
	return cmd
}

func agentOpenRun(ctx context.Context, o *agentOpenOptions) error {
	a := o.app
	editor := cmp.Or(strings.TrimSpace(a.env["VISUAL"]), strings.TrimSpace(a.env["EDITOR"]))
	if editor == "" && !o.print && !a.json {
		return usagef("no editor is set: neither VISUAL nor EDITOR").
			WithHint("VISUAL='code -n' cw agent open %[1]s; or cd \"$(cw agent open --print %[1]s)\"", cw.ShellWord(o.ref))
	}
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	if !o.print && !a.json {
		opened, err := a.openWorktree(ctx, svc, o.ref)
		if err != nil {
			return err
		}
		return a.inWorktree(ctx, svc, opened, editorCommand(editor, opened.Path))
	}
	opened, err := svc.OpenWorktree(ctx, o.ref)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(opened)
	}
	a.printf("%s\n", opened.Path)
	a.noteHeld(opened)
	return nil
}

// noteHeld says how long a path that was printed is good for.
func (a *app) noteHeld(opened cw.OpenedWorktree) {
	a.note("it is not cleaned up before %s", clock(opened.HeldUntil))
}

// editorCommand leaves the words of an editor to the shell, as git does: they may
// be quoted, and hold variables.
func editorCommand(editor, path string) []string {
	return []string{"/bin/sh", "-c", editor + ` "$@"`, "cw", path}
}
