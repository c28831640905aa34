package mergelab

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

const (
	// patience bounds every wait; on a loaded machine things are slow.
	patience = 100 * time.Second
	pause    = 60 * time.Millisecond
	// slug is that of the initiative of a house, and branch its branch.
	slug, branch = "line", "cw/line"
)

// house is a lab with one initiative in its repository.
type house struct {
	*lab.Lab
	tasks map[string]cw.TaskID // by name
	mend  func()               // brings the daemon back where it may be killed
}

// newHouse makes a lab whose repository holds the files, beside its README. The
// daemon is not started.
func newHouse(t *testing.T, files map[string]string) *house {
	t.Helper()
	h := &house{Lab: lab.New(t, binary), tasks: map[string]cw.TaskID{}, mend: func() {}}
	h.Env = []string{
		"CW_CONFIG_DISPATCH_MACHINE=8", "CW_CONFIG_DISPATCH_KEEPFREE=1MiB", fakecli.KeyVariable + "=key",
	}
	if len(files) > 0 {
		h.commit(h.Repo, "Furnish the shop", files)
	}
	return h
}

// commit writes files into a checkout and commits them.
func (h *house) commit(dir, message string, files map[string]string) string {
	h.T.Helper()
	for name, content := range files {
		h.need(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		h.need(os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
		lab.Git(h.T, dir, "add", "--", name)
	}
	lab.Git(h.T, dir, "-c", "user.name=Shop Keeper", "-c", "user.email=keeper@shop.invalid", "commit", "-q", "-m", message)
	return lab.Git(h.T, dir, "rev-parse", "HEAD")
}

func (h *house) need(err error) {
	h.T.Helper()
	if err != nil {
		h.T.Fatalf("%v\n%s", err, h.DaemonLog())
	}
}

// open starts the daemon and makes the initiative.
func (h *house) open() {
	h.T.Helper()
	h.Start()
	_, err := h.Client().AddProject(h.T.Context(), cw.ProjectRequest{Path: h.Repo})
	h.need(err)
	h.initiative("line")
}

// initiative makes an initiative in the lab's repository, whose tasks the
// scripted CLI does.
func (h *house) initiative(name string) cw.Initiative {
	h.T.Helper()
	ctx := h.T.Context()
	in, err := h.Client().CreateInitiative(ctx, cw.CreateInitiativeRequest{Start: true, Name: name, Projects: []string{h.Repo}})
	h.need(err)
	provider := "fake"
	in, err = h.Client().EditInitiative(ctx, in.Slug, cw.InitiativeEdit{Work: &cw.WorkEdit{Provider: &provider}})
	h.need(err)
	return in
}

// phase makes an approved phase after others.
func (h *house) phase(initiative, name string, after ...cw.PhaseID) cw.PhaseID {
	h.T.Helper()
	ph, err := h.Client().CreatePhase(h.T.Context(), cw.CreatePhaseRequest{Initiative: initiative, Name: name, DependsOn: after})
	h.need(err)
	approved := cw.PhaseApproved
	_, err = h.Client().EditPhase(h.T.Context(), ph.ID, cw.PhaseEdit{Status: &approved})
	h.need(err)
	return ph.ID
}

// job is a task and what its agent does.
type job struct {
	name  string
	kind  cw.TaskType // "": auto
	paths []string
	after []string // names of tasks
	asks  []cw.TaskQuestion
	does  fakecli.Script
}

// task makes the task of a job.
func (h *house) task(phase cw.PhaseID, j job) cw.TaskID {
	h.T.Helper()
	req := cw.CreateTaskRequest{PhaseID: phase, Name: j.name, Type: j.kind, Paths: j.paths, Questions: j.asks}
	if j.kind == "" || j.kind == cw.TaskCheckpointVerify {
		j.does.Book = h.Books
		req.Body = j.does.Goal()
	}
	for _, name := range j.after {
		req.DependsOn = append(req.DependsOn, h.tasks[name])
	}
	t, err := h.Client().CreateTask(h.T.Context(), req)
	h.need(err)
	h.tasks[j.name] = t.ID
	return t.ID
}

// work makes a phase with one task for each job.
func (h *house) work(jobs ...job) {
	h.T.Helper()
	phase := h.phase(slug, "Work")
	for _, j := range jobs {
		h.task(phase, j)
	}
}

// trust trusts the cw.yaml of a ref from the command line.
func (h *house) trust(args ...string) {
	h.T.Helper()
	out, errOut, code := h.Run(h.Repo, append([]string{"project", "trust", h.Repo, "--yes"}, args...)...)
	if code != 0 {
		h.T.Fatalf("cw project trust %v: exit code %d\n%s%s", args, code, out, errOut)
	}
}

// until waits until something holds. The daemon may die meanwhile.
func (h *house) until(what string, holds func() bool) {
	h.T.Helper()
	h.within(patience, what, holds)
}

// within is until with another bound, for what is many waits in one.
func (h *house) within(bound time.Duration, what string, holds func() bool) {
	h.T.Helper()
	for end := time.Now().Add(bound); ; time.Sleep(pause) {
		h.mend()
		if holds() {
			return
		}
		if time.Now().After(end) {
			h.T.Fatalf("waited in vain: %s\n%s\n%s", what, h.standings(), h.DaemonLog())
		}
	}
}

// standings tells where everything is.
func (h *house) standings() string {
	out, errOut, _ := h.Run(h.Repo, "dispatch", "status")
	return out + errOut
}

// taskIs waits until a task has a status.
func (h *house) taskIs(name string, status cw.TaskStatus) cw.Task {
	h.T.Helper()
	var task cw.Task
	h.until(fmt.Sprintf("the task %s is %s", name, status), func() bool {
		got, err := h.Client().Task(h.T.Context(), h.tasks[name])
		task = got
		return err == nil && got.Status == status
	})
	return task
}

// mergeOf gives the newest merge of a task.
func (h *house) mergeOf(name string) (cw.Merge, bool) {
	all, err := h.Client().Merges(h.T.Context(), slug)
	if err != nil {
		return cw.Merge{}, false
	}
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].TaskID == h.tasks[name] {
			return all[i], true
		}
	}
	return cw.Merge{}, false
}

// mergeIs waits until the merge of a task is as wanted.
func (h *house) mergeIs(name, what string, want func(cw.Merge) bool) cw.Merge {
	h.T.Helper()
	var m cw.Merge
	h.until(fmt.Sprintf("the merge of %s %s", name, what), func() bool {
		var there bool
		m, there = h.mergeOf(name)
		return there && want(m)
	})
	return m
}

// held waits until something holds a merge up, and gives what.
func (h *house) held(name string, parts ...string) cw.Merge {
	h.T.Helper()
	return h.mergeIs(name, "waits for "+strings.Join(parts, ", "), func(m cw.Merge) bool { return hasAll(m.Wait, parts) })
}

func hasAll(text string, parts []string) bool {
	for _, p := range parts {
		if !strings.Contains(text, p) {
			return false
		}
	}
	return true
}

// wait gives the reason why a task waits, nil when it does not.
func (h *house) wait(name string) *cw.WaitReason {
	st, err := h.Client().Dispatch(h.T.Context(), "")
	if err != nil {
		return nil
	}
	for _, t := range st.Waiting {
		if t.ID == h.tasks[name] {
			return t.Wait
		}
	}
	return nil
}

// waits waits until a task waits for a reason.
func (h *house) waits(name string, code cw.WaitCode, parts ...string) {
	h.T.Helper()
	h.until(fmt.Sprintf("the task %s waits: %s %v", name, code, parts), func() bool {
		r := h.wait(name)
		return r != nil && r.Code == code && hasAll(r.Text+" "+r.Hint, parts)
	})
}

// mirror is cw's own copy of the repository.
func (h *house) mirror() string {
	h.T.Helper()
	all, _ := filepath.Glob(filepath.Join(h.Home.Repos(), "*.git")) // the pattern is well formed
	if len(all) != 1 {
		h.T.Fatalf("there are %d mirrors", len(all))
	}
	return all[0]
}

// inMirror runs git in cw's own copy.
func (h *house) inMirror(args ...string) string {
	h.T.Helper()
	return lab.Git(h.T, h.mirror(), args...)
}

// belongings is what is the user's in the repository: every ref but those by
// which work comes in, what is checked out, and the configuration.
func (h *house) belongings() map[string]string {
	h.T.Helper()
	out := map[string]string{
		"HEAD":   lab.Git(h.T, h.Repo, "-c", "alias.where=!cat .git/HEAD", "where"),
		"status": lab.Git(h.T, h.Repo, "status", "--porcelain", "--ignored"),
		"config": lab.Git(h.T, h.Repo, "config", "--local", "--list"),
		"trees":  lab.Git(h.T, h.Repo, "worktree", "list"),
		"stash":  lab.Git(h.T, h.Repo, "stash", "list"),
	}
	for line := range strings.Lines(lab.Git(h.T, h.Repo, "for-each-ref", "--format=%(refname) %(objectname)")) {
		ref, at, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.HasPrefix(ref, "refs/heads/agent/") && !strings.HasPrefix(ref, "refs/remotes/cw/") {
			out[ref] = at
		}
	}
	hooks, _ := filepath.Glob(filepath.Join(h.Repo, ".git", "hooks", "*")) // the pattern is well formed
	out["hooks"] = strings.Join(hooks, " ")
	return out
}

// same compares what is the user's with what was.
func (h *house) same(before map[string]string) {
	h.T.Helper()
	now := h.belongings()
	for name, was := range before {
		if now[name] != was {
			h.T.Errorf("the user's %s was\n%s\nand is\n%s", name, was, now[name])
		}
	}
	for name, is := range now {
		if _, was := before[name]; !was {
			h.T.Errorf("the user's repository has %s (%s) now", name, is)
		}
	}
}

// tidy waits until no worktree is left, in folders and for git, and looks that
// both repositories are whole.
func (h *house) tidy() {
	h.T.Helper()
	left := ""
	for end := time.Now().Add(tidyPatience); ; time.Sleep(pause) {
		left = h.worktrees()
		if left == "" {
			break
		}
		if time.Now().After(end) {
			h.T.Errorf("worktrees are left:\n%s\n%s\n%s", left, h.owners(left), h.DaemonLog())
			break
		}
	}
	for _, dir := range []string{h.mirror(), h.Repo} {
		for line := range strings.Lines(lab.Git(h.T, dir, "fsck", "--no-dangling", "--no-progress")) {
			if !strings.HasPrefix(line, "notice: HEAD points to an unborn branch") { // as that of cw's own copy does
				h.T.Errorf("git fsck in %s: %s", dir, line)
			}
		}
	}
}

// owners tells of the agents whose worktrees are left.
func (h *house) owners(left string) string {
	agents, err := cw.AllAgents(h.T.Context(), h.Client(), cw.AgentFilter{})
	h.need(err)
	var out []string
	for _, a := range agents {
		if strings.Contains(left, "/"+a.Alias) {
			out = append(out, fmt.Sprintf("%s does %s, is %s %s, settling %v, worktree %s, %d runs, %d commits, %d dirty", a.Alias, a.TaskID, a.Status, a.Reason, a.Settling, a.WorktreeState, len(a.Runs), a.Commits(), a.Dirty()))
		}
	}
	for name, id := range h.tasks {
		out = append(out, fmt.Sprintf("%s is %s", id, name))
	}
	return strings.Join(out, "\n")
}

// tidyPatience bounds the wait for the last clean-up.
const tidyPatience = 2 * time.Minute

// worktrees names every worktree that is there.
func (h *house) worktrees() string {
	var out []string
	for line := range strings.Lines(h.inMirror("worktree", "list", "--porcelain")) {
		path, ok := strings.CutPrefix(strings.TrimSpace(line), "worktree ")
		if !ok || path == h.mirror() {
			continue
		}
		if _, err := os.Stat(path); err == nil || strings.HasPrefix(path, h.Home.Checks()) { // else it is in the trash, and can be brought back
			out = append(out, "git: "+path)
		}
	}
	for _, pattern := range []string{filepath.Join(h.Home.Checks(), "*"), filepath.Join(filepath.Dir(h.Home.Worktree("x")), "*")} {
		found, _ := filepath.Glob(pattern) // the pattern is well formed
		out = append(out, found...)
	}
	return strings.Join(out, "\n")
}
