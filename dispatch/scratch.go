package dispatch

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"cw/internal/cw"
)

// checkout is one project in the folder in which the work of a task is checked.
type checkout struct {
	project cw.Project
	commit  string
	name    string // of its folder beside the others; "" when it is alone
	file    cw.ProjectFile
}

// folder is where the checkout lies.
func (c checkout) folder(root string) string { return filepath.Join(root, c.name) }

// checkouts gives what the checks of a part need: the project at the merged
// commit first, and beside it, as its agent had them, the agent's other projects:
// at their merged commits, or as they are on the branch of the initiative.
func (x *merging) checkouts(ctx context.Context, part *cw.MergePart, f cw.ProjectFile) ([]checkout, error) {
	own := checkout{project: x.proj[part.ProjectID], commit: part.Commit, file: f}
	if len(x.view.Projects) < 2 {
		return []checkout{own}, nil
	}
	rows, err := x.d.Store.IntegrationsOf(ctx, x.in.ID)
	if err != nil {
		return nil, err
	}
	var others []checkout
	for _, t := range x.view.Projects {
		if t.ProjectID == part.ProjectID {
			own.name = filepath.Base(t.Path)
			continue
		}
		c := checkout{name: filepath.Base(t.Path), commit: siblingCommit(t, x.m.Parts, rows)}
		if c.project, err = x.d.Store.ProjectByRef(ctx, string(t.ProjectID)); err != nil {
			return nil, err
		}
		view, err := x.d.Repos.File(ctx, c.project, c.commit)
		if err != nil {
			return nil, err
		}
		if view.Problem == "" && view.Trusted {
			c.file = view.File
		}
		others = append(others, c)
	}
	if own.name == "" {
		own.name = own.project.Name
	}
	return append([]checkout{own}, others...), nil
}

// siblingCommit is the commit at which another project of the agent is there.
func siblingCommit(t cw.AgentWorktree, parts []cw.MergePart, rows []cw.Integration) string {
	for _, p := range parts {
		if p.ProjectID == t.ProjectID && p.Commit != "" {
			return p.Commit
		}
	}
	for _, r := range rows {
		if r.ProjectID == t.ProjectID && r.Head != "" {
			return r.Head
		}
	}
	return t.BaseCommit
}

// place makes the checkouts.
func (x *merging) place(ctx context.Context, root string, all []checkout) error {
	for _, c := range all {
		if err := x.d.Repos.Scratch(ctx, c.project, c.commit, c.folder(root), c.file.Include); err != nil {
			return x.noCheckout(c.project, err)
		}
	}
	return nil
}

// unplace takes the checkouts away.
func (x *merging) unplace(ctx context.Context, root string, all []checkout) error {
	for _, c := range all {
		if err := x.d.Repos.Unscratch(ctx, c.project, c.folder(root)); err != nil {
			return err
		}
	}
	_ = os.Remove(root) // what something else left in it stays
	return nil
}

// commandsOf gives what is run in the first of the checkouts: the set-up of the
// others in their folders, its own set-up, and its checks.
func commandsOf(all []checkout) []cw.ProjectCommand {
	var commands []cw.ProjectCommand
	for _, c := range all[1:] {
		for _, s := range c.file.Setup {
			s.Name = c.name + ": " + s.Name
			s.Run = fmt.Sprintf("cd %s || exit\n%s", cw.ShellWord("../"+c.name), s.Run)
			commands = append(commands, s)
		}
	}
	commands = append(commands, all[0].file.Setup...)
	return append(commands, all[0].file.Checks...)
}

// variablesOf gives the variables of the projects; the first that sets one wins.
func variablesOf(all []checkout) map[string]string {
	env := map[string]string{}
	for i := len(all) - 1; i >= 0; i-- {
		maps.Copy(env, all[i].file.Env)
	}
	return env
}

// unscratch takes a folder of checks away of which only its name is known: one
// checkout, or a folder with several.
func (d *Dispatcher) unscratch(ctx context.Context, p cw.Project, root string) error {
	err := d.Repos.Unscratch(ctx, p, root)
	if cw.ErrorCode(err) != cw.CodeRefused {
		return err
	}
	entries, readErr := os.ReadDir(root)
	if readErr != nil {
		return err
	}
	for _, e := range entries {
		name := d.Repos.ScratchName(e.Name())
		sibling, findErr := d.Store.ProjectByRef(ctx, name)
		if findErr != nil {
			return err // as it was refused: something else lies there
		}
		if err := d.Repos.Unscratch(ctx, sibling, filepath.Join(root, name)); err != nil {
			return err
		}
	}
	return os.Remove(root)
}
