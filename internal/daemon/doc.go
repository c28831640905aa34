// Package daemon puts the program together: it prepares the home, takes the
// lock, opens the stores, builds the engine and its faces, runs the loops and
// ends them in order. It is the only package that knows all the others.
//
// It must hold no behaviour of its own beyond that: what an agent's life is
// belongs to orchestrator, who may call what to internal/api.
package daemon
