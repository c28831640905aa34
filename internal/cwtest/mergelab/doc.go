// Package mergelab drives the real program from tasks to a landed branch: a
// daemon that is killed again and again, scripted agents that conflict, break
// checks, crash and reach limits, a person who decides on checkpoints, and users
// who move, delete and rewrite what is theirs.
//
// The seed of what is drawn by lot is CW_LAB_SEED; the seed of each run is
// printed, so that it can be repeated.
package mergelab
