// Package acp drives an agent that speaks the Agent Client Protocol (JSON-RPC
// 2.0, one message a line, over stdin and stdout): it starts the agent, sends
// one prompt, grants what the agent asks for, and writes what it hears as lines
// of its own.
//
//	driver.go      Run: one turn, from initialize to the result
//	session.go     a new session, or one that goes on
//	permission.go  which option a request for permission is answered with
//	servers.go     the file of MCP servers
//	wire.go        messages: calls, answers, what the agent asks
//	process.go     the agent's process and its end
//	line.go        the lines that are written
//
// It is the home of acp-go-sdk, whose types are used and whose connection is
// not (docs/decisions/0018). It must not know providers, runs or who reads the
// lines; the parser of them is in providers/parsers.
package acp
