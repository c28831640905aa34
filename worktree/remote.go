package worktree

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cw/internal/cw"
)

// A project that is a remote repository has a clone of cw's own in the place of
// the user's repository: bare, without a remote in its configuration, beside the
// mirror. Only it talks to the network, with the user's credentials, and agents
// do not write there: whoever could plant configuration would get them. The
// remote's branches and tags have their own names in it; branches agent/* are
// those that were handed over, and the remote's own of such names are under
// refs/remotes/origin/.

// Time limits of the network: an address that swallows everything must not hold
// up a spawn for long.
const (
	reachLimit  = 30 * time.Second
	updateLimit = 5 * time.Minute // of a clone that is there: a spawn waits, and can do without
	cloneLimit  = transferLimit
)

// fetchedFile in a clone sums up what the remote had when it was last fetched; its
// time is when that was.
const fetchedFile = "cw-fetched"

// agentSpace is the folder of the branches of agents, and a branch by that name.
const agentSpace = "refs/heads/agent"

// noDefault is HEAD of a clone whose remote does not name a default branch.
const noDefault = "refs/heads/cw-none"

// CloneDir is where the clone of a remote project's repository is.
func (m *Manager) CloneDir(p cw.Project) (string, error) {
	dir, err := m.mirrorDir(p)
	return strings.TrimSuffix(dir, ".git") + CloneEnd, err
}

// CloneEnd is the end of the names of clones, and of nothing else beside mirrors.
const CloneEnd = ".remote.git"

// HalfClone tells whether a clone was never fetched whole, and holds no branch of
// an agent.
func HalfClone(dir string) bool {
	packed, err := readSmall(filepath.Join(dir, "packed-refs"))
	switch {
	case exists(filepath.Join(dir, fetchedFile)), exists(filepath.Join(dir, filepath.FromSlash(agentSpace))):
		return false
	case err != nil:
		return errors.Is(err, fs.ErrNotExist)
	}
	return !strings.Contains(string(packed), " "+agentSpace+"/")
}

// FetchRemote brings the clone of a remote project up to date, and makes it when
// there is none: branches, tags and the default branch. env is what the caller's
// environment adds to ours: proxies, the ssh agent. git runs with the user's own
// configuration, for credentials, and never asks anybody. CodeFailed, in git's
// words and with what to do, when the remote cannot be reached or wants other
// credentials; CodeInvalid when it has no commits.
func (m *Manager) FetchRemote(ctx context.Context, p cw.Project, env map[string]string) error {
	if _, err := m.GitVersion(ctx); err != nil {
		return err
	}
	c, err := m.lockClone(ctx, p, env)
	if err != nil {
		return err
	}
	defer c.close()
	have, err := c.look(ctx)
	if err != nil {
		return err
	}
	if err := c.make(ctx, have.objectFormat()); err != nil {
		return err
	}
	m.fail.Hit("worktree/cloned")
	if err := c.fetch(ctx, have); err != nil {
		return err
	}
	m.fail.Hit("worktree/remote-fetched")
	return nil
}

// Fetched tells when a remote project was last fetched; false when never.
func (m *Manager) Fetched(p cw.Project) (time.Time, bool) {
	info, err := os.Stat(filepath.Join(p.GitDir, fetchedFile))
	if err != nil {
		return time.Time{}, false
	}
	return info.ModTime(), true
}

// clone is a remote project's clone under its lock, which is not the mirror's:
// agents go on while a remote is slow.
type clone struct {
	m    *Manager
	p    cw.Project
	dir  string
	lock *os.File
	env  map[string]string
}

func (m *Manager) lockClone(ctx context.Context, p cw.Project, env map[string]string) (*clone, error) {
	dir, err := m.CloneDir(p)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(m.repos, 0o700); err != nil {
		return nil, fmt.Errorf("make folder of mirrors: %w", err)
	}
	lock, err := lockFile(ctx, dir+".lock")
	if err != nil {
		return nil, fmt.Errorf("clone of %s: %w", p.Name, err)
	}
	return &clone{m: m, p: p, dir: dir, lock: lock, env: env}, nil
}

func (c *clone) close() { _ = c.lock.Close() }

// advertised is what a remote says it has: default branch, and ids by full name.
type advertised struct {
	head  string // target of its HEAD, "" when it does not say
	print string // fingerprint
	heads map[string]string
}

// look asks the remote what it has, which also tells whether it can be reached.
func (c *clone) look(ctx context.Context) (advertised, error) {
	at := c.remote("/")
	at.limit = reachLimit
	out, err := c.m.git.run(ctx, at, nil, "ls-remote", "--symref", "--end-of-options", c.p.RemoteURL, "HEAD", "refs/heads/*", "refs/tags/*")
	if err != nil {
		return advertised{}, c.explain(err, "it did not answer in "+reachLimit.String())
	}
	have := parseAdvertised(string(out))
	if len(have.heads) == 0 {
		return have, cw.Errorf(cw.CodeInvalid, "%s has no branches yet", c.p.RemoteURL).WithHint("push a first commit to it")
	}
	return have, nil
}

// parseAdvertised reads "ref: refs/heads/main\tHEAD" and "ID\tREF" lines. A
// remote whose HEAD is not told (it points to a branch that was never pushed)
// has a default branch where there is no doubt.
func parseAdvertised(out string) advertised {
	a := advertised{print: fmt.Sprintf("%x", sha256.Sum256([]byte(out))), heads: map[string]string{}}
	for row := range strings.Lines(out) {
		value, name, _ := strings.Cut(strings.TrimSuffix(row, "\n"), "\t")
		target, symbolic := strings.CutPrefix(value, "ref: ")
		switch {
		case name == "HEAD" && symbolic:
			a.head = target
		case strings.HasPrefix(name, "refs/heads/"):
			a.heads[name] = value
		}
	}
	if a.heads[a.head] != "" {
		return a
	}
	a.head = ""
	for _, name := range []string{"refs/heads/main", "refs/heads/master"} {
		if a.head == "" && a.heads[name] != "" {
			a.head = name
		}
	}
	if len(a.heads) == 1 {
		for name := range a.heads {
			a.head = name
		}
	}
	return a
}

// objectFormat is what git init is told: the ids of sha256 are longer.
func (a advertised) objectFormat() string {
	for _, id := range a.heads {
		if len(id) == 64 {
			return "sha256"
		}
	}
	return "sha1"
}

// make makes an empty clone where there is none, under another name first, so
// that one that is there is one.
func (c *clone) make(ctx context.Context, objectFormat string) error {
	if exists(filepath.Join(c.dir, "HEAD")) {
		return nil
	}
	half := c.dir + ".new"
	for _, dir := range []string{half, c.dir} { // of a try that was killed, or emptied by somebody
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("make clone of %s: %w", c.p.Name, err)
		}
	}
	at := place{name: "clone", dir: c.m.repos, env: append(cleanEnv(), "GIT_DIR="+half), lock: c.lock}
	_, err := c.m.git.run(ctx, at, nil, "init", "--quiet", "--bare", "--template=", "--initial-branch=cw-none", "--object-format="+objectFormat)
	if err == nil {
		err = os.Rename(half, c.dir)
	}
	if err != nil {
		return fmt.Errorf("make clone of %s: %w", c.p.Name, err)
	}
	return nil
}

// fetch brings what the remote has, when that changed since last time, and notes
// when it was.
func (c *clone) fetch(ctx context.Context, have advertised) error {
	note := filepath.Join(c.dir, fetchedFile)
	if last, err := readSmall(note); err == nil && string(last) == have.print {
		now := time.Now()
		return os.Chtimes(note, now, now)
	}
	refspecs := []string{"+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*", "^refs/heads/" + agentBranch("*"), "^" + agentSpace}
	if err := c.fetchRefs(ctx, refspecs...); err != nil {
		return err
	}
	// Those that somebody pushed stay apart from those that are handed over here, as
	// does one called agent, which would leave no room for these. It cannot be named
	// alone: it may not be there. More of that beginning do no harm.
	if err := c.fetchRefs(ctx, "+"+agentSpace+"*:refs/remotes/origin/agent*"); err != nil {
		return err
	}
	head := have.head
	if head == "" || head == agentSpace || strings.HasPrefix(head, agentSpace+"/") {
		head = noDefault
	}
	at := place{name: "clone", dir: c.dir, env: append(cleanEnv(), "GIT_DIR="+c.dir), lock: c.lock}
	if _, err := c.m.git.run(ctx, at, nil, "symbolic-ref", "HEAD", head); err != nil {
		return fmt.Errorf("note default branch of %s: %w", c.p.Name, err)
	}
	if err := writeFile(note, []byte(have.print)); err != nil {
		return fmt.Errorf("note what was fetched: %w", err)
	}
	return nil
}

func (c *clone) fetchRefs(ctx context.Context, refspecs ...string) error {
	at := c.remote(c.dir)
	at.env, at.limit = append(at.env, "GIT_DIR="+c.dir), cloneLimit
	if exists(filepath.Join(c.dir, fetchedFile)) {
		at.limit = updateLimit
	}
	args := []string{"fetch", "--quiet", "--prune", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head",
		"--no-auto-maintenance", "--no-show-forced-updates", "--end-of-options", c.p.RemoteURL}
	_, err := c.m.git.run(ctx, at, nil, append(args, refspecs...)...)
	return c.explain(err, "it took more than "+at.limit.String())
}

// remote is how git talks to a remote: with the user's configuration, since
// credential helpers and the ssh command stand there, with no terminal and no
// window to ask at, and by no transport that runs a program.
func (c *clone) remote(dir string) place {
	// http is that of this machine: see cw.ParseRemote.
	at := remotePlace(dir, strings.HasPrefix(c.p.RemoteURL, "http://"), c.env)
	at.lock = c.lock
	return at
}

// remotePlace is the same for any remote. caller is what the caller's environment
// adds; overHTTP allows http.
func remotePlace(dir string, overHTTP bool, caller map[string]string) place {
	env := slices.DeleteFunc(userEnv(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		_, callers := caller[name]
		return callers || name == "GIT_ALLOW_PROTOCOL" || name == "GIT_ASKPASS"
	})
	for name, value := range caller {
		env = append(env, name+"="+value)
	}
	allowed := "https:ssh:file"
	if overHTTP {
		allowed += ":http"
	}
	return place{
		name: "remote", dir: dir, network: true,
		env: append(env, "GIT_ALLOW_PROTOCOL="+allowed, "GIT_ASKPASS=false", "SSH_ASKPASS=false", "SSH_ASKPASS_REQUIRE=force", "GCM_INTERACTIVE=never"),
		config: []string{
			"credential.interactive=false", "fetch.writeCommitGraph=false", "fetch.pruneTags=false", "fetch.recurseSubmodules=false",
		},
	}
}

// callerNetwork are the names of a caller's environment that reach git when it
// talks to a remote.
func callerNetwork() []string {
	names := []string{"PATH", "SSH_AUTH_SOCK"}
	for _, name := range []string{"http_proxy", "https_proxy", "all_proxy", "no_proxy"} {
		names = append(names, name, strings.ToUpper(name))
	}
	return names
}

// NetworkEnv is the part of a caller's environment by which git reaches a remote.
func NetworkEnv(caller map[string]string) map[string]string {
	env := map[string]string{}
	for _, name := range callerNetwork() {
		if value, ok := caller[name]; ok && !strings.ContainsRune(value, 0) {
			env[name] = value
		}
	}
	return env
}

// userInfo is what stands before the @ of a URL.
var userInfo = cw.Pattern(`(://)[^/\s'"]*@`)

// explain turns git's words about a remote into what is wrong and what to do.
// The user's configuration may put a token into the address: it is cut out. late
// says what a time limit means.
func (c *clone) explain(err error, late string) error {
	return explainRemote(err, c.p.RemoteURL, "fetched", late)
}

// explainRemote is explain for what was to be done with any remote: fetched, or
// pushed to.
func explainRemote(err error, remote, done, late string) error {
	overdue := errors.Is(err, errTooLong)
	if err == nil || isFinal(err) && !overdue || errors.Is(err, context.Canceled) {
		return err
	}
	said := userInfo().ReplaceAllString(stderrOf(err), "$1")
	if g := new(gitError); errors.As(err, &g) {
		g.stderr = said
	}
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(s string) bool { return strings.Contains(said, s) })
	}
	hint := "see what git says: git ls-remote " + remote
	switch {
	case overdue:
		said, hint = late, "check the network and the address, then try again"
	case has("terminal prompts disabled", "Authentication failed", "could not read Username", "could not read Password"):
		hint = "cw asks nobody for a password; store it with a credential helper (git config --global credential.helper), or use an ssh URL and an ssh agent"
	case has("Permission denied", "publickey"):
		hint = "load the key into your ssh agent (ssh-add) and call cw from there"
	case has("Host key verification failed"):
		hint = "connect once by hand, so that ssh knows the host: git ls-remote " + remote
	case has("does not appear to be a git repository", "not found", "not exported"):
		hint = "check the URL"
	}
	return cw.Errorf(cw.CodeFailed, "%s cannot be %s: %s", remote, done, firstFatal(said)).WithHint("%s", hint).Because(err)
}

// fatalLine is the line by which git says what ended it.
var fatalLine = cw.Pattern(`(?m)^(?:fatal|error|ERROR|ssh): (.+)$`)

func firstFatal(said string) string {
	if m := fatalLine().FindStringSubmatch(said); m != nil {
		return m[1]
	}
	line, _, _ := strings.Cut(said, "\n")
	return line
}

// ensureClone makes an empty clone where somebody removed it: branches can still
// be handed over there, and the next spawn fills it.
func (m *Manager) ensureClone(ctx context.Context, p cw.Project) error {
	if exists(filepath.Join(p.GitDir, "HEAD")) {
		return nil
	}
	c, err := m.lockClone(ctx, p, nil)
	if err != nil {
		return err
	}
	defer c.close()
	format := "sha1"
	if text, err := readSmall(guardCopy(strings.TrimSuffix(c.dir, CloneEnd)+".git", fileConfig)); err == nil && strings.Contains(string(text), "sha256") {
		format = "sha256"
	}
	return c.make(ctx, format)
}

// OnlyHere names the branches that were handed over in the clone of a remote
// project and whose commits the remote does not have, as far as it was fetched.
// They are lost with the clone.
func (m *Manager) OnlyHere(ctx context.Context, p cw.Project) ([]string, error) {
	if !p.Remote() || !exists(filepath.Join(p.GitDir, "HEAD")) {
		return nil, nil
	}
	branches, err := m.userRefs(p.GitDir).list(ctx, "refs/heads/"+agentBranch(""), "refs/remotes/cw/")
	if err != nil {
		return nil, fmt.Errorf("list branches of %s: %w", p.Name, err)
	}
	var only []string
	for _, b := range branches {
		out, err := m.git.run(ctx, inUserRepo(p.GitDir), nil, "rev-list", "--max-count=1", b.id, "--not",
			"--exclude=refs/heads/"+agentBranch("*"), "--glob=refs/heads/*", "--glob=refs/remotes/origin/*", "--glob=refs/tags/*")
		if err != nil {
			return nil, fmt.Errorf("look for %s at the remote: %w", b.name, err)
		}
		if len(out) > 0 {
			only = append(only, strings.TrimPrefix(strings.TrimPrefix(b.name, "refs/heads/"), "refs/remotes/"))
		}
	}
	return only, nil
}

// RemoveClone removes the clone of a remote project with its lock. One that is
// not there is no error.
func (m *Manager) RemoveClone(ctx context.Context, p cw.Project) error {
	c, err := m.lockClone(ctx, p, nil)
	if err != nil {
		return err
	}
	defer c.close()
	gone := c.dir + ".gone"
	// Renamed first, so that there is never half a clone.
	if err := os.Rename(c.dir, gone); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove clone of %s: %w", p.Name, err)
	}
	for _, path := range []string{gone, c.dir + ".new", c.dir + ".lock"} {
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("remove clone of %s: %w", p.Name, err)
		}
	}
	return nil
}
