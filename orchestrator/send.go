package orchestrator

import (
	"context"
	"time"

	"cw/internal/cw"
)

// Messages implements cw.MessageService.
func (o *Orchestrator) Messages(ctx context.Context, ref string, q cw.PageQuery) (cw.Page[cw.Message], error) {
	agent, err := o.Store.AgentByRef(ctx, ref)
	if err != nil {
		return cw.Page[cw.Message]{}, err
	}
	return o.Store.MessagePage(ctx, agent.ID, q)
}

// Send implements cw.MessageService. The text is stored first, whatever the
// agent does; that an idle one goes on with it follows from the rows.
func (o *Orchestrator) Send(ctx context.Context, ref string, req cw.SendRequest) (cw.Message, error) {
	if err := req.Check(); err != nil {
		return cw.Message{}, err
	}
	view, err := o.Store.AgentView(ctx, ref)
	if err != nil {
		return cw.Message{}, err
	}
	if err := maySend(view, req.WhenBusy); err != nil {
		return cw.Message{}, err
	}
	now := time.Now().UTC()
	m := personMessage(ctx, view.ID, req.Text, now)
	m.Definition = view.Definition
	if view.Status != cw.StatusIdle {
		m.QueuedAt = &now
	}
	ev := cw.NewEvent(cw.EventMessageQueued, cw.ActorOf(ctx), cw.MessageQueued{MessageID: m.ID, Name: view.Alias}).About(view.ID, "")
	type answer struct {
		message cw.Message
		err     error
	}
	// The caller may go away: then the text is stored, and the agent goes on.
	result := make(chan answer, 1)
	err = o.hand(ctx, func(life context.Context) {
		stored, err := o.Store.QueueMessage(life, m, ev)
		result <- answer{stored, err}
		if err == nil {
			o.goOn(life, view.ID)
		}
	})
	if err != nil {
		return cw.Message{}, err
	}
	select {
	case a := <-result:
		return a.message, a.err
	case <-ctx.Done():
		return cw.Message{}, ctx.Err()
	}
}

// maySend says why an agent cannot be given a text, and what to do instead.
func maySend(v cw.AgentView, whenBusy cw.WhenBusy) error {
	switch {
	case v.DeletedAt != nil:
		return cw.Errorf(cw.CodeRefused, "agent %s is removed", v.Alias).WithHint("cw agent restore %s", v.Alias)
	case v.Status == cw.StatusCrashed || v.Status == cw.StatusStopped:
		return cw.Errorf(cw.CodeRefused, "agent %s is %s", v.Alias, v.Status).WithHint("cw agent resume %s \"…\" starts it again with a text", v.Alias)
	case v.Status != cw.StatusIdle && whenBusy == cw.BusyRefuse:
		return cw.Errorf(cw.CodeRefused, "agent %s is %s", v.Alias, v.Status).WithHint("without whenBusy refuse the text is its next prompt")
	}
	return nil
}

// personMessage is a text to an agent as it was written.
func personMessage(ctx context.Context, agent cw.AgentID, text string, now time.Time) cw.Message {
	actor := cw.ActorOf(ctx)
	return cw.Message{
		ID: cw.MessageID(cw.NewID()), AgentID: agent, Role: cw.RoleUser, Origin: cw.OriginPerson,
		Actor: orDefault(actor.ID, string(actor.Kind)), Body: text, CreatedAt: now,
	}
}
