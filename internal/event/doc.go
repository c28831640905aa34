// Package event tells the parts of one process what happened, at once and
// without ever making the teller wait.
//
// Rows are the truth and events are hints: whoever needs every event reads the
// store and uses a subscription only to know when to look again. So a
// subscriber that does not keep up is cut off, and nobody waits for it.
//
// It must not know the store, HTTP or what the events mean.
package event
