-- +goose Up

-- What a decision asks, with the answers: JSON, NULL for none.
ALTER TABLE tasks ADD COLUMN questions TEXT;
