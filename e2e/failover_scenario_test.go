package e2e

import (
	"slices"
	"sync"
	"time"

	"cw/internal/cwtest/model"
)

// The scenarios of agents whose account fails in the middle of their task: the
// file is written, nothing is committed.

// inTheMiddle tells whether a request comes after the first edit, or from a
// later run.
func inTheMiddle(t *model.Turn) bool { return t.Number() >= 3 || len(t.Earlier()) > 0 || handsOver(t) }

func handsOver(t *model.Turn) bool { return slices.Contains(t.Prompt().Tags(), "hand_over") }

// goesOn does the task, and in a later run what is left of it.
func goesOn(t *model.Turn) model.Reply {
	if !began(t, "First the file.") {
		return done(t)
	}
	t.RequireTags("go_on", "new_run")
	return commitsTheRest(t)
}

// goesOnElsewhere is goesOn where another provider goes on: it knows what
// happened by the hand-over alone, and says so when it is not in there.
func goesOnElsewhere(t *model.Turn) model.Reply {
	if !handsOver(t) {
		return done(t)
	}
	t.RequireTags(append(slices.Clip(executeTags), "hand_over", "new_run")...)
	t.Require(len(t.Earlier()) == 0, "the session is not new")
	t.Find(t.Block("hand_over"), `another provider goes on`)
	t.Find(t.Block("hand_over"), `First the file\.`) // the words of the first
	return commitsTheRest(t)
}

// commitsTheRest commits what it finds in the worktree.
func commitsTheRest(t *model.Turn) model.Reply {
	switch t.Number() {
	case 1:
		return model.Say("I look what is there.").Shell("git status --short")
	case 2:
		file := t.Find(t.Output(), `(?m)^\?\? (\S+)$`)
		return model.Say("The commit.").Shell("git add " + file + " && git commit -qm 'Add it' && git rev-parse HEAD")
	case 3:
		return signalCommit(t)
	}
	return model.Say("Committed.")
}

// failsFor plays a scenario, but from the middle of the task on every request
// with one of the credentials fails.
func failsFor(s model.Scenario, f model.Failure, credentials ...string) model.Scenario {
	return func(t *model.Turn) model.Reply {
		if inTheMiddle(t) && slices.Contains(credentials, t.Credential.Value) {
			return model.Fail(f)
		}
		return s(t)
	}
}

// atLimitFor plays a scenario, but from the middle of the task on all accounts
// are at their limit for a while. It begins with the first that is refused.
func atLimitFor(s model.Scenario, limit func(time.Time) model.Failure, while time.Duration) model.Scenario {
	var begun sync.Once
	var back time.Time
	return func(t *model.Turn) model.Reply {
		if !inTheMiddle(t) {
			return s(t)
		}
		begun.Do(func() { back = time.Now().Add(while).Truncate(time.Second) })
		if time.Now().Before(back) {
			return model.Fail(limit(back))
		}
		return s(t)
	}
}
