package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"cw/internal/cw"
)

// The words in a report for why watching ended.
const (
	exitCommitted   = "committed"        // idle, all work is on the branch
	exitNoChanges   = "noChanges"        // idle, the agent says that nothing was to be done
	exitDone        = "done"             // idle, and no branch is expected
	exitNoCommit    = "nothingCommitted" // idle with neither work nor a word about it
	exitUncommitted = "uncommitted"      // idle with changes that are not committed
	exitNotHanded   = "notHandedOver"    // idle, and its work is not, or not known to be, in your repository
	exitCrashed     = "crashed"
	exitStopped     = "stopped"
	exitWaiting     = "waiting" // for answers
	exitParked      = "parked"
	exitTimeout     = "timeout"
	exitDetached    = "detached" // nobody watches any more; the agent works
)

// shownCommits is how many commits a report lists.
const shownCommits = 10

// report is what `run` and `agent attach` print at the end, and with --json.
type report struct {
	Agent        cw.AgentView   `json:"agent"`
	Status       cw.AgentStatus `json:"status"`
	Reason       cw.Reason      `json:"reason,omitempty"`
	ExitReason   string         `json:"exitReason"`
	Branch       string         `json:"branch"`
	BaseBranch   string         `json:"baseBranch"`
	BaseCommit   string         `json:"baseCommit"`
	HeadCommit   string         `json:"headCommit"`
	HandedOver   string         `json:"handedOver,omitempty"` // the ref in your repository
	Commits      int            `json:"commits"`
	FilesChanged int            `json:"filesChanged"`
	Additions    int            `json:"additions"`
	Deletions    int            `json:"deletions"`
	DirtyFiles   int            `json:"dirtyFiles"`
	NoChanges    string         `json:"noChanges,omitempty"`
	Result       string         `json:"result"`
	Error        string         `json:"error,omitempty"`
	Questions    []cw.Question  `json:"questions"`
	CostUSD      float64        `json:"costUsd"`
	Usage        cw.Usage       `json:"usage"`
	DurationMS   int64          `json:"durationMs"` // as long as it was watched
}

func newReport(v cw.AgentView, why string, watched time.Duration) report {
	stat := v.Stat()
	r := report{
		Agent: v, Status: v.Status, Reason: v.Reason, ExitReason: why,
		Branch: v.Branch, BaseBranch: v.BaseBranch, BaseCommit: v.BaseCommit, HeadCommit: v.HeadCommit,
		Commits: v.Commits(), FilesChanged: stat.Files, Additions: stat.Additions, Deletions: stat.Deletions,
		DirtyFiles: v.Dirty(), NoChanges: v.NoChanges, Result: v.Result, Error: v.Error,
		Questions: v.PendingQuestions, CostUSD: v.CostUSD, Usage: v.Usage, DurationMS: watched.Milliseconds(),
	}
	if r.Questions == nil {
		r.Questions = []cw.Question{}
	}
	if len(v.Projects) == 1 {
		r.HandedOver = v.Projects[0].HandedOver
	}
	return r
}

// judge says where an agent leaves its caller that is at rest, or of which a
// call waits for people: a word for programs,
// and the error that decides the exit code, nil when the work is there.
func judge(v cw.AgentView) (why string, verdict *cw.Error) {
	name := v.Alias
	switch v.Status {
	case cw.StatusIdle:
		return judgeIdle(v)
	case cw.StatusWaitingForInput:
		if len(v.PendingQuestions) == 0 {
			return exitWaiting, cw.Errorf(cw.CodeWaiting, "%s waits, and none of its questions is open any more", name).
				WithHint("cw agent resume %s lets it go on; cw status tells whether the disk has space", name)
		}
		return exitWaiting, cw.Errorf(cw.CodeWaiting, "%s waits for %s", name, count(len(v.PendingQuestions), "answer")).
			WithHint("cw agent answer %s; then it goes on", name)
	case cw.StatusParked:
		return exitParked, cw.Errorf(cw.CodeTimeout, "%s is parked%s: every account is at its limit", name, until(v.RetryAt)).
			WithHint("it goes on by itself; watch it with cw agent attach %s", name)
	case cw.StatusCrashed:
		return exitCrashed, crashed(v, v.Error, "")
	case cw.StatusStopped:
		return exitStopped, cw.Errorf(cw.CodeFailed, "%s was stopped%s", name, bracketed(string(v.Reason))).
			WithHint("cw agent diff %[1]s shows how far it came, cw agent resume %[1]s lets it go on", name)
	}
	if callWaits(v) {
		return exitWaiting, cw.Errorf(cw.CodeWaiting, "%s runs, and waits for %s", name, count(len(v.PendingQuestions), "answer")).
			WithHint("cw agent answer %[1]s; then it goes on by itself, watch it with cw agent attach %[1]s", name)
	}
	return exitDetached, nil // it works: nobody waits for its end
}

// crashed is the verdict on an agent that crashed: because of what, "" where that was
// said before, and what to do. logIn is the command that mends refused credentials.
func crashed(v cw.AgentView, because, logIn string) *cw.Error {
	why := string(v.Reason)
	if first, _, _ := strings.Cut(strings.TrimSpace(clean(because)), "\n"); first != "" {
		why += ": " + first
	}
	hint := crashHint(v)
	if logIn != "" {
		hint = fmt.Sprintf("%s; then cw agent resume %s", logIn, v.Alias)
	}
	return cw.Errorf(cw.CodeFailed, "%s crashed (%s)", v.Alias, why).WithHint("%s", hint)
}

// unsaid is the report without what was said before: warnings of the start, and a result
// that the error repeats.
func (r report) unsaid(warnings []string) report {
	r.Agent.Warnings = slices.DeleteFunc(slices.Clone(r.Agent.Warnings), func(w string) bool { return slices.Contains(warnings, w) })
	if r.Agent.Result != "" && strings.Contains(r.Agent.Error, r.Agent.Result) {
		r.Agent.Result = ""
	}
	return r
}

// crashHint is what to do about a crash. The log of an agent helps where it
// wrote one: not when its CLI never began.
func crashHint(v cw.AgentView) string {
	switch v.Reason {
	case cw.ReasonAuth:
		return fmt.Sprintf("log in to %s again, or give it a key that is good, then cw agent resume %s", v.Provider, v.Alias)
	case cw.ReasonUsageLimit:
		if v.RetryAt == nil {
			return fmt.Sprintf("cw agent resume %s when the limit is over, or start the work anew with another --provider", v.Alias)
		}
		return fmt.Sprintf("cw agent resume %s after %s, or start the work anew with another --provider", v.Alias, clock(*v.RetryAt))
	case cw.ReasonStartFailed:
		return fmt.Sprintf("cw agent show %s has all that %s said; cw doctor looks at the rest", v.Alias, v.Provider)
	default:
		return fmt.Sprintf("cw agent logs %[1]s shows what it did, cw agent resume %[1]s lets it go on", v.Alias)
	}
}

func judgeIdle(v cw.AgentView) (why string, verdict *cw.Error) {
	switch {
	case v.Mode != cw.ModeExecute || len(v.Projects) == 0:
		return exitDone, nil
	case v.Dirty() > 0:
		return exitUncommitted, cw.Errorf(cw.CodeFailed, "%s left %s that %s not committed", v.Alias, count(v.Dirty(), "file"), plural(v.Dirty(), "is", "are")).
			WithHint("cw agent diff %[1]s shows what; it is kept in %[2]s; cw agent resume %[1]s \"commit your work\"", v.Alias, v.AgentCwd)
	case len(notHandedOver(v)) > 0:
		return exitNotHanded, cw.Errorf(cw.CodeFailed, "%s committed its work, but the branch is not in your repository", v.Alias).
			WithHint("the work is kept in %s", notHandedOver(v)[0].Path)
	case v.Commits() > 0:
		return exitCommitted, nil
	case unseen(v):
		return exitNotHanded, cw.Errorf(cw.CodeFailed, "%s ended, but its worktree could not be looked at, so it is not known what it committed", v.Alias).
			WithHint("what it did is kept in %s", v.AgentCwd)
	case v.NoChanges != "":
		return exitNoChanges, nil
	}
	return exitNoCommit, cw.Errorf(cw.CodeFailed, "%s ended without a commit, and did not say that none was needed", v.Alias).
		WithHint("cw agent logs %[1]s shows what it did, cw agent resume %[1]s \"...\" says what is missing", v.Alias)
}

// notHandedOver are the worktrees whose commits are in no repository of yours:
// it was moved away, or cw's own copy is damaged.
func notHandedOver(v cw.AgentView) []cw.AgentWorktree {
	var out []cw.AgentWorktree
	for _, w := range v.Projects {
		if w.Commits > 0 && w.HandedOver == "" {
			out = append(out, w)
		}
	}
	return out
}

// unseen tells whether a worktree could not be looked at. The agent says so in
// a warning only: its figures are then empty, which does not mean no work.
func unseen(v cw.AgentView) bool {
	return slices.ContainsFunc(v.Warnings, func(w string) bool { return strings.Contains(w, "could not be looked at") })
}

// keptSteps look at work that is only in its worktree.
func keptSteps(v cw.AgentView) []string {
	trees := notHandedOver(v)
	if len(trees) == 0 {
		trees = v.Projects
	}
	var steps []string
	for _, w := range trees {
		steps = append(steps, fmt.Sprintf("git -C %s log %s..", cw.ShellWord(w.Path), shortCommit(w.BaseCommit)))
	}
	return append(steps, "cw agent show "+v.Alias)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// printReport writes the report for people to standard output.
func (a *app) printReport(r report, logIn string, commits []cw.Commit, gitDir string) {
	p := a.paint(a.outTTY)
	v := r.Agent
	head := fmt.Sprintf("%s  %s", p.bold(v.Alias), p.status(v.Status))
	if v.Reason != "" {
		head += bracketed(string(v.Reason))
	}
	a.printf("\n%s  after %s\n", head, elapsed(time.Duration(r.DurationMS)*time.Millisecond))
	facts(a.out, "  ", [][2]string{
		{"result", clean(v.Result)},
		{"nothing to do", clean(v.NoChanges)},
		{"error", clean(v.Error)},
		{"at its limit", strings.TrimSpace(until(v.RetryAt))},
		{"branch", branchFact(r)},
		{"commits", commitFact(r.Commits, commits)},
		{"changes", statFact(v.Stat())},
		{"not committed", dirtyFact(v)},
		{"cost", costFact(v.CostUSD, v.Usage)},
		{"warnings", clean(strings.Join(v.Warnings, "\n"))},
	})
	printQuestions(a.out, p, v.PendingQuestions)
	next := nextSteps(r, logIn, gitDir)
	if len(next) == 0 {
		return
	}
	a.printf("\nnext:\n")
	for _, line := range next {
		a.printf("  %s\n", line)
	}
}

func branchFact(r report) string {
	if r.Branch == "" {
		return ""
	}
	text := r.Branch
	switch {
	case r.Commits > 0 && r.HandedOver == "":
		text += " (not in your repository)"
	case r.HandedOver != "" && shortRef(r.HandedOver) != r.Branch:
		text += ", in your repository as " + shortRef(r.HandedOver)
	}
	return text + ", from " + baseName(r)
}

func baseName(r report) string {
	if r.BaseBranch == "" {
		return shortCommit(r.BaseCommit)
	}
	return r.BaseBranch + " at " + shortCommit(r.BaseCommit)
}

// shortRef is a ref as git's commands take it.
func shortRef(ref string) string {
	for _, prefix := range []string{"refs/heads/", "refs/remotes/", "refs/"} {
		if short, ok := strings.CutPrefix(ref, prefix); ok {
			return short
		}
	}
	return ref
}

func commitFact(n int, commits []cw.Commit) string {
	if n == 0 {
		return ""
	}
	text := fmt.Sprint(n)
	for i, c := range commits {
		if i == shownCommits {
			return text + fmt.Sprintf("\n… and %d more", len(commits)-i)
		}
		text += "\n" + shortCommit(c.ID) + " " + oneLine(c.Subject)
	}
	return text
}

func statFact(s cw.Stat) string {
	if s == (cw.Stat{}) {
		return ""
	}
	return fmt.Sprintf("%s, +%d -%d", count(s.Files, "file"), s.Additions, s.Deletions)
}

func dirtyFact(v cw.AgentView) string {
	if v.Dirty() == 0 {
		return ""
	}
	return count(v.Dirty(), "file") + ", kept in " + v.AgentCwd
}

func costFact(cost float64, u cw.Usage) string {
	var parts []string
	if cost > 0 {
		parts = append(parts, dollars(cost))
	}
	if in := u.InputTokens + u.CacheReadTokens + u.CacheWriteTokens; in+u.OutputTokens > 0 {
		parts = append(parts, fmt.Sprintf("%s tokens in, %s out", thousands(in), thousands(u.OutputTokens)))
	}
	return strings.Join(parts, ", ")
}

// printQuestions shows what an agent asks, with the ids that answers name.
func printQuestions(w io.Writer, p paint, questions []cw.Question) {
	for i, q := range questions {
		printQuestion(w, p, fmt.Sprintf("question %d of %d, %s", i+1, len(questions), q.ID), q)
	}
}

// nextSteps are the commands that a person is likely to type now.
func nextSteps(r report, logIn, gitDir string) []string {
	name := r.Agent.Alias
	var steps []string
	switch r.ExitReason {
	case exitCrashed:
		steps = []string{"cw agent logs " + name, "cw agent show " + name, "cw agent resume " + name}
		if r.Reason == cw.ReasonStartFailed { // it wrote no log
			steps = []string{"cw agent show " + name, "cw doctor", "cw agent resume " + name}
		}
		if logIn != "" {
			steps = []string{logIn, "cw agent resume " + name, "cw agent logs " + name}
		}
	case exitWaiting:
		steps = []string{"cw agent answer " + name}
		if len(r.Questions) == 0 {
			steps = []string{"cw agent resume " + name}
		}
		for _, q := range r.Questions {
			steps = append(steps, answerCommand(q))
		}
	case exitNoCommit:
		steps = []string{"cw agent logs " + name, "cw agent resume " + name + ` "..."`}
	case exitUncommitted, exitStopped:
		steps = []string{"cw agent diff " + name, "cw agent logs " + name, "cw agent resume " + name}
	case exitNotHanded:
		steps = keptSteps(r.Agent)
	case exitParked:
		steps = []string{"cw agent attach " + name, "cw agent stop " + name}
	case exitCommitted, exitDone:
		if r.Commits > 0 && r.HandedOver != "" {
			steps = mergeSteps(r, gitDir)
		}
	}
	return steps
}

// mergeSteps look at the branch and take it over.
func mergeSteps(r report, gitDir string) []string {
	git := "git"
	if gitDir != "" {
		git += " -C " + cw.ShellWord(gitDir)
	}
	if len(r.Agent.Projects) == 1 && r.Agent.Projects[0].FetchFrom != "" { // in a checkout of the user's, wherever it is
		return []string{"cw agent diff " + r.Agent.Alias, fetchStep(r.Agent.Projects[0])}
	}
	base, branch := r.BaseBranch, shortRef(r.HandedOver)
	if base == "" {
		base = shortCommit(r.BaseCommit)
	}
	return []string{
		fmt.Sprintf("%s log %s..%s", git, cw.ShellWord(base), cw.ShellWord(branch)),
		"cw agent diff " + r.Agent.Alias,
		fmt.Sprintf("%s merge %s", git, cw.ShellWord(branch)),
	}
}

// header says what is being watched.
func (a *app) header(v cw.AgentView) {
	p := a.paint(a.errTTY)
	line := fmt.Sprintf("%s  %s", p.bold(v.Alias), oneLine(v.Provider))
	if v.Branch != "" {
		line += fmt.Sprintf("  %s", v.Branch)
	}
	fmt.Fprintln(a.err, line)
	for _, w := range v.Warnings {
		fmt.Fprintln(a.err, p.yellow("warning: ")+oneLine(w))
	}
}
