package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type backupOptions struct {
	app  *app
	path string
	logs bool
}

func newBackupCmd(a *app, runF func(context.Context, *backupOptions) error) *cobra.Command {
	opts := &backupOptions{app: a}
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the database, and verify the copy",
		Long: `Copy the database as it is at one moment, while everything runs, and verify the
copy. FILE must not be there yet. With --logs the stored output of all agents is
copied beside it, to FILE.log.`,
		Example: "cw backup ~/cw-backup.db",
		Args:    oneArg(&opts.path, "the file to write"),
		RunE:    start(a, runF, backupRun, opts),
	}
	cmd.Flags().BoolVar(&opts.logs, "logs", false, "copy the stored output, too")
	return cmd
}

func backupRun(ctx context.Context, o *backupOptions) error {
	a := o.app
	path, err := a.abs(o.path) // the daemon has another working directory
	if err != nil {
		return err
	}
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	r, err := svc.Backup(ctx, cw.BackupRequest{Path: path, Logs: o.logs})
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(r)
	}
	for _, file := range r.Files {
		a.printf("%s\n", oneLine(file))
	}
	a.note("%s, verified", size(r.Bytes))
	return nil
}
