package worktree

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"cw/internal/cw"
)

// Pushing is the one act by which something of cw's leaves this machine: one
// branch of an initiative, at one commit, because a person asked for it. It is
// done in the user's repository, or in the clone of a remote one, with the
// user's credentials: agents do not write there. The commit is read out of the
// mirror, and nothing is written on this side.

// pushLimit bounds one push.
const pushLimit = 10 * time.Minute

// pushRemote is what the remote is called for one git call. A name that is in no
// configuration has no refspecs and no hooks, and its URL is in no argument,
// where others could read a token in it.
const pushRemote = "cw-push"

// pushed are the branches that are ever pushed: those of initiatives.
var pushed = cw.Pattern(`^cw/[a-z0-9]+(?:-[a-z0-9]+)*$`)

// Upstream is where a project's branches are published. Its URLs may hold the
// user's credentials: they are not for people to see.
type Upstream struct {
	Fetch string // by which the repository is known
	Push  string // to which branches go; mostly the same
}

// Shown is the URL to which branches go, without a name and a password.
func (u Upstream) Shown() string { return userInfo().ReplaceAllString(u.Push, "$1") }

// Upstream tells where the branches of a project are published: at its URL, or
// at the remote "origin" of the user's repository. CodeRefused when that has
// none; CodeNotFound when there is no repository any more.
func (m *Manager) Upstream(ctx context.Context, p cw.Project) (Upstream, error) {
	if p.Remote() {
		return Upstream{Fetch: p.RemoteURL, Push: p.RemoteURL}, nil
	}
	if err := m.checkProject(ctx, p); err != nil {
		return Upstream{}, err
	}
	var urls [2]string
	for i, args := range [][]string{{"remote", "get-url", "origin"}, {"remote", "get-url", "--push", "origin"}} {
		out, err := m.git.run(ctx, inUserRepo(p.GitDir), nil, args...)
		if exitCode(err) == 2 {
			return Upstream{}, cw.Errorf(cw.CodeRefused, "%s has no remote called origin", p.Path).
				WithHint("say where its branches are published: git -C %s remote add origin URL", p.Path)
		}
		if err != nil {
			return Upstream{}, fmt.Errorf("read the remote of %s: %w", p.Name, err)
		}
		urls[i], _, _ = strings.Cut(line(out), "\n")
	}
	return Upstream{Fetch: urls[0], Push: urls[1]}, nil
}

// BranchHead gives the commit of a branch in cw's copy of a project, "" when
// there is no such branch. CodeNotFound when there is no copy.
func (m *Manager) BranchHead(ctx context.Context, p cw.Project, branch string) (string, error) {
	x, err := m.openMirror(ctx, p)
	if err != nil {
		return "", err
	}
	defer x.close()
	return x.refs().commit(ctx, "refs/heads/"+branch)
}

// PushBranch publishes a commit of cw's copy as the branch of an initiative, and
// tells whether the remote had not got it yet. A branch that is there is moved
// forward or left: never by force. env is what the caller's environment adds, as
// in FetchRemote. CodeInvalid for a branch that is no initiative's; CodeNotFound
// for a commit that cw does not have; CodeRefused when the remote's branch has
// other commits, or the remote does not take it; CodeFailed when it cannot be
// reached.
func (m *Manager) PushBranch(ctx context.Context, p cw.Project, branch, commit string, env map[string]string) (bool, error) {
	if !pushed().MatchString(branch) || !fullID().MatchString(commit) {
		return false, cw.Errorf(cw.CodeInvalid, "%.60q at %.60q is no branch of an initiative", branch, commit)
	}
	to, err := m.Upstream(ctx, p)
	if err != nil {
		return false, err
	}
	if err := m.checkProject(ctx, p); err != nil { // makes a clone that somebody removed
		return false, err
	}
	objects, err := m.objectsOf(ctx, p, commit)
	if err != nil {
		return false, err
	}
	dir := p.GitDir
	if !p.Remote() {
		dir = p.Path // a URL may be a path from there
	}
	_, odd := cw.ParseRemote(to.Push) // of those that it takes, http is of this machine
	at := remotePlace(dir, odd == nil && strings.HasPrefix(to.Push, "http://"), env)
	at.limit = pushLimit
	at.config = append(at.config, "push.pushOption=")
	at.env = append(at.env, "GIT_DIR="+p.GitDir, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+quoteAlternate(objects),
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=remote."+pushRemote+".url", "GIT_CONFIG_VALUE_0="+to.Push)
	out, err := m.git.run(ctx, at, nil, "push", "--porcelain", "--no-progress", "--no-signed", "--no-follow-tags",
		"--recurse-submodules=no", pushRemote, commit+":refs/heads/"+branch)
	flag, why := parsePushed(string(out))
	if err != nil && flag == rejectedFlag {
		return false, notTaken(branch, to, why, stderrOf(err))
	}
	if err != nil {
		return false, explainRemote(err, to.Shown(), "pushed to", "it took more than "+pushLimit.String())
	}
	m.fail.Hit("worktree/branch-pushed")
	return flag != upToDateFlag, nil
}

// objectsOf gives the folder of the mirror's objects, when the commit is there.
// The mirror is free again while the remote is slow.
func (m *Manager) objectsOf(ctx context.Context, p cw.Project, commit string) (string, error) {
	x, err := m.openMirror(ctx, p)
	if err != nil {
		return "", err
	}
	defer x.close()
	if _, err := x.git(ctx, nil, "cat-file", "-e", commit+"^{commit}"); err != nil {
		return "", cw.Errorf(cw.CodeNotFound, "the commit %.12s is not in cw's copy of %s", commit, p.Name).Because(err).
			WithHint("see: git -C %s log --oneline --all", x.dir)
	}
	return filepath.Join(x.dir, "objects"), nil
}

// quoteAlternate writes a path as git reads it in a list with colons.
func quoteAlternate(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
}

// The flags of git push --porcelain that matter.
const (
	rejectedFlag = "!"
	upToDateFlag = "="
)

// parsePushed reads what became of the one branch: "FLAG\tFROM:TO\tSUMMARY".
func parsePushed(out string) (flag, why string) {
	for row := range strings.Lines(out) {
		fields := strings.SplitN(strings.TrimSuffix(row, "\n"), "\t", 3)
		if len(fields) == 3 && len(fields[0]) == 1 {
			return fields[0], fields[2]
		}
	}
	return "", ""
}

// remoteLine is what a remote says to people.
var remoteLine = cw.Pattern(`(?m)^remote: *(?:error: *)?(\S.*?)\s*$`)

// notTaken says why the remote has not got the branch. why is "[rejected] (fetch
// first)" or "[remote rejected] (reason)".
func notTaken(branch string, to Upstream, why, said string) error {
	if strings.HasPrefix(why, "[rejected]") {
		return cw.Errorf(cw.CodeRefused, "the branch %s at %s has commits that cw does not have, and cw pushes nothing by force", branch, to.Shown()).
			WithHint("look at them: git fetch origin %s; when nobody needs them: git push origin --delete %s, then do the same again", branch, branch)
	}
	reason := strings.TrimPrefix(why, "[remote rejected] ")
	if m := remoteLine().FindStringSubmatch(said); m != nil {
		reason += ": " + m[1]
	}
	hint := "the rules of the remote decide; ask who keeps it"
	if strings.Contains(said, "LFS") {
		hint = "cw pushes no LFS objects; push them from a checkout: git lfs push --all origin"
	}
	return cw.Errorf(cw.CodeRefused, "%s does not take the branch %s: %s", to.Shown(), branch, userInfo().ReplaceAllString(reason, "$1")).WithHint("%s", hint)
}
