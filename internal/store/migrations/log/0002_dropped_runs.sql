-- +goose Up

-- Runs whose output is kept no longer. The end stays known, so that no byte is
-- ever stored a second time; readers are told that it is gone.
CREATE TABLE dropped_runs (
    agent_id       TEXT NOT NULL,
    session_number INTEGER NOT NULL,
    agent_name     TEXT NOT NULL DEFAULT '',
    end_offset     INTEGER NOT NULL,
    last_id        INTEGER NOT NULL, -- the number of its last chunk
    dropped_at     DATETIME NOT NULL,
    PRIMARY KEY (agent_id, session_number)
);

-- Of a chunk's place and bytes. NULL: stored before there were sums.
ALTER TABLE agent_log_chunks ADD COLUMN sum INTEGER;
