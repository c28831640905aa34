// Package proc is a detached process: start it, find it again, follow its
// output, learn how it ended, stop it.
//
// A run is a directory. Between the program that starts a run and the command
// that is run stands a shim, a tiny process that outlives its starter. The
// shim takes a lock on the run directory, starts the command in a session of
// its own, waits for it, sweeps what the command left behind, and writes how
// it ended. Everything else learns the state of a run from the directory:
//
//	run.json       what to start (Spec), written before the shim exists
//	lock           held by the shim for as long as it lives
//	started.json   a start was tried, by whom, and which process it gave
//	stop.json      how much time a stop gives the command
//	exit.json      how the run ended (Exit)
//	shim.log       what the shim had to say about itself
//
//	             lock held   exit.json   started.json
//	fresh            -           -            -          may be started
//	starting       held          -         - or no pid
//	running        held          -           pid
//	exited           -          yes           ?
//	lost             -           -           yes         never started again
//
// The command can write into that directory. So the lock goes before the
// files, and a Handle that the caller kept goes before the directory: while
// its shim lives the run is running. What cannot be read once the shim is gone
// is lost.
//
// A process is named by boot id, pid and start time, and signalled only when
// all three were proved; on Linux through a pidfd, so that a pid that was used
// again is never hit.
//
// The package must not know what is run or why: no agents, no providers, no
// database, no network. It imports nothing of this module.
//
// On macOS there is neither a child subreaper nor a pidfd. There the tree is
// found by parents, session and the variable CW_RUN, a process that shed all
// three escapes, waiting is polling, and between the proof of an identity and
// the signal lies a window of some microseconds.
package proc
