// Package notify tells people of events: by a request to a URL, and by a program
// on their desktop. It follows the stored events at its own pace, remembers the
// last one that it handled, and slows nobody down.
package notify
