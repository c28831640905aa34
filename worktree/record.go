package worktree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cw/internal/cw"
)

// record is what we know of one worktree of ours. It is written before the
// worktree is made and again when it is whole, so that after a kill everything
// that may be half-made is known by name.
type record struct {
	AgentID  cw.AgentID        `json:"agentId"`
	Alias    string            `json:"alias"`
	Path     string            `json:"path"`
	Base     Base              `json:"base"`
	Whole    bool              `json:"whole"`
	Admin    string            `json:"admin,omitempty"`  // name of the admin folder under worktrees/, once whole
	DotGit   string            `json:"dotGit,omitempty"` // content of the worktree's .git, once whole
	Link     string            `json:"link,omitempty"`   // content of the admin folder's gitdir, once whole
	Before   []string          `json:"before,omitempty"` // admin folders that were there before
	Included map[string]string `json:"included,omitempty"`
	Warnings []string          `json:"warnings,omitempty"`

	// Of a worktree that was moved away: where its folder went (noted before it
	// goes), that it is no more, and what HEAD was then.
	Trash   string `json:"trash,omitempty"`
	Removed bool   `json:"removed,omitempty"`
	Branch  string `json:"branch,omitempty"` // full name, "" for a detached HEAD
	Head    string `json:"head,omitempty"`   // commit
	// Again tells that it is being made once more: its branch is not ours to
	// delete when that fails.
	Again bool `json:"again,omitempty"`
	// SetUp tells that commands of the project ran in it before its agent.
	SetUp bool `json:"setUp,omitempty"`
	// Baseline is of the last commands of the project that ran in it.
	Baseline *baseline `json:"baseline,omitempty"`
	// Freed are, of a worktree that was moved away, the branches of the agent's own
	// making that were taken out of the way of other agents.
	Freed []agentTree `json:"freed,omitempty"`
	// Kept is the last commit that was handed over: lost, if it is nowhere.
	Kept string `json:"kept,omitempty"`
}

// freed reads the branches that were taken out of the way of other agents as they
// were, and all other references as ref does.
func (r *record) freed(ref readRef) readRef {
	return func(ctx context.Context, name string) (string, error) {
		if i := slices.IndexFunc(r.Freed, func(t agentTree) bool { return t.Branch == name }); i >= 0 {
			return r.Freed[i].Commit, nil
		}
		return ref(ctx, name)
	}
}

// remember notes what HEAD is before the worktree goes.
func (r *record) remember(look Look) {
	r.Head, r.Branch = look.Head, ""
	if look.Branch != "" {
		r.Branch = fullRef(look.Branch)
	}
}

// fullRef undoes the shortening of a branch's name in a Look.
func fullRef(branch string) string {
	if strings.HasPrefix(branch, "refs/") {
		return branch
	}
	return "refs/heads/" + branch
}

// gitFile is what the gitdir file of its admin folder holds, but for symbolic
// links on the way.
func (r record) gitFile() string { return filepath.Join(r.Path, ".git") + "\n" }

func recordsDir(mirrorDir string) string { return filepath.Join(guardDir(mirrorDir), "agents") }

func recordPath(mirrorDir, alias string) string {
	return filepath.Join(recordsDir(mirrorDir), alias+".json")
}

// readRecord gives nil when there is none.
func readRecord(mirrorDir, alias string) (*record, error) {
	if err := cw.ValidAlias(alias); err != nil {
		return nil, err
	}
	data, err := readSmall(recordPath(mirrorDir, alias))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read record of %s: %w", alias, err)
	}
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("read record of %s: %w", alias, err)
	}
	return &r, nil
}

func (x *mirror) writeRecord(r record) error {
	x.links = nil
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("record of %s: %w", r.Alias, err)
	}
	if err := os.MkdirAll(recordsDir(x.dir), 0o700); err != nil {
		return fmt.Errorf("record of %s: %w", r.Alias, err)
	}
	if err := writeFile(recordPath(x.dir, r.Alias), data); err != nil {
		return fmt.Errorf("record of %s: %w", r.Alias, err)
	}
	return nil
}

func (x *mirror) dropRecord(alias string) error {
	x.links = nil
	err := os.Remove(recordPath(x.dir, alias))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("drop record of %s: %w", alias, err)
	}
	return nil
}

// records gives all of a mirror's.
func records(mirrorDir string) ([]record, error) {
	entries, err := os.ReadDir(recordsDir(mirrorDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list records: %w", err)
	}
	var all []record
	for _, e := range entries {
		alias, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || cw.ValidAlias(alias) != nil {
			continue
		}
		r, err := readRecord(mirrorDir, alias)
		if err != nil {
			return nil, err
		}
		if r != nil {
			all = append(all, *r)
		}
	}
	return all, nil
}

// ownLinks gives, by the name of its admin folder, what gitdir must hold. It
// is remembered until a record changes.
func (x *mirror) ownLinks() (map[string]string, error) {
	if x.links != nil {
		return x.links, nil
	}
	all, err := records(x.dir)
	if err != nil {
		return nil, err
	}
	x.links = map[string]string{}
	for _, r := range all {
		if r.Whole && !r.Removed && r.Admin != "" {
			x.links[r.Admin] = r.Link
		}
	}
	return x.links, nil
}

// noteKept remembers outside of the mirror which commit an agent handed over.
func (x *mirror) noteKept(alias, commit string) error {
	r, err := readRecord(x.dir, alias)
	if err != nil || r == nil || r.Kept == commit {
		return err
	}
	r.Kept = commit
	return x.writeRecord(*r)
}
