package crashlab

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cw/internal/cw"
	"cw/internal/cwtest/lab"
)

// end is where a course left its agent, without anything that differs from one
// course to the next. Whatever was killed on the way, it is what it would have
// been.
type end struct {
	Status    string
	Removed   bool
	Error     bool
	Result    string
	Warnings  []string
	Runs      []string
	Messages  []string
	Questions []string
	Told      []string `json:",omitempty"` // by people, to calls of its runs
	Responded []string `json:",omitempty"` // by other agents, to messages of its runs
	Projects  []string
	Branch    []string // files of the branch in the user's repository
	Worktree  []string // files of the worktree
	Trash     []string // files of the worktree in the trash
	// Of a course with another agent.
	Peer  *end     `json:",omitempty"`
	Talks []string `json:",omitempty"`
}

// end gives the end of the course's agent, and of its peer, if it has one.
func (c *course) end() end {
	c.T.Helper()
	of := map[string]*end{}
	for _, v := range c.views {
		e := c.endOf(v)
		of[v.Alias] = &e
	}
	if of[name] == nil || len(c.views) != 1 && (of[peer] == nil || len(c.views) != 2) {
		c.T.Fatalf("%d agents, want one, or it and its peer", len(c.views))
	}
	e := *of[name]
	for _, q := range c.questions {
		e.Questions = append(e.Questions, fmt.Sprintf("%s %s %q", q.Text, q.Status, q.Answer))
	}
	slices.Sort(e.Questions)
	e.Peer, e.Talks = of[peer], c.conversationsEnd()
	return e
}

func (c *course) endOf(v cw.AgentView) end {
	c.T.Helper()
	e := end{
		Status: fmt.Sprintf("%s %s", v.Status, v.Reason), Removed: v.DeletedAt != nil, Error: v.Error != "",
		Result: v.Result, Warnings: slices.Clone(v.Warnings),
	}
	for _, r := range v.Runs {
		code := "none"
		if r.ExitCode != nil {
			code = fmt.Sprint(*r.ExitCode)
		}
		start := c.books[string(r.ID)].Start()
		e.Runs = append(e.Runs, fmt.Sprintf("%s → %s %s, fresh %v, exit %s, resumed %v, told %v, %d bytes", r.Reason, r.Outcome, r.OutcomeReason,
			r.Fresh, code, start.Resumed, start.Says, c.books[string(r.ID)].Wrote()))
	}
	for _, r := range v.Runs {
		book := c.books[string(r.ID)]
		e.Told, e.Responded = append(e.Told, book.Told()...), append(e.Responded, book.Responded()...)
	}
	e.Messages = c.texts(v)
	for _, p := range v.Projects {
		e.Projects = append(e.Projects, fmt.Sprintf("%s, %d commits, %d dirty, handed over as %q, kept %v", p.State, p.Commits, p.Dirty, p.HandedOver, p.KeepRef != ""))
		if p.HandedOver != "" {
			e.Branch = strings.Split(lab.Git(c.T, c.Repo, "ls-tree", "-r", p.HandedOver), "\n")
		}
		if p.Trash != "" {
			e.Trash = files(p.Trash)
		}
	}
	e.Worktree = files(v.AgentCwd)
	return e
}

// texts are the agent's messages, without their bodies.
func (c *course) texts(v cw.AgentView) []string {
	c.T.Helper()
	page, err := c.Client().Messages(c.T.Context(), string(v.ID), cw.PageQuery{})
	if err != nil {
		c.T.Fatalf("messages: %v", err)
	}
	var out []string
	for _, m := range page.Items {
		of := slices.IndexFunc(v.Runs, func(r cw.Run) bool { return r.ID == m.RunID }) + 1
		out = append(out, fmt.Sprintf("%d: %s of %s, run %d, delivered %v, hidden %v", m.Seq, m.Role, m.Origin, of, m.DeliveredAt != nil, m.HiddenAt != nil))
	}
	return out
}

// files lists the files below a folder with their contents' sums. cw's own and
// git's are left out.
func files(dir string) []string {
	var out []string
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error { // a folder that is not there has no files
		switch base := filepath.Base(name); {
		case err != nil:
			return nil
		case base == ".cw" && d.IsDir():
			return fs.SkipDir
		case base == ".git" || d.IsDir():
			return nil
		}
		data, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name) // it is below
		out = append(out, fmt.Sprintf("%s %x %v", rel, sha256.Sum256(data), err))
		return nil
	})
	return out
}
