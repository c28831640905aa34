package store

import (
	"encoding/json"
	"fmt"
	"slices"

	"cw/internal/cw"
)

// carryConversations puts what other agents ask, and what they answered, among
// the texts that wait for an agent's next run: questions that are not answered
// yet, also those that an earlier run was given, and answers that nobody took
// before the run that asked was over. A question that an earlier run never got to
// read, and that is closed by now, is hidden.
func (t *tx) carryConversations(agent cw.AgentID, run cw.RunID) error {
	waits, err := t.waitingTexts(agent)
	if err != nil {
		return err
	}
	pending, err := pendingTo(t.DB, agent)
	if err != nil {
		return err
	}
	for _, c := range pending {
		at := slices.IndexFunc(waits, func(w waitingText) bool { return w.about.ConversationID == c.ID })
		if at >= 0 {
			waits = slices.Delete(waits, at, at+1) // it comes by itself
		} else if err := t.addPeerText(agent, c, cw.TextQuestion); err != nil {
			return err
		}
		c.PromptedRunID = run
		if err := t.saveConversation(&c, "prompted_run_id"); err != nil {
			return err
		}
	}
	for _, w := range waits {
		if w.about.Kind != cw.TextQuestion {
			continue
		}
		if err := t.Model(&w.message).Updates(map[string]any{"hidden_at": t.now}).Error; err != nil {
			return err
		}
	}
	return t.carryAnswers(agent)
}

// carryAnswers tells answers that were not taken, each once.
func (t *tx) carryAnswers(agent cw.AgentID) error {
	var answered []cw.Conversation
	err := t.Where("from_agent_id = ? AND status = ? AND fetched_at IS NULL", agent, cw.ConversationAnswered).
		Order("answered_at, id").Find(&answered).Error
	if err != nil {
		return err
	}
	for _, c := range answered {
		if err := t.addPeerText(agent, c, cw.TextAnswer); err != nil {
			return err
		}
		if err := t.Model(&c).Select("fetched_at").Updates(&cw.Conversation{FetchedAt: &t.now}).Error; err != nil {
			return err
		}
	}
	return nil
}

// waitingText is a text of a conversation that no run has got yet.
type waitingText struct {
	message cw.Message
	about   cw.ConversationText
}

func (t *tx) waitingTexts(agent cw.AgentID) ([]waitingText, error) {
	var messages []cw.Message
	err := t.Where("agent_id = ? AND "+undelivered, agent).Where("origin = ? AND metadata_json <> ''", cw.OriginAgent).
		Order("seq").Find(&messages).Error
	if err != nil {
		return nil, err
	}
	var out []waitingText
	for _, m := range messages {
		if about, ok := cw.ConversationTextOf(m); ok {
			out = append(out, waitingText{m, about})
		}
	}
	return out, nil
}

// addPeerText stores a question or an answer of another agent as a text to an
// agent. Its words are as they were written: whoever makes the prompt frames them.
func (t *tx) addPeerText(agent cw.AgentID, c cw.Conversation, kind string) error {
	sender, body := c.FromAgentID, c.Question
	about := cw.ConversationText{ConversationID: c.ID, Kind: kind}
	if kind == cw.TextAnswer {
		sender, body, about.Question = c.ToAgentID, c.Answer, beginning(c.Question)
	}
	names, err := aliasesOf(t.DB, []cw.AgentID{sender})
	if err != nil {
		return err
	}
	about.From = names[sender]
	data, err := json.Marshal(about)
	if err != nil {
		return fmt.Errorf("encode what a text is about: %w", err)
	}
	_, err = t.addMessage(agent, "", cw.Message{
		Role: cw.RoleUser, Origin: cw.OriginAgent, Actor: string(sender), SenderAgentID: sender,
		Body: body, MetadataJSON: string(data), QueuedAt: &t.now,
	})
	return err
}

// deliverPrompted marks the questions in a run's prompt as delivered: its CLI was
// started with them.
func (t *tx) deliverPrompted(run cw.RunID) error {
	var messages []cw.Message
	err := t.Where("run_id = ? AND role = ? AND origin = ?", run, cw.RoleUser, cw.OriginAgent).Find(&messages).Error
	if err != nil || len(messages) == 0 {
		return err
	}
	var ids []cw.ConversationID
	for _, m := range messages {
		if about, ok := cw.ConversationTextOf(m); ok && about.Kind == cw.TextQuestion {
			ids = append(ids, about.ConversationID)
		}
	}
	pending, err := pendingOf(t.DB, ids)
	if err != nil {
		return err
	}
	for _, c := range pending {
		if err := t.deliverConversation(c, run); err != nil {
			return err
		}
	}
	return nil
}
