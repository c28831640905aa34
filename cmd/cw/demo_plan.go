package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"cw/internal/cw"
	"cw/internal/daemon"
)

// plan walks from a goal to tasks; whatever is suggested is accepted.
func (d *demo) plan(ctx context.Context) error {
	if err := d.writeScripts(); err != nil {
		return err
	}
	project, err := d.svc.AddProject(ctx, cw.ProjectRequest{Path: d.repo()})
	if err != nil {
		return err
	}
	w := newWalk(d.app)
	w.initiative, err = d.svc.CreateInitiative(ctx, cw.CreateInitiativeRequest{
		Name: "Greet everybody", Goal: "greet.sh greets everybody who is named, not only the first.", Projects: []string{string(project.ID)},
	})
	if err != nil {
		return err
	}
	w.svc, w.yes = d.svc, true
	w.request = func(step cw.Mode) cw.SpawnRequest { return d.request(string(step) + ".sh") }
	if err := w.walk(ctx); err != nil {
		return err
	}
	if d.initiative, err = d.svc.Initiative(ctx, string(w.initiative.ID)); err != nil {
		return err
	}
	d.say("The tasks that came out of it:")
	printTree(d.app.out, d.app.paint(d.app.outTTY), phaseTree(d.initiative.Phases, d.initiative.Tasks))
	return nil
}

// request asks for an agent that is one of the scripts.
func (d *demo) request(script string) cw.SpawnRequest {
	return cw.SpawnRequest{Provider: "script", Script: d.script(script), Env: daemon.ForAgent(d.home(), d.env)}
}

func (d *demo) script(name string) string { return filepath.Join(d.root, name) }

// writeScripts writes the agents.
func (d *demo) writeScripts() error {
	names, err := fs.Glob(demoFiles, "demo/*.sh")
	if err != nil {
		return fmt.Errorf("read the demo's files: %w", err)
	}
	for _, name := range names {
		body, err := demoFiles.ReadFile(name)
		if err != nil {
			return fmt.Errorf("read the demo's files: %w", err)
		}
		if err := os.WriteFile(d.script(filepath.Base(name)), body, 0o700); err != nil {
			return fmt.Errorf("write the demo's scripts: %w", err)
		}
	}
	return nil
}
