package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

func newPromptCmd(a *app) *cobra.Command {
	return newGroupCmd("prompt", "What agents are told", newPromptShowCmd(a, nil))
}

// printPromptBlocks lists the parts of a prompt, and the whole: with the blank
// lines between them it is a little more than their sum.
func (a *app) printPromptBlocks(v cw.PromptView) {
	var rows [][]string
	for _, b := range v.Blocks {
		rows = append(rows, []string{b.Tag, b.Source, fmt.Sprint(b.Bytes), fmt.Sprint(b.Tokens)})
	}
	rows = append(rows, []string{"total", "", fmt.Sprint(len(v.Text)), fmt.Sprint(v.Tokens)})
	table(a.out, "", []string{"BLOCK", "SOURCE", "BYTES", "TOKENS"}, rows)
}
