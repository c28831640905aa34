package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cw/internal/cw"
	"cw/worktree"
)

// addRemote registers a remote repository. It is cloned first, so that a URL
// that does not work leaves nothing behind.
func (o *Orchestrator) addRemote(ctx context.Context, req cw.ProjectRequest) (cw.Project, error) {
	remote, err := cw.ParseRemote(req.URL)
	if err != nil {
		return cw.Project{}, err
	}
	if p, known, err := o.knownRemote(ctx, remote); known || err != nil {
		return p, err
	}
	p, err := o.newRemote(ctx, remote)
	if err != nil {
		return cw.Project{}, err
	}
	err = o.Repos.FetchRemote(ctx, p, networkEnv(ctx, req.Env))
	if err == nil {
		err = o.registerRemote(ctx, &p)
	}
	if err == nil {
		return p, nil
	}
	err = errors.Join(err, o.Repos.RemoveClone(context.WithoutCancel(ctx), p))
	if p, known, lookErr := o.knownRemote(ctx, remote); known && lookErr == nil { // somebody was quicker
		return p, nil
	}
	return cw.Project{}, err
}

// registerRemote stores the project under a name that is still free.
func (o *Orchestrator) registerRemote(ctx context.Context, p *cw.Project) error {
	o.registering.Lock()
	defer o.registering.Unlock()
	named, err := o.newRemote(ctx, p.RemoteURL)
	if err != nil {
		return err
	}
	p.Name = named.Name
	return o.register(ctx, *p)
}

func (o *Orchestrator) knownRemote(ctx context.Context, remote string) (p cw.Project, known bool, err error) {
	p, err = o.Store.ProjectByRef(ctx, remote)
	if cw.ErrorCode(err) == cw.CodeNotFound {
		return p, false, nil
	}
	return p, err == nil, err
}

// newRemote describes a remote repository that is not registered yet. Its git
// directory is the clone that cw will make.
func (o *Orchestrator) newRemote(ctx context.Context, remote string) (cw.Project, error) {
	p, err := o.newProject(ctx, worktree.Repository{Name: cw.RemoteName(remote)}, nil)
	if err != nil {
		return p, err
	}
	p.Path, p.RemoteURL = "", remote
	p.GitDir, err = o.Repos.CloneDir(p)
	return p, err
}

// remotePlace fetches a remote project and gives it as a place without a
// checkout. A remote that cannot be reached now does not keep anybody from
// working, nor does one that keeps others waiting: the agent starts from what is
// here, and is told how old that is.
func (o *Orchestrator) remotePlace(ctx context.Context, p cw.Project, env map[string]string) (place, error) {
	err := o.Repos.FetchRemote(ctx, p, networkEnv(ctx, env))
	if err == nil {
		return place{project: p}, nil
	}
	when, fetched := o.Repos.Fetched(p)
	var failed *cw.Error
	away := errors.As(err, &failed) && (failed.Code == cw.CodeFailed || failed.Code == cw.CodeTimeout)
	if !away || !fetched || ctx.Err() != nil {
		return place{}, err
	}
	return place{project: p, warning: fmt.Sprintf("%s; the agent starts from what was fetched %s", failed.Message, agoOf(time.Since(when)))}, nil
}

// networkEnv is what a caller's environment adds when a remote is fetched: of a
// person alone. What an agent calls its PATH must not decide what runs with the
// user's credentials.
func networkEnv(ctx context.Context, env map[string]string) map[string]string {
	if cw.ActorOf(ctx).Kind != cw.ActorPerson {
		return nil
	}
	return worktree.NetworkEnv(env)
}

// agoOf says how long ago something was, roughly.
func agoOf(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "less than a minute ago"
	case d < 2*time.Hour:
		return counted(int(d.Minutes()), "minute") + " ago"
	case d < 48*time.Hour:
		return counted(int(d.Hours()), "hour") + " ago"
	}
	return counted(int(d.Hours()/24), "day") + " ago"
}

// keepBranches refuses to remove a remote project while work is only in its
// clone: no repository of the user's has the branches.
func (o *Orchestrator) keepBranches(ctx context.Context, p cw.Project) error {
	only, err := o.Repos.OnlyHere(ctx, p)
	if err != nil || len(only) == 0 {
		return err
	}
	return cw.Errorf(cw.CodeRefused, "work of agents is only in cw's clone of %s and would be lost: %s", p.Name, some(only)).
		WithHint("fetch what you need, in a checkout: git fetch %[1]s %[2]s; or push it; then delete it here: git -C %[1]s branch -D %[2]s", p.GitDir, only[0])
}
