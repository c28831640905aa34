package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"

	"cw/internal/cw"
)

// AskConversation stores a question of an agent and finds who is asked, with
// conversation:created. What is given is its id, key, asker and run, how the
// target was named, the question, and whether it is to wait or to wake. A
// question to an agent at rest that may do neither is stored as cancelled, with
// its event.
//
// An earlier question with the same key is given back as it is.
//
// CodeForbidden for a run that is over; CodeNotFound for a target that is not
// there, or not in reach; CodeRefused for oneself, for an agent that crashed, was
// stopped or removed, for a circle of agents that would wait for each other, and
// past a limit. others are agents that wait for each other without a question.
func (db *DB) AskConversation(ctx context.Context, c cw.Conversation, others []cw.Waiting) (cw.ConversationView, error) {
	var view cw.ConversationView
	err := db.change(ctx, "ask an agent", func(t *tx) error {
		var earlier cw.Conversation
		asked, err := one(t.DB, &earlier, "from_agent_id = ? AND request_key = ? AND request_key <> ''", c.FromAgentID, c.RequestKey)
		if err != nil {
			return err
		}
		row := c
		if asked {
			row = earlier
		} else if err := t.ask(&row, others, db.guards); err != nil {
			return err
		}
		view, err = conversationView(t.DB, row)
		return err
	})
	return view, err
}

func (t *tx) ask(c *cw.Conversation, others []cw.Waiting, guards cw.Guards) error {
	asker, _, err := t.loadRun(c.FromAgentID, c.FromRunID)
	if err != nil {
		return cw.Errorf(cw.CodeForbidden, "the run that asks is over").Because(err)
	}
	if err := t.roomToAsk("from_agent_id = ?", c.FromAgentID, "you wait for"); err != nil {
		return err
	}
	asked, err := t.findAsked(c, asker)
	if err != nil {
		return err
	}
	c.Status, c.CreatedAt, c.UpdatedAt = cw.ConversationPending, t.now, t.now
	reception := cw.ReceptionQueued
	if asked.ID != "" {
		c.ToAgentID = asked.ID
		if reception, err = t.receive(c, asked, others, guards); err != nil {
			return err
		}
	} else if c.Reason = fmt.Sprintf("no agent of the %s runs", c.TargetKind); !c.Queue {
		reception = cw.ReceptionCancelled
	}
	if err := t.Create(c).Error; err != nil {
		return fmt.Errorf("store conversation: %w", err)
	}
	if err := t.tellAsked(*c, asker, asked); err != nil {
		return err
	}
	if reception == cw.ReceptionCancelled {
		return t.cancelConversation(c, cw.Actor{Kind: cw.ActorCW}, c.Reason)
	}
	return nil
}

// receive tells what becomes of a question to an agent, with the reason why it
// waits or is cancelled. CodeRefused.
func (t *tx) receive(c *cw.Conversation, asked cw.Agent, others []cw.Waiting, guards cw.Guards) (cw.Reception, error) {
	if asked.ID == c.FromAgentID {
		return "", cw.Errorf(cw.CodeRefused, "an agent cannot ask itself").WithHint("name another agent")
	}
	reception := cw.ReceptionBy(asked.Status, asked.DeletedAt != nil, c.Queue, c.Wake)
	switch reception {
	case cw.ReceptionRefused:
		return "", cw.Errorf(cw.CodeRefused, "%s %s", asked.Alias, hasBecome(asked)).
			WithHint("ask another agent, or go on without an answer")
	case cw.ReceptionQueued, cw.ReceptionCancelled:
		c.Reason = restsText(asked)
	}
	if reception == cw.ReceptionCancelled {
		return reception, nil
	}
	if err := t.roomToAsk("to_agent_id = ?", asked.ID, asked.Alias+" is asked"); err != nil {
		return "", err
	}
	if guards.Off("wait-cycle") {
		return reception, nil
	}
	circle, err := t.waitCircle(c.FromAgentID, asked.ID, others)
	if err != nil || circle == "" {
		return reception, err
	}
	return "", cw.Errorf(cw.CodeRefused, "these agents would wait for each other: %s", circle).
		WithHint("answer first what you are asked: cw listen, cw answer")
}

// restsText says how an agent is at rest.
func restsText(a cw.Agent) string {
	switch a.Status {
	case cw.StatusWaitingForInput:
		return a.Alias + " waits for answers of people"
	case cw.StatusParked:
		return a.Alias + " is parked until there is an account for it"
	}
	return fmt.Sprintf("%s is %s", a.Alias, a.Status)
}

// roomToAsk refuses a question past the limit of open ones. CodeRefused.
func (t *tx) roomToAsk(where string, agent cw.AgentID, who string) error {
	open, err := t.openConversations(where, agent)
	if err != nil || open < cw.ConversationsOpen {
		return err
	}
	return cw.Errorf(cw.CodeRefused, "%s %d questions that are not answered, and more are not taken", who, open).
		WithHint("try again when one of them is answered")
}

func (t *tx) openConversations(where string, agent cw.AgentID) (int64, error) {
	var n int64
	err := t.Model(&cw.Conversation{}).Where(where, agent).Where("status = ?", cw.ConversationPending).Count(&n).Error
	return n, err
}

// waitCircle names the agents that would wait for each other if one asked the
// other; "" when none would. An agent waits while the run that asks is not over.
func (t *tx) waitCircle(from, to cw.AgentID, others []cw.Waiting) (string, error) {
	waits, err := conversationWaits(t.DB)
	if err != nil {
		return "", err
	}
	circle := cw.WaitCycle(append(waits, others...), from, to)
	if circle == nil {
		return "", nil
	}
	names, err := aliasesOf(t.DB, circle)
	out := make([]string, len(circle))
	for i, id := range circle {
		out[i] = names[id]
	}
	return strings.Join(out, " → "), err
}

func conversationWaits(g *gorm.DB) (waits []cw.Waiting, err error) {
	err = g.Raw(`SELECT c.id AS conversation_id, c.from_agent_id AS "from", c.to_agent_id AS "to"
		FROM conversations c JOIN runs r ON r.id = c.from_run_id
		WHERE c.status = 'pending' AND c.to_agent_id <> '' AND r.ended_at IS NULL`).Scan(&waits).Error
	return waits, err
}

// ConversationWaits gives the agents that wait for the answers of others now.
func (db *DB) ConversationWaits(ctx context.Context) (waits []cw.Waiting, err error) {
	err = db.query(ctx, "read which agents wait for others", func(g *gorm.DB) error {
		waits, err = conversationWaits(g)
		return err
	})
	return waits, err
}

// findAsked finds the agent that a question is for; none for a task or a phase of
// which no agent runs.
func (t *tx) findAsked(c *cw.Conversation, asker cw.Agent) (cw.Agent, error) {
	unknown := func() error {
		return cw.Errorf(cw.CodeNotFound, "there is no %s %.100q that you can ask", c.TargetKind, c.TargetID).
			WithHint("agents reach those of their initiative, or else of their project")
	}
	if c.TargetKind == cw.AskedAgent {
		agent, err := agentByRef(t.DB, c.TargetID)
		if cw.ErrorCode(err) == cw.CodeNotFound {
			return agent, unknown()
		}
		if err != nil || agent.ID == asker.ID {
			return agent, err
		}
		within, err := t.inReach(asker, agent)
		if err == nil && !within {
			err = unknown()
		}
		return agent, err
	}
	table, column := "tasks", "task_id"
	c.TaskID = cw.TaskID(c.TargetID)
	if c.TargetKind == cw.AskedPhase {
		table, column = "phases", "phase_id"
		c.TaskID, c.PhaseID = "", cw.PhaseID(c.TargetID)
	}
	var status []string
	err := t.Table(table).Where("id = ? AND initiative_id = ? AND initiative_id <> ''", c.TargetID, asker.InitiativeID).Pluck("status", &status).Error
	if err != nil {
		return cw.Agent{}, err
	}
	if len(status) == 0 {
		return cw.Agent{}, unknown()
	}
	asked, err := t.chooseAsked(c, asker, column)
	if err == nil && asked.ID == "" && nobodyComes(status[0]) {
		err = cw.Errorf(cw.CodeRefused, "the %s %s is %s, and nobody works on it", c.TargetKind, c.TargetID, status[0]).
			WithHint("read what was done; or ask one of the agents that there are")
	}
	return asked, err
}

// nobodyComes tells whether a task or a phase with this status gets no agent any
// more, so that a question would wait for ever.
func nobodyComes(status string) bool {
	return slices.Contains([]string{
		string(cw.TaskDone), string(cw.TaskCancelled), string(cw.PhaseDone), string(cw.PhaseArchived),
	}, status)
}

// cancelUnasked ends the questions to tasks and phases that are over with this
// change, and that no agent was given yet.
func (t *tx) cancelUnasked(c cw.InitiativeChange) error {
	var over []string
	for _, p := range c.Phases {
		if nobodyComes(string(p.Status)) {
			over = append(over, string(p.ID))
		}
	}
	for _, task := range c.Tasks {
		if nobodyComes(string(task.Status)) {
			over = append(over, string(task.ID))
		}
	}
	if len(over) == 0 {
		return nil
	}
	return t.cancelConversations(cw.Actor{Kind: cw.ActorCW}, "what it was asked about is over, and nobody works on it",
		"to_agent_id = '' AND target_id IN (SELECT value FROM json_each(?))", list(over))
}

// inReach tells whether an agent may ask another one.
func (t *tx) inReach(asker, asked cw.Agent) (bool, error) {
	var shared int64
	err := t.Raw(`SELECT COUNT(*) FROM agent_worktrees a JOIN agent_worktrees b ON a.project_id = b.project_id
		WHERE a.agent_id = ? AND b.agent_id = ?`, asker.ID, asked.ID).Scan(&shared).Error
	return asker.Sees(asked, shared > 0), err
}

// chooseAsked chooses one of the agents of a task or a phase: of those that run,
// or else, where one is to be woken, of the idle ones.
func (t *tx) chooseAsked(c *cw.Conversation, asker cw.Agent, column string) (cw.Agent, error) {
	var agents []cw.Agent
	err := t.Where("initiative_id = ? AND initiative_id <> ''", asker.InitiativeID).
		Where(column+" = ? AND deleted_at IS NULL AND id <> ?", c.TargetID, asker.ID).Find(&agents).Error
	if err != nil {
		return cw.Agent{}, err
	}
	statuses := []cw.AgentStatus{cw.StatusRunning}
	if c.Wake {
		statuses = append(statuses, cw.StatusIdle)
	}
	for _, status := range statuses {
		byID := map[cw.AgentID]cw.Agent{}
		var askable []cw.Askable
		for _, a := range agents {
			if a.Status != status {
				continue
			}
			one, err := t.askable(a)
			if err != nil {
				return cw.Agent{}, err
			}
			askable, byID[a.ID] = append(askable, one), a
		}
		if chosen, ok := cw.ChooseAsked(askable); ok {
			return byID[chosen.AgentID], nil
		}
	}
	return cw.Agent{}, nil
}

func (t *tx) askable(a cw.Agent) (cw.Askable, error) {
	open, err := t.openConversations("to_agent_id = ?", a.ID)
	if err != nil {
		return cw.Askable{}, err
	}
	var last cw.Conversation
	err = t.Select("created_at").Where("to_agent_id = ?", a.ID).Order("created_at DESC").Limit(1).Find(&last).Error
	return cw.Askable{AgentID: a.ID, Alias: a.Alias, Open: int(open), AskedAt: last.CreatedAt}, err
}

func (t *tx) tellAsked(c cw.Conversation, asker, asked cw.Agent) error {
	by := cw.Actor{Kind: cw.ActorAgent, ID: string(asker.ID), AgentID: asker.ID, RunID: c.FromRunID}
	return t.emit(cw.NewEvent(cw.EventConversationCreated, by, cw.ConversationCreated{
		ConversationID: c.ID, From: asker.Alias, To: asked.Alias,
		FromAgentID: c.FromAgentID, ToAgentID: c.ToAgentID, Question: beginning(c.Question),
	}).About(c.FromAgentID, c.FromRunID).Of(c.ID))
}

// assignConversations gives an agent that runs what waits for one of its task or
// its phase, as far as there is room. A question that would close a circle of
// waiting agents now is cancelled: nobody else would be told of it.
func (t *tx) assignConversations(agent cw.Agent) error {
	if agent.InitiativeID == "" || agent.Status != cw.StatusRunning || agent.DeletedAt != nil {
		return nil
	}
	var waiting []cw.Conversation
	err := t.Where("status = ? AND to_agent_id = ''", cw.ConversationPending).
		Where("(target_kind = 'task' AND target_id = ? OR target_kind = 'phase' AND target_id = ?)", string(agent.TaskID), string(agent.PhaseID)).
		Where("from_agent_id <> ?", agent.ID).Order("created_at, id").Find(&waiting).Error
	if err != nil {
		return err
	}
	for _, c := range waiting {
		open, err := t.openConversations("to_agent_id = ?", agent.ID)
		if err != nil || open >= cw.ConversationsOpen {
			return err
		}
		if err := t.assign(c, agent); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) assign(c cw.Conversation, agent cw.Agent) error {
	circle := ""
	lives, err := one(t.DB, &cw.Run{}, "id = ? AND ended_at IS NULL", c.FromRunID)
	if err == nil && lives {
		circle, err = t.waitCircle(c.FromAgentID, agent.ID, nil)
	}
	if err != nil {
		return err
	}
	if circle != "" {
		return t.cancelConversation(&c, cw.Actor{Kind: cw.ActorCW}, "these agents would wait for each other: "+circle)
	}
	c.ToAgentID, c.Reason = agent.ID, ""
	return t.saveConversation(&c, "to_agent_id", "reason")
}

// pendingOf reads the conversations with these ids that are pending.
func pendingOf(g *gorm.DB, ids []cw.ConversationID) (rows []cw.Conversation, err error) {
	err = g.Where("id IN (SELECT value FROM json_each(?)) AND status = ?", list(ids), cw.ConversationPending).
		Order("created_at, id").Find(&rows).Error
	return rows, err
}
