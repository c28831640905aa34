// Package realcli finds the real provider CLIs that scripts/install-clis.sh
// puts under e2e/node_modules, for end-to-end tests against a model.Server. Of claude
// and codex the newest versions, in e2e/newest, are tested as well: a test runs with
// one of the two, drawn anew in each run (version.go).
//
// A CLI that is missing skips the test by name on a developer's machine and
// fails it in CI. The environment that a test gives to a CLI holds dummy
// credentials and leads to loopback alone. The package must not know cw: its
// own tests run the CLIs directly. Only preset*_test.go, which start each CLI
// exactly as its preset says, know the presets and their parsers.
package realcli
