package worktree

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cw/internal/cw"
)

// initiative is an initiative's branch in a lab.
type initiative struct {
	*lab
	id     cw.InitiativeID
	branch string
}

func (l *lab) initiative(slug string) *initiative {
	return &initiative{lab: l, id: cw.InitiativeID(cw.NewID()), branch: "cw/" + slug}
}

func (i *initiative) request(known string) IntegrationRequest {
	i.t.Helper()
	base, err := i.m.ResolveBase(ctx(i.t), i.repo, "")
	if err != nil {
		i.t.Fatal(err)
	}
	return IntegrationRequest{Project: i.p, InitiativeID: i.id, Branch: i.branch, Known: known, Base: base}
}

// begin makes the branch at the user's HEAD.
func (i *initiative) begin() string {
	i.t.Helper()
	i.ensure()
	head, note, err := i.m.EnsureIntegration(ctx(i.t), i.request(""))
	if err != nil || note != "" {
		i.t.Fatalf("%q, %v", note, err)
	}
	return head
}

// commitOn makes a commit in the mirror that changes files of another one: "" as
// text deletes. With several parents it is a merge.
func (l *lab) commitOn(parents []string, files map[string]string) string {
	l.t.Helper()
	index := "GIT_INDEX_FILE=" + filepath.Join(l.t.TempDir(), "index")
	at := place{name: "mirror", dir: l.mirror(), env: append(cleanEnv(), "GIT_DIR="+l.mirror(), index,
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@b")}
	run := func(stdin string, args ...string) string {
		out, err := l.m.git.run(ctx(l.t), at, []byte(stdin), args...)
		if err != nil {
			l.t.Fatal(err)
		}
		return line(out)
	}
	run("", "read-tree", parents[0])
	for path, text := range files {
		mode, id := "100644", ""
		switch {
		case text == "":
			run("0 "+strings.Repeat("0", len(parents[0]))+"\t"+path+"\x00", "update-index", "-z", "--index-info")
			continue
		case strings.HasPrefix(text, "mode "):
			mode, text, _ = strings.Cut(strings.TrimPrefix(text, "mode "), " ")
		}
		if mode == modeGitlink {
			id = text
		} else {
			id = run(text, "hash-object", "-w", "--stdin")
		}
		run(mode+" "+id+"\t"+path+"\x00", "update-index", "-z", "--index-info")
	}
	args := []string{"commit-tree", "-m", cw.NewID()}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	return run("", append(args, run("", "write-tree"))...)
}

func (i *initiative) ref(name string) string {
	out, _ := tryGit(i.mirror(), "rev-parse", "--verify", "--quiet", name)
	return out
}

func TestEnsureIntegration(t *testing.T) {
	t.Parallel()
	branch := func(i *initiative) string { return "refs/heads/" + i.branch }
	tests := []struct {
		name    string
		prepare func(i *initiative, known, next string)
		note    string
		kept    bool // what somebody moved it to
		ours    bool // cw moved it
	}{
		{"as it was", func(*initiative, string, string) {}, "", false, false},
		{"deleted", func(i *initiative, _, _ string) { git(i.t, i.mirror(), "update-ref", "-d", branch(i)) }, "was gone", false, false},
		{"kept no more", func(i *initiative, _, _ string) {
			git(i.t, i.mirror(), "update-ref", "-d", integrationRef(i.id))
		}, "", false, false},
		{"all deleted", func(i *initiative, _, _ string) {
			git(i.t, i.mirror(), "update-ref", "-d", integrationRef(i.id))
			git(i.t, i.mirror(), "update-ref", "-d", branch(i))
		}, "was gone", false, false},
		{"killed between both", func(i *initiative, _, next string) {
			git(i.t, i.mirror(), "update-ref", integrationRef(i.id), next)
		}, "", false, false},
		{"moved forward by somebody", func(i *initiative, _, next string) {
			git(i.t, i.mirror(), "update-ref", branch(i), next)
		}, "somebody moved", true, false},
		{"moved forward with what keeps it", func(i *initiative, _, next string) {
			git(i.t, i.mirror(), "update-ref", branch(i), next)
			git(i.t, i.mirror(), "update-ref", integrationRef(i.id), next)
		}, "somebody moved", true, false},
		{"moved elsewhere", func(i *initiative, known, _ string) {
			git(i.t, i.mirror(), "update-ref", branch(i), known+"~1")
		}, "somebody moved", true, false},
		{"another name for a branch of an agent", func(i *initiative, _, next string) {
			git(i.t, i.mirror(), "update-ref", "refs/heads/agent/brave-otter", next)
			git(i.t, i.mirror(), "symbolic-ref", branch(i), "refs/heads/agent/brave-otter")
		}, "somebody moved", true, false},
		{"moved by cw", func(i *initiative, known, next string) {
			if err := i.m.MoveIntegration(ctx(i.t), i.p, i.id, i.branch, known, next); err != nil {
				i.t.Fatal(err)
			}
		}, "", false, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			i := l.initiative("goal")
			first := i.begin()
			known := l.commitOn([]string{first}, map[string]string{"one.txt": "1\n"})
			if err := l.m.MoveIntegration(ctx(t), l.p, i.id, i.branch, first, known); err != nil {
				t.Fatal(err)
			}
			next := l.commitOn([]string{known}, map[string]string{"two.txt": "2\n"})
			test.prepare(i, known, next)
			moved := i.ref(branch(i))
			req := i.request(known)
			req.Ours = func(_ context.Context, commit string) (bool, error) { return test.ours && commit == next, nil }
			head, note, err := l.m.EnsureIntegration(ctx(t), req)
			want := known
			if test.ours {
				want = next
			}
			if err != nil || head != want || !strings.Contains(note, test.note) || (note == "") != (test.note == "") {
				t.Errorf("%s, %q, %v", head, note, err)
			}
			if told := slices.Contains(l.restored, branch(i)); told != (note != "") {
				t.Errorf("restored %q with the note %q", l.restored, note)
			}
			if i.ref(branch(i)) != want || i.ref(integrationRef(i.id)) != want || i.ref(integrationBaseRef(i.id)) != first {
				t.Error(git(t, l.mirror(), "for-each-ref"))
			}
			if test.kept != (moved != "" && i.ref(movedRef(i.id, moved)) == moved) {
				t.Errorf("what it was moved to, %s: %s", moved, git(t, l.mirror(), "for-each-ref"))
			}
			if other := i.ref("refs/heads/agent/brave-otter"); other != "" && other != next {
				t.Errorf("the branch of the agent was moved to %s", other)
			}
			if head, note, err := l.m.EnsureIntegration(ctx(t), i.request(want)); head != want || note != "" || err != nil {
				t.Errorf("again: %s, %q, %v", head, note, err)
			}
		})
	}
}

func TestBeginIntegration(t *testing.T) {
	t.Parallel()
	t.Run("at a commit of no branch", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		l.ensure()
		git(t, l.repo, "checkout", "-q", "--detach")
		git(t, l.repo, "commit", "-q", "--allow-empty", "-m", "on no branch")
		before := snapshot(t, l.repo)
		i := l.initiative("goal")
		for range 2 {
			if head := i.begin(); head != git(t, l.repo, "rev-parse", "HEAD") || i.ref("refs/heads/"+i.branch) != head {
				t.Errorf("head %s", head)
			}
		}
		if got := changes(before, snapshot(t, l.repo)); got != nil {
			t.Errorf("the user's repository changed: %q", got)
		}
		if head, err := l.m.IntegrationHead(ctx(t), l.p, i.branch); err != nil || head != i.begin() {
			t.Errorf("%s, %v", head, err)
		}
	})
	t.Run("there before", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		first := l.initiative("goal").begin()
		other := l.commitOn([]string{first}, map[string]string{"x": "x"})
		git(t, l.mirror(), "update-ref", "refs/heads/cw/goal", other)
		_, _, err := l.m.EnsureIntegration(ctx(t), l.initiative("goal").request(""))
		wantCode(t, err, cw.CodeRefused)
	})
	t.Run("another branch in its place", func(t *testing.T) {
		t.Parallel()
		for _, other := range []string{"cw", "cw/goal/x"} {
			l := newLab(t)
			i := l.initiative("goal")
			first := i.begin()
			git(t, l.mirror(), "update-ref", "-d", "refs/heads/cw/goal")
			git(t, l.mirror(), "update-ref", "refs/heads/"+other, first)
			for _, known := range []string{"", first} {
				_, _, err := l.m.EnsureIntegration(ctx(t), i.request(known))
				wantCode(t, err, cw.CodeRefused)
				if !strings.Contains(err.Error(), strconv.Quote(other)) || !strings.Contains(cw.ErrorHint(err), "branch -m") {
					t.Errorf("%v (%s)", err, cw.ErrorHint(err))
				}
			}
			git(t, l.mirror(), "branch", "-m", other, "kept")
			if head, _, err := l.m.EnsureIntegration(ctx(t), i.request(first)); head != first || err != nil {
				t.Errorf("%s, %v", head, err)
			}
		}
	})
	t.Run("lost", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		i := l.initiative("goal")
		i.begin()
		_, _, err := l.m.EnsureIntegration(ctx(t), i.request(strings.Repeat("ab", 20)))
		wantCode(t, err, cw.CodeFailed)
	})
	t.Run("bad names", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		i := l.initiative("goal")
		i.begin()
		for _, branch := range []string{"main", "cw/", "cw/a/b", "cw/../x", "cw/a b", "cw/-x:y"} {
			i.branch = branch
			if _, _, err := l.m.EnsureIntegration(ctx(t), i.request("")); err == nil {
				t.Errorf("%q is accepted", branch)
			}
		}
	})
}

func TestMoveIntegration(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	i := l.initiative("goal")
	first := i.begin()
	next := l.commitOn([]string{first}, map[string]string{"x": "x"})
	side := l.commitOn([]string{first}, map[string]string{"y": "y"})
	for range 2 { // the second finds it there
		if err := l.m.MoveIntegration(ctx(t), l.p, i.id, i.branch, first, next); err != nil {
			t.Fatal(err)
		}
	}
	wantCode(t, l.m.MoveIntegration(ctx(t), l.p, i.id, i.branch, first, side), cw.CodeRefused)
	wantCode(t, l.m.MoveIntegration(ctx(t), l.p, i.id, i.branch, next, strings.Repeat("ab", 20)), cw.CodeNotFound)
	if i.ref("refs/heads/"+i.branch) != next || i.ref(integrationRef(i.id)) != next {
		t.Error(git(t, l.mirror(), "for-each-ref"))
	}
	git(t, l.mirror(), "update-ref", "-d", "refs/heads/"+i.branch)
	wantCode(t, l.m.MoveIntegration(ctx(t), l.p, i.id, i.branch, next, side), cw.CodeRefused)
}

// TestWorktreeFromTheMirror begins an agent at a commit that the user does not
// have.
func TestWorktreeFromTheMirror(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	i := l.initiative("goal")
	next := l.commitOn([]string{i.begin()}, map[string]string{"x.txt": "x\n"})
	req := l.request("brave-otter")
	req.Base = Base{Branch: i.branch, Commit: next}
	req.InMirror = true
	a := l.addRequest(req)
	if read(t, filepath.Join(a.path, "x.txt")) != "x\n" || i.ref(baseRef(req.AgentID)) != next {
		t.Error("it began somewhere else")
	}
	if look := a.look(); look.Commits != 0 || len(look.Notes) > 0 {
		t.Errorf("%+v", look)
	}
	req = l.request("calm-fox")
	req.InMirror, req.Base = true, Base{Commit: strings.Repeat("ab", 20)}
	_, err := l.m.Add(ctx(t), req)
	wantCode(t, err, cw.CodeNotFound)
	l.nothingLeft(req)
}

func TestPublishIntegration(t *testing.T) {
	t.Parallel()
	for _, remote := range []bool{false, true} {
		for slug, ref := range map[string]string{"goal": "refs/remotes/cw/goal", "agent": "refs/remotes/cw/agent-initiative"} {
			l := newLab(t)
			if remote {
				l, _ = newRemote(t)
				l.fetchRemote()
			}
			l.ensure()
			base, err := l.m.ResolveBase(ctx(t), l.p.GitDir, "main")
			if err != nil {
				t.Fatal(err)
			}
			i := l.initiative(slug)
			one := l.commitOn([]string{base.Commit}, map[string]string{"x": "x"})
			two := l.commitOn([]string{base.Commit}, map[string]string{"y": "y"})
			before := snapshot(t, l.p.GitDir)
			for _, head := range []string{one, two, two} { // also to what is no descendant
				out, err := l.m.PublishIntegration(ctx(t), l.p, i.branch, head)
				if err != nil || out.Ref != ref || git(t, l.p.GitDir, "rev-parse", ref) != head {
					t.Errorf("%+v, %v", out, err)
				}
			}
			for _, path := range changes(before, snapshot(t, l.p.GitDir)) {
				if !strings.HasPrefix(path, "refs/remotes") && !strings.HasPrefix(path, "logs/refs/remotes") && !strings.HasPrefix(path, "objects") {
					t.Errorf("%s was touched", path)
				}
			}
			// The mirror is gone: what was published brings it back.
			git(t, l.p.GitDir, "rev-parse", ref)
			if err := removeTree(l.mirror()); err != nil {
				t.Fatal(err)
			}
			l.ensure()
			req := IntegrationRequest{Project: l.p, InitiativeID: i.id, Branch: i.branch, Known: two}
			if head, note, err := l.m.EnsureIntegration(ctx(t), req); head != two || note == "" || err != nil {
				t.Errorf("%s, %q, %v", head, note, err)
			}
		}
	}
}
