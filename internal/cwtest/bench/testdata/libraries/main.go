// Command libraries does nothing, with all of cw's libraries linked in.
package main

import (
	_ "cw/internal/daemon"

	_ "github.com/spf13/cobra"
)

func main() {}
