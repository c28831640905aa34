package e2e

import (
	"encoding/json"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/model"
)

// costsTooMuch writes a file, reads on at a price, and is asked to commit and
// end.
func costsTooMuch(t *model.Turn) model.Reply {
	few := model.Usage{Input: 10, Output: 10}
	if !began(t, "First the file.") {
		switch t.Number() {
		case 1:
			return model.Say("First the file.").Write("greeting.txt", "Good\n").Using(few)
		default:
			return model.Say("I read a lot.").Shell("sleep 300").Using(model.Usage{Input: 900_000, Output: 10})
		}
	}
	t.RequireTags("budget_spent", "new_run")
	t.Find(t.Block("budget_spent"), `agent [a-z-]+: \$[0-9.]+ of \$1\.00`)
	switch t.Number() {
	case 1:
		return model.Say("I keep it.").Shell("git add greeting.txt && git commit -qm 'Half a greeting' && git rev-parse HEAD").Using(few)
	case 2:
		return signalCommit(t).Using(few)
	}
	return model.Say("It is kept.").Using(few)
}

// TestBudgetEndsARun: what claude says of its tokens ends a run whose budget is
// spent; in its session it is asked to commit, and then stopped. A run that it
// ends by itself has the cost that it tells.
func TestBudgetEndsARun(t *testing.T) {
	t.Parallel()
	l, srv := newLab(t, claude, costsTooMuch)
	a, stderr, code := claude.run(t, l, "--budget", "1", goal)
	v := a.Agent
	if v.Status != cw.StatusStopped || v.Reason != cw.ReasonBudget || len(v.Runs) != 2 || code == 0 {
		t.Fatalf("exit %d, %s (%s %s), %d runs\n%s\n%s", code, v.Status, v.Reason, v.Error, len(v.Runs), stderr, l.DaemonLog())
	}
	first, last := v.Runs[0], v.Runs[1]
	if first.CostUSD < 1 || last.Reason != cw.RunBudget || last.Fresh || last.CostSource != cw.CostFromCLI || last.CostUSD <= 0 || last.CostUSD > 0.2 {
		t.Errorf("first $%v by %q, then %s $%v by %q", first.CostUSD, first.CostSource, last.Reason, last.CostUSD, last.CostSource)
	}
	if got := committed(t, l, v, "greeting.txt"); got != "Good" {
		t.Errorf("committed %q", got)
	}
	if n := beginnings(srv, "budget_spent"); n != 1 {
		t.Errorf("asked %d times", n)
	}
	if _, stderr, code := l.Run(l.Repo, "agent", "resume", v.Alias, "go on"); code != 4 {
		t.Errorf("resumed with a spent budget: exit %d\n%s", code, stderr)
	}
	var budgets []cw.Budget
	must(t, json.Unmarshal([]byte(cwDo(t, l, "", "budget", "list", "--json")), &budgets))
	if len(budgets) != 1 || budgets[0].SpentAt == nil || budgets[0].SpentUSD != v.CostUSD {
		t.Errorf("%+v, and the agent cost $%v", budgets, v.CostUSD)
	}
	nothingLeft(t, l)
}
