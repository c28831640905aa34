package orchestrator

import (
	"context"
	"time"

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
	// RequestStop stores the wish and its operation (kind OpStop), which the end
	// of the run closes.
	RequestStop(ctx context.Context, run cw.RunID, how string) (bool, error)
	// FinishRun closes every open operation of the run. A clean-up that it
	// intends stays open.
	FinishRun(ctx context.Context, f cw.Finish) (bool, error)

	// IntendRun stores another run of an agent at rest: see cw.RunIntent.
	// CodeRefused, naming the status found, when the agent is in none of From or
	// is removed; an open clean-up of the agent is closed with it.
	IntendRun(ctx context.Context, in cw.RunIntent) error
	// RunMessages gives the texts of a run's prompt, in order.
	RunMessages(ctx context.Context, run cw.RunID) ([]cw.Message, error)
	// QueueMessage stores a text that waits for the agent's next run.
	QueueMessage(ctx context.Context, m cw.Message, ev cw.Event) (cw.Message, error)
	// QueueAgentMessage stores a text of an agent for another one, which waits for
	// the latter's next run; again: an earlier one of the sender has the same request
	// key, and is given instead. CodeNotFound; CodeRefused past a limit, and for an
	// agent that only a person may start again.
	QueueAgentMessage(ctx context.Context, m cw.Message, ev cw.Event) (stored cw.Message, again bool, err error)
	// ConversationWaits gives the agents that wait for the answers of others now.
	ConversationWaits(ctx context.Context) ([]cw.Waiting, error)
	// ChildBudgets sums the budgets of the agents that an agent made, in US dollars.
	ChildBudgets(ctx context.Context, parent cw.AgentID) (float64, error)
	// MessageByID gives one text of any agent. CodeNotFound.
	MessageByID(ctx context.Context, id cw.MessageID) (cw.Message, error)
	// MessageByKey finds the text that a sender's request with this key made.
	MessageByKey(ctx context.Context, sender cw.AgentID, key string) (m cw.Message, found bool, err error)
	// FinalWord gives the final text of a run; "" when it has none.
	FinalWord(ctx context.Context, run cw.RunID) (string, error)
	// PeerByRef finds an agent that another one may see, by alias or id.
	// CodeNotFound, also for one that it may not see.
	PeerByRef(ctx context.Context, caller cw.AgentID, ref string) (cw.Agent, error)
	// LatestPeer finds the agent of a definition that was updated last, of those
	// that another one may see, without that one itself and those that are removed.
	LatestPeer(ctx context.Context, caller cw.AgentID, definition string) (agent cw.Agent, found bool, err error)
	// MessagePage lists the texts of an agent.
	MessagePage(ctx context.Context, agent cw.AgentID, q cw.PageQuery) (cw.Page[cw.Message], error)

	QuestionPage(ctx context.Context, f cw.QuestionFilter) (cw.Page[cw.QuestionView], error)
	// QuestionByID gives one. CodeNotFound.
	QuestionByID(ctx context.Context, id string) (cw.QuestionView, error)
	// AnswerQuestions stores answers, all or none, with question:answered for
	// each. CodeNotFound; CodeRefused, with what was answered, for a question
	// that is not open or whose agent is removed.
	AnswerQuestions(ctx context.Context, a cw.Answering) ([]cw.QuestionView, error)
	// AskPeople stores questions of a call, with question:requested for each;
	// false when the agent had asked with the same key before. CodeRefused when
	// the run is over, and past a limit.
	AskPeople(ctx context.Context, a cw.Asking) (questions []cw.Question, asked bool, err error)
	// QuestionGroup gives the questions that were asked at once. CodeNotFound.
	QuestionGroup(ctx context.Context, id cw.RequestID) ([]cw.Question, error)
	// FetchAnswers marks a closed group as taken by a run of the agent that
	// asked. CodeRefused when the run is over.
	FetchAnswers(ctx context.Context, id cw.RequestID, run cw.RunID) ([]cw.Question, error)
	// UntoldAnswers gives what became of an agent's questions of calls and no
	// call took.
	UntoldAnswers(ctx context.Context, agent cw.AgentID) ([]cw.Question, error)
	// OpenQuestions gives all questions that wait for an answer, oldest first.
	OpenQuestions(ctx context.Context) ([]cw.Question, error)
	// RunQuestions gives the questions that calls of a run asked.
	RunQuestions(ctx context.Context, agent cw.AgentID, run cw.RunID) ([]cw.Question, error)
	// RemindQuestion stores that it was said that a question still waits, with
	// question:reminded.
	RemindQuestion(ctx context.Context, id cw.QuestionID, at time.Time) error
	// ExpireQuestion withdraws a question that nobody answered, with
	// question:withdrawn. false when it is not open any more.
	ExpireQuestion(ctx context.Context, id cw.QuestionID, reason string) (bool, error)
	// LastQuestions gives the questions of the agent's newest group that
	// asked for a rest, in order, answered ones too.
	LastQuestions(ctx context.Context, agent cw.AgentID) ([]cw.Question, error)
	// PlanOf gives the newest plan of an agent, and whether there is one.
	PlanOf(ctx context.Context, agent cw.AgentID) (cw.Plan, bool, error)
	// ChangePlan stores what a list of steps makes of an agent's plan, with its
	// event: see cw.Plan.Change. before is the plan as it was.
	ChangePlan(ctx context.Context, c cw.PlanChange) (before, after cw.Plan, turn cw.PlanTurn, err error)
	// MovePlanStep moves a step of the agent's newest plan, and tells whether that
	// changed anything: see cw.Plan.Move. CodeNotFound without a plan.
	MovePlanStep(ctx context.Context, m cw.StepMove) (plan cw.Plan, changed bool, err error)
	// ReadyAgents gives the agents that may go on by themselves: waiting for
	// input without an open question, or idle with a queued text or with
	// answers that no call took; not removed.
	ReadyAgents(ctx context.Context) ([]cw.AgentID, error)

	// AskConversation stores a question of an agent to another one and finds who
	// is asked. CodeForbidden for a run that is over; CodeNotFound for a target
	// that is not in reach; CodeRefused for oneself, for an agent that crashed, was
	// stopped or removed, for a circle of waiting agents, and past a limit. others
	// are agents that wait for each other without a question.
	AskConversation(ctx context.Context, c cw.Conversation, others []cw.Waiting) (cw.ConversationView, error)
	// ConversationByKey finds what an agent asked with a request key before.
	ConversationByKey(ctx context.Context, from cw.AgentID, key string) (cw.ConversationView, bool, error)
	// ConversationByID gives one. CodeNotFound.
	ConversationByID(ctx context.Context, id string) (cw.ConversationView, error)
	ConversationPage(ctx context.Context, f cw.ConversationFilter) (cw.Page[cw.ConversationView], error)
	// ConversationsTo gives the pending questions to an agent, oldest first, and
	// whether the run that wants them is over.
	ConversationsTo(ctx context.Context, agent cw.AgentID, run cw.RunID) (pending []cw.Conversation, over bool, err error)
	// DeliverConversation stores that a run of the asked agent was given its
	// question; false when it is not pending any more.
	DeliverConversation(ctx context.Context, id cw.ConversationID, agent cw.AgentID, run cw.RunID) (bool, error)
	// AnswerConversation stores an answer, once. CodeNotFound; CodeForbidden for
	// an agent that was not asked; CodeRefused, with what became of it, for a
	// conversation that is not pending.
	AnswerConversation(ctx context.Context, id cw.ConversationID, by cw.Actor, answer string) (cw.ConversationView, error)
	// FetchConversation stores that the asking agent took its answer.
	FetchConversation(ctx context.Context, id cw.ConversationID) error
	// WakingConversations counts the questions that an idle agent is to be resumed
	// with, each once.
	WakingConversations(ctx context.Context, agent cw.AgentID) (int, error)

	// IntendOp stores an operation of an agent that is no run (clean-up, removal,
	// restoring). CodeRefused while another of these is open for the agent, or
	// while its status is alive.
	IntendOp(ctx context.Context, op cw.Op) error
	// OpenOps gives the operations of these kinds that are not over, oldest first.
	OpenOps(ctx context.Context, kinds ...cw.OpKind) ([]cw.Op, error)
	// EndOp closes an operation: done, or failed with its error. Worktrees are
	// stored with it.
	EndOp(ctx context.Context, op cw.OpID, worktrees []cw.AgentWorktree, failed string) error
	// RemoveAgent marks an agent as removed; see cw.Removal.
	RemoveAgent(ctx context.Context, r cw.Removal) error
	// RestoreAgent takes the mark away; see cw.Restoring.
	RestoreAgent(ctx context.Context, r cw.Restoring) error
	// OpenWorktrees stores that worktrees are back for a person; see cw.Opening.
	OpenWorktrees(ctx context.Context, in cw.Opening) error
	// HoldWorktrees puts off until when the worktrees of an agent are not cleaned
	// up. CodeNotFound; CodeRefused for a removed one.
	HoldWorktrees(ctx context.Context, agent cw.AgentID, until time.Time) error
	// PutOffCleanUp closes the open clean-up of an agent whose worktrees somebody
	// has open: it is due when nobody has.
	PutOffCleanUp(ctx context.Context, agent cw.AgentID) error
	// HeldAgents gives the agents whose worktrees somebody has open, or had.
	HeldAgents(ctx context.Context) ([]cw.Agent, error)
	// EndHold ends what HoldWorktrees began, unless it was put off beyond a time.
	// It stores the clean-up when that is due, and tells whether it did.
	EndHold(ctx context.Context, cleanUp cw.Op, now time.Time) (bool, error)
	// IntegrationsOf gives the branches of an initiative.
	IntegrationsOf(ctx context.Context, id cw.InitiativeID) ([]cw.Integration, error)
	// TrashedWorktrees gives the worktrees that lie in the trash, oldest first,
	// with the alias of their agents.
	TrashedWorktrees(ctx context.Context) ([]cw.TrashedWorktree, error)
	// SavePurged stores that a directory left the trash for good.
	SavePurged(ctx context.Context, t cw.AgentWorktree, ev cw.Event) error
	// SaveDropped stores that the snapshot of a removed agent's worktree is gone.
	SaveDropped(ctx context.Context, t cw.AgentWorktree, ev cw.Event) error
	// SetProject changes policies. CodeNotFound.
	SetProject(ctx context.Context, id cw.ProjectID, s cw.ProjectSettings, ev cw.Event) (cw.Project, error)
	AddWarning(ctx context.Context, agent cw.AgentID, warning string, ev cw.Event) error
	// AddEvents stores events that tell no change of the store.
	AddEvents(ctx context.Context, events ...cw.Event) error
	// LastEvent gives the newest stored event of a type about an agent, and
	// whether there is one.
	LastEvent(ctx context.Context, agent cw.AgentID, t cw.EventType) (cw.Event, bool, error)

	// TrustOf tells whether a person trusts a content of a project's cw.yaml.
	TrustOf(ctx context.Context, project cw.ProjectID, digest string) (trust cw.ProjectTrust, found bool, err error)
	// SaveTrust stores that a person does. CodeNotFound.
	SaveTrust(ctx context.Context, trust cw.ProjectTrust, ev cw.Event) error
	// RevokeTrust stores that nobody does any longer, and tells whether somebody did.
	RevokeTrust(ctx context.Context, project cw.ProjectID, digest string, ev cw.Event) (was bool, err error)
	// PortsOf gives the ports of an agent's worktrees.
	PortsOf(ctx context.Context, agent cw.AgentID) ([]cw.WorktreePorts, error)
	// PortsInUse gives those of all worktrees that are there.
	PortsInUse(ctx context.Context) ([]cw.WorktreePorts, error)
	// SavePorts stores the ports of a worktree. CodeRefused when another one has
	// one of them.
	SavePorts(ctx context.Context, p cw.WorktreePorts) error

	// IntendCommands stores a run of a project's commands, and gives it as it is
	// stored: one with the same id is the same run. CodeInvalid.
	IntendCommands(ctx context.Context, run cw.Run) (cw.Run, error)
	// SaveCommandStart stores the process of the command that a run is at.
	SaveCommandStart(ctx context.Context, id cw.RunID, handle []byte, pid int, at time.Time) error
	// UnfinishedCommands gives the runs of commands that have not ended.
	UnfinishedCommands(ctx context.Context) ([]cw.Run, error)
	// EndCommands stores how a run of commands came out, once.
	EndCommands(ctx context.Context, run cw.Run) error

	// RunToken finds the token of a run, a revoked one too, and tells whether there
	// is one.
	RunToken(ctx context.Context, run cw.RunID) (token cw.Token, found bool, err error)

	AgentByRef(ctx context.Context, ref string) (cw.Agent, error)
	AgentView(ctx context.Context, ref string) (cw.AgentView, error)
	AgentViews(ctx context.Context, f cw.AgentFilter) (cw.Page[cw.AgentView], error)

	AppendChunks(ctx context.Context, chunks []cw.Chunk) ([]cw.Chunk, error)
	NextOffset(ctx context.Context, agent cw.AgentID, session int) (int64, error)
	ChunksFrom(ctx context.Context, q cw.ChunkQuery) ([]cw.Chunk, error)
	// OutputSessions gives the sessions of which output is stored, in order.
	// CodeGone when all that there was is kept no longer.
	OutputSessions(ctx context.Context, agent cw.AgentID) ([]cw.OutputSession, error)
	// LineStart gives the end of the last chunk, at or before a byte of a session's
	// output, after which a line begins; 0 without one.
	LineStart(ctx context.Context, agent cw.AgentID, session int, at int64) (int64, error)

	// Accounts gives the accounts of a provider that are not removed, by priority
	// and name, the account default among them: its row is made when it is not
	// there.
	Accounts(ctx context.Context, provider string) ([]cw.Account, error)
	// AccountByRef finds one by id, name or PROVIDER/NAME. CodeNotFound,
	// CodeInvalid for a name that several providers have.
	AccountByRef(ctx context.Context, ref string) (cw.Account, error)
	// AccountByID finds one, a removed one too. CodeNotFound.
	AccountByID(ctx context.Context, id cw.AccountID) (cw.Account, error)
	// SaveUsage stores the use of an account's windows, and a sample of each.
	SaveUsage(ctx context.Context, id cw.AccountID, windows []cw.UsageWindow, at time.Time) error
	// SetInvalid stores why an account's credentials cannot be used; "" that they
	// can.
	SetInvalid(ctx context.Context, id cw.AccountID, why string, ev cw.Event) error
	// StopWaiting stops an agent that is parked or waits for answers, with its event,
	// and withdraws the questions of the latter. CodeRefused, naming the status found,
	// when it is neither, and when it is removed.
	StopWaiting(ctx context.Context, agent cw.AgentID, ev cw.Event) error
	// PutOff stores until when a parked agent waits now, with its event; nothing of
	// it when the agent went on meanwhile.
	PutOff(ctx context.Context, agent cw.AgentID, until time.Time, ev cw.Event) error
	// ParkedAgents gives the agents that are parked and not removed.
	ParkedAgents(ctx context.Context) ([]cw.Agent, error)
	// BudgetsOf gives the budgets that an agent's runs count for, with what is
	// spent of them by runs that are over.
	BudgetsOf(ctx context.Context, agent cw.AgentID) ([]cw.Budget, error)
	// AccountBudgets gives those of all accounts, likewise.
	AccountBudgets(ctx context.Context) ([]cw.Budget, error)
	// MarkBudget stores that a budget's warning, or its end, was told. false when
	// it was told already: then no event is stored.
	MarkBudget(ctx context.Context, scope cw.BudgetScope, id string, spent bool, ev cw.Event) (bool, error)
}
