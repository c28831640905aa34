package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"

	"cw/internal/cw"
	"cw/internal/proc"
)

// makeRepo makes a repository with one commit.
func (d *demo) makeRepo(ctx context.Context) error {
	if err := os.MkdirAll(d.repo(), 0o700); err != nil {
		return fmt.Errorf("make the repository: %w", err)
	}
	files, err := fs.Sub(demoFiles, "demo/repo")
	if err != nil {
		return fmt.Errorf("read the demo's files: %w", err)
	}
	if err := os.CopyFS(d.repo(), files); err != nil {
		return fmt.Errorf("make the repository: %w", err)
	}
	for _, args := range [][]string{
		{"init", "-q"},
		{"symbolic-ref", "HEAD", "refs/heads/main"},
		{"add", "README.md", "greet.sh"},
		{"commit", "-q", "--no-gpg-sign", "-m", "A program that greets"},
	} {
		if _, err := d.git(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

// git runs git in the scratch repository, with an identity of the demo's own.
func (d *demo) git(ctx context.Context, args ...string) (string, error) {
	env := append(d.env.list(),
		"GIT_AUTHOR_NAME=Demo", "GIT_AUTHOR_EMAIL=demo@localhost",
		"GIT_COMMITTER_NAME=Demo", "GIT_COMMITTER_EMAIL=demo@localhost",
		"GIT_TERMINAL_PROMPT=0")
	out, errOut, code, err := proc.Output(ctx, proc.Command{
		Argv: append([]string{"git", "-c", "core.hooksPath=/dev/null"}, args...), Env: env, Dir: d.repo(),
	})
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	if code != 0 {
		return "", cw.Errorf(cw.CodeFailed, "git %s: %s", args[0], oneLine(string(errOut)))
	}
	return string(out), nil
}
