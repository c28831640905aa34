// Command weblab is the stage of the dashboard's tests in a browser: the real
// daemon over a real home, a git repository, and agents that do what a script
// says. Tests only.
//
// Its driver, written in TypeScript, starts it and talks in lines of JSON:
//
//	weblab -cw PATH        → {"home": …, "repo": …, "env": […], …}   once
//	{"id": 1, "do": "start"} → {"id": 1, "ok": true}
//
// The commands are start, which waits until the daemon serves, kill, which is
// SIGKILL, and stop, which is `cw stop`; everything else the driver does with cw
// itself, in the environment that it was told. When its standard input ends,
// whatever was started in the home is killed and the folder is removed.
//
// `weblab actor` is the agents' CLI: see script.go.
package main
