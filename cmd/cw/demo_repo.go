package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
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
		{"add", "README.md", "check.sh", "cw.yaml", "greet.sh"},
		{"commit", "-q", "--no-gpg-sign", "-m", "A program that greets"},
	} {
		if _, err := d.git(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}
