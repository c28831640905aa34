-- +goose Up

-- The raw output of agents. agent_id is no foreign key: chunks outlive agents.
CREATE TABLE agent_log_chunks (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    agent_id       TEXT NOT NULL,
    agent_name     TEXT NOT NULL DEFAULT '',
    session_number INTEGER NOT NULL,
    offset         INTEGER NOT NULL,
    bytes          BLOB NOT NULL,
    created_at     DATETIME NOT NULL,
    UNIQUE (agent_id, session_number, offset)
);
