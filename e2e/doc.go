// Package e2e runs the whole program as a user would, with the real provider
// CLIs (pinned in package.json) at a scripted model server on loopback: real
// cw, real daemon, real git, real claude and codex, no key and no network.
//
// One suite of scenarios holds for every provider (suite_test.go); what differs
// between the CLIs is a row of provider_test.go, and what only one of them has
// is in a file of its name.
//
// A scenario knows only what the requests tell it, and each has a twin with
// one prompt block removed that must fail: so the prompts are tested too.
package e2e
