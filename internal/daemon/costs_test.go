package daemon_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/lab"
)

// spender is a CLI that tells of one request, and then works on.
const spender = `#!/bin/sh
cat >/dev/null
echo '{"type":"assistant","message":{"id":"a","role":"assistant","content":[{"type":"text","text":"x"}],"usage":{"input_tokens":600000,"output_tokens":0}}}'
exec sleep 600
`

// TestCostsOfRunsUnderWay: what a run that is under way cost so far is in the sums of
// the API, of today and of all time, and in its budget.
func TestCostsOfRunsUnderWay(t *testing.T) {
	t.Parallel()
	l := lab.New(t, binary)
	program := filepath.Join(l.Books, "spender.sh")
	must(t, os.WriteFile(program, []byte(spender), 0o700))
	must(t, os.WriteFile(l.Home.Prices(), []byte("prices: [{model: dollar-1, input: 1, output: 1}]\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(l.Home.Providers(), "spender.yaml"), fmt.Appendf(nil, `name: spender
title: Spender
command: {paths: [%q]}
spawn: {args: [run]}
modelArgs: [[--model, "{{model}}"]]
promptMode: stdin
parser: claude
stop: {grace: 1s}
`, program), 0o600))
	l.Start()
	v, err := l.Client().Spawn(t.Context(), cw.SpawnRequest{
		Goal: "spend", Projects: []string{l.Repo}, Provider: "spender", Model: "dollar-1", BudgetUSD: 5,
		Env: map[string]string{"PATH": os.Getenv("PATH")},
	})
	must(t, err)
	l.Until(v.Alias, func(v cw.AgentView) bool { return v.Usage.InputTokens > 0 })
	today, err := cw.CostToday(v.CreatedAt, "")
	must(t, err)
	for _, q := range []cw.CostQuery{today, {By: cw.CostByAgent}} {
		rows, err := l.Client().Costs(t.Context(), q)
		must(t, err)
		if sum := cw.SumCosts(rows); sum.CostUSD != 0.6 || sum.EstimatedUSD != 0.6 || sum.UnderWay != 1 || sum.Usage.InputTokens != 600000 {
			t.Errorf("by %s: %+v", q.By, sum)
		}
	}
	budgets, err := l.Client().Budgets(t.Context())
	must(t, err)
	if len(budgets) != 1 || budgets[0].SpentUSD != 0.6 {
		t.Errorf("budgets: %+v", budgets)
	}
}
