package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

// pageWhat says in errors what a command wants.
const pageWhat = "a page: its id"

func newPageCmd(a *app) *cobra.Command {
	return newGroupCmd("page", "The pages of an initiative",
		newPageListCmd(a, nil), newPageShowCmd(a, nil), newPageCreateCmd(a, nil), newPageEditCmd(a, nil),
		newPageMoveCmd(a, nil), newPageRemoveCmd(a, nil))
}

// printPage shows a page without its text.
func (a *app) printPage(d cw.Document) {
	a.printf("%s  %s\n", a.paint(a.outTTY).bold(oneLine(d.Title)), fmt.Sprintf("revision %d", d.Revision))
	facts(a.out, "  ", [][2]string{
		{"id", string(d.ID)},
		{"below", oneLine(string(d.ParentID))},
		{"initiative", string(d.InitiativeID)},
		{"changed", strings.TrimSpace(clock(d.UpdatedAt) + bracketed(oneLine(d.UpdatedBy)))},
	})
}
