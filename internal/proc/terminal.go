package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// Terminal is where a command speaks with a person.
type Terminal struct {
	Dir          string // working directory; "": that of this process
	In, Out, Err *os.File
}

// InTerminal runs a command that speaks with a person until it ends. argv[0] without a slash is looked up
// in the PATH of env, which is the whole environment. What the terminal sends
// (Ctrl-C) reaches it by itself, so nothing here ends it. An exit code other than
// 0 is an error.
func InTerminal(argv, env []string, on Terminal) error {
	if len(argv) == 0 {
		return errors.New("run command: no command")
	}
	path, err := LookPath(argv[0], variable(env, "PATH"))
	if err != nil {
		return err
	}
	closeOnExec()
	cmd := exec.Command(path, argv[1:]...) //nolint:gosec,noctx // what the caller asks for; it ends by itself
	cmd.Args[0], cmd.Env = argv[0], env
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = on.Dir, on.In, on.Out, on.Err
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("run %s: %w", argv[0], err)
	}
	return nil
}
