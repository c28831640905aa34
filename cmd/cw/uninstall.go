package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cw/internal/cw"
	"cw/internal/proc"
	"cw/internal/safefile"
	"cw/internal/service"
)

type uninstallOptions struct {
	app         *app
	yes         bool
	discardWork bool
}

// leftovers is everything that cw keeps on this machine, as `cw uninstall --json`
// prints it.
type leftovers struct {
	Home     string         `json:"home"`
	Entries  []leftEntry    `json:"entries"`  // in the home folder
	Others   []string       `json:"others"`   // entries of the home folder that are not cw's; they stay
	Service  string         `json:"service"`  // the file that defines it; "" without one
	Accounts []string       `json:"accounts"` // whose credentials cw keeps
	Branches []leftBranches `json:"branches"` // in repositories of the user's; they stay
	Running  []string       `json:"running"`  // agents
	Work     []soleWork     `json:"work"`     // that is nowhere else
	Program  string         `json:"program"`  // it stays
	Removed  bool           `json:"removed"`
}

// leftEntry is a file or folder of cw's.
type leftEntry struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

// leftBranches are branches of agents in a repository.
type leftBranches struct {
	Repository string `json:"repository"`
	Branches   int    `json:"branches"`
}

// soleWork is work of an agent that only cw's home has.
type soleWork struct {
	Agent   string `json:"agent"`
	Project string `json:"project"`
	What    string `json:"what"`
}

func newUninstallCmd(a *app, runF func(context.Context, *uninstallOptions) error) *cobra.Command {
	opts := &uninstallOptions{app: a}
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "List what cw keeps on this machine, or remove it",
		Long: `List everything that cw keeps on this machine: its home with databases, output and
worktrees, the service, credentials of accounts. With --yes it is removed, and the
daemon ends. It is refused while agents run, and while work is nowhere but in cw's
home: files that were not committed, commits that your repository does not have,
removed worktrees that can still be restored.

Your repositories stay as they are, with the branches that agents left there; so
does the program itself. What else lies in the home folder stays too.`,
		Example: "cw uninstall\ncw agent stop --all && cw uninstall --yes",
		Annotations: exits(
			"0  it is listed; with --yes: it is removed",
			"1  something could not be removed",
			"4  agents run, or work would be lost",
		),
		Args: noArgs,
		RunE: start(a, runF, uninstallRun, opts),
	}
	cmd.Flags().BoolVar(&opts.yes, "yes", false, "remove it all")
	cmd.Flags().BoolVar(&opts.discardWork, "discard-work", false, "with --yes: also remove work that is nowhere else")
	return cmd
}

func uninstallRun(ctx context.Context, o *uninstallOptions) error {
	a := o.app
	home, err := a.home()
	if err != nil {
		return err
	}
	if a.inside(home) {
		return cw.Errorf(cw.CodeRefused, "an agent cannot uninstall cw").WithHint("a person does, outside of the run")
	}
	if o.discardWork && !o.yes {
		return cw.Errorf(cw.CodeInvalid, "--discard-work is only for --yes").WithHint("cw uninstall lists what would be removed")
	}
	left, svc, err := a.observeLeftovers(ctx, home, o.yes && o.discardWork)
	if err != nil {
		return err
	}
	if o.yes {
		if err := mayRemove(left, o.discardWork); err != nil {
			return err
		}
		if err := a.removeLeftovers(ctx, home, left, svc); err != nil {
			return err
		}
		left.Removed = true
	}
	if a.json {
		return a.printJSON(left)
	}
	a.printLeftovers(left)
	return nil
}

// observeLeftovers looks at everything that is there. Without databases no daemon is
// started, and svc is nil; so it is with blind, when none can be started.
func (a *app) observeLeftovers(ctx context.Context, home cw.Home, blind bool) (left leftovers, svc cw.Services, err error) {
	left = leftovers{
		Home: string(home), Entries: []leftEntry{}, Others: []string{}, Accounts: []string{}, Branches: []leftBranches{},
		Running: livingRuns(home), Work: []soleWork{},
	}
	if left.Program, err = os.Executable(); err != nil {
		return left, nil, fmt.Errorf("find this program: %w", err)
	}
	if s, err := a.aService(ctx, service.Status); err == nil && s.Installed && !s.Foreign {
		left.Service = s.File
	}
	entries, err := os.ReadDir(string(home))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return left, nil, nil
	case err != nil:
		return left, nil, cw.Errorf(cw.CodeFailed, "%s cannot be read", home).WithHint("check its permissions").Because(err)
	}
	known := false
	for _, e := range entries {
		path := filepath.Join(string(home), e.Name())
		if !home.Holds(e.Name()) {
			left.Others = append(left.Others, path)
			continue
		}
		left.Entries = append(left.Entries, leftEntry{Path: path, Bytes: bytesBelow(path)})
		known = known || strings.HasPrefix(e.Name(), "cw.db")
	}
	if !known {
		return left, nil, nil
	}
	svc, err = a.connect(ctx)
	if err == nil {
		err = left.ask(ctx, svc)
	}
	if err != nil && blind {
		a.note("what agents, accounts and projects there are is not known: %s", err)
		return left, nil, nil
	}
	return left, svc, err
}

// ask adds what the daemon knows.
func (l *leftovers) ask(ctx context.Context, svc cw.Services) error {
	projects, err := cw.SomePages(ctx, 0, svc.Projects)
	if err != nil {
		return err
	}
	accounts, err := svc.Accounts(ctx, "")
	if err != nil {
		return err
	}
	for _, acc := range accounts {
		if acc.Kind != cw.AccountOwn {
			l.Accounts = append(l.Accounts, acc.Provider+"/"+acc.Name)
		}
	}
	handed := map[cw.ProjectID]int{}
	for _, removed := range []bool{false, true} {
		views, err := cw.AllAgents(ctx, svc, cw.AgentFilter{Removed: removed})
		if err != nil {
			return err
		}
		for _, v := range views {
			if v.Status.Alive() && !slices.Contains(l.Running, v.Alias) {
				l.Running = append(l.Running, v.Alias)
			}
			l.Work = append(l.Work, soleWorkOf(lookAt(ctx, svc, v))...)
			for _, p := range v.Projects {
				if p.HandedOver != "" && p.FetchFrom == "" {
					handed[p.ProjectID]++
				}
			}
		}
	}
	for _, p := range projects {
		if n := handed[p.ID]; n > 0 {
			l.Branches = append(l.Branches, leftBranches{Repository: p.Path, Branches: n})
		}
	}
	return nil
}

// seen is an agent with the present state of its worktrees.
type seen struct {
	cw.AgentView
	Files      int      // in the folder of an agent without a project
	Unreadable []string // projects whose worktrees could not be read
}

// lookAt reads the worktrees of an agent. The stored counts date from the end of its
// last run, and a person may have changed files since.
func lookAt(ctx context.Context, svc cw.AgentService, v cw.AgentView) seen {
	now := seen{AgentView: v}
	now.Projects = slices.Clone(v.Projects)
	if len(now.Projects) == 0 {
		now.Files = filesBelow(v.AgentCwd)
	}
	for i := range now.Projects {
		p := &now.Projects[i]
		if p.State != cw.WorktreePresent {
			continue
		}
		diff, err := svc.Diff(ctx, string(v.ID), cw.DiffRequest{Project: string(p.ProjectID), Stat: true, Against: cw.AgainstBase})
		if err != nil {
			now.Unreadable = append(now.Unreadable, p.Project)
			continue
		}
		p.Dirty = len(diff.Uncommitted)
		if diff.HeadCommit != p.HeadCommit {
			p.Commits, p.HandedOver = len(diff.Commits), ""
		}
	}
	return now
}

// soleWorkOf lists what only cw has of an agent's work.
func soleWorkOf(v seen) (out []soleWork) {
	add := func(p cw.AgentWorktree, what string) {
		out = append(out, soleWork{Agent: v.Alias, Project: p.Project, What: what})
	}
	if v.Files > 0 {
		add(cw.AgentWorktree{}, count(v.Files, "file")+" in the folder of an agent without a project")
	}
	for _, name := range v.Unreadable {
		add(cw.AgentWorktree{Project: name}, "a worktree that cannot be read; for the reason: cw agent diff "+v.Alias)
	}
	for _, p := range v.Projects {
		if p.State == cw.WorktreePresent && p.Dirty > 0 {
			add(p, count(p.Dirty, "file")+" not committed")
		}
		if p.Commits > 0 && (p.HandedOver == "" || p.FetchFrom != "") {
			what := count(p.Commits, "commit") + " that your repository does not have"
			if p.FetchFrom != "" {
				what = count(p.Commits, "commit") + " in cw's clone, unless you pushed"
			}
			add(p, what)
		}
		if p.Trash != "" || p.KeepRef != "" {
			add(p, "a removed worktree that can be restored")
		}
	}
	return out
}

// mayRemove decides whether all of it may be removed. CodeRefused.
func mayRemove(left leftovers, discardWork bool) error {
	if n := len(left.Running); n > 0 {
		return cw.Errorf(cw.CodeRefused, "%s%s", count(n, "agent"), plural(n, " runs", " run")).
			WithHint("cw agent stop --all ends %s, then cw uninstall --yes", plural(n, "it", "them"))
	}
	if n := len(left.Work); n > 0 && !discardWork {
		w := left.Work[0]
		return cw.Errorf(cw.CodeRefused, "work is nowhere but in cw's home, of %s: %s", w.Agent, w.What).
			WithHint("cw uninstall lists all of it; take what you need, or cw uninstall --yes --discard-work")
	}
	return nil
}

// removeLeftovers removes it all. What needs the daemon comes first.
func (a *app) removeLeftovers(ctx context.Context, home cw.Home, left leftovers, svc cw.Services) error {
	if svc != nil {
		for _, name := range left.Accounts {
			if _, err := svc.RemoveAccount(ctx, name, false); err != nil && cw.ErrorCode(err) != cw.CodeNotFound {
				return err
			}
		}
	}
	if left.Service != "" {
		if _, err := a.aService(ctx, service.Remove); err != nil {
			return err
		}
	}
	if _, err := a.stopDaemon(ctx); err != nil {
		return err
	}
	// Without a daemon nothing is started any more; until then something may have been.
	if err := mayRemove(leftovers{Running: livingRuns(home)}, true); err != nil {
		return err
	}
	entries, err := os.ReadDir(string(home)) // the daemon may have left others meanwhile
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if !home.Holds(e.Name()) {
			continue
		}
		if removed := safefile.RemoveAll(filepath.Join(string(home), e.Name())); removed != nil && err == nil {
			err = removed
		}
	}
	if err != nil {
		return cw.Errorf(cw.CodeFailed, "something could not be removed").WithHint("remove it by hand, or mend its permissions and repeat cw uninstall --yes").Because(err)
	}
	if len(left.Others) == 0 {
		_ = os.Remove(string(home)) // a folder that somebody uses meanwhile stays
	}
	return nil
}

// livingRuns names the agents, and the runs of commands, whose processes live, by what
// their run directories show: no daemon is asked.
func livingRuns(home cw.Home) []string {
	names := []string{}
	agents, _ := os.ReadDir(home.Runs()) // none: nothing ever ran
	for _, agent := range agents {
		dir := filepath.Join(home.Runs(), agent.Name())
		runs, _ := os.ReadDir(dir)
		if slices.ContainsFunc(runs, func(run fs.DirEntry) bool {
			seen, err := proc.Observe(filepath.Join(dir, run.Name()))
			return err == nil && (seen.State == proc.StateStarting || seen.State == proc.StateRunning)
		}) {
			names = append(names, agent.Name())
		}
	}
	return names
}

func (a *app) printLeftovers(left leftovers) {
	if left.Removed {
		a.printf("cw is removed from this machine\n")
	} else {
		if len(left.Entries) == 0 && left.Service == "" {
			a.printf("cw keeps nothing in %s\n", oneLine(left.Home))
		}
		var rows [][]string
		add := func(kind, bytes, what string) { rows = append(rows, []string{kind, bytes, oneLine(what)}) }
		for _, e := range left.Entries {
			add("home", size(e.Bytes), e.Path)
		}
		if left.Service != "" {
			add("service", "", left.Service)
		}
		for _, name := range left.Accounts {
			add("credentials", "", name)
		}
		for _, alias := range left.Running {
			add("running", "", alias)
		}
		for _, w := range left.Work {
			add("only here", "", strings.Join(slices.DeleteFunc([]string{w.Agent, w.Project, w.What}, func(s string) bool { return s == "" }), ": "))
		}
		if len(rows) > 0 {
			table(a.out, "", []string{"KIND", "SIZE", "WHAT"}, rows)
		}
	}
	for _, b := range left.Branches {
		a.note("%s %s of agents: git -C %s branch --list 'agent/*'", cw.ShellWord(b.Repository), plural(b.Branches, "keeps a branch", fmt.Sprintf("keeps %d branches", b.Branches)), cw.ShellWord(b.Repository))
	}
	for _, path := range left.Others {
		a.note("%s is not cw's, and stays", cw.ShellWord(path))
	}
	a.note("the program stays: rm %s", cw.ShellWord(left.Program))
	if !left.Removed && len(left.Entries) > 0 {
		a.note("cw backup FILE keeps a copy of the databases; cw uninstall --yes removes everything above")
	}
}

// filesBelow counts the files of a folder but for those that cw put there.
func filesBelow(dir string) (n int) {
	if dir == "" {
		return 0
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // what cannot be seen is not counted
		case d.IsDir() && path == filepath.Join(dir, ".cw"):
			return fs.SkipDir
		case !d.IsDir():
			n++
		}
		return nil
	}) // every error was passed over
	return n
}

// bytesBelow is the space that a file or a folder takes, as far as it can be seen.
func bytesBelow(path string) (sum int64) {
	_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what cannot be seen is not counted
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	}) // every error was passed over
	return sum
}
