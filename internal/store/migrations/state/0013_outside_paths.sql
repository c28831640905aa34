-- +goose Up

-- What the work on a task changed outside its paths: JSON, NULL for nothing.
ALTER TABLE tasks ADD COLUMN outside TEXT;
