package main

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// browserWait is how long a browser may take to fail. One that goes on longer
// is left alone: it is the browser itself.
const browserWait = 2 * time.Second

// browserOf gives the command that shows a file in the user's browser, without
// the file: the first of $BROWSER that is there, else the system's own where
// there is a screen. found tells where a program is.
func browserOf(env environ, system string, found func(name string) bool) (argv []string, ok bool) {
	for one := range strings.SplitSeq(env["BROWSER"], ":") { // a list, by custom
		words := strings.Fields(strings.ReplaceAll(one, "%s", ""))
		if len(words) > 0 && found(words[0]) {
			return words, true
		}
		if len(argv) == 0 {
			argv = words
		}
	}
	if len(argv) > 0 {
		return argv, false
	}
	if system == "darwin" {
		return []string{"open"}, found("open")
	}
	screen := env["DISPLAY"] != "" || env["WAYLAND_DISPLAY"] != ""
	return []string{"xdg-open"}, screen && found("xdg-open")
}

// inPath tells whether a program can be started.
func inPath(name string) bool {
	_, err := exec.LookPath(name)
	return err == nil
}

// startBrowser starts a browser that outlives this process and its terminal.
func startBrowser(argv, env []string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.SysProcAttr = env, &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", argv[0], err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return fmt.Errorf("%s ended: %w", argv[0], err)
		}
		return err
	case <-time.After(browserWait):
		return nil
	}
}
