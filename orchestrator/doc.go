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
//	failover.go    another account, or another provider, when one cannot be used
//	account.go     which account a run has, and what it gets of it
//	overload.go    too many requests: an account rests for a moment
//	move.go        whether the session goes along to another account, and how
//	park.go        agents without an account wait, and go on by themselves
//	windows.go     the use of an account's windows, as runs tell it
//	mask.go        live secrets are masked where texts come in
//	cost.go        what a run costs, while it goes on and at its end
//	budget.go      hard limits of cost: warn, end, ask to commit, stop
//	stop.go        end a running agent
//	recover.go     what was unfinished when the daemon died
//	output.go      stored output, read and parsed for faces
//
// It must not know the database, HTTP or the command line: it needs a Store
// and is spoken to through the service interfaces of internal/cw. Processes
// are the business of internal/proc, git that of worktree.
package orchestrator
