package servicetest

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"cw/internal/cw"
)

// As gives the services as a running agent calls them.
func (m *Memory) As(ref string) cw.Services {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, err := m.find(ref)
	if err != nil {
		panic(err)
	}
	actor := cw.Actor{Kind: cw.ActorAgent, ID: string(a.ID), AgentID: a.ID, RunID: a.Runs[len(a.Runs)-1].ID}
	return asAgent{m, actor}
}

// asAgent makes calls those of an agent, as a server does.
type asAgent struct {
	*Memory
	actor cw.Actor
}

func (a asAgent) Whoami(ctx context.Context) (cw.Whoami, error) {
	return a.Memory.Whoami(cw.WithActor(ctx, a.actor))
}

func (a asAgent) Ask(ctx context.Context, req cw.AskRequest) (cw.ConversationView, error) {
	return a.Memory.Ask(cw.WithActor(ctx, a.actor), req)
}

func (a asAgent) PendingConversations(ctx context.Context, ref string) iter.Seq2[cw.PendingConversation, error] {
	return a.Memory.PendingConversations(cw.WithActor(ctx, a.actor), ref)
}

func (a asAgent) AwaitConversation(ctx context.Context, id string) (cw.ConversationView, error) {
	return a.Memory.AwaitConversation(cw.WithActor(ctx, a.actor), id)
}

func (a asAgent) AnswerConversation(ctx context.Context, id string, answer cw.ConversationAnswer) (cw.ConversationView, error) {
	return a.Memory.AnswerConversation(cw.WithActor(ctx, a.actor), id, answer)
}

func (a asAgent) AskPeople(ctx context.Context, req cw.PeopleRequest) ([]cw.Question, error) {
	return a.Memory.AskPeople(cw.WithActor(ctx, a.actor), req)
}

func (a asAgent) AwaitAnswers(ctx context.Context, id cw.RequestID) ([]cw.Question, error) {
	return a.Memory.AwaitAnswers(cw.WithActor(ctx, a.actor), id)
}

func (a asAgent) MessageAgent(ctx context.Context, req cw.AgentMessageRequest) (cw.AgentMessageResult, error) {
	return a.Memory.MessageAgent(cw.WithActor(ctx, a.actor), req)
}

func (a asAgent) AwaitMessage(ctx context.Context, responseID string) (cw.AgentMessageResult, error) {
	return a.Memory.AwaitMessage(cw.WithActor(ctx, a.actor), responseID)
}

// Ask implements cw.ConversationService.
func (m *Memory) Ask(ctx context.Context, req cw.AskRequest) (view cw.ConversationView, err error) {
	actor := cw.ActorOf(ctx)
	if actor.Kind != cw.ActorAgent {
		return view, errNoAgent("ask").WithHint("tell an agent something: cw agent send NAME TEXT; see what agents ask: cw conversation list")
	}
	if err := req.Check(); err != nil {
		return view, err
	}
	if req.From != "" && req.From != string(actor.AgentID) {
		return view, cw.Errorf(cw.CodeForbidden, "the question is said to be from %.100q, who is not calling", req.From).WithHint("leave it out")
	}
	switch kind, id := req.Target(); kind {
	case cw.AskedTask:
		_, err = m.Task(ctx, cw.TaskID(id))
	case cw.AskedPhase:
		_, err = m.Phase(ctx, cw.PhaseID(id))
	}
	if err != nil {
		return view, err
	}
	m.change(func() { view, err = m.ask(actor, req) })
	return view, err
}

func errNoAgent(what string) *cw.Error {
	return cw.Errorf(cw.CodeForbidden, "only agents can %s here", what)
}

// ask stores a question; the lock is held.
func (m *Memory) ask(actor cw.Actor, req cw.AskRequest) (cw.ConversationView, error) {
	for _, c := range m.talks {
		if req.RequestKey != "" && c.RequestKey == req.RequestKey && c.FromAgentID == actor.AgentID {
			return c, nil
		}
	}
	from, err := m.find(string(actor.AgentID))
	if err != nil {
		return cw.ConversationView{}, err
	}
	kind, id := req.Target()
	at := m.now()
	c := cw.ConversationView{From: from.Alias, Conversation: cw.Conversation{
		ID: cw.ConversationID(cw.NewID()), RequestKey: req.RequestKey, FromAgentID: from.ID, FromRunID: actor.RunID,
		TargetKind: kind, TargetID: id, PhaseID: req.PhaseID, TaskID: req.TaskID, Question: req.Question,
		Status: cw.ConversationPending, Queue: req.Queue, Wake: req.Wake, CreatedAt: at, UpdatedAt: at,
	}}
	to, err := m.target(from, req)
	if err != nil {
		return cw.ConversationView{}, err
	}
	if to != nil {
		c.ToAgentID, c.To = to.ID, to.Alias
	}
	if err := m.mayAsk(from, to); err != nil {
		return cw.ConversationView{}, err
	}
	m.talks = append(m.talks, c)
	kept := &m.talks[len(m.talks)-1]
	m.tell(cw.NewEvent(cw.EventConversationCreated, actor, cw.ConversationCreated{
		ConversationID: c.ID, From: c.From, To: c.To, FromAgentID: c.FromAgentID, ToAgentID: c.ToAgentID, Question: c.Question,
	}).About(from.ID, actor.RunID).Of(c.ID))
	if why := unheard(to, req); why != "" {
		m.cancel(kept, why)
		return cw.ConversationView{}, cw.Errorf(cw.CodeRefused, "%s", why).WithHint("--queue waits for its next run, --wake resumes it")
	}
	if to != nil && to.Status == cw.StatusIdle && req.Wake {
		m.next(to, cw.RunFollowUp, actor)
	}
	return *kept, nil
}

// target finds who is asked; nil when there is nobody yet. The lock is held.
func (m *Memory) target(from *cw.AgentView, req cw.AskRequest) (*cw.AgentView, error) {
	kind, id := req.Target()
	if kind == cw.AskedAgent {
		to, err := m.find(id)
		switch {
		case err != nil:
			return nil, err
		case to.ID == from.ID:
			return nil, cw.Errorf(cw.CodeRefused, "an agent cannot ask itself").WithHint("`cw agent list` shows the others")
		case !from.Sees(to.Agent, shareProject(from, to)):
			return nil, cw.Errorf(cw.CodeNotFound, "there is no agent %q that you can ask", id).WithHint("`cw agent list` shows the others")
		}
		return to, nil
	}
	var askable []cw.Askable
	for i := range m.agents {
		a := &m.agents[i]
		is := kind == cw.AskedTask && a.TaskID == req.TaskID || kind == cw.AskedPhase && a.PhaseID == req.PhaseID
		if is && a.ID != from.ID && a.Status == cw.StatusRunning {
			askable = append(askable, cw.Askable{AgentID: a.ID, Alias: a.Alias, Open: len(m.openTo(a))})
		}
	}
	chosen, found := cw.ChooseAsked(askable)
	if !found {
		return nil, nil
	}
	return m.find(string(chosen.AgentID))
}

func shareProject(a, b *cw.AgentView) bool {
	return slices.ContainsFunc(a.Projects, func(w cw.AgentWorktree) bool { return worksIn(b, w.ProjectID) })
}

// unheard says why nobody hears a question now, "" when somebody does.
func unheard(to *cw.AgentView, req cw.AskRequest) string {
	switch {
	case to == nil && req.Queue:
		return ""
	case to == nil:
		return "no agent works there"
	case cw.ReceptionBy(to.Status, false, req.Queue, req.Wake) == cw.ReceptionCancelled:
		return fmt.Sprintf("agent %s is %s", to.Alias, to.Status)
	}
	return ""
}

// mayAsk refuses past the limits, and circles of agents that wait for each
// other. The lock is held.
func (m *Memory) mayAsk(from, to *cw.AgentView) error {
	if n := len(m.openFrom(from.ID)); n >= cw.ConversationsOpen {
		return cw.Errorf(cw.CodeRefused, "%d questions of this agent are not answered yet", n).WithHint("wait for answers")
	}
	if to == nil {
		return nil
	}
	if cw.ReceptionBy(to.Status, to.DeletedAt != nil, true, false) == cw.ReceptionRefused {
		return cw.Errorf(cw.CodeRefused, "agent %s does not run", to.Alias).WithHint("ask another one")
	}
	if n := len(m.openTo(to)); n >= cw.ConversationsOpen {
		return cw.Errorf(cw.CodeRefused, "agent %s has %d questions to answer", to.Alias, n).WithHint("ask another one")
	}
	var waits []cw.Waiting
	for _, c := range m.talksOf(func(c *cw.ConversationView) bool { return c.Status == cw.ConversationPending && c.ToAgentID != "" }) {
		waits = append(waits, cw.Waiting{ConversationID: c.ID, From: c.FromAgentID, To: c.ToAgentID})
	}
	if circle := cw.WaitCycle(waits, from.ID, to.ID); circle != nil {
		var names []string
		for _, id := range circle {
			a, _ := m.find(string(id)) // rows are never taken away
			names = append(names, a.Alias)
		}
		return cw.Errorf(cw.CodeRefused, "agents would wait for each other: %s", strings.Join(names, " → ")).
			WithHint("answer what you are asked first")
	}
	return nil
}

func (m *Memory) openFrom(id cw.AgentID) []*cw.ConversationView {
	return m.talksOf(func(c *cw.ConversationView) bool { return c.FromAgentID == id && c.Status == cw.ConversationPending })
}

func (m *Memory) openTo(a *cw.AgentView) []*cw.ConversationView {
	return m.talksOf(func(c *cw.ConversationView) bool { return c.ToAgentID == a.ID && c.Status == cw.ConversationPending })
}

func (m *Memory) talksOf(is func(*cw.ConversationView) bool) (out []*cw.ConversationView) {
	for i := range m.talks {
		if is(&m.talks[i]) {
			out = append(out, &m.talks[i])
		}
	}
	return out
}

// cancel ends a conversation without an answer; the lock is held.
func (m *Memory) cancel(c *cw.ConversationView, why string) {
	c.Status, c.Reason, c.UpdatedAt = cw.ConversationCancelled, why, m.now()
	m.tellMoved(cw.EventConversationCancelled, c, cw.Actor{Kind: cw.ActorCW})
}

// cancelTo cancels what an agent is asked that answers no more; the lock is
// held.
func (m *Memory) cancelTo(a *cw.AgentView, why string) {
	for _, c := range m.openTo(a) {
		m.cancel(c, "agent "+a.Alias+" "+why)
	}
}

func (m *Memory) tellMoved(what cw.EventType, c *cw.ConversationView, by cw.Actor) {
	m.tell(cw.NewEvent(what, by, cw.ConversationMoved{
		ConversationID: c.ID, From: c.From, To: c.To, FromAgentID: c.FromAgentID, ToAgentID: c.ToAgentID, Answer: c.Answer, Reason: c.Reason,
	}).About(c.ToAgentID, c.DeliveredRunID).Of(c.ID))
}

// PendingConversations implements cw.ConversationService.
func (m *Memory) PendingConversations(ctx context.Context, ref string) iter.Seq2[cw.PendingConversation, error] {
	return func(yield func(cw.PendingConversation, error) bool) {
		defer m.reading()()
		actor := cw.ActorOf(ctx)
		given := map[cw.ConversationID]bool{}
		for {
			batch, over, changed, err := m.pending(actor, ref, given)
			if err != nil {
				yield(cw.PendingConversation{}, err)
				return
			}
			for _, id := range batch {
				if ctx.Err() != nil || !yield(m.deliver(id, actor), nil) {
					return
				}
				given[id] = true
			}
			if over {
				return
			}
			if err := wait(ctx, changed); err != nil {
				yield(cw.PendingConversation{}, err)
				return
			}
		}
	}
}

// pending gives what an agent was not given yet, and what to wait for.
func (m *Memory) pending(actor cw.Actor, ref string, given map[cw.ConversationID]bool) (batch []cw.ConversationID, over bool, changed <-chan struct{}, err error) {
	if actor.Kind != cw.ActorAgent {
		return nil, true, nil, errNoAgent("listen").WithHint("see what agents ask: cw conversation list; tell one something: cw agent send NAME TEXT")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	a, err := m.find(ref)
	if err != nil || a.ID != actor.AgentID {
		return nil, true, nil, cw.Errorf(cw.CodeForbidden, "an agent may only listen for itself").WithHint("your own id is in CW_AGENT_ID")
	}
	for _, c := range m.openTo(a) {
		if !given[c.ID] {
			batch = append(batch, c.ID)
		}
	}
	return batch, !a.Status.Alive(), m.changed, nil
}

// deliver notes that a question was given to the asked agent.
func (m *Memory) deliver(id cw.ConversationID, to cw.Actor) (p cw.PendingConversation) {
	m.change(func() {
		c, _ := m.talk(string(id)) // rows are never taken away
		at := m.now()
		c.DeliveredAt, c.DeliveredRunID, c.UpdatedAt = &at, to.RunID, at
		m.tellMoved(cw.EventConversationDelivered, c, to)
		p = c.Pending()
	})
	return p
}

// AwaitConversation implements cw.ConversationService.
func (m *Memory) AwaitConversation(ctx context.Context, id string) (cw.ConversationView, error) {
	defer m.reading()()
	actor := cw.ActorOf(ctx)
	for {
		view, over, changed, err := m.outcome(actor, id)
		if err != nil || over {
			return view, err
		}
		if err := wait(ctx, changed); err != nil {
			return cw.ConversationView{}, err
		}
	}
}

func (m *Memory) outcome(actor cw.Actor, id string) (view cw.ConversationView, over bool, changed <-chan struct{}, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, err := m.talk(id)
	if err != nil {
		return view, true, nil, err
	}
	asks := actor.Kind == cw.ActorAgent
	switch {
	case asks && c.FromAgentID != actor.AgentID:
		return view, true, nil, errNoAgent("wait for their own answers").WithHint("answer it: cw answer TEXT --conversation-id %s", c.ID)
	case c.Status == cw.ConversationPending:
		return view, false, m.changed, nil
	case asks && c.FetchedAt == nil:
		at := m.now()
		c.FetchedAt = &at
	}
	return *c, true, nil, nil
}

// AnswerConversation implements cw.ConversationService.
func (m *Memory) AnswerConversation(ctx context.Context, id string, a cw.ConversationAnswer) (view cw.ConversationView, err error) {
	actor := cw.ActorOf(ctx)
	if actor.Kind != cw.ActorAgent {
		return view, errNoAgent("answer agents").WithHint("what agents ask people is answered by cw question answer")
	}
	if err := a.Check(); err != nil {
		return view, err
	}
	m.change(func() { view, err = m.answerTalk(actor, id, a.Answer) })
	return view, err
}

func (m *Memory) answerTalk(actor cw.Actor, id, answer string) (cw.ConversationView, error) {
	c, err := m.talk(id)
	switch {
	case err != nil:
		return cw.ConversationView{}, err
	case c.ToAgentID != actor.AgentID:
		return cw.ConversationView{}, cw.Errorf(cw.CodeForbidden, "another agent was asked").WithHint("answer what `cw listen` gave you")
	case c.Status == cw.ConversationAnswered && c.Answer == answer:
		return *c, nil
	case c.Status == cw.ConversationAnswered:
		return cw.ConversationView{}, cw.Errorf(cw.CodeRefused, "conversation %s was answered already", c.ID).WithHint("an answer cannot be changed")
	case c.Status == cw.ConversationCancelled:
		return cw.ConversationView{}, cw.Errorf(cw.CodeRefused, "conversation %s was cancelled: %s", c.ID, c.Reason).WithHint("nobody waits for the answer")
	}
	at := m.now()
	c.Status, c.Answer, c.AnsweredAt, c.UpdatedAt = cw.ConversationAnswered, answer, &at, at
	m.tellMoved(cw.EventConversationAnswered, c, actor)
	return *c, nil
}

// Conversations implements cw.ConversationService.
func (m *Memory) Conversations(_ context.Context, f cw.ConversationFilter) (cw.Page[cw.ConversationView], error) {
	start, err := f.Start()
	if err != nil {
		return cw.Page[cw.ConversationView]{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var of cw.AgentID
	if f.Agent != "" {
		a, err := m.find(f.Agent)
		if err != nil {
			return cw.Page[cw.ConversationView]{}, err
		}
		of = a.ID
	}
	var out []cw.ConversationView
	for _, c := range m.talks {
		if (of == "" || c.FromAgentID == of || c.ToAgentID == of) && (len(f.Statuses) == 0 || slices.Contains(f.Statuses, c.Status)) {
			out = append(out, c)
		}
	}
	return pageOf(start, out), nil
}

// Conversation implements cw.ConversationService.
func (m *Memory) Conversation(_ context.Context, id string) (cw.ConversationView, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, err := m.talk(id)
	if err != nil {
		return cw.ConversationView{}, err
	}
	return *c, nil
}

// talk finds a conversation; the lock is held.
func (m *Memory) talk(id string) (*cw.ConversationView, error) {
	for i := range m.talks {
		if string(m.talks[i].ID) == id {
			return &m.talks[i], nil
		}
	}
	return nil, cw.Errorf(cw.CodeNotFound, "there is no conversation %.100q", id).WithHint("`cw conversation list` shows all")
}
