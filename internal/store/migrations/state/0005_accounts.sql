-- +goose Up

-- Accounts of providers. Their secrets are not here. The account default of a
-- provider, the user's own login, gets its row when it is first used.
CREATE TABLE accounts (
    id              TEXT PRIMARY KEY,
    provider        TEXT NOT NULL,
    name            TEXT NOT NULL,
    email           TEXT NOT NULL DEFAULT '',
    kind            TEXT NOT NULL,
    config_dir      TEXT NOT NULL DEFAULT '',
    source_dir      TEXT NOT NULL DEFAULT '',
    base_url        TEXT NOT NULL DEFAULT '',
    config_json     TEXT NOT NULL DEFAULT '',
    identity        TEXT NOT NULL DEFAULT '',
    priority        INTEGER NOT NULL DEFAULT 0,
    enabled         INTEGER NOT NULL DEFAULT 1,
    draining        INTEGER NOT NULL DEFAULT 0,
    exhausted_until DATETIME,
    exhausted_kind  TEXT NOT NULL DEFAULT '',
    exhausted_text  TEXT NOT NULL DEFAULT '',
    invalid         TEXT NOT NULL DEFAULT '',
    usage           TEXT,
    usage_at        DATETIME,
    last_used_at    DATETIME,
    created_at      DATETIME NOT NULL,
    updated_at      DATETIME NOT NULL,
    removed_at      DATETIME
);
CREATE UNIQUE INDEX accounts_name ON accounts (provider, name) WHERE removed_at IS NULL;
-- Two accounts with the same login would wear out one limit and one token.
CREATE UNIQUE INDEX accounts_identity ON accounts (provider, identity) WHERE removed_at IS NULL AND identity <> '';

-- How the use of an account's windows went on.
CREATE TABLE usage_samples (
    id           INTEGER PRIMARY KEY,
    account_id   TEXT NOT NULL,
    kind         TEXT NOT NULL,
    used_percent REAL NOT NULL,
    resets_at    DATETIME,
    at           DATETIME NOT NULL
);
CREATE INDEX usage_samples_account ON usage_samples (account_id, at);

CREATE TABLE budgets (
    scope     TEXT NOT NULL,
    scope_id  TEXT NOT NULL,
    limit_usd REAL NOT NULL,
    warned_at DATETIME,
    spent_at  DATETIME,
    set_at    DATETIME NOT NULL,
    PRIMARY KEY (scope, scope_id)
);

-- An agent may go on with another provider, so each run says whose it is.
ALTER TABLE runs ADD COLUMN provider TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN model TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN cost_source TEXT NOT NULL DEFAULT '';
UPDATE runs SET provider = COALESCE((SELECT provider FROM agents WHERE agents.id = runs.agent_id), ''),
                model = COALESCE((SELECT model FROM agents WHERE agents.id = runs.agent_id), '');
UPDATE runs SET cost_source = 'cli' WHERE cost_usd > 0;
UPDATE runs SET account_id = 'default-' || provider WHERE account_id IN ('', 'default') AND provider <> '';
UPDATE agents SET account_id = 'default-' || provider WHERE account_id IN ('', 'default');
CREATE INDEX runs_account ON runs (account_id);

-- Providers that a project's agents may go on with, in order, as JSON.
ALTER TABLE projects ADD COLUMN fallback TEXT;
