package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // "resets 5pm (Europe/Berlin)", also where the system knows no zones

	"cw/internal/proc"
)

func main() {
	// The shim stands between the daemon and an agent for as long as the agent
	// lives. It starts before anything else of the program is touched.
	if len(os.Args) == 3 && os.Args[1] == "shim" {
		os.Exit(proc.RunShim(os.Args[2], nil))
	}
	ctx, stop := untilSignal(context.Background())
	code := run(ctx, os.Args[1:], processStreams(), os.Environ())
	stop()
	os.Exit(code)
}

// untilSignal gives a context that ends with the first Ctrl-C, SIGTERM or
// hang-up. The second one ends the process at once.
func untilSignal(parent context.Context) (context.Context, context.CancelFunc) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup stays in force
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(parent, signals...)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
