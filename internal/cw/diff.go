package cw

import (
	"path"
	"strings"
	"time"
)

// Limits of the paths of a DiffRequest.
const (
	DiffPathsMax   = 100
	DiffPathLenMax = 4096 // bytes of one of them
)

// DiffSide says what a difference is taken from.
type DiffSide string

// What work is compared with: always with where it parted from that.
const (
	AgainstBase DiffSide = "base" // the commit that it began from
	AgainstHead DiffSide = "head" // the branch that it goes to, as it is now
)

// DiffSides lists all sides.
func DiffSides() []DiffSide { return []DiffSide{AgainstBase, AgainstHead} }

// DiffRequest asks for what an agent, the work on a task or an initiative
// changed.
type DiffRequest struct {
	Project string `json:"project,omitempty"` // needed when there are several
	Stat    bool   `json:"stat,omitempty"`    // only the summary
	// OnlyHere asks also what of an agent's work is in its worktree and in cw's copy of
	// the repository alone.
	OnlyHere bool `json:"onlyHere,omitempty"`
	// Against is base or head; "": the base, of a task the commit that its work was
	// merged with, once there is one.
	Against DiffSide `json:"against,omitempty"`
	// Paths are files and folders from the root of the repository, byte for byte:
	// nothing in them is a pattern. None: everything.
	Paths []string `json:"paths,omitempty"`
}

// Check refuses a side that is none, and paths that can name nothing in a
// repository. CodeInvalid.
func (r DiffRequest) Check() error {
	if r.Against != "" {
		if err := oneOf("side of a difference", r.Against, DiffSides()); err != nil {
			return err
		}
	}
	if len(r.Paths) > DiffPathsMax {
		return Errorf(CodeInvalid, "%d paths are named, at most %d are taken", len(r.Paths), DiffPathsMax).WithHint("name the folders that they are in")
	}
	for _, p := range r.Paths {
		switch clean := path.Clean(p); {
		case p == "":
			return Errorf(CodeInvalid, "a path is empty").WithHint("leave it out for everything")
		case len(p) > DiffPathLenMax:
			return Errorf(CodeInvalid, "the path %.60q… has %d bytes, at most %d are taken", p, len(p), DiffPathLenMax)
		case strings.ContainsRune(p, 0):
			return Errorf(CodeInvalid, "the path %.60q holds a zero byte", p)
		case strings.HasPrefix(p, "/"), clean == "..", strings.HasPrefix(clean, "../"):
			return Errorf(CodeInvalid, "the path %.60q leads out of the repository", p).WithHint("give it from the root of the repository, like prices/rule.go")
		}
	}
	return nil
}

// Only gives the paths as git writes them; none when one of them is the whole
// repository.
func (r DiffRequest) Only() []string {
	var out []string
	for _, p := range r.Paths {
		clean := path.Clean(p)
		if clean == "." {
			return nil
		}
		out = append(out, clean)
	}
	return out
}

// Diff is what an agent, the work on a task or an initiative changed since it
// parted from something: commits, and work not committed. With paths it is about
// these alone.
type Diff struct {
	Project     string       `json:"project" doc:"name of the project"`
	Branch      string       `json:"branch" doc:"the branch that was compared"`
	BaseCommit  string       `json:"baseCommit" doc:"the commit it is compared with: where it began, or parted from what it was to be compared with"`
	HeadCommit  string       `json:"headCommit" doc:"its last commit"`
	Stat        Stat         `json:"stat" doc:"size of the committed difference"`
	Files       []FileChange `json:"files" doc:"size of the committed difference of each file, in the order of their paths"`
	Commits     []Commit     `json:"commits" doc:"commits since the base, newest first"`
	Patch       string       `json:"patch,omitempty" doc:"of the commits"`
	Uncommitted []string     `json:"uncommitted" doc:"paths of files not committed, untracked ones too"`
	WorkPatch   string       `json:"workPatch,omitempty" doc:"of tracked files not committed"`
	OnlyHere    []string     `json:"onlyHere,omitempty" doc:"what would be lost with the worktree and cw's copy of the repository, when that was asked for"`
}

// FileChange is the size of the change of one file.
type FileChange struct {
	Path      string `json:"path" doc:"its path from the root of the repository; the one it had, when it is gone"`
	From      string `json:"from,omitempty" doc:"the path that it had before; missing when it was not renamed"`
	Additions int    `json:"additions" doc:"lines that came"`
	Deletions int    `json:"deletions" doc:"lines that went"`
	Binary    bool   `json:"binary,omitempty" doc:"it has no lines to be counted"`
}

// Commit is one commit of an agent.
type Commit struct {
	ID      string    `json:"id" doc:"full hash"`
	Subject string    `json:"subject" doc:"first line of its message"`
	Author  string    `json:"author" doc:"name and address"`
	At      time.Time `json:"at" doc:"when it was made"`
}
