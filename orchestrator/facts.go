package orchestrator

import (
	"context"
	"encoding/json"
	"fmt"

	"cw/internal/cw"
)

// optionsKept is the size up to which a spawn's options are kept in the run
// directory too: a longer goal is in the prompt there.
const optionsKept = 1 << 20

// runFacts is what the run directory keeps of a run, so that its agent can be
// rebuilt without the database.
func (o *Orchestrator) runFacts(ctx context.Context, st *cw.RunState) (json.RawMessage, error) {
	a := st.Agent
	facts := cw.RunFacts{
		AgentID: a.ID, Agent: a.Alias, Session: st.Run.SessionNumber, Reason: st.Run.Reason, Binary: o.Binary,
		Definition: a.Definition, Mode: a.Mode, Provider: a.Provider, AccountID: a.AccountID, Model: a.Model,
		Title: a.Title, SessionID: a.SessionID, Cwd: a.AgentCwd, OutputPath: st.Run.OutputPath, CreatedAt: a.CreatedAt,
	}
	if len(a.OptionsJSON) > 0 && len(a.OptionsJSON) <= optionsKept {
		facts.Options = json.RawMessage(a.OptionsJSON)
	}
	for _, t := range st.Worktrees {
		p, err := o.Store.ProjectByRef(ctx, string(t.ProjectID))
		if err != nil {
			return nil, fmt.Errorf("find project %s: %w", t.Project, err)
		}
		facts.Places = append(facts.Places, cw.RunPlace{
			ProjectID: t.ProjectID, Project: p.Name, Repository: p.Path, GitDir: p.GitDir, RemoteURL: p.RemoteURL, Mirror: p.Mirror,
			Path: t.Path, Branch: t.Branch, BaseBranch: t.BaseBranch, BaseCommit: t.BaseCommit,
		})
	}
	data, err := json.Marshal(facts)
	if err != nil {
		return nil, fmt.Errorf("encode run facts: %w", err)
	}
	return data, nil
}
