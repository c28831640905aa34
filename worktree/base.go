package worktree

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"cw/internal/cw"
)

// baseMax is the greatest length of a base in bytes.
const baseMax = 1024

// Base is the commit an agent starts from.
type Base struct {
	Branch string // short name, "" for a tag, an id or a detached HEAD
	Commit string // full id
}

var fullID = cw.Pattern(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// ResolveBase finds the commit that base names in the user's repository: a
// branch, tag, id or anything else that git understands; "" is HEAD of that
// checkout. For a remote project, checkout is cw's clone, and "" the default
// branch. CodeInvalid, with the nearest names, when it names none or several.
func (m *Manager) ResolveBase(ctx context.Context, checkout, base string) (Base, error) {
	if base == "" || base == "HEAD" {
		branch, commit, err := m.head(ctx, checkout)
		return Base{Branch: branch, Commit: commit}, err
	}
	if err := validBase(base); err != nil {
		return Base{}, err
	}
	at := m.at(checkout)
	out, err := m.git.run(ctx, at, nil, "rev-parse", "--verify", "--end-of-options", base+"^{commit}")
	if err != nil {
		return Base{}, m.baseError(ctx, checkout, base, err)
	}
	if !fullID().MatchString(line(out)) { // a range gives several lines
		return Base{}, cw.Errorf(cw.CodeInvalid, "base %q is not one commit", base).WithHint("give one branch, tag or commit id")
	}
	full, err := m.git.run(ctx, at, nil, "rev-parse", "--symbolic-full-name", "--end-of-options", base)
	if err != nil {
		return Base{}, userError(checkout, err)
	}
	// git warns and takes the tag where a tag and a branch have the same name;
	// guessing is not for us.
	if err := m.refuseTwoMeanings(ctx, checkout, base); err != nil {
		return Base{}, err
	}
	_, ref, _ := strings.Cut(line(full), "\n") // its first line is the option itself
	return Base{Branch: shortBranch(ref), Commit: line(out)}, nil
}

func validBase(base string) error {
	switch {
	case strings.HasPrefix(base, "-"):
		return cw.Errorf(cw.CodeInvalid, "base %q starts with a hyphen", base).WithHint("give a branch, tag or commit id")
	case len(base) > baseMax:
		return cw.Errorf(cw.CodeInvalid, "base is longer than %d bytes", baseMax).WithHint("give a branch, tag or commit id")
	case strings.ContainsFunc(base, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return cw.Errorf(cw.CodeInvalid, "base %q holds a control character", base).WithHint("give a branch, tag or commit id")
	}
	return nil
}

// shortBranch gives the name of a branch from its full ref, "" for other refs.
func shortBranch(ref string) string {
	for _, prefix := range []string{"refs/heads/", "refs/remotes/"} {
		if name, ok := strings.CutPrefix(ref, prefix); ok {
			return name
		}
	}
	return ""
}

func (m *Manager) refuseTwoMeanings(ctx context.Context, checkout, base string) error {
	out, err := m.git.run(ctx, m.at(checkout), nil, "for-each-ref", "--format=%(refname)%00%(objectname)%00%(*objectname)",
		"--", "refs/heads/"+escapeGlob(base), "refs/tags/"+escapeGlob(base))
	if err != nil {
		return userError(checkout, err)
	}
	commits := map[string]bool{}
	for row := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSuffix(row, "\n"), "\x00")
		if f[0] != "refs/heads/"+base && f[0] != "refs/tags/"+base {
			continue // a pattern also matches what lies below it
		}
		commits[cmp.Or(f[2], f[1])] = true // a tag object stands for its commit
	}
	if len(commits) > 1 {
		return cw.Errorf(cw.CodeInvalid, "base %q is both a branch and a tag", base).
			WithHint("say heads/%s or tags/%s", base, base)
	}
	return nil
}

// escapeGlob keeps a name from being read as a pattern.
func escapeGlob(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}

func (m *Manager) baseError(ctx context.Context, checkout, base string, err error) error {
	if isFinal(err) {
		return err
	}
	said := stderrOf(err)
	if strings.Contains(said, "short object ID") && strings.Contains(said, "is ambiguous") {
		return cw.Errorf(cw.CodeInvalid, "base %q stands for several commits", base).WithHint("give more digits of the id").Because(err)
	}
	if _, _, herr := m.head(ctx, checkout); cw.ErrorCode(herr) == cw.CodeInvalid {
		return herr // nothing to start from at all, or no repository
	}
	if strings.Contains(base, "..") {
		return cw.Errorf(cw.CodeInvalid, "base %q is not one commit", base).WithHint("give one branch, tag or commit id").Because(err)
	}
	if _, oerr := m.git.run(ctx, m.at(checkout), nil, "rev-parse", "--verify", "--quiet", "--end-of-options", base); oerr == nil {
		return cw.Errorf(cw.CodeInvalid, "base %q is not a commit", base).WithHint("give a branch, tag or commit id").Because(err)
	}
	unknown := cw.Errorf(cw.CodeNotFound, "base %q is not known in %s", base, checkout).Because(err)
	if near := m.nearestRefs(ctx, checkout, base); len(near) > 0 {
		return unknown.WithHint("did you mean %s?", strings.Join(near, ", "))
	}
	return unknown.WithHint("see git branch -a; a branch of a remote may need git fetch first")
}

// nearestRefs gives the up to three names that look most like name.
func (m *Manager) nearestRefs(ctx context.Context, checkout, name string) []string {
	out, err := m.git.run(ctx, m.at(checkout), nil, "for-each-ref", "--format=%(refname:short)", "--count=5000",
		"--sort=-creatordate", "refs/heads", "refs/remotes", "refs/tags")
	if err != nil {
		return nil // only a hint would be lost
	}
	return nearest(name, strings.Fields(string(out)))
}

// nearest sorts names by likeness and keeps those that are near at all.
func nearest(name string, names []string) []string {
	type scored struct {
		name  string
		score int
	}
	var near []scored
	lower := strings.ToLower(name)
	for _, n := range names {
		score := cw.EditDistance(lower, strings.ToLower(n))
		if strings.HasSuffix(n, "/"+name) || strings.Contains(strings.ToLower(n), lower) {
			score = min(score, 1)
		}
		if score <= max(2, len(name)/3) {
			near = append(near, scored{n, score})
		}
	}
	slices.SortStableFunc(near, func(a, b scored) int { return cmp.Compare(a.score, b.score) })
	var out []string
	for _, s := range near[:min(3, len(near))] {
		out = append(out, s.name)
	}
	return out
}
