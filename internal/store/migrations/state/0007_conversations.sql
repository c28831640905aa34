-- +goose Up

-- from_agent_id and to_agent_id are no foreign keys: what was said outlives
-- whoever said it. to_agent_id is empty while the question waits for an agent.
CREATE TABLE conversations (
    id               TEXT PRIMARY KEY,
    request_key      TEXT NOT NULL DEFAULT '',
    from_agent_id    TEXT NOT NULL,
    from_run_id      TEXT NOT NULL DEFAULT '',
    to_agent_id      TEXT NOT NULL DEFAULT '',
    target_kind      TEXT NOT NULL,
    target_id        TEXT NOT NULL,
    phase_id         TEXT NOT NULL DEFAULT '',
    task_id          TEXT NOT NULL DEFAULT '',
    question         TEXT NOT NULL,
    answer           TEXT NOT NULL DEFAULT '',
    status           TEXT NOT NULL,
    reason           TEXT NOT NULL DEFAULT '',
    queue            INTEGER NOT NULL DEFAULT 0,
    wake             INTEGER NOT NULL DEFAULT 0,
    delivered_at     DATETIME,
    delivered_run_id TEXT NOT NULL DEFAULT '',
    prompted_run_id  TEXT NOT NULL DEFAULT '',
    answered_at      DATETIME,
    fetched_at       DATETIME,
    created_at       DATETIME NOT NULL,
    updated_at       DATETIME NOT NULL
);
CREATE UNIQUE INDEX conversations_request ON conversations (from_agent_id, request_key) WHERE request_key <> '';
CREATE INDEX conversations_from ON conversations (from_agent_id, status, created_at, id);
CREATE INDEX conversations_to ON conversations (to_agent_id, status, created_at, id);
CREATE INDEX conversations_target ON conversations (status, target_kind, target_id);
CREATE INDEX conversations_wake ON conversations (to_agent_id) WHERE status = 'pending' AND wake = 1 AND prompted_run_id = '';
CREATE INDEX conversations_created_at ON conversations (created_at, id);
CREATE INDEX conversations_status ON conversations (status, created_at, id);

-- An agent's newest plan is the one that counts.
CREATE TABLE plans (
    id         TEXT PRIMARY KEY,
    agent_id   TEXT NOT NULL REFERENCES agents (id),
    run_id     TEXT NOT NULL DEFAULT '',
    title      TEXT NOT NULL,
    steps_json TEXT NOT NULL,
    revision   INTEGER NOT NULL DEFAULT 1,
    source     TEXT NOT NULL,
    created_at DATETIME NOT NULL,
    updated_at DATETIME NOT NULL
);
CREATE INDEX plans_agent ON plans (agent_id, created_at, id);

-- Questions asked by a tool call: request_key makes the call repeatable.
ALTER TABLE questions ADD COLUMN request_key TEXT NOT NULL DEFAULT '';
ALTER TABLE questions ADD COLUMN reason TEXT NOT NULL DEFAULT '';
ALTER TABLE questions ADD COLUMN reminded_at DATETIME;
ALTER TABLE questions ADD COLUMN fetched_at DATETIME;
CREATE INDEX questions_request_key ON questions (agent_id, request_key) WHERE request_key <> '';
CREATE INDEX questions_untold ON questions (agent_id, status) WHERE source = 'tool' AND fetched_at IS NULL;

-- Why an agent suggests that something be deleted.
ALTER TABLE proposals ADD COLUMN reason TEXT NOT NULL DEFAULT '';

-- Agents of a project may make agents, so deep.
ALTER TABLE projects ADD COLUMN agent_spawn INTEGER NOT NULL DEFAULT 0;

-- Texts of agents to agents: request_key makes them repeatable.
ALTER TABLE messages ADD COLUMN request_key TEXT NOT NULL DEFAULT '';
CREATE UNIQUE INDEX messages_request ON messages (sender_agent_id, request_key) WHERE request_key <> '';
CREATE INDEX agents_parent ON agents (parent_id) WHERE parent_id <> '';
