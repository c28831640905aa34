package store

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"cw/internal/cw"
)

// addProposals stores what a run suggests. What was suggested before, whatever
// became of it, is left out. A new one takes the place of the open ones about
// the same thing. Each is a little later than the one before, so that their
// order by time is that of the run.
func (t *tx) addProposals(f cw.Finish) error {
	by := cw.Actor{Kind: cw.ActorAgent, ID: string(f.AgentID)}
	for i, p := range f.Proposals {
		p.AgentID, p.RunID = f.AgentID, f.RunID
		p.ID = cmp.Or(p.ID, cw.ProposalID(cw.NewID()))
		p.Status = cmp.Or(p.Status, cw.ProposalOpen)
		if p.CreatedAt.IsZero() {
			p.CreatedAt = t.now
		}
		p.CreatedAt = p.CreatedAt.Add(time.Duration(i))
		known := clause.OnConflict{Columns: []clause.Column{{Name: "initiative_id"}, {Name: "digest"}}, DoNothing: true}
		added := t.Clauses(known).Create(&p)
		if added.Error != nil {
			return fmt.Errorf("store proposal for %s: %w", p.File, added.Error)
		}
		if added.RowsAffected == 0 {
			continue
		}
		if err := t.supersede(p, by); err != nil {
			return err
		}
		if err := t.emit(proposalEvent(cw.EventProposalCreated, by, p)); err != nil {
			return err
		}
	}
	return nil
}

// supersede closes the other open proposals about the same thing.
func (t *tx) supersede(p cw.Proposal, by cw.Actor) error {
	var old []cw.Proposal
	err := t.Raw(`UPDATE proposals SET status = ?
		WHERE initiative_id = ? AND target_id = ? AND target = ? AND status = ? AND id <> ? RETURNING *`,
		cw.ProposalSuperseded, p.InitiativeID, p.TargetID, p.Target, cw.ProposalOpen, p.ID).Scan(&old).Error
	if err != nil {
		return fmt.Errorf("supersede proposals: %w", err)
	}
	for _, o := range old {
		if err := t.emit(proposalEvent(cw.EventProposalSuperseded, by, o)); err != nil {
			return err
		}
	}
	return nil
}

// proposalEvent tells what became of a proposal, and names the run that made it.
func proposalEvent(what cw.EventType, by cw.Actor, p cw.Proposal) cw.Event {
	return cw.NewEvent(what, by, cw.ProposalChanged{
		ProposalID: p.ID, Target: p.Target, TargetID: p.TargetID, Action: p.Action, Title: p.Title,
	}).In(p.InitiativeID).About(p.AgentID, p.RunID)
}

// proposalsOf gives the proposals of an initiative that decisions look at: open
// and dismissed ones, oldest first.
func proposalsOf(g *gorm.DB, id cw.InitiativeID) ([]cw.Proposal, error) {
	proposals := []cw.Proposal{}
	looked := []cw.ProposalStatus{cw.ProposalOpen, cw.ProposalDismissed}
	err := g.Where("initiative_id = ? AND status IN (SELECT value FROM json_each(?))", id, list(looked)).
		Order("created_at, id").Find(&proposals).Error
	return proposals, err
}

// ProposalPage gives one page of the proposals. CodeInvalid as
// cw.ProposalFilter.Start; CodeNotFound when the filter names an initiative or
// an agent that is not there.
func (db *DB) ProposalPage(ctx context.Context, f cw.ProposalFilter) (cw.Page[cw.Proposal], error) {
	start, err := f.Start()
	if err != nil {
		return cw.Page[cw.Proposal]{}, err
	}
	var page cw.Page[cw.Proposal]
	err = db.query(ctx, "list proposals", func(g *gorm.DB) error {
		q, err := selectProposals(g, f)
		if err != nil {
			return err
		}
		page, err = pageOf[cw.Proposal](q, start, "created_at")
		return err
	})
	return page, err
}

func selectProposals(g *gorm.DB, f cw.ProposalFilter) (*gorm.DB, error) {
	q := g
	switch len(f.Statuses) {
	case 0:
	case 1: // as the index begins
		q = q.Where("status = ?", f.Statuses[0])
	default:
		q = q.Where("status IN (SELECT value FROM json_each(?))", list(f.Statuses))
	}
	if f.Initiative != "" {
		i, err := initiativeByRef(g, f.Initiative)
		if err != nil {
			return nil, err
		}
		q = q.Where("initiative_id = ?", i.ID)
	}
	if f.Agent != "" {
		agent, err := agentByRef(g, f.Agent)
		if err != nil {
			return nil, err
		}
		q = q.Where("agent_id = ?", agent.ID)
	}
	return q, nil
}

// ProposalByID finds one, whatever became of it. CodeNotFound.
func (db *DB) ProposalByID(ctx context.Context, id cw.ProposalID) (cw.Proposal, error) {
	var p cw.Proposal
	err := db.query(ctx, "find proposal", func(g *gorm.DB) error {
		found, err := one(g, &p, "id = ?", id)
		if err == nil && !found {
			err = cw.Errorf(cw.CodeNotFound, "there is no proposal %.100q", string(id)).
				WithHint("open ones: cw proposal list")
		}
		return err
	})
	return p, err
}
