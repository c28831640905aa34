-- +goose Up

-- Browsers have sessions: tokens of dashboards that end when nobody uses them.
ALTER TABLE tokens ADD COLUMN session INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tokens ADD COLUMN used_at DATETIME;
ALTER TABLE tokens ADD COLUMN expires_at DATETIME;
