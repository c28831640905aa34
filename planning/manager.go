package planning

import (
	"context"
	"slices"
	"time"

	"cw/internal/cw"
)

// Manager keeps initiatives and everything that belongs to them. It implements
// cw.PlanningServices but for prompts, and is safe for concurrent use.
type Manager struct {
	store Store
	now   func() time.Time
}

var (
	_ cw.InitiativeService = (*Manager)(nil)
	_ cw.DocumentService   = (*Manager)(nil)
	_ cw.PhaseService      = (*Manager)(nil)
	_ cw.TaskService       = (*Manager)(nil)
	_ cw.ProposalService   = (*Manager)(nil)
)

// New makes a manager of what the store keeps.
func New(store Store) *Manager {
	return &Manager{store: store, now: func() time.Time { return time.Now().UTC() }}
}

// change changes an active initiative by a rule, in one transaction, and gives
// it as it became.
func (m *Manager) change(ctx context.Context, id cw.InitiativeID, rule func(*plan) error) (*plan, error) {
	return m.changeAny(ctx, id, func(p *plan) error {
		if err := p.refuseArchived(); err != nil {
			return err
		}
		return rule(p)
	})
}

// changeAny is change for archived initiatives too.
func (m *Manager) changeAny(ctx context.Context, id cw.InitiativeID, rule func(*plan) error) (*plan, error) {
	actor, now := cw.ActorOf(ctx), m.now()
	var became *plan
	err := m.store.ChangeInitiative(ctx, id, func(s cw.InitiativeState) (cw.InitiativeChange, error) {
		became = begin(s, actor, now)
		if err := rule(became); err != nil {
			return cw.InitiativeChange{}, err
		}
		return became.settle()
	})
	if err != nil {
		return nil, err
	}
	return became, nil
}

// state finds an initiative by id or slug and gives everything of it.
func (m *Manager) state(ctx context.Context, ref string) (cw.InitiativeState, error) {
	i, err := m.store.InitiativeByRef(ctx, ref)
	if err != nil {
		return cw.InitiativeState{}, err
	}
	return m.store.InitiativeState(ctx, i.ID)
}

// nameOf is what is stored of who did something.
func nameOf(a cw.Actor) string {
	if a.ID == "" {
		return string(a.Kind)
	}
	return string(a.Kind) + ":" + a.ID
}

// orEmpty makes null lists empty ones.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// withoutTexts are rows as they are listed: each text may have a megabyte.
func withoutTexts[T any](rows []T, strip func(*T)) []T {
	out := make([]T, len(rows))
	for i, row := range rows {
		strip(&row)
		out[i] = row
	}
	return out
}

// once leaves out what is named again.
func once[T comparable](list []T) []T {
	out := make([]T, 0, len(list))
	for _, v := range list {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// set replaces a value when another one is given.
func set[T any](value *T, given *T) {
	if given != nil {
		*value = *given
	}
}
