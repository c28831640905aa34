-- +goose Up

-- How the tasks of an initiative are done: JSON, NULL as for any agent.
ALTER TABLE initiatives ADD COLUMN work TEXT;

-- What the dispatcher keeps of a task. retry_at NULL: not to be tried again by
-- itself.
ALTER TABLE tasks ADD COLUMN agent_id TEXT NOT NULL DEFAULT '';
ALTER TABLE tasks ADD COLUMN starts   INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN tries    INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN setbacks INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN retry_at DATETIME;
ALTER TABLE tasks ADD COLUMN blocked  TEXT NOT NULL DEFAULT '';
ALTER TABLE tasks ADD COLUMN comment  TEXT NOT NULL DEFAULT '';

-- The branch of an initiative in each project. project_id is no foreign key:
-- the branch outlives a project that is forgotten.
CREATE TABLE integrations (
    initiative_id TEXT NOT NULL REFERENCES initiatives (id),
    project_id    TEXT NOT NULL,
    project       TEXT NOT NULL DEFAULT '',
    branch        TEXT NOT NULL,
    base_branch   TEXT NOT NULL DEFAULT '',
    base_commit   TEXT NOT NULL DEFAULT '',
    head          TEXT NOT NULL DEFAULT '',
    landed        TEXT NOT NULL DEFAULT '',
    landed_on     TEXT NOT NULL DEFAULT '',
    updated_at    DATETIME NOT NULL,
    PRIMARY KEY (initiative_id, project_id)
);

-- agent_id is no foreign key: what was merged outlives its agent.
CREATE TABLE merges (
    id            TEXT PRIMARY KEY,
    initiative_id TEXT NOT NULL REFERENCES initiatives (id),
    task_id       TEXT NOT NULL REFERENCES tasks (id),
    agent_id      TEXT NOT NULL DEFAULT '',
    status        TEXT NOT NULL,
    parts         TEXT,
    verify        INTEGER NOT NULL DEFAULT 0,
    verified_by   TEXT NOT NULL DEFAULT '',
    conflicts     INTEGER NOT NULL DEFAULT 0,
    reds          INTEGER NOT NULL DEFAULT 0,
    evidence      TEXT NOT NULL DEFAULT '',
    wait          TEXT NOT NULL DEFAULT '',
    wait_code     TEXT NOT NULL DEFAULT '',
    queued_at     DATETIME NOT NULL,
    merged_at     DATETIME,
    updated_at    DATETIME NOT NULL
);
CREATE INDEX merges_initiative ON merges (initiative_id, queued_at, id);
CREATE INDEX merges_open ON merges (queued_at, id) WHERE status NOT IN ('merged', 'dismissed');
-- A task has at most one way to the branch at a time.
CREATE UNIQUE INDEX merges_task ON merges (task_id) WHERE status NOT IN ('merged', 'dismissed');

CREATE INDEX agents_task ON agents (task_id) WHERE task_id <> '';

-- One row: whether tasks are started.
CREATE TABLE dispatch (
    id    INTEGER PRIMARY KEY CHECK (id = 1),
    state TEXT NOT NULL
);

-- The most memory that an agent of a provider was seen to take, in bytes.
CREATE TABLE provider_peaks (
    provider TEXT PRIMARY KEY,
    bytes    INTEGER NOT NULL
);
