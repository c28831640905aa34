package orchestrator

import (
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
)

// TestAskedToCommitWhereItIs: an agent with one project works in that folder,
// and is not sent to one of the project's name.
func TestAskedToCommitWhereItIs(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	v := e.rest(e.mustSpawn(e.request(fakecli.Script{
		Shell:  "echo left >left",
		Signal: `{"status":"done"}`,
		Next: &fakecli.Script{
			Expect: []string{"- `./`"},
			Shell:  "git add left && git commit -q -m 'Add what was left'", Signal: `{"status":"done"}`,
		},
	})).Alias)
	if v.Status != cw.StatusIdle || len(v.Runs) != 2 || v.Runs[1].Reason != cw.RunCommit || v.Commits() != 1 {
		t.Errorf("%s %s: %s, runs %+v", v.Status, v.Reason, v.Error, v.Runs)
	}
}
