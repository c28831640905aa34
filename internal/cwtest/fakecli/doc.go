// Package fakecli is a provider CLI that does exactly as it is told, for tests:
// it writes known bytes torn, huge and invalid, commits, leaves any signal,
// hangs, ignores SIGTERM, leaves children behind, and keeps its own book of
// what it did, outside of cw's home, so that what cw stored can be checked
// against something cw never touched.
//
// It also is a stand-in of a CLI that cannot be had: aider.go.
//
// A test binary becomes this CLI by calling Main first thing in TestMain. What
// to do stands in the goal, as one line of JSON behind the word FAKECLI.
package fakecli
