// Package crashlab attacks the program: it kills the daemon, shims and agents
// at random moments and at every named step, and then checks what must hold
// against the books that the scripted CLIs kept outside of cw's reach.
//
// The number of random kills is set by CW_LAB_KILLS (default 40), the seed by
// CW_LAB_SEED; the seed of each run is printed, so that it can be repeated.
package crashlab
