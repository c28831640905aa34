// Package e2e runs the whole program as a user would, with the real provider
// CLIs (pinned in package.json) at a scripted model server on loopback: real
// cw, real daemon, real git, real claude and codex, no key and no network.
//
// One suite of scenarios holds for claude and codex (suite_test.go); what differs
// between them is a row of provider_test.go, and what only one of them has is in
// a file of its name. That the other CLIs do a task and go on is in
// providers_test.go. The lives of agents with several runs are in
// life_test.go, what cw asks of an agent by itself in reminders_test.go. Accounts
// that fail in the middle of a task are in failover_test.go, logins whose tokens
// are renewed in login_linux_test.go. Agents that talk with each other are in
// converse_test.go, by commands, and converse_tools_test.go, by cw's tools. Tasks
// that run by themselves, and a conflict that goes back, are in dispatch_test.go.
//
// A scenario knows only what the requests tell it, and each has a twin with
// one prompt block removed that must fail: so the prompts are tested too.
package e2e
