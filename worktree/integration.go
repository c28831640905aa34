package worktree

import (
	"context"
	"fmt"
	"strings"

	"cw/internal/cw"
)

// IntegrationRequest names the branch of an initiative in a project.
type IntegrationRequest struct {
	Project      cw.Project
	InitiativeID cw.InitiativeID
	Branch       string // cw/<slug>
	Known        string // the head as it was last stored; "" before the first time
	Base         Base   // where it begins; only when Known is ""
	// Ours tells of a commit where the branch is, and that is not Known, whether cw
	// itself moved it there: a daemon may die, or another call be faster, between
	// that and the moment in which it is stored. nil: it did not.
	Ours func(ctx context.Context, commit string) (bool, error) `json:"-"`
}

// integrationRef keeps the head of an initiative's branch, integrationBaseRef the
// commit that it began from, whatever becomes of the branch.
func integrationRef(id cw.InitiativeID) string     { return "refs/cw/integration/" + string(id) }
func integrationBaseRef(id cw.InitiativeID) string { return "refs/cw/base-of/" + string(id) }

// movedRef keeps a commit to which somebody else moved an initiative's branch.
func movedRef(id cw.InitiativeID, commit string) string {
	return "refs/cw/moved/" + string(id) + "/" + commit
}

// EnsureIntegration makes sure that the mirror has the branch of an initiative,
// and gives its head. The first time it is made at the base. Later it is where
// it was last stored, or where Ours says. Any agent can write to the mirror, and
// what it puts onto the branch nobody has checked: a branch that somebody deleted
// or moved, in whatever direction, is put back, and what it had stays below
// refs/cw/moved. note says so, and the mirror's owner is told (OnRestored). The
// mirror must be there (EnsureMirror). CodeRefused, and nothing is changed, when
// the branch was there before the first time; CodeFailed when the last head is in
// neither the mirror nor the user's repository.
func (m *Manager) EnsureIntegration(ctx context.Context, req IntegrationRequest) (head, note string, err error) {
	if err := req.valid(); err != nil {
		return "", "", err
	}
	x, err := m.openMirror(ctx, req.Project)
	if err != nil {
		return "", "", err
	}
	defer x.close()
	have, err := x.refs().commit(ctx, "refs/heads/"+req.Branch)
	if err != nil {
		return "", "", err
	}
	if req.Known == "" {
		return x.firstIntegration(ctx, req, have)
	}
	return x.laterIntegration(ctx, req, have)
}

func (r IntegrationRequest) valid() error {
	if err := validIntegration(r.InitiativeID, r.Branch); err != nil {
		return err
	}
	if r.Known != "" && !fullID().MatchString(r.Known) || r.Known == "" && !fullID().MatchString(r.Base.Commit) {
		return fmt.Errorf("branch %s: neither %q nor base %q is a full id", r.Branch, r.Known, r.Base.Commit)
	}
	return nil
}

// integrationRoot is how the branches of initiatives begin.
const integrationRoot = "cw/"

func validIntegration(id cw.InitiativeID, branch string) error {
	if !cw.IsID(string(id)) {
		return fmt.Errorf("branch %s: %q is no id of an initiative", branch, id)
	}
	return validIntegrationBranch(branch)
}

func validIntegrationBranch(branch string) error {
	if slug, ok := strings.CutPrefix(branch, integrationRoot); !ok || slug == "" || strings.Contains(slug, "/") || !safeRef("refs/heads/"+branch) {
		return fmt.Errorf("%q is no branch of an initiative", branch)
	}
	return nil
}

// firstIntegration makes the branch where there is none. One that is at the base
// was made by a try whose end nobody stored.
func (x *mirror) firstIntegration(ctx context.Context, req IntegrationRequest, have string) (head, note string, err error) {
	base := req.Base.Commit
	if have != "" && have != base {
		return "", "", cw.Errorf(cw.CodeRefused, "cw's copy of %s already has a branch %s, at %.12s", x.p.Name, req.Branch, have).
			WithHint("it may be of an initiative that is gone; if nobody needs it: git -C %s branch -D %s", x.dir, req.Branch)
	}
	keep := integrationBaseRef(req.InitiativeID)
	if err := x.bringBase(ctx, req.Base, keep); err != nil {
		return "", "", fmt.Errorf("begin branch %s: %w", req.Branch, err)
	}
	x.m.fail.Hit("worktree/integration-fetched")
	begin := func() error {
		return x.putIntegration(ctx, req.InitiativeID, req.Branch, have, base, fmt.Sprintf("update %s %s\n", keep, base))
	}
	err = begin()
	if err != nil && !isFinal(err) && x.reseed() == nil {
		// Somebody removed objects from the mirror; the user's repository has them.
		err = begin()
	}
	if err != nil {
		return "", "", x.inTheWay(ctx, req.Branch, fmt.Errorf("begin branch %s: %w", req.Branch, err))
	}
	x.m.fail.Hit("worktree/integration-made")
	return base, "", nil
}

// laterIntegration finds the branch where it was, or puts it back.
func (x *mirror) laterIntegration(ctx context.Context, req IntegrationRequest, have string) (head, note string, err error) {
	if err := x.bringKnown(ctx, req); err != nil {
		return "", "", err
	}
	head = req.Known
	keep := ""
	switch {
	case have == req.Known:
	case have == "":
		note = fmt.Sprintf("branch %s was gone from cw's copy of %s; it is at %.12s again", req.Branch, x.p.Name, head)
	default:
		ours := false
		if req.Ours != nil {
			if ours, err = req.Ours(ctx, have); err != nil {
				return "", "", fmt.Errorf("find out who moved branch %s: %w", req.Branch, err)
			}
		}
		if ours {
			head = have
			break
		}
		if keep, err = x.keepMoved(ctx, req, have); err != nil {
			return "", "", err
		}
		note = fmt.Sprintf("somebody moved branch %s in cw's copy of %s from %.12s to %.12s; it is back, and what they had is kept there below refs/cw/moved", req.Branch, x.p.Name, head, have)
	}
	kept, err := x.refs().commit(ctx, integrationRef(req.InitiativeID))
	if err != nil || kept == head && have == head {
		return head, note, err
	}
	if err := x.putIntegration(ctx, req.InitiativeID, req.Branch, have, head, keep); err != nil {
		return "", "", x.inTheWay(ctx, req.Branch, fmt.Errorf("mend branch %s: %w", req.Branch, err))
	}
	if note != "" {
		x.restored = append(x.restored, "refs/heads/"+req.Branch)
	}
	x.m.fail.Hit("worktree/integration-mended")
	return head, note, nil
}

// inTheWay explains an error by a branch that somebody made where this one
// belongs: git takes either cw/goal or cw/goal/x. CodeRefused. The name of that
// branch is of somebody's choice, so it is in no command.
func (x *mirror) inTheWay(ctx context.Context, branch string, err error) error {
	out, lerr := x.git(ctx, nil, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/"+branch+"/", "refs/heads/"+strings.TrimSuffix(integrationRoot, "/"))
	if lerr != nil {
		return err
	}
	for other := range strings.SplitSeq(line(out), "\n") {
		if other+"/" == integrationRoot || strings.HasPrefix(other, branch+"/") {
			return cw.Errorf(cw.CodeRefused, "the branch %q in cw's copy of %s stands where the branch %s belongs", other, x.p.Name, branch).
				WithHint("look at it, and give it another name: git -C %s branch -m OLD NEW", x.dir).Because(err)
		}
	}
	return err
}

// keepMoved gives the line for update-ref that keeps what the branch had: work
// may be in it. "" where that is no object of the mirror at all.
func (x *mirror) keepMoved(ctx context.Context, req IntegrationRequest, have string) (string, error) {
	gone, err := x.notThere(ctx, []string{have})
	if err != nil || len(gone) > 0 {
		return "", err
	}
	return fmt.Sprintf("update %s %s\n", movedRef(req.InitiativeID, have), have), nil
}

// bringKnown makes sure that the last head is there. The user's repository has
// it where it was published.
func (x *mirror) bringKnown(ctx context.Context, req IntegrationRequest) error {
	gone, err := x.notThere(ctx, []string{req.Known})
	if err != nil || len(gone) == 0 {
		return err
	}
	err = x.fetch(ctx, "--no-prune", "+"+req.Known+":"+integrationRef(req.InitiativeID))
	if err == nil || isFinal(err) {
		return err
	}
	return cw.Errorf(cw.CodeFailed, "commit %s of branch %s is lost: it is neither in cw's copy of %s nor in your repository", req.Known, req.Branch, x.p.Name).
		WithHint("if you have it elsewhere, fetch it into your repository and try again").Because(err)
}

// putIntegration moves the branch and what keeps it, both or none: what keeps it
// comes first, so that after a kill the branch is never ahead of it. from is ""
// where there is no branch. A branch that an agent made another name for one of
// its own is a branch again, and that one stays.
func (x *mirror) putIntegration(ctx context.Context, id cw.InitiativeID, branch, from, to, more string) error {
	if from == "" {
		from = strings.Repeat("0", len(to))
	}
	stdin := fmt.Sprintf("%supdate %s %s\nupdate refs/heads/%s %s %s\n", more, integrationRef(id), to, branch, to, from)
	at := x.place()
	at.config = []string{"core.fsync=committed,reference"}
	_, err := x.gitAt(ctx, at, []byte(stdin), "update-ref", "--no-deref", "-m", "cw: "+branch, "--create-reflog", "--stdin")
	return err
}

// MoveIntegration moves the branch of an initiative from one commit to another,
// if it is still there. At to already, it does nothing. CodeRefused when it is
// somewhere else; CodeNotFound when the mirror does not have to.
func (m *Manager) MoveIntegration(ctx context.Context, p cw.Project, id cw.InitiativeID, branch, from, to string) error {
	if err := validIntegration(id, branch); err != nil {
		return err
	}
	if !fullID().MatchString(from) || !fullID().MatchString(to) {
		return fmt.Errorf("move branch %s: %q or %q is no full id", branch, from, to)
	}
	x, err := m.openMirror(ctx, p)
	if err != nil {
		return err
	}
	defer x.close()
	gone, err := x.notThere(ctx, []string{to})
	if err != nil {
		return fmt.Errorf("move branch %s: %w", branch, err)
	}
	if len(gone) > 0 {
		return cw.Errorf(cw.CodeNotFound, "commit %s is not in cw's copy of %s", to, p.Name).WithHint("merge again")
	}
	have, err := x.refs().commit(ctx, "refs/heads/"+branch)
	if err != nil {
		return err
	}
	kept, err := x.refs().commit(ctx, integrationRef(id))
	if err != nil || have == to && kept == to {
		return err
	}
	expect := from
	if have == to {
		expect = to
	}
	if err := x.putIntegration(ctx, id, branch, expect, to, ""); err != nil {
		return x.notMoved(ctx, branch, from, to, err)
	}
	m.fail.Hit("worktree/integration-moved")
	return nil
}

// notMoved tells a branch that is somewhere else from other trouble.
func (x *mirror) notMoved(ctx context.Context, branch, from, to string, err error) error {
	have, rerr := x.refs().commit(ctx, "refs/heads/"+branch)
	if rerr != nil || have == from || isFinal(err) {
		return fmt.Errorf("move branch %s to %.12s: %w", branch, to, err)
	}
	return cw.Errorf(cw.CodeRefused, "branch %s in cw's copy of %s is not at %.12s any more but at %s", branch, x.p.Name, from, orNothing(have)).
		WithHint("merge again, onto what it is now").Because(err)
}

func orNothing(id string) string {
	if id == "" {
		return "no commit"
	}
	return id[:12]
}

// IntegrationHead gives the commit of an initiative's branch in the mirror, ""
// when there is no such branch.
func (m *Manager) IntegrationHead(ctx context.Context, p cw.Project, branch string) (string, error) {
	if err := validIntegrationBranch(branch); err != nil {
		return "", err
	}
	return m.mirrorCommit(p)(ctx, "refs/heads/"+branch)
}

// publishedRef is where a branch of an initiative is in the user's repository,
// so that its name there is the same. Branches of agents that were not handed
// over as branches are beside it.
func publishedRef(branch string) string {
	if branch == integrationRoot+"agent" {
		branch += "-initiative"
	}
	return "refs/remotes/" + branch
}

// PublishIntegration brings a commit of an initiative's branch into the user's
// repository, or the clone of a remote one, as refs/remotes/cw/<slug>, wherever
// that was. Nothing else there is touched. Asked again it changes nothing.
// CodeNotFound when the repository or the commit is not there.
func (m *Manager) PublishIntegration(ctx context.Context, p cw.Project, branch, head string) (HandedOver, error) {
	if err := validIntegrationBranch(branch); err != nil {
		return HandedOver{}, err
	}
	if !fullID().MatchString(head) {
		return HandedOver{}, fmt.Errorf("publish branch %s: %q is no full id", branch, head)
	}
	if err := m.checkProject(ctx, p); err != nil {
		return HandedOver{}, err
	}
	x, err := m.openMirror(ctx, p)
	if err != nil {
		return HandedOver{}, err
	}
	defer x.close()
	out := HandedOver{Ref: publishedRef(branch), Commit: head}
	have, err := m.userRefs(p.GitDir).commit(ctx, out.Ref)
	if err != nil || have == head {
		return out, err
	}
	if err := x.userFetch(ctx, "+"+head+":"+out.Ref); err != nil {
		return HandedOver{}, cw.Errorf(cw.CodeFailed, "branch %s could not be brought into %s", branch, p.Where()).
			WithHint("its commits are kept; by hand, in a checkout: git fetch %s %s", x.dir, branch).Because(err)
	}
	m.fail.Hit("worktree/published")
	return out, nil
}
