// Package dispatch decides which task runs next, and brings finished work onto
// the branch of its initiative. No model decides: what is stored and measured is
// observed, pure functions decide (Decide, nextMerge, afterRun), and the loop
// acts. Rows are the truth: everything can be decided anew after a crash.
//
// It must not know agents' processes, git or the database: it speaks to them
// through the small interfaces in ports.go.
package dispatch
