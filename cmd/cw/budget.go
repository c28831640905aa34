package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

func newBudgetCmd(a *app) *cobra.Command {
	return newGroupCmd("budget", "Hard limits of what agents, initiatives and accounts may cost",
		newBudgetListCmd(a, nil), newBudgetSetCmd(a, nil))
}

// printBudgets shows budgets with what is spent of them.
func (a *app) printBudgets(budgets []cw.Budget) {
	var rows [][]string
	for _, b := range budgets {
		rows = append(rows, []string{
			string(b.Scope), b.Ref(), dollars(b.SpentUSD), dollars(b.LimitUSD),
			fmt.Sprintf("%.0f%%", b.SpentUSD/b.LimitUSD*100), budgetState(b) + unpricedNote(b),
		})
	}
	table(a.out, "", []string{"SCOPE", "NAME", "SPENT", "LIMIT", "USED", "STATE"}, rows)
}

// unpricedNote says that runs count for a budget whose cost is not known.
func unpricedNote(b cw.Budget) string {
	if b.Unpriced == 0 {
		return ""
	}
	return fmt.Sprintf(", without %s of unknown price", count(b.Unpriced, "run"))
}

func budgetState(b cw.Budget) string {
	switch {
	case b.SpentAt != nil:
		return "spent " + clock(*b.SpentAt)
	case b.WarnedAt != nil:
		return "warned " + clock(*b.WarnedAt)
	}
	return "open"
}
