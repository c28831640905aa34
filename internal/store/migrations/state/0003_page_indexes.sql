-- +goose Up

-- Lists are read in pages: from a place on, in one order, ties in the order of
-- their ids. (aliases and names of projects are unique and have an index.)
DROP INDEX agents_created_at;
DROP INDEX agents_status;
CREATE INDEX agents_created_at ON agents (created_at, id);
CREATE INDEX agents_updated_at ON agents (updated_at, id);
CREATE INDEX agents_status ON agents (status, id);
CREATE INDEX projects_created_at ON projects (created_at, id);
-- Tokens of dashboards are few among those of runs.
CREATE INDEX tokens_kind ON tokens (kind, created_at, id);
