// Package inbox puts together what waits for a person: questions, checkpoints,
// proposals, silent and crashed agents, limits, and work that cannot be merged.
// It reads what others tell through their services, in one pure function, and
// changes nothing. It must not know where anything is kept.
package inbox
