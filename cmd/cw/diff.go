package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

// diffPathsHelp says of all commands that show differences what PATH is.
const diffPathsHelp = `A PATH bounds it to a file, or to what is in a folder. It is from the root of the
repository and taken literally, without patterns; one that begins with a hyphen
goes behind --.`

// diffFlags say what of a difference is shown.
type diffFlags struct {
	project string
	stat    bool
	against string
	paths   []string
}

// define puts the first argument into ref, which what describes, and the others
// into the paths. head is what --against head means.
func (f *diffFlags) define(cmd *cobra.Command, ref *string, what, head string) {
	fl := cmd.Flags()
	fl.StringVar(&f.project, "project", "", "which `PROJECT`, when there are several")
	fl.BoolVar(&f.stat, "stat", false, "only commits and sizes")
	fl.StringVar(&f.against, "against", "", "compare with where it parted from this `SIDE`: base, where it began, or head, "+head+" as it is now")
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		f.paths = args[min(1, len(args)):]
		return oneArg(ref, what)(cmd, args[:min(1, len(args))])
	}
	hyphensBehind(cmd, "a path", "NAME -- -x.txt")
	_ = cmd.RegisterFlagCompletionFunc("against", cobra.FixedCompletions([]string{string(cw.AgainstBase), string(cw.AgainstHead)}, cobra.ShellCompDirectiveNoFileComp)) // the flag was defined above
}

// show asks for a difference and prints it.
func (f *diffFlags) show(ctx context.Context, a *app, ask func(context.Context, cw.Services, cw.DiffRequest) (cw.Diff, error)) error {
	req := cw.DiffRequest{Stat: f.stat, Against: cw.DiffSide(f.against), Paths: f.paths}
	if err := req.Check(); err != nil { // before a daemon is started for it
		return err
	}
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	req.Project, err = a.projectNamed(ctx, svc, f.project)
	switch {
	case cw.ErrorCode(err) == cw.CodeNotFound: // it is forgotten, perhaps, and whose work it is knows its name
		req.Project = f.project
	case err != nil:
		return err
	}
	d, err := ask(ctx, svc, req)
	if err != nil {
		return err
	}
	return a.printDiff(d, req)
}

// projectNamed finds the name of a project that a flag gives by name, id, path or
// URL; "" stays.
func (a *app) projectNamed(ctx context.Context, svc cw.Services, project string) (string, error) {
	if project == "" {
		return "", nil
	}
	ref, err := a.projectRef(project)
	if err != nil {
		return "", err
	}
	p, err := svc.Project(ctx, ref)
	return p.Name, err
}

// printDiff prints a difference: as a patch, or only its size.
func (a *app) printDiff(d cw.Diff, req cw.DiffRequest) error {
	switch {
	case a.json:
		return a.printJSON(d)
	case req.Stat:
		a.printDiffStat(d)
		return nil
	}
	if d.Patch == "" && d.WorkPatch == "" {
		a.note("no changes%s since %s", ofPaths(req.Paths), shortCommit(d.BaseCommit))
	}
	if err := a.printPatch(d.Patch + d.WorkPatch); err != nil {
		return err
	}
	if len(d.Uncommitted) > 0 {
		a.note("not committed: %s", strings.Join(d.Uncommitted, ", "))
	}
	return nil
}

// ofPaths says about which paths something is; "" for all.
func ofPaths(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	return " of " + cut(oneLine(strings.Join(paths, ", ")), titleMax)
}

func (a *app) printDiffStat(d cw.Diff) {
	p := a.paint(a.outTTY)
	for _, c := range d.Commits {
		a.printf("%s %s%s\n", p.yellow(shortCommit(c.ID)), oneLine(c.Subject), p.dim(bracketed(oneLine(c.Author))))
	}
	a.printf("%s on %s since %s\n", count(len(d.Commits), "commit"), oneLine(d.Branch), shortCommit(d.BaseCommit))
	if stat := statFact(d.Stat); stat != "" {
		a.printf("%s\n", stat)
	}
	for _, f := range d.Files {
		a.printf("  %-12s %s\n", changeFact(f), renamed(f))
	}
	for _, path := range d.Uncommitted {
		a.printf("%s %s\n", p.red("not committed:"), oneLine(path))
	}
}

// changeFact tells how much of a file changed.
func changeFact(f cw.FileChange) string {
	if f.Binary {
		return "binary"
	}
	return fmt.Sprintf("+%d -%d", f.Additions, f.Deletions)
}

// renamed names a file, with the path that it had before.
func renamed(f cw.FileChange) string {
	if f.From == "" {
		return oneLine(f.Path)
	}
	return oneLine(f.From) + " → " + oneLine(f.Path)
}

// printPatch prints a patch exactly, so that it can be applied; on a terminal
// it is made safe and coloured.
func (a *app) printPatch(patch string) error {
	if !a.outTTY || patch == "" {
		_, err := fmt.Fprint(a.out, patch)
		return err
	}
	p := a.paint(true)
	for line := range strings.Lines(clean(patch)) {
		text, _ := strings.CutSuffix(line, "\n")
		if _, err := fmt.Fprintln(a.out, p.diff(text)); err != nil {
			return err
		}
	}
	return nil
}
