// Package lab runs the real program in tests: the built binary as a real
// daemon over a real home, with real git repositories, and the scripted CLI at
// the far end. It can kill the daemon at any moment and start it again.
package lab
