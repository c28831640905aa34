// Package planning is what lies between a goal and its tasks: initiatives,
// pages, phases, tasks, and the proposals that architects make about them.
//
// Everything is decided by pure functions over one cw.InitiativeState, inside
// the transaction that stores the decision, so that no two of them can miss
// each other. Manager implements cw.PlanningServices but for prompts, and is
// what the engine asks for an agent's assignment and hands an agent's output.
//
// The package must not know processes, worktrees, providers, prompts, HTTP or
// SQL, and not the orchestrator.
package planning
