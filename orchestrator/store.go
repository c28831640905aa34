package orchestrator

import (
	"context"

	"cw/internal/cw"
)

// Store is what the engine needs kept. Each method is one transaction; the
// events given with a change are stored in it.
type Store interface {
	AddProject(ctx context.Context, p cw.Project, ev cw.Event) error
	Projects(ctx context.Context) ([]cw.Project, error)
	ProjectPage(ctx context.Context, q cw.PageQuery) (cw.Page[cw.Project], error)
	ProjectByRef(ctx context.Context, ref string) (cw.Project, error)
	ProjectByGitDir(ctx context.Context, gitDir string) (cw.Project, bool, error)
	UpdateProjectPath(ctx context.Context, id cw.ProjectID, path, gitDir string) error
	RemoveProject(ctx context.Context, id cw.ProjectID, ev cw.Event) error

	AliasTaken(ctx context.Context, alias string) (bool, error)
	SpawnByKey(ctx context.Context, key string) (cw.Op, bool, error)
	IntendSpawn(ctx context.Context, in cw.SpawnIntent) error
	SaveOpStep(ctx context.Context, op cw.OpID, step string) error
	SaveWorktrees(ctx context.Context, op cw.OpID, step string, trees []cw.AgentWorktree) error
	SaveStarting(ctx context.Context, s cw.Starting) error
	SaveRunning(ctx context.Context, r cw.Running) error
	AbortSpawn(ctx context.Context, op cw.OpID) error

	UnfinishedRuns(ctx context.Context) ([]cw.RunState, error)
	RunState(ctx context.Context, run cw.RunID) (cw.RunState, error)
	SaveSessionID(ctx context.Context, agent cw.AgentID, sessionID string) error
	RequestStop(ctx context.Context, run cw.RunID, how string) (bool, error)
	FinishRun(ctx context.Context, f cw.Finish) (bool, error)
	AddWarning(ctx context.Context, agent cw.AgentID, warning string, ev cw.Event) error

	AgentByRef(ctx context.Context, ref string) (cw.Agent, error)
	AgentView(ctx context.Context, ref string) (cw.AgentView, error)
	AgentViews(ctx context.Context, f cw.AgentFilter) (cw.Page[cw.AgentView], error)

	AppendChunks(ctx context.Context, chunks []cw.Chunk) ([]cw.Chunk, error)
	NextOffset(ctx context.Context, agent cw.AgentID, session int) (int64, error)
	ChunksFrom(ctx context.Context, q cw.ChunkQuery) ([]cw.Chunk, error)
}
