-- +goose Up

-- Tokens of dashboards have a name for people; a revoked one gives it free.
ALTER TABLE tokens ADD COLUMN name TEXT NOT NULL DEFAULT '';
CREATE UNIQUE INDEX tokens_name ON tokens (name) WHERE name <> '' AND revoked_at IS NULL;

-- Some readers follow one initiative.
CREATE INDEX events_initiative ON events (initiative_id, seq) WHERE initiative_id <> '';
