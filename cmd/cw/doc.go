// Command cw is the command line of the program, and, as `cw serve`, its daemon.
//
// One command, one file: the options that its flags fill in, the constructor
// newXCmd that alone speaks cobra, and xRun that calls the services and
// prints. A new command is a new file of that shape and a line in root.go.
//
//	main.go      the shim, signals, exit
//	app.go       streams, environment and far ends that commands work with
//	root.go      the tree of commands
//	connector.go find the daemon, or start it
//	connect.go   the wiring to the rest of the program
//	errors.go    the one place that prints errors
//	spawn.go     what `run` and `agent spawn` have in common
//	follow.go    watch one agent until it is at rest
//	render.go    an agent's stream as readable lines
//	screen.go    lines, and below them the one that moves
//	report.go    what an agent left behind, and what to type next
//	paint.go     colours, tables, named values
//	text.go      make foreign text safe for a terminal
//
// It must not know how anything is done: no database, no HTTP, no processes of
// its own making. It speaks cw.Services to the daemon, and cobra lives nowhere
// else.
package main

//go:generate go test -run ^TestReference$ -update .
