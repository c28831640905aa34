// Package event tells the parts of one process what happened, at once and
// without ever making the teller wait.
//
// Rows are the truth and events are hints: whoever needs every event reads the
// store and uses a subscription only to know when to look again. So nothing of
// stored events waits for a reader. The newest of them are kept once for all
// (Hub.Recent), so that readers who keep up need no query; live events, which
// are not stored, wait in a short queue.
//
// It must not know the store, HTTP or what the events mean.
package event
