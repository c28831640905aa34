// Package orchestrator is the life of an agent: it spawns it, follows its
// output, notices its end, judges how it ended, and takes everything up again
// after the daemon was killed.
//
// One file per flow:
//
//	plan.go        check a spawn request and decide everything about it
//	spawn.go       do it, in named steps that may be repeated
//	inputs.go      what the agent finds in .cw/input, and its prompt
//	follow.go      raw output → chunks → parsed events, until the run is over
//	signal.go      read the agent's own word on its end, trusting nothing
//	outcome.go     the pure decision how a run ended
//	completion.go  observe, decide, act: the end of a run
//	stop.go        end a running agent
//	recover.go     what was unfinished when the daemon died
//	output.go      stored output, read and parsed for faces
//
// It must not know the database, HTTP or the command line: it needs a Store
// and is spoken to through the service interfaces of internal/cw. Processes
// are the business of internal/proc, git that of worktree.
package orchestrator
