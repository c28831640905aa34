-- +goose Up

-- Until when a person has the worktree open, so that it is not cleaned up, and
-- whether it is to be cleaned up after that.
ALTER TABLE agents ADD COLUMN held_until DATETIME;
ALTER TABLE agents ADD COLUMN clean_up_due INTEGER NOT NULL DEFAULT 0;
CREATE INDEX agents_held ON agents (held_until) WHERE held_until IS NOT NULL;
