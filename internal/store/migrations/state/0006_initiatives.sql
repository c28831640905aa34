-- +goose Up

CREATE TABLE initiatives (
    id           TEXT PRIMARY KEY,
    name         TEXT NOT NULL,
    slug         TEXT NOT NULL UNIQUE,
    goal         TEXT NOT NULL DEFAULT '',
    status       TEXT NOT NULL,
    root_page_id TEXT NOT NULL DEFAULT '',
    created_by   TEXT NOT NULL DEFAULT '',
    created_at   DATETIME NOT NULL,
    updated_at   DATETIME NOT NULL
);
CREATE INDEX initiatives_created_at ON initiatives (status, created_at, id);
CREATE INDEX initiatives_updated_at ON initiatives (status, updated_at, id);
CREATE INDEX initiatives_name ON initiatives (status, name, id);

-- project_id is no foreign key: an initiative outlives a project that is
-- forgotten, and says its name.
CREATE TABLE initiative_projects (
    initiative_id TEXT NOT NULL REFERENCES initiatives (id),
    project_id    TEXT NOT NULL,
    project       TEXT NOT NULL DEFAULT '',
    position      INTEGER NOT NULL,
    PRIMARY KEY (initiative_id, project_id)
);

CREATE TABLE pages (
    id            TEXT PRIMARY KEY,
    initiative_id TEXT NOT NULL REFERENCES initiatives (id),
    parent_id     TEXT NOT NULL DEFAULT '',
    title         TEXT NOT NULL,
    body          TEXT NOT NULL DEFAULT '',
    position      INTEGER NOT NULL DEFAULT 0,
    revision      INTEGER NOT NULL DEFAULT 1,
    updated_by    TEXT NOT NULL DEFAULT '',
    deleted_at    DATETIME,
    created_at    DATETIME NOT NULL,
    updated_at    DATETIME NOT NULL
);
CREATE INDEX pages_initiative ON pages (initiative_id, parent_id, position);

CREATE TABLE phases (
    id            TEXT PRIMARY KEY,
    initiative_id TEXT NOT NULL REFERENCES initiatives (id),
    name          TEXT NOT NULL,
    body          TEXT NOT NULL DEFAULT '',
    position      INTEGER NOT NULL DEFAULT 0,
    status        TEXT NOT NULL,
    created_at    DATETIME NOT NULL,
    updated_at    DATETIME NOT NULL
);
CREATE INDEX phases_initiative ON phases (initiative_id, position);

CREATE TABLE phase_dependencies (
    phase_id   TEXT NOT NULL REFERENCES phases (id),
    depends_on TEXT NOT NULL REFERENCES phases (id),
    position   INTEGER NOT NULL, -- as it was said
    PRIMARY KEY (phase_id, depends_on)
);

CREATE TABLE tasks (
    id             TEXT PRIMARY KEY,
    initiative_id  TEXT NOT NULL REFERENCES initiatives (id),
    phase_id       TEXT NOT NULL REFERENCES phases (id),
    name           TEXT NOT NULL,
    body           TEXT NOT NULL DEFAULT '',
    type           TEXT NOT NULL,
    size           TEXT NOT NULL DEFAULT '',
    priority       TEXT NOT NULL DEFAULT '',
    file_ownership TEXT,
    checks         TEXT,
    position       INTEGER NOT NULL DEFAULT 0,
    status         TEXT NOT NULL,
    summary        TEXT NOT NULL DEFAULT '',
    created_at     DATETIME NOT NULL,
    updated_at     DATETIME NOT NULL
);
CREATE INDEX tasks_phase ON tasks (phase_id, position);
CREATE INDEX tasks_initiative ON tasks (initiative_id, status);

CREATE TABLE task_dependencies (
    task_id    TEXT NOT NULL REFERENCES tasks (id),
    depends_on TEXT NOT NULL REFERENCES tasks (id),
    position   INTEGER NOT NULL, -- as it was said
    PRIMARY KEY (task_id, depends_on)
);

-- A digest stands once per initiative: the same output again suggests nothing
-- new, whatever became of it the first time.
CREATE TABLE proposals (
    id            TEXT PRIMARY KEY,
    initiative_id TEXT NOT NULL REFERENCES initiatives (id),
    agent_id      TEXT NOT NULL DEFAULT '',
    run_id        TEXT NOT NULL DEFAULT '',
    target        TEXT NOT NULL,
    target_id     TEXT NOT NULL DEFAULT '',
    action        TEXT NOT NULL,
    title         TEXT NOT NULL DEFAULT '',
    file          TEXT NOT NULL DEFAULT '',
    before        TEXT NOT NULL DEFAULT '',
    after         TEXT NOT NULL DEFAULT '',
    base_revision INTEGER NOT NULL DEFAULT 0,
    digest        TEXT NOT NULL,
    status        TEXT NOT NULL,
    decided_by    TEXT NOT NULL DEFAULT '',
    decided_at    DATETIME,
    note          TEXT NOT NULL DEFAULT '',
    created_at    DATETIME NOT NULL
);
CREATE UNIQUE INDEX proposals_digest ON proposals (initiative_id, digest);
-- What a later one for the same thing takes the place of.
CREATE INDEX proposals_target ON proposals (initiative_id, target_id, status);
-- Pages: of all, and of those with one status; of all initiatives, and of one.
CREATE INDEX proposals_created_at ON proposals (created_at, id);
CREATE INDEX proposals_status ON proposals (status, created_at, id);
CREATE INDEX proposals_initiative ON proposals (initiative_id, created_at, id);
CREATE INDEX proposals_initiative_status ON proposals (initiative_id, status, created_at, id);
CREATE INDEX proposals_agent ON proposals (agent_id, created_at, id);

CREATE INDEX agents_initiative ON agents (initiative_id) WHERE initiative_id <> '';
