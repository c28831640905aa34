package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"gorm.io/gorm"

	"cw/internal/cw"
)

const (
	// plansKept is how many plans of an agent are kept: the newest one counts, and
	// agents may make as many as they like.
	plansKept = 10
	// planCoalesce is how long a revision keeps its steps in its event when another
	// one follows: an agent that revises its plan again and again fills nothing.
	planCoalesce = time.Minute
)

// PlanOf gives the newest plan of an agent, and whether there is one.
func (db *DB) PlanOf(ctx context.Context, agent cw.AgentID) (plan cw.Plan, found bool, err error) {
	err = db.query(ctx, "read plan", func(g *gorm.DB) error {
		plan, found, err = newestPlan(g, agent)
		return err
	})
	return plan, found, err
}

func newestPlan(g *gorm.DB, agent cw.AgentID) (cw.Plan, bool, error) {
	var plan cw.Plan
	found, err := one(g.Order("created_at DESC, id DESC"), &plan, "agent_id = ?", agent)
	plan.Steps = orEmpty(plan.Steps)
	return plan, found, err
}

// plansOf gives the newest plan of each agent that has one.
func plansOf(g *gorm.DB, agents []cw.AgentID) (map[cw.AgentID]*cw.PlanSummary, error) {
	var rows []cw.Plan
	err := g.Where(`id IN (SELECT (SELECT id FROM plans WHERE agent_id = agent.value ORDER BY created_at DESC, id DESC LIMIT 1)
		FROM json_each(?) AS agent)`, list(agents)).Find(&rows).Error
	out := make(map[cw.AgentID]*cw.PlanSummary, len(rows))
	for _, p := range rows {
		summary := p.Summary()
		out[p.AgentID] = &summary
	}
	return out, err
}

// ChangePlan stores what a list of steps makes of an agent's plan: see
// cw.Plan.Change. plan:created and plan:revised are stored with it. before is the
// plan as it was. Nothing is written when nothing changes. CodeNotFound without
// the agent, CodeRefused when it is removed.
func (db *DB) ChangePlan(ctx context.Context, c cw.PlanChange) (before, after cw.Plan, turn cw.PlanTurn, err error) {
	if c.Source == cw.PlanNative { // CLIs tell the same list again and again
		if before, _, err = db.PlanOf(ctx, c.AgentID); err != nil {
			return before, before, cw.PlanSame, err
		}
		if after, turn = before.Change(c); turn == cw.PlanSame {
			return before, after, turn, nil
		}
	}
	err = db.change(ctx, "change plan", func(t *tx) error {
		agent, err := t.presentAgent(c.AgentID)
		if err != nil {
			return err
		}
		if before, _, err = newestPlan(t.DB, c.AgentID); err != nil {
			return err
		}
		after, turn = before.Change(c)
		switch turn {
		case cw.PlanSame:
			return nil
		case cw.PlanCreated:
			after.ID = cw.PlanID(cw.NewID())
			after.CreatedAt = t.now
			if !after.CreatedAt.After(before.CreatedAt) { // of two plans one is the newest
				after.CreatedAt = before.CreatedAt.Add(time.Nanosecond)
			}
		}
		if err := t.savePlan(&after); err != nil {
			return err
		}
		return t.tellPlan(agent, after, turn, c.By)
	})
	return before, after, turn, err
}

// MovePlanStep moves a step of the agent's newest plan, and tells whether that
// changed anything: see cw.Plan.Move. CodeNotFound without a plan.
func (db *DB) MovePlanStep(ctx context.Context, m cw.StepMove) (plan cw.Plan, changed bool, err error) {
	err = db.change(ctx, "move step", func(t *tx) error {
		agent, err := t.presentAgent(m.AgentID)
		if err != nil {
			return err
		}
		var found bool
		if plan, found, err = newestPlan(t.DB, m.AgentID); err != nil {
			return err
		}
		if !found {
			return cw.ErrNoPlan(agent.Alias)
		}
		if plan, changed, err = plan.Move(m.Step, m.Status); err != nil || !changed {
			return err
		}
		plan.RunID = m.RunID
		return t.savePlan(&plan)
	})
	return plan, changed, err
}

// presentAgent reads an agent that is not removed.
func (t *tx) presentAgent(id cw.AgentID) (cw.Agent, error) {
	agent, err := t.loadAgent(id)
	if err == nil && agent.DeletedAt != nil {
		err = refusedRemoved(agent)
	}
	return agent, err
}

// savePlan writes a plan over what is there of it, and forgets plans that are too
// old to matter.
func (t *tx) savePlan(p *cw.Plan) error {
	p.UpdatedAt = t.now
	if err := t.Save(p).Error; err != nil {
		return fmt.Errorf("store plan: %w", err)
	}
	return t.Exec(`DELETE FROM plans WHERE agent_id = ? AND id NOT IN
		(SELECT id FROM plans WHERE agent_id = ? ORDER BY created_at DESC, id DESC LIMIT ?)`, p.AgentID, p.AgentID, plansKept).Error
}

// tellPlan emits what became of a plan; that steps moved is no stored event. Nor
// is more about a step: whoever wants it reads the plan.
func (t *tx) tellPlan(agent cw.Agent, p cw.Plan, turn cw.PlanTurn, by cw.Actor) error {
	event := cw.EventPlanRevised
	switch turn {
	case cw.PlanMoved:
		return nil
	case cw.PlanCreated:
		event = cw.EventPlanCreated
	}
	if err := t.coalescePlan(agent.ID, p.ID); err != nil {
		return fmt.Errorf("shorten the last revision: %w", err)
	}
	return t.emit(cw.NewEvent(event, by, p.Changed(agent.Alias)).About(agent.ID, p.RunID))
}

// coalescePlan takes the steps out of the event of the plan's last revision when
// that was less than a while ago: the next event has those that count. The event
// itself stays, since numbers have no gap.
func (t *tx) coalescePlan(agent cw.AgentID, plan cw.PlanID) error {
	var last []cw.Event
	err := t.Where("agent_id = ? AND type = ?", agent, cw.EventPlanRevised).Order("seq DESC").Limit(1).Find(&last).Error
	if err != nil || len(last) == 0 || t.now.Sub(last[0].At) >= planCoalesce {
		return err
	}
	var was cw.PlanChanged
	if err := json.Unmarshal(last[0].Data, &was); err != nil || was.PlanID != plan {
		return err
	}
	was.Steps = []cw.PlanStep{}
	data, err := json.Marshal(was)
	if err != nil {
		return err
	}
	return t.Model(&cw.Event{}).Where("seq = ?", last[0].Seq).Update("data_json", data).Error
}
