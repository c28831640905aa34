// Package worktree gives each agent a worktree of its own on a bare copy (the
// mirror) of the user's repository, looks at what the agent did there, brings
// its branch back, and merges branches of agents into one for each initiative.
//
// A remote repository is cloned first (remote.go); the clone then stands where
// the user's repository does.
//
// Three places, and git runs in each under other rules (git.go):
//
//   - The user's repository: with the user's own configuration, read only, but
//     for the one fetch that brings commits (handover.go) and the branch that an
//     initiative is landed on (land.go).
//   - The mirror: under a lock of ours, after its configuration and hooks were
//     compared with our copy and restored (lock.go, guard.go), because every
//     agent can write there.
//   - The shadow: a git directory of ours, made for one look at a live worktree
//     or at two commits, in which they are compared and merged too, and removed
//     after it (shadow.go, commits.go). No git ever runs inside a worktree that an
//     agent has had in its hands.
//
// It must not know agents' processes, the database or HTTP. It is the home of
// go-git and of the git binary.
package worktree
