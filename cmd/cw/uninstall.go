package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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
	Links    []string       `json:"links"`    // folders elsewhere that entries of the home folder are links to; they stay
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

// leftBranches are what cw left in a repository.
type leftBranches struct {
	Repository string `json:"repository"`
	Branches   int    `json:"branches"` // agent/NAME
	Refs       int    `json:"refs"`     // other references that cw made: refs/remotes/cw, refs/cw
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
home: files that were not committed, commits and stashes that your repository does not
have, removed worktrees that can still be restored. A removal that was interrupted goes
on when it is asked for again.

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
		if err := isRemovable(home, a.env["HOME"]); err != nil {
			return err
		}
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
		Home: string(home), Entries: []leftEntry{}, Others: []string{}, Links: []string{}, Accounts: []string{}, Branches: []leftBranches{},
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
	made := home.Made()
	for _, e := range entries {
		path := filepath.Join(string(home), e.Name())
		if !made || !home.Holds(e.Name()) {
			left.Others = append(left.Others, path)
			continue
		}
		left.Entries = append(left.Entries, leftEntry{Path: path, Bytes: bytesBelow(path)})
		if to, err := filepath.EvalSymlinks(path); err == nil && e.Type()&fs.ModeSymlink != 0 {
			left.Links = append(left.Links, to)
		}
	}
	switch {
	case !made, isRegular(home.Removal()): // what is left of the state says nothing
		return left, nil, nil
	case !isRegular(home.Database()):
		left.Work = append(left.Work, unknownWork(home)...)
		return left, nil, nil
	}
	svc, err = a.connect(ctx)
	if err == nil {
		err = left.ask(ctx, svc, a.refsOf)
	}
	if err != nil && blind {
		a.note("what agents, accounts and projects there are is not known: %s", err)
		if vault, _ := safefile.Read(filepath.Join(home.Secrets(), "vault"), 100); strings.TrimSpace(string(vault)) != "file" {
			a.note("credentials that cw keeps in the system's keyring stay there: look for entries named cw")
		}
		return left, nil, nil
	}
	return left, svc, err
}

// isRegular reports whether there is a regular file.
func isRegular(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// unknownWork names the folders of a home without a database in which work may be.
func unknownWork(home cw.Home) (out []soleWork) {
	for _, dir := range []string{filepath.Dir(home.Worktree("x")), filepath.Dir(home.Workdir("x")), home.Repos(), home.Trash()} {
		if entries, _ := os.ReadDir(dir); len(entries) > 0 {
			out = append(out, soleWork{What: "what is in " + dir + ", since the database is missing"})
		}
	}
	return out
}

// isRemovable refuses a folder that is not cw's alone. CodeRefused.
func isRemovable(home cw.Home, user string) error {
	dir := string(home)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if real, err := filepath.EvalSymlinks(user); err == nil {
		user = real
	}
	rel, err := filepath.Rel(dir, user)
	if filepath.IsAbs(user) && err == nil && filepath.IsLocal(rel) { // user is dir, or in it
		return cw.Errorf(cw.CodeRefused, "CW_HOME is %s, which holds more than cw's files", home).
			WithHint("remove what is cw's there by hand")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || home.Made() {
		return nil //nolint:nilerr // nothing is there; or whoever looked at it has said why
	}
	for _, e := range entries {
		if home.Holds(e.Name()) {
			return cw.Errorf(cw.CodeRefused, "%s is no home of cw: no daemon ever worked there", home).
				WithHint("check CW_HOME; nothing was removed")
		}
	}
	return nil
}

// ask adds what the daemon knows.
func (l *leftovers) ask(ctx context.Context, svc cw.Services, refsOf func(context.Context, string) leftBranches) error {
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
		}
	}
	for _, p := range projects {
		if b := refsOf(ctx, p.Path); !p.Remote() && b.Branches+b.Refs > 0 {
			l.Branches = append(l.Branches, b)
		}
	}
	return nil
}

// refsOf counts what cw left in a repository; one that cannot be read has nothing.
func (a *app) refsOf(ctx context.Context, repository string) leftBranches {
	b := leftBranches{Repository: repository}
	if repository == "" {
		return b
	}
	out, _, code, err := proc.Output(ctx, proc.Command{
		Argv: []string{"git", "--no-optional-locks", "for-each-ref", "--format=%(refname)", "refs/heads/agent/", "refs/remotes/cw/", "refs/cw/"},
		Env:  a.env.without("GIT_").list(), Dir: repository,
	})
	if err != nil || code != 0 {
		return b
	}
	for name := range strings.Lines(string(out)) {
		if strings.HasPrefix(name, "refs/heads/") {
			b.Branches++
		} else {
			b.Refs++
		}
	}
	return b
}

// seen is an agent with what is only in cw's home of its work, by project.
type seen struct {
	cw.AgentView
	Files      int                       // in the folder of an agent without a project
	OnlyHere   map[cw.ProjectID][]string // in worktrees and cw's copies
	Unreadable map[cw.ProjectID]bool     // projects of which that could not be told
}

// lookAt reads the worktrees of an agent, and cw's copies of its commits. What is stored
// dates from the end of its last run, and a person may have changed files since.
func lookAt(ctx context.Context, svc cw.AgentService, v cw.AgentView) seen {
	now := seen{AgentView: v, OnlyHere: map[cw.ProjectID][]string{}, Unreadable: map[cw.ProjectID]bool{}}
	if len(v.Projects) == 0 {
		now.Files = filesBelow(v.AgentCwd)
	}
	for _, p := range v.Projects {
		if p.State == cw.WorktreePlanned || p.Trash != "" || p.KeepRef != "" {
			continue
		}
		diff, err := svc.Diff(ctx, string(v.ID), cw.DiffRequest{Project: string(p.ProjectID), Stat: true, Against: cw.AgainstBase, OnlyHere: true})
		if err != nil {
			now.Unreadable[p.ProjectID] = true
			continue
		}
		now.OnlyHere[p.ProjectID] = diff.OnlyHere
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
	for _, p := range v.Projects {
		if v.Unreadable[p.ProjectID] {
			add(p, "a worktree or commits that cannot be read; for the reason: cw agent diff "+v.Alias)
		}
		for _, what := range v.OnlyHere[p.ProjectID] {
			add(p, what)
		}
		if p.Commits > 0 && p.FetchFrom != "" {
			add(p, count(p.Commits, "commit")+" in cw's clone, unless you pushed")
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
	return removeHome(home)
}

// removeHome removes what is cw's in a home without a daemon, and the folder when nothing
// else is in it. No daemon can be started there meanwhile, nor after an interruption.
func removeHome(home cw.Home) error {
	dir := string(home)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	socket := socketFolder(home)
	if home.Made() {
		if err := os.MkdirAll(home.RunState(), 0o700); err != nil {
			return notRemoved(err)
		}
		lock, err := proc.Lock(home.DaemonLock())
		var held *proc.HeldError
		switch {
		case errors.As(err, &held):
			return cw.Errorf(cw.CodeRefused, "a daemon was started meanwhile").WithHint("repeat cw uninstall --yes")
		case err != nil:
			return notRemoved(err)
		}
		defer func() { _ = lock.Unlock() }() // only its file is closed
		// Until here agents may have been started.
		if err := mayRemove(leftovers{Running: livingRuns(home)}, true); err != nil {
			return err
		}
		if err := os.WriteFile(home.Removal(), []byte("cw uninstall --yes finishes the removal of this folder.\n"), 0o600); err != nil {
			return notRemoved(err)
		}
	}
	entries, err := os.ReadDir(dir) // the daemon may have left others meanwhile
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	others := false
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case !home.Holds(e.Name()):
			others = true
		case e.Name() != filepath.Base(home.Removal()): // that goes last
			if removed := safefile.RemoveAll(path); removed != nil && err == nil {
				err = removed
			}
		}
	}
	if socket != "" {
		_ = os.Remove(filepath.Join(socket, "s")) // the daemon has done so, unless it was killed
		_ = os.Remove(socket)                     // what somebody else put there stays
	}
	if err != nil {
		return notRemoved(err)
	}
	if err := os.Remove(home.Removal()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return notRemoved(err)
	}
	if !others && os.Remove(dir) == nil && dir != string(home) { // a folder that somebody uses meanwhile stays
		_ = os.Remove(string(home)) // the link; where a folder above is one, it is gone already
	}
	return nil
}

// notRemoved is the error about something that stays.
func notRemoved(why error) error {
	return cw.Errorf(cw.CodeFailed, "something could not be removed").
		WithHint("remove it by hand, or mend its permissions and repeat cw uninstall --yes").Because(why)
}

// socketFolder is the private folder that the daemon made for its socket where the home's
// path is too long, "" for none.
func socketFolder(home cw.Home) string {
	text, err := safefile.Read(home.SocketFile(), 4096)
	dir := filepath.Dir(strings.TrimSpace(string(text)))
	if err != nil || !strings.HasPrefix(filepath.Base(dir), "cw-"+strconv.Itoa(os.Geteuid())+"-") {
		return ""
	}
	return dir
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
		repo := cw.ShellWord(b.Repository)
		if b.Branches > 0 {
			a.note("%s %s of agents: git -C %s branch --list 'agent/*'", repo, plural(b.Branches, "keeps a branch", fmt.Sprintf("keeps %d branches", b.Branches)), repo)
		}
		if b.Refs > 0 {
			a.note("%s keeps %s of cw's: git -C %s for-each-ref refs/remotes/cw/ refs/cw/", repo, count(b.Refs, "reference"), repo)
		}
	}
	for _, path := range left.Links {
		a.note("%s is outside of the home, and stays: a link leads there", cw.ShellWord(path))
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
