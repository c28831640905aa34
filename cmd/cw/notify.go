package main

import "github.com/spf13/cobra"

func newNotifyCmd(a *app) *cobra.Command {
	return newGroupCmd("notify", "Notifications on your desktop and by webhook", newNotifyTestCmd(a, nil))
}
