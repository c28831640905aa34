package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"cw/internal/cw"
	"cw/internal/safefile"
	"cw/worktree"
)

// CollectTrash deletes what was in the trash for cw.TrashKeep, and snapshots that
// are older than cw.KeepRefKeep and stand for nothing any more. With pressure it
// also deletes worktrees that were there for cw.TrashLeast, oldest first, until
// the disk is above its floor: only those whose snapshot is verified now to hold
// every file. With dryRun it only tells. The list has all that was looked at,
// also what stays, and why; what could not be deleted has an error.
func (o *Orchestrator) CollectTrash(ctx context.Context, dryRun, pressure bool) ([]cw.Garbage, error) {
	c := collector{o: o, dry: dryRun, pressure: pressure, now: time.Now()}
	trees, err := o.Store.TrashedWorktrees(ctx)
	if err != nil {
		return nil, fmt.Errorf("look at the trash: %w", err)
	}
	for _, t := range trees {
		if err := c.tree(ctx, t); err != nil {
			return c.found, err
		}
	}
	removed, err := cw.AllAgents(ctx, o, cw.AgentFilter{Removed: true})
	if err != nil {
		return c.found, fmt.Errorf("list removed agents: %w", err)
	}
	for _, v := range removed {
		c.folder(ctx, v)
		if err := c.snapshots(ctx, v); err != nil {
			return c.found, err
		}
	}
	c.strangers(removed)
	return c.found, nil
}

// PackMirrors keeps the mirrors of all projects, and the clones of remote ones,
// within the bounds of worktree.Pack. One that cannot be packed does not keep the
// others from it.
func (o *Orchestrator) PackMirrors(ctx context.Context) error {
	all, err := o.Store.Projects(ctx)
	if err != nil {
		return fmt.Errorf("list projects: %w", err)
	}
	var errs []error
	for _, p := range all {
		errs = append(errs, o.Repos.Pack(ctx, p))
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return errors.Join(errs...)
}

// collector looks at one thing after the other.
type collector struct {
	o             *Orchestrator
	dry, pressure bool
	now           time.Time
	freed         int64 // what a dry run would have freed
	found         []cw.Garbage
}

// verdictOnTrash decides by age alone. early: it may go when the disk is low and
// nothing of it is lost.
func verdictOnTrash(age time.Duration, pressure bool) (goes, early bool) {
	return age >= cw.TrashKeep, pressure && age >= cw.TrashLeast
}

// tree decides about one worktree, and deletes it.
func (c *collector) tree(ctx context.Context, t cw.TrashedWorktree) error {
	at := c.now
	if t.TrashedAt != nil {
		at = *t.TrashedAt
	}
	g := cw.Garbage{Kind: cw.GarbageTrash, Agent: t.Alias, Path: t.Trash, Bytes: sizeOf(t.Trash)}
	goes, early := verdictOnTrash(c.now.Sub(at), c.pressure)
	switch {
	case goes:
		g.Goes, g.Reason = true, "it was in the trash for "+days(cw.TrashKeep)
	case early && c.low():
		whole, why := c.holds(ctx, t)
		g.Goes = whole
		g.Reason = "the disk is nearly full, and its snapshot holds every file of it"
		if !whole {
			g.Reason = "the disk is nearly full, but its snapshot does not hold " + why
		}
	default:
		g.Reason = "it is kept until " + at.Add(cw.TrashKeep).UTC().Format(time.DateTime) + " UTC"
	}
	if g.Goes && !c.dry {
		if err := c.purge(ctx, t, g); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			g.Error = err.Error()
		}
	}
	c.add(g)
	return nil
}

func (c *collector) add(g cw.Garbage) {
	if g.Goes && g.Error == "" {
		c.freed += g.Bytes
	}
	c.found = append(c.found, g)
}

// low tells whether the disk is still below its floor. A dry run counts what it
// would have freed.
func (c *collector) low() bool {
	space, err := c.o.Floor.Look(string(c.o.Home))
	if err != nil {
		return false // nothing goes early on a guess
	}
	if c.dry {
		space.Free += c.freed
	}
	return space.Low()
}

// holds verifies now that a snapshot holds all of a directory. What the row says
// was true when it was made.
func (c *collector) holds(ctx context.Context, t cw.TrashedWorktree) (whole bool, why string) {
	if t.KeepRef == "" {
		return false, "anything: there is none"
	}
	look, err := c.o.lookRequest(ctx, cw.Agent{ID: t.AgentID, Alias: t.Alias}, t.AgentWorktree)
	if err != nil {
		return false, "what could be verified: " + err.Error()
	}
	whole, missing, err := c.o.Repos.SnapshotHolds(ctx, look, t.Trash, t.KeepRef)
	if err != nil {
		return false, "what could be verified: " + err.Error()
	}
	return whole || c.o.Guards.Off("trash-verified"), some(missing)
}

// purge deletes a worktree from the trash and stores that. It looks again first:
// the agent may have been restored since it was listed, and even removed anew.
func (c *collector) purge(ctx context.Context, t cw.TrashedWorktree, g cw.Garbage) error {
	done, err := c.o.turns.take(ctx, t.AgentID)
	if err != nil {
		return err
	}
	defer done()
	view, err := c.o.Store.AgentView(ctx, string(t.AgentID))
	if err != nil {
		return err
	}
	same := func(w cw.AgentWorktree) bool { return w.ProjectID == t.ProjectID && w.Trash == t.Trash }
	if view.DeletedAt == nil || !slices.ContainsFunc(view.Projects, same) {
		return fmt.Errorf("the worktree of %s is no longer at %s", t.Alias, t.Trash)
	}
	p, err := c.o.Store.ProjectByRef(ctx, string(t.ProjectID))
	if err != nil {
		return fmt.Errorf("find project %s: %w", t.Project, err)
	}
	err = c.o.Repos.Purge(ctx, worktree.PurgeRequest{Project: p, AgentID: t.AgentID, Alias: t.Alias, Path: t.Path, Trash: t.Trash})
	if err != nil {
		return fmt.Errorf("delete %s: %w", t.Trash, err)
	}
	c.o.Fail.Hit("trash/purged")
	if err := c.o.Store.SavePurged(ctx, t.AgentWorktree, purged(view.Agent, g)); err != nil {
		return fmt.Errorf("store that %s is gone: %w", t.Trash, err)
	}
	_ = os.Remove(filepath.Dir(t.Trash)) // the folder of several projects, when it is empty
	c.o.Log.Info("deleted from the trash", "agent", t.Alias, "path", t.Trash, "bytes", g.Bytes, "because", g.Reason)
	return nil
}

func purged(a cw.Agent, g cw.Garbage) cw.Event {
	return cw.NewEvent(cw.EventAgentPurged, cw.Actor{Kind: cw.ActorCW}, cw.AgentPurged{
		Name: a.Alias, Path: g.Path, Bytes: g.Bytes, Reason: g.Reason,
	}).About(a.ID, "")
}

// folder decides about the folder of an agent with several projects, or with
// none. No snapshot holds it, so it never goes early.
func (c *collector) folder(ctx context.Context, v cw.AgentView) {
	path := c.o.trashedFolder(v.Agent)
	if path == "" {
		return
	}
	g := cw.Garbage{Kind: cw.GarbageTrash, Agent: v.Alias, Path: path, Bytes: sizeOf(path)}
	g.Goes, _ = verdictOnTrash(c.now.Sub(*v.DeletedAt), false)
	g.Reason = "it was in the trash for " + days(cw.TrashKeep)
	if !g.Goes {
		g.Reason = "it is kept until " + v.DeletedAt.Add(cw.TrashKeep).UTC().Format(time.DateTime) + " UTC"
	}
	if g.Goes && !c.dry {
		if err := c.deleteFolder(ctx, v, g); err != nil {
			g.Error = err.Error()
		}
	}
	c.add(g)
}

func (c *collector) deleteFolder(ctx context.Context, v cw.AgentView, g cw.Garbage) error {
	done, err := c.o.turns.take(ctx, v.ID)
	if err != nil {
		return err
	}
	defer done()
	agent, err := c.o.Store.AgentByRef(ctx, string(v.ID))
	if err != nil {
		return err
	}
	if agent.DeletedAt == nil || c.o.trashedFolder(agent) != g.Path {
		return fmt.Errorf("agent %s is not removed, or no longer", v.Alias)
	}
	if err := safefile.RemoveAll(g.Path); err != nil {
		return fmt.Errorf("delete %s: %w", g.Path, err)
	}
	_ = os.Remove(filepath.Dir(g.Path)) // when nothing else is in it
	c.o.Log.Info("deleted from the trash", "agent", v.Alias, "path", g.Path, "bytes", g.Bytes, "because", g.Reason)
	return c.o.Store.AddEvents(ctx, purged(agent, g))
}

// snapshots drops those of an agent that was removed for long and of which
// nothing lies in the trash any more.
func (c *collector) snapshots(ctx context.Context, v cw.AgentView) error {
	if c.now.Sub(*v.DeletedAt) < cw.KeepRefKeep {
		return nil
	}
	for _, t := range v.Projects {
		if t.KeepRef == "" || t.Trash != "" {
			continue
		}
		g := cw.Garbage{
			Kind: cw.GarbageKeepRef, Agent: v.Alias, Path: t.KeepRef, Goes: true,
			Reason: "the agent was removed more than " + days(cw.KeepRefKeep) + " ago",
		}
		if !c.dry {
			if err := c.dropSnapshot(ctx, v, t, g); err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				g.Error = err.Error()
			}
		}
		c.add(g)
	}
	return nil
}

func (c *collector) dropSnapshot(ctx context.Context, v cw.AgentView, t cw.AgentWorktree, g cw.Garbage) error {
	p, err := c.o.Store.ProjectByRef(ctx, string(t.ProjectID))
	if err != nil {
		return fmt.Errorf("find project %s: %w", t.Project, err)
	}
	// The row goes first: a ref without a row is only space, a row without its
	// ref would promise what is gone. The commit stays in it, as a trace.
	ref := t.KeepRef
	t.KeepRef, t.KeepWhole = "", false
	if err := c.o.Store.SaveDropped(ctx, t, purged(v.Agent, g)); err != nil {
		return fmt.Errorf("store that a snapshot is gone: %w", err)
	}
	return c.o.Repos.DropSnapshot(ctx, p, ref)
}

// strangers lists what lies in the trash and belongs to nobody that is known:
// it stays.
func (c *collector) strangers(removed []cw.AgentView) {
	known := map[string]bool{}
	for _, v := range removed {
		known[trashName(v.Alias, *v.DeletedAt)] = true
	}
	for _, g := range c.found {
		known[filepath.Base(g.Path)] = true
		known[filepath.Base(filepath.Dir(g.Path))] = true
	}
	entries, err := os.ReadDir(c.o.Home.Trash())
	if err != nil {
		return // there is no trash
	}
	for _, e := range entries {
		if known[e.Name()] {
			continue
		}
		path := filepath.Join(c.o.Home.Trash(), e.Name())
		alias, _, _ := parseTrashName(e.Name())
		c.add(cw.Garbage{Kind: cw.GarbageTrash, Agent: alias, Path: path, Bytes: sizeOf(path), Reason: "no removed agent is known that it belongs to; look at it and delete it yourself"})
	}
}

func days(d time.Duration) string { return counted(int(d/(24*time.Hour)), "day") }
