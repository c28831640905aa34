package crashlab

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

// flow is a part of an agent's life, as a person drives it to its end.
type flow struct {
	name string
	// steps are the failpoints on its way, in the order in which they are
	// reached.
	steps []string
	drive func(c *course)
}

const (
	pieces  = 30 // of output of each run that works
	done    = `{"status":"done","result":"ok"}`
	asks    = `{"status":"questions","questions":[{"id":"color","question":"Which color?","options":["red","blue"]},{"question":"How many?"}]}`
	nothing = `{"status":"done","noChanges":"there was nothing to do"}`
)

// works is a run that writes, commits and is done.
func works(file string) fakecli.Script {
	return fakecli.Script{
		Seed: 7, Pieces: pieces, PaceMS: 1, File: file, Content: file + "\n", Commit: "Make " + file, Signal: done,
	}
}

// resumes are the steps of every run after the first.
func resumes(before, after []string) []string {
	steps := []string{
		"resume/worktrees", "resume/inputs", "resume/prepared",
		"resume/starting", "resume/started", "resume/running",
	}
	return slices.Concat(before, steps, after)
}

func flows() []flow { return append(lifeFlows(), talkFlows()...) }

// lifeFlows are those of one agent.
func lifeFlows() []flow {
	return []flow{
		{"spawn", []string{
			"worktree/seeded", "worktree/heads", "worktree/mirror", "worktree/expected", "worktree/synced",
			"spawn/intended", "worktree/intent", "worktree/base", "worktree/added", "worktree/included", "worktree/whole",
			"spawn/worktrees", "spawn/inputs", "spawn/prepared", "spawn/starting", "spawn/started", "spawn/running",
			"follow/stored", "finish/drained", "finish/observed", "finish/kept",
			"worktree/kept", "worktree/handed-over", "finish/handed-over", "finish/stored",
		}, toDone},
		{"clean-up", []string{"cleanup/looked", "worktree/unlocked", "worktree/removed", "cleanup/removed", "cleanup/stored"}, toDone},
		{"stop", []string{"stop/requested", "stop/ended"}, toStopped},
		{"lost", []string{"lost/seen", "lost/ended"}, toLost},
		{"answers", resumes([]string{"answer/stored", "resume/intended"}, nil), toAnswered},
		{"missing signal", resumes(nil, nil), toSignal},
		{"commit retry", resumes(nil, nil), toCommit},
		{"follow-up", resumes([]string{"resume/intended", "worktree/checked-out"}, nil), toFollowUp},
		{"session gone", resumes([]string{"resume/intended"}, nil), toHandOver},
		{"fail over", slices.Insert(resumes(ends(), nil), len(ends())+3, "resume/session-carried"), toAnotherAccount},
		{"fail over to a provider", resumes(ends(), nil), toAnotherProvider},
		{"parked", resumes(append(ends(), "resume/intended"), nil), toParked},
		{"budget", resumes(append([]string{"budget/told", "budget/requested"}, ends()...), nil), toBudget},
		{"remove", []string{"remove/intended", "worktree/snapshot", "remove/snapshot", "remove/taken-down", "worktree/trashed", "remove/trashed", "remove/stored"}, toRemoved},
		{"restore", []string{"restore/intended", "worktree/untrashed", "restore/placed", "restore/stored"}, toRestored},
		{"restore from the snapshot", []string{"restore/intended", "worktree/checked-out", "restore/placed", "restore/stored"}, toRestoredFromRef},
		{"open", []string{"open/intended", "worktree/checked-out", "open/placed", "open/stored"}, toOpened},
	}
}

func toDone(c *course) {
	c.start(works("work.txt"))
	c.settled(1)
}

// hangs is a run that works, leaves a file uncommitted, and waits.
func hangs() fakecli.Script {
	s := works("work.txt")
	s.Shell, s.Hang = "", true
	return s
}

func toStopped(c *course) {
	c.start(hangs())
	v := c.writes()
	c.need(c.stop(v))
	c.settled(1)
}

func toLost(c *course) {
	c.start(hangs())
	c.writes()
	for _, p := range lab.Processes(string(c.Home)) {
		if p.Shim {
			c.kills(p, "shim")
		}
	}
	c.settled(1)
}

// toAnswered: questions, their answers, and the run that has them in its
// prompt.
func toAnswered(c *course) {
	next := works("answered.txt")
	next.Expect = []string{"red", fakecli.Say("many")}
	c.start(fakecli.Script{Seed: 7, Pieces: pieces, PaceMS: 1, Signal: asks, Next: &next})
	v := c.wait("it asks", func(v cw.AgentView) bool {
		return v.Status == cw.StatusWaitingForInput && len(v.PendingQuestions) == 2
	})
	c.need(c.answer(v, "red", "as many as "+fakecli.Say("many")))
	c.settled(2)
}

// toSignal: a run that leaves no signal is asked for it.
func toSignal(c *course) {
	first, next := works("work.txt"), fakecli.Script{Seed: 8, Pieces: pieces, Signal: done}
	first.Signal, first.Next = "", &next
	c.start(first)
	c.settled(2)
}

// toCommit: a run that leaves work uncommitted is asked to commit it.
func toCommit(c *course) {
	first, next := works("work.txt"), works("more.txt")
	first.Commit, next.Commit = "", ""
	next.Shell = "git add -A . && git commit -q -m 'Commit the work'"
	first.Next = &next
	c.start(first)
	c.settled(2)
}

// toFollowUp: a person writes to an agent that is done and whose worktree is
// gone.
func toFollowUp(c *course) {
	c.start(works("work.txt"))
	v := c.settled(1)
	next := works("more.txt")
	next.Book, next.Expect = c.Books, []string{fakecli.Say("more")}
	c.need(c.send(v, "Also this: "+fakecli.Say("more")+" "+next.Text()))
	c.settled(2)
}

// toHandOver: the session is gone, so a fresh one is told what happened and
// what it is to do.
func toHandOver(c *course) {
	first, next := works("work.txt"), works("more.txt")
	first.Forget = true
	c.start(first)
	v := c.settled(1)
	next.Book, next.Expect = c.Books, []string{fakecli.Say("again")}
	c.need(c.resume(v, "Go on with "+fakecli.Say("again")+" "+next.Text()))
	c.settled(3)
}

// ends are the steps of the end of a run.
func ends() []string {
	return []string{"finish/drained", "finish/observed", "finish/kept", "finish/handed-over", "finish/stored"}
}

// atLimit is a run whose account is at its limit for so many seconds, before it
// has done anything.
func atLimit(seconds int) fakecli.Script {
	next := works("work.txt")
	next.Seed = 8
	return fakecli.Script{
		Seed: 7, Pieces: pieces, PaceMS: 1, Limited: map[string]int{fakecli.AnyAccount: seconds}, Next: &next,
	}
}

// toAnotherAccount: the account is at its limit, and the next one goes on in the
// same session.
func toAnotherAccount(c *course) {
	for _, account := range []string{"a", "b"} {
		c.need(c.ask("add an account", func(ctx context.Context) error {
			_, err := c.Client().AddAccount(ctx, cw.AddAccountRequest{Provider: "fake", Name: account, APIKey: cw.NewSecret(keyOf(account))})
			return err
		}))
	}
	c.need(c.ask("leave the own login out", func(ctx context.Context) error {
		off := false
		_, err := c.Client().SetAccount(ctx, "fake/default", cw.AccountSettings{Enabled: &off})
		return err
	}))
	s := atLimit(3600)
	s.Limited = map[string]int{fakecli.Digest(keyOf("a")): 3600}
	c.start(s)
	v := c.settled(2)
	books, err := fakecli.ReadBooks(c.Books)
	c.need(err)
	for i, account := range []string{"a", "b"} {
		if got := books[string(v.Runs[i].ID)].Account(); got != fakecli.Digest(keyOf(account)) || len(v.Runs) != 2 || v.Runs[i].Fresh {
			c.T.Errorf("run %d of %d had not the account %s", i+1, len(v.Runs), account)
		}
	}
}

// keyOf is the key of an account of the scripted CLI.
func keyOf(account string) string { return "the-key-of-the-account-" + account }

// toAnotherProvider: every account of the provider is at its limit, and another
// provider of the project goes on.
func toAnotherProvider(c *course) {
	self, err := os.Executable()
	c.need(err)
	other := fakecli.SessionPreset("other", self, c.Books)
	c.need(os.WriteFile(filepath.Join(c.Home.Providers(), "other.yaml"), []byte(other), 0o600))
	c.need(c.ask("add the project", func(ctx context.Context) error {
		p, err := c.Client().AddProject(ctx, cw.ProjectRequest{Path: c.Repo})
		if err == nil {
			_, err = c.Client().SetProject(ctx, string(p.ID), cw.ProjectSettings{Fallback: &[]string{"other"}})
		}
		return err
	}))
	c.start(atLimit(3600))
	v := c.settled(2)
	if v.Provider != "other" || len(v.Runs) != 2 {
		c.T.Errorf("it went on with %s, %d runs", v.Provider, len(v.Runs))
	}
}

// toParked: every account is at its limit, and the agent goes on by itself when
// the first is back.
func toParked(c *course) {
	c.start(atLimit(8))
	v := c.settled(2)
	if len(v.Runs) != 2 || v.Runs[0].Outcome != cw.StatusParked {
		c.T.Errorf("it was not parked once: %d runs", len(v.Runs))
	}
}

// toBudget: the budget of the account is spent in the middle of a run, so the
// agent is asked to commit, and stopped.
func toBudget(c *course) {
	preset := filepath.Join(c.Home.Providers(), "fake.yaml")
	text, err := os.ReadFile(preset)
	c.need(err)
	c.need(os.WriteFile(preset, bytes.Replace(text, []byte("parser: lines"), []byte("parser: claude"), 1), 0o600))
	c.need(c.ask("set a budget", func(ctx context.Context) error {
		if _, err := c.Client().Accounts(ctx, "fake"); err != nil { // the account default is there once it was looked at
			return err
		}
		_, err := c.Client().SetBudget(ctx, cw.BudgetAccount, "fake/default", 1)
		return err
	}))
	first, next := hangs(), works("more.txt")
	first.Raw = `{"type":"result","subtype":"success","is_error":false,"result":"so far","total_cost_usd":1.5}` + "\n"
	first.Deaf = true // else it may be ended before it has noted what it wrote
	next.Shell, first.Next = "git add -A . && git commit -q -m 'Keep the work'", &next
	next.Commit = ""
	c.start(first)
	v := c.settled(2)
	if v.Status != cw.StatusStopped || v.Reason != cw.ReasonBudget || len(v.Runs) != 2 || v.Runs[1].Reason != cw.RunBudget {
		c.T.Errorf("it is %s %s after %d runs", v.Status, v.Reason, len(v.Runs))
	}
}

// leavesWork spawns an agent that is stopped with work of every kind that is
// not committed.
func leavesWork(c *course) {
	s := works("work.txt")
	s.Hang = true
	c.start(s)
	v := c.writes()
	for name, body := range map[string]string{"README.md": "# Changed\n", "loose.txt": "not committed\n", "sub/deep.txt": "deep\n"} {
		c.puts(filepath.Join(v.Worktree, name), body)
	}
	c.need(c.stop(v))
	c.settled(1)
}

func (c *course) removed() {
	c.T.Helper()
	v, err := c.agent(name)
	c.need(err)
	c.need(c.remove(v))
	c.wait("it is removed", func(v cw.AgentView) bool { return v.DeletedAt != nil && !v.Settling })
}

func (c *course) restored() {
	c.T.Helper()
	v, err := c.agent(name)
	c.need(err)
	c.need(c.restore(v))
	c.wait("it is back", func(v cw.AgentView) bool { return v.DeletedAt == nil && !v.Settling })
}

func toRemoved(c *course) {
	leavesWork(c)
	c.removed()
}

func toRestored(c *course) {
	leavesWork(c)
	c.removed()
	c.restored()
}

// toOpened: a person opens the worktree that was cleaned up, and finds the work.
func toOpened(c *course) {
	c.start(works("work.txt"))
	c.need(c.open(c.settled(1)))
	v := c.wait("it is there", func(v cw.AgentView) bool { return v.WorktreeState == cw.WorktreePresent && !v.Settling })
	if _, err := os.Stat(filepath.Join(v.Worktree, "work.txt")); err != nil || v.HeldUntil == nil {
		c.T.Errorf("opened: held until %v, %v", v.HeldUntil, err)
	}
}

// toRestoredFromRef: the trash is gone, and the snapshot holds everything.
func toRestoredFromRef(c *course) {
	leavesWork(c)
	c.removed()
	if err := os.RemoveAll(c.Home.Trash()); err != nil {
		c.T.Fatal(err)
	}
	c.restored()
}
