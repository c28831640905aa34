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

// plan walks from a goal to a merged branch: whatever is suggested is accepted,
// what is asked is answered, and the commands of cw.yaml are trusted, since they
// are the demo's own.
func (d *demo) plan(ctx context.Context) error {
	if err := d.writeScripts(); err != nil {
		return err
	}
	project, err := d.svc.AddProject(ctx, cw.ProjectRequest{Path: d.repo()})
	if err != nil {
		return err
	}
	if err := d.trust(ctx, project); err != nil {
		return err
	}
	w := newWalk(d.app)
	w.initiative, err = d.svc.CreateInitiative(ctx, cw.CreateInitiativeRequest{Start: true,
		Name: "Greet everybody", Goal: "greet.sh greets everybody who is named, not only the first.", Projects: []string{string(project.ID)},
	})
	if err != nil {
		return err
	}
	provider, script := "script", d.script("task.sh")
	if _, err := d.svc.EditInitiative(ctx, string(w.initiative.ID), cw.InitiativeEdit{Work: &cw.WorkEdit{Provider: &provider, Script: &script}}); err != nil {
		return err
	}
	w.svc, w.yes, w.plan.until = d.svc, true, cw.ModeExecute
	w.given = []namedAnswer{{name: "tone", value: "in short sentences"}}
	w.request = func(step cw.Mode) cw.SpawnRequest { return d.request(string(step) + ".sh") }
	if err := w.walk(ctx); err != nil {
		return err
	}
	if d.initiative, err = d.svc.Initiative(ctx, string(w.initiative.ID)); err != nil {
		return err
	}
	d.say("Every task is done and merged:")
	printTree(d.app.out, d.app.paint(d.app.outTTY), phaseTree(d.initiative.Phases, d.initiative.Tasks))
	return nil
}

// trust lets the checks of the scratch repository run.
func (d *demo) trust(ctx context.Context, project cw.Project) error {
	file, err := d.svc.ProjectFile(ctx, string(project.ID), "")
	if err != nil {
		return err
	}
	_, err = d.svc.TrustProject(ctx, string(project.ID), cw.TrustRequest{Digest: file.Digest})
	return err
}

// land brings the initiative's branch into the scratch repository.
func (d *demo) land(ctx context.Context) error {
	landings, err := d.svc.Land(ctx, d.initiative.Slug, cw.LandRequest{})
	if err != nil {
		return err
	}
	for _, l := range landings {
		d.app.printf("  %s is on %s: %s, %s\n", l.Branch, l.Into, count(l.Commits, "commit"), statFact(l.Stat))
	}
	d.landings = landings
	page, err := d.svc.Agents(ctx, cw.AgentFilter{Initiative: d.initiative.Slug, PageQuery: cw.PageQuery{Sort: "createdAt"}})
	for _, v := range page.Items {
		if v.Mode == cw.ModeExecute {
			d.agents = append(d.agents, v)
		}
	}
	return err
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
