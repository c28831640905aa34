-- +goose Up

-- Counters of runs that cw adds by itself, beside commit_retries and
-- signal_retries.
ALTER TABLE agents ADD COLUMN empty_retries INTEGER NOT NULL DEFAULT 0;
ALTER TABLE agents ADD COLUMN stall_retries INTEGER NOT NULL DEFAULT 0;

-- Where a removed worktree lies, and the snapshot made before it went.
ALTER TABLE agent_worktrees ADD COLUMN trash TEXT NOT NULL DEFAULT '';
ALTER TABLE agent_worktrees ADD COLUMN trashed_at DATETIME;
ALTER TABLE agent_worktrees ADD COLUMN keep_ref TEXT NOT NULL DEFAULT '';
ALTER TABLE agent_worktrees ADD COLUMN keep_commit TEXT NOT NULL DEFAULT '';
ALTER TABLE agent_worktrees ADD COLUMN keep_whole INTEGER NOT NULL DEFAULT 0;

ALTER TABLE runs ADD COLUMN fresh INTEGER NOT NULL DEFAULT 0;

-- Policies of a project, set by people alone.
ALTER TABLE projects ADD COLUMN stall TEXT NOT NULL DEFAULT 'event';
ALTER TABLE projects ADD COLUMN auto_resume INTEGER NOT NULL DEFAULT 0;

-- What is asked at every start, and at every end of a run.
CREATE INDEX messages_undelivered ON messages (agent_id) WHERE delivered_at IS NULL AND role = 'user';
CREATE INDEX messages_run ON messages (run_id);
CREATE INDEX ops_open ON ops (kind, created_at) WHERE status IN ('intended', 'acting');
CREATE INDEX ops_agent ON ops (agent_id);
CREATE INDEX questions_status ON questions (status, created_at, id);
CREATE INDEX agents_deleted_at ON agents (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX agent_worktrees_trash ON agent_worktrees (trashed_at) WHERE trash <> '';

-- Never two runs of one agent at once, whatever asks for them.
CREATE UNIQUE INDEX runs_one_alive ON runs (agent_id) WHERE ended_at IS NULL AND kind = 'agent';

-- Pages of texts and questions.
CREATE INDEX messages_page ON messages (agent_id, created_at, id);
CREATE INDEX questions_created_at ON questions (created_at, id);
