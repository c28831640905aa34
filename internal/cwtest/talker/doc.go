// Package talker is an agent that tests move like a puppet: a test binary that
// calls Main can be started by a daemon as a provider's CLI, and then does what
// its test tells it over a socket. What it does it does as that agent, below its
// shim and with its token: cw's commands, and calls of the API.
package talker
