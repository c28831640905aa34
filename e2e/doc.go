// Package e2e runs the whole program as a user would, with the real provider
// CLIs (pinned in package.json) at a scripted model server on loopback: real
// cw, real daemon, real git, real claude, no key and no network.
//
// A scenario knows only what the requests tell it, and each has a twin with
// one prompt block removed that must fail: so the prompts are tested too.
package e2e
