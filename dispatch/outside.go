package dispatch

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"cw/internal/cw"
)

// outsideOf returns those of some paths of a repository that no glob covers. A
// glob covers what it matches, and what is below a folder that it matches.
func outsideOf(globs, paths []string) []string {
	var patterns []string
	for _, g := range globs {
		for _, one := range alternatives(g) {
			patterns = append(patterns, tidy(one))
		}
	}
	var out []string
	for _, p := range paths {
		if !slices.ContainsFunc(patterns, func(glob string) bool { return covers(glob, p) }) {
			out = append(out, p)
		}
	}
	return out
}

// tidy writes a glob without braces as git writes a path: ./a//b/ is a/b.
func tidy(glob string) string {
	names := slices.DeleteFunc(strings.Split(glob, "/"), func(name string) bool { return name == "" || name == "." })
	return strings.Join(names, "/")
}

// covers reports whether a glob without braces matches a path or a folder above
// it. A glob that cannot be read covers what it may overlap with: nothing is said
// to be outside of it that may not be.
func covers(glob, path string) bool {
	if glob == "" { // the top of the repository
		return true
	}
	matched, err := doublestar.Match(glob+"/**", path)
	if err == nil && !matched && strings.Contains(path, "[") { // app/[id]/page.tsx is the name of a file, too
		matched, err = doublestar.Match(bracketsAsTheyAre().Replace(glob)+"/**", path)
	}
	if err == nil {
		return matched
	}
	name := make(pattern, 0, strings.Count(path, "/")+1)
	for s := range strings.SplitSeq(path, "/") {
		name = append(name, segment{text: s})
	}
	m := meter(comparedMax)
	return m.overlap(new(reader).pattern(glob), name)
}

// bracketsAsTheyAre lets brackets of a glob stand for themselves.
func bracketsAsTheyAre() *strings.Replacer { return strings.NewReplacer("[", `\[`, "]", `\]`) }

// changedPaths returns the paths that changes touch, in order: a renamed file was
// taken from one and put at another.
func changedPaths(files []cw.FileChange) []string {
	var out []string
	for _, f := range files {
		out = append(out, f.Path)
		if f.From != "" {
			out = append(out, f.From)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// outside finds what the work on a task changed outside its paths, compared with
// the branch of the initiative in each project, and the parts that have some of
// it. A task that names no paths has nothing outside of them.
func (d *Dispatcher) outside(ctx context.Context, t cw.Task, projects []cw.InitiativeProject, view cw.AgentView, parts []cw.MergePart, heads map[cw.ProjectID]string) (cw.OutsideFiles, []cw.MergePart, error) {
	if len(t.Paths) == 0 {
		return cw.OutsideFiles{}, nil, nil
	}
	var found []string
	var in []cw.MergePart
	for _, part := range parts {
		p, err := d.Store.ProjectByRef(ctx, string(part.ProjectID))
		if err != nil {
			return cw.OutsideFiles{}, nil, err
		}
		paths, err := d.outsideIn(ctx, p, globsIn(t.Paths, part.Project, projects), heads[part.ProjectID], baseIn(view, part.ProjectID), part.Head)
		if err != nil {
			return cw.OutsideFiles{}, nil, fmt.Errorf("look which files of %s the work changed: %w", part.Project, err)
		}
		if len(paths) > 0 {
			in = append(in, part)
		}
		for _, path := range paths {
			if len(projects) > 1 {
				path = part.Project + ":" + path
			}
			found = append(found, path)
		}
	}
	return cw.NewOutsideFiles(found), in, nil
}

// outsideIn finds it in one project. A change counts when it is one against the
// branch and one against where the agent began: what the agent took over from the
// branch is no change against the branch, and what it began with, on another
// branch for one, is none against its base. Where the branch holds that base, all that
// differs from the branch is the agent's: it may have put back what others changed.
func (d *Dispatcher) outsideIn(ctx context.Context, p cw.Project, globs []string, onto, base, head string) ([]string, error) {
	if onto == "" {
		onto = base
	}
	diff, err := d.Repos.Diff(ctx, p, onto, head, cw.DiffRequest{Stat: true})
	if err != nil {
		return nil, err
	}
	out := outsideOf(globs, changedPaths(diff.Files))
	if len(out) == 0 || base == "" || base == diff.BaseCommit {
		return out, nil
	}
	parted, err := d.Repos.Diff(ctx, p, diff.BaseCommit, base, cw.DiffRequest{Stat: true})
	if err == nil && parted.BaseCommit == base || cw.ErrorCode(err) == cw.CodeNotFound {
		return out, nil // the branch holds the base; or the base is gone
	}
	if err != nil {
		return nil, err
	}
	own, err := d.Repos.Diff(ctx, p, base, head, cw.DiffRequest{Stat: true})
	if cw.ErrorCode(err) == cw.CodeNotFound { // the commit that it began from is gone
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	paths := changedPaths(own.Files)
	return slices.DeleteFunc(out, func(path string) bool {
		_, mine := slices.BinarySearch(paths, path)
		return !mine
	}), nil
}

// baseIn is the commit that an agent began from in a project; "" when it is not
// known.
func baseIn(v cw.AgentView, id cw.ProjectID) string {
	for _, tree := range v.Projects {
		if tree.ProjectID == id {
			return tree.BaseCommit
		}
	}
	return ""
}

// sameOutside reports whether what is stored with a task is what was found.
func sameOutside(stored *cw.OutsideFiles, found cw.OutsideFiles) bool {
	if stored == nil {
		return found.Total == 0
	}
	return reflect.DeepEqual(*stored, found)
}

// outsideEvent tells of files outside the paths of a task; none when nothing is.
func outsideEvent(t cw.Task, agent cw.AgentID, o cw.OutsideFiles) []cw.Event {
	if o.Total == 0 {
		return nil
	}
	ev := cw.NewEvent(cw.EventTaskOutside, self(), cw.TaskOutside{TaskID: t.ID, Name: t.Name, Total: o.Total, Files: o.Files}).About(agent, "")
	ev.TaskID = t.ID
	return []cw.Event{ev}
}

// outsideAtQueue finds it when work is queued, so that who looks at a result sees
// it before it is merged. What cannot be looked at holds nothing up: it is looked at
// again right before the merge; nil then.
func (d *Dispatcher) outsideAtQueue(ctx context.Context, w World, t cw.Task, view cw.AgentView, parts []cw.MergePart) *cw.OutsideFiles {
	if len(t.Paths) == 0 {
		return &cw.OutsideFiles{}
	}
	var found cw.OutsideFiles
	rows, err := d.Store.IntegrationsOf(ctx, t.InitiativeID)
	if err == nil {
		heads := make(map[cw.ProjectID]string, len(rows))
		for _, row := range rows {
			heads[row.ProjectID] = row.Head
		}
		found, _, err = d.outside(ctx, t, initiativeOf(w, t.InitiativeID).Projects, view, parts, heads)
	}
	if err != nil {
		if ctx.Err() == nil {
			d.Log.Warn("look which files work changed outside its paths", "task", t.ID, "error", err)
		}
		return nil
	}
	return &found
}

// withinPaths looks once more right before the work is merged, as its task and the
// branch may have changed, stores what it finds with the task, and refuses the work
// where a project in which it lies wants that. Work whose branches are moved in part goes on.
func (x *merging) withinPaths(ctx context.Context) error {
	if x.task.Status != cw.TaskVerifying {
		return nil
	}
	heads := make(map[cw.ProjectID]string, len(x.rows))
	for id, row := range x.rows {
		heads[id] = row.Head
	}
	found, parts, err := x.d.outside(ctx, x.task, x.in.Projects, x.view, x.m.Parts, heads)
	if err != nil {
		return err
	}
	if !sameOutside(x.task.Outside, found) {
		moved, err := x.d.Store.MoveTask(ctx, cw.TaskMove{
			ID: x.task.ID, OfAgent: x.m.AgentID, From: []cw.TaskStatus{cw.TaskVerifying}, To: cw.TaskVerifying,
			Outside: &found, Events: outsideEvent(x.task, x.m.AgentID, found),
		})
		if err != nil {
			return err
		}
		if !moved {
			return x.unwanted()
		}
		x.task.Outside = &found
	}
	for _, part := range parts {
		f, err := x.d.Repos.File(ctx, x.proj[part.ProjectID], heads[part.ProjectID])
		if err != nil {
			return err
		}
		if f.Problem == "" && f.File.OutsidePaths == cw.OutsideRefuse {
			return x.outsideRefused(part, found)
		}
	}
	return nil
}

// outsideRefused says what a person may do about work outside the paths of its
// task.
func (x *merging) outsideRefused(part cw.MergePart, found cw.OutsideFiles) error {
	return personError{cw.Errorf(cw.CodeRefused, "the work %s, and cw.yaml of %s refuses that", found.Text(), part.Project).
		WithHint("let it put them back: cw agent resume %[1]s \"put back what is outside the paths of your task\"; "+
			"or allow them: cw task edit %[2]s with all its --path GLOB, or with --no-paths to merge it as it is", x.view.Alias, x.task.ID)}
}
