package main

import "github.com/spf13/cobra"

func newTokenCmd(a *app) *cobra.Command {
	return newGroupCmd("token", "The tokens with which dashboards come in",
		newTokenCreateCmd(a, nil), newTokenListCmd(a, nil), newTokenRevokeCmd(a, nil))
}
