-- +goose Up

-- Times are text in UTC ("2006-01-02 15:04:05.999999999+00:00"), so that they
-- sort; the declared type DATETIME makes the driver read them back as times.
-- Columns that hold JSON may be NULL: an empty list or map.

CREATE TABLE projects (
    id         TEXT PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    path       TEXT NOT NULL DEFAULT '',
    git_dir    TEXT NOT NULL DEFAULT '',
    remote_url TEXT NOT NULL DEFAULT '',
    mirror     TEXT NOT NULL UNIQUE,
    created_at DATETIME NOT NULL,
    updated_at DATETIME NOT NULL
);
-- A remote project has no git directory of the user's.
CREATE UNIQUE INDEX projects_git_dir ON projects (git_dir) WHERE git_dir <> '';

-- No CHECK on mode and status: a later cw adds values without rebuilding.
CREATE TABLE agents (
    id              TEXT PRIMARY KEY,
    alias           TEXT NOT NULL UNIQUE, -- for ever: rows of removed agents stay
    definition      TEXT NOT NULL DEFAULT '',
    mode            TEXT NOT NULL,
    provider        TEXT NOT NULL,
    account_id      TEXT NOT NULL DEFAULT '',
    model           TEXT NOT NULL DEFAULT '',
    title           TEXT NOT NULL DEFAULT '',
    status          TEXT NOT NULL,
    reason          TEXT NOT NULL DEFAULT '',
    retry_at        DATETIME,
    error           TEXT NOT NULL DEFAULT '',
    result          TEXT NOT NULL DEFAULT '',
    no_changes      TEXT NOT NULL DEFAULT '',
    warnings        TEXT,
    parent_id       TEXT NOT NULL DEFAULT '',
    depth           INTEGER NOT NULL DEFAULT 0,
    origin          TEXT NOT NULL DEFAULT '',
    created_by      TEXT NOT NULL DEFAULT '',
    initiative_id   TEXT NOT NULL DEFAULT '',
    phase_id        TEXT NOT NULL DEFAULT '',
    task_id         TEXT NOT NULL DEFAULT '',
    agent_cwd       TEXT NOT NULL DEFAULT '',
    session_id      TEXT NOT NULL DEFAULT '',
    session_number  INTEGER NOT NULL DEFAULT 0,
    commit_retries  INTEGER NOT NULL DEFAULT 0,
    signal_retries  INTEGER NOT NULL DEFAULT 0,
    last_snippet    TEXT NOT NULL DEFAULT '',
    options_json    TEXT NOT NULL DEFAULT '',
    attributes_json TEXT NOT NULL DEFAULT '',
    pinned_at       DATETIME,
    deleted_at      DATETIME,
    created_at      DATETIME NOT NULL,
    updated_at      DATETIME NOT NULL
);
CREATE INDEX agents_status ON agents (status);
CREATE INDEX agents_created_at ON agents (created_at);

-- project_id is no foreign key: the rows of removed agents outlive a project
-- and carry its name.
CREATE TABLE agent_worktrees (
    agent_id    TEXT NOT NULL REFERENCES agents (id),
    project_id  TEXT NOT NULL,
    project     TEXT NOT NULL DEFAULT '',
    path        TEXT NOT NULL DEFAULT '',
    branch      TEXT NOT NULL DEFAULT '',
    base_branch TEXT NOT NULL DEFAULT '',
    base_commit TEXT NOT NULL DEFAULT '',
    head_commit TEXT NOT NULL DEFAULT '',
    state       TEXT NOT NULL DEFAULT '',
    handed_over TEXT NOT NULL DEFAULT '',
    commits     INTEGER NOT NULL DEFAULT 0,
    dirty       INTEGER NOT NULL DEFAULT 0,
    stat        TEXT,
    included    TEXT,
    PRIMARY KEY (agent_id, project_id)
);
CREATE INDEX agent_worktrees_project ON agent_worktrees (project_id);

-- agent_id is no foreign key: checks and set-ups are runs without an agent.
CREATE TABLE runs (
    id             TEXT PRIMARY KEY,
    agent_id       TEXT NOT NULL DEFAULT '',
    kind           TEXT NOT NULL,
    session_number INTEGER NOT NULL DEFAULT 0,
    reason         TEXT NOT NULL DEFAULT '',
    message_id     TEXT NOT NULL DEFAULT '',
    account_id     TEXT NOT NULL DEFAULT '',
    dir            TEXT NOT NULL DEFAULT '',
    handle         TEXT,
    pid            INTEGER NOT NULL DEFAULT 0,
    output_path    TEXT NOT NULL DEFAULT '',
    offset         INTEGER NOT NULL DEFAULT 0,
    exit_code      INTEGER,
    term_signal    TEXT NOT NULL DEFAULT '',
    outcome        TEXT NOT NULL DEFAULT '',
    outcome_reason TEXT NOT NULL DEFAULT '',
    result         TEXT NOT NULL DEFAULT '',
    turns          INTEGER NOT NULL DEFAULT 0,
    context_tokens INTEGER NOT NULL DEFAULT 0,
    context_limit  INTEGER NOT NULL DEFAULT 0,
    cost_usd       REAL NOT NULL DEFAULT 0,
    usage          TEXT,
    unknown_lines  INTEGER NOT NULL DEFAULT 0,
    stop_requested TEXT NOT NULL DEFAULT '',
    started_at     DATETIME,
    ended_at       DATETIME,
    created_at     DATETIME NOT NULL
);
CREATE UNIQUE INDEX runs_session ON runs (agent_id, session_number) WHERE kind = 'agent';
CREATE INDEX runs_unfinished ON runs (created_at) WHERE ended_at IS NULL;

CREATE TABLE messages (
    id              TEXT PRIMARY KEY,
    agent_id        TEXT NOT NULL REFERENCES agents (id),
    run_id          TEXT NOT NULL DEFAULT '',
    seq             INTEGER NOT NULL,
    role            TEXT NOT NULL,
    origin          TEXT NOT NULL DEFAULT '',
    actor           TEXT NOT NULL DEFAULT '',
    sender_agent_id TEXT NOT NULL DEFAULT '',
    definition      TEXT NOT NULL DEFAULT '',
    body            TEXT NOT NULL DEFAULT '',
    parts_json      TEXT NOT NULL DEFAULT '',
    metadata_json   TEXT NOT NULL DEFAULT '',
    reply_to        TEXT NOT NULL DEFAULT '',
    queued_at       DATETIME,
    delivered_at    DATETIME,
    hidden_at       DATETIME,
    created_at      DATETIME NOT NULL,
    UNIQUE (agent_id, seq)
);

CREATE TABLE ops (
    id          TEXT PRIMARY KEY,
    kind        TEXT NOT NULL,
    status      TEXT NOT NULL,
    step        TEXT NOT NULL DEFAULT '',
    agent_id    TEXT NOT NULL DEFAULT '',
    run_id      TEXT NOT NULL DEFAULT '',
    request_key TEXT UNIQUE, -- NULL: the caller gave none
    args_json   TEXT NOT NULL DEFAULT '',
    error       TEXT NOT NULL DEFAULT '',
    created_at  DATETIME NOT NULL,
    updated_at  DATETIME NOT NULL
);
CREATE INDEX ops_run ON ops (run_id);

CREATE TABLE questions (
    id           TEXT PRIMARY KEY,
    agent_id     TEXT NOT NULL REFERENCES agents (id),
    run_id       TEXT NOT NULL DEFAULT '',
    request_id   TEXT NOT NULL,
    seq          INTEGER NOT NULL,
    key          TEXT NOT NULL DEFAULT '',
    source       TEXT NOT NULL DEFAULT '',
    tool_use_id  TEXT NOT NULL DEFAULT '',
    header       TEXT NOT NULL DEFAULT '',
    text         TEXT NOT NULL DEFAULT '',
    options_json TEXT,
    multi_select INTEGER NOT NULL DEFAULT 0,
    status       TEXT NOT NULL,
    answer_json  TEXT NOT NULL DEFAULT '',
    answered_by  TEXT NOT NULL DEFAULT '',
    answered_at  DATETIME,
    created_at   DATETIME NOT NULL,
    UNIQUE (request_id, seq)
);
CREATE INDEX questions_agent ON questions (agent_id, status);

CREATE TABLE tokens (
    id               TEXT PRIMARY KEY,
    hash             TEXT NOT NULL UNIQUE,
    kind             TEXT NOT NULL,
    run_id           TEXT NOT NULL DEFAULT '',
    agent_id         TEXT NOT NULL DEFAULT '',
    scopes_json      TEXT,
    tools_allow_json TEXT,
    tools_deny_json  TEXT,
    revoked_at       DATETIME,
    created_at       DATETIME NOT NULL
);
CREATE INDEX tokens_run ON tokens (run_id);

-- AUTOINCREMENT: a number is never given twice, not even after retention.
CREATE TABLE events (
    seq             INTEGER PRIMARY KEY AUTOINCREMENT,
    type            TEXT NOT NULL,
    at              DATETIME NOT NULL,
    actor_kind      TEXT NOT NULL DEFAULT '',
    actor_id        TEXT NOT NULL DEFAULT '',
    project_id      TEXT NOT NULL DEFAULT '',
    initiative_id   TEXT NOT NULL DEFAULT '',
    task_id         TEXT NOT NULL DEFAULT '',
    agent_id        TEXT NOT NULL DEFAULT '',
    run_id          TEXT NOT NULL DEFAULT '',
    conversation_id TEXT NOT NULL DEFAULT '',
    data_json       TEXT NOT NULL
);
CREATE INDEX events_agent ON events (agent_id, seq);
