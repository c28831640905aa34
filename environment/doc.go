// Package environment is what surrounds the work in a worktree: the project
// file cw.yaml, and the ports of a worktree.
//
// A project file comes from a repository, so it is read as data from a stranger:
// bounded, strict, and refused whole where one part of it is wrong. Reading it
// runs nothing; whether its commands may run is for people to say.
//
// The package must not know agents, runs, git or the database.
package environment
