-- +goose Up

-- Contents of a project's cw.yaml that people trust.
CREATE TABLE project_trusts (
    project_id TEXT NOT NULL REFERENCES projects (id),
    digest     TEXT NOT NULL,
    trusted_by TEXT NOT NULL DEFAULT '',
    trusted_at DATETIME NOT NULL,
    PRIMARY KEY (project_id, digest)
);

-- Ports of an agent's worktree: count of them, from first on. Ranges of
-- worktrees that are there never overlap, which the store sees to.
CREATE TABLE worktree_ports (
    agent_id   TEXT NOT NULL REFERENCES agents (id),
    project_id TEXT NOT NULL,
    first      INTEGER NOT NULL,
    count      INTEGER NOT NULL,
    PRIMARY KEY (agent_id, project_id)
);
CREATE UNIQUE INDEX worktree_ports_first ON worktree_ports (first);

-- The project's set-up ran in this worktree as it is.
ALTER TABLE agent_worktrees ADD COLUMN set_up INTEGER NOT NULL DEFAULT 0;
