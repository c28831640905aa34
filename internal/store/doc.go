// Package store keeps what cw knows in two SQLite databases: cw.db holds the
// state and is synced at every commit; log.db holds the raw output of agents
// and is synced at checkpoints only, because the agents' output files are the
// truth from which it can be filled again.
//
// One exported method is one transaction is one intention of the engine.
// Nobody outside holds a transaction. Status changes are conditional writes
// along cw.AgentTransitions, and events are stored in the transaction of the
// change they tell.
//
// It must not know what an agent does: no processes, no git, no HTTP, no
// provider. It does not decide; it refuses what the tables forbid.
package store
