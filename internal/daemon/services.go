package daemon

import (
	"context"
	"fmt"
	"math"
	"os"
	"time"

	"cw/accounts"
	"cw/dispatch"
	"cw/inbox"
	"cw/internal/cw"
	"cw/internal/notify"
	"cw/internal/proc"
	"cw/internal/store"
	"cw/orchestrator"
	"cw/planning"
)

// services is everything that faces may call, put together from the engine,
// the event log and the daemon itself.
type services struct {
	*orchestrator.Orchestrator
	events
	tokens
	sessions
	heldSettings
	house
	*accounts.Manager
	costs
	providerService
	plans
	*dispatch.Dispatcher
	forges
	daemonService
	*notify.Notifier

	inbox inbox.Service
}

// withInbox gives them with the inbox, which looks as people do: through them.
func (s services) withInbox() services {
	s.inbox = inbox.New(s)
	return s
}

// Inbox implements cw.InboxService.
func (s services) Inbox(ctx context.Context, initiative string) (cw.Inbox, error) {
	return s.inbox.Inbox(ctx, initiative)
}

// plans is the planning.Manager under another name: that of accounts has it.
type plans struct{ *planning.Manager }

var _ cw.Services = services{}

// daemonService implements cw.DaemonService.
type daemonService struct {
	facts    cw.DaemonStatus // those that do not change
	door     *tcpDoor
	store    *store.DB
	janitor  *janitor
	notices  *notify.Notifier
	tasks    *dispatch.Dispatcher
	shutdown context.CancelFunc
}

// Status implements cw.DaemonService.
func (d daemonService) Status(ctx context.Context) (cw.DaemonStatus, error) {
	st := d.facts
	st.HTTP = d.door.where()
	var err error
	if st.Agents, st.AgentsAlive, st.Projects, err = d.store.Counts(ctx); err != nil {
		return st, fmt.Errorf("count agents: %w", err)
	}
	if st.Questions, err = d.store.CountOpenQuestions(ctx); err != nil {
		return st, fmt.Errorf("count questions: %w", err)
	}
	if st.Conversations, err = d.store.CountPendingConversations(ctx); err != nil {
		return st, fmt.Errorf("count conversations: %w", err)
	}
	counts := d.tasks.Counts()
	st.TasksRunning, st.TasksReady, st.TasksWaiting = counts.Running, counts.Ready, counts.Waiting
	st.Checkpoints, st.Merges = counts.Checkpoints, counts.Merges
	if st.DatabaseBytes, st.LogBytes, err = d.store.Sizes(ctx); err != nil {
		return st, fmt.Errorf("measure databases: %w", err)
	}
	if space, err := d.janitor.floor.Look(st.Home); err == nil { // unknown is shown as nothing
		st.FreeBytes, st.FloorBytes, st.DiskLow = space.Free, space.Floor, space.Low()
	}
	st.MemoryPercent = memoryPercent(proc.TotalMemory(), proc.FreeMemory())
	st.Sizes, st.Hooks = d.janitor.measured(), d.notices.Hooks()
	return st, nil
}

// memoryPercent is how much of the memory is in use; 0 when it is not known.
func memoryPercent(total, free int64) int {
	if total <= 0 || free <= 0 || free > total {
		return 0
	}
	return int(math.Round(100 * float64(total-free) / float64(total)))
}

// Shutdown implements cw.DaemonService. The answer still goes out: the server
// lets short requests finish. A daemon whose databases cannot be read ends, too,
// and does not say how many agents run on.
func (d daemonService) Shutdown(ctx context.Context) (cw.DaemonStatus, error) {
	st, err := d.Status(ctx)
	if err != nil {
		st, st.HTTP = d.facts, d.door.where()
	}
	d.shutdown()
	return st, nil
}

// Whoami implements cw.DaemonService.
func (d daemonService) Whoami(ctx context.Context) (cw.Whoami, error) {
	actor := cw.ActorOf(ctx)
	who := cw.Whoami{Kind: actor.Kind, AgentID: actor.AgentID, RunID: actor.RunID}
	if actor.AgentID == "" {
		return who, nil
	}
	agent, err := d.store.AgentByRef(ctx, string(actor.AgentID))
	who.Name = agent.Alias
	return who, err
}

func factsOf(c Config, buildID, socket string) cw.DaemonStatus {
	return cw.DaemonStatus{
		PID: os.Getpid(), Version: c.Version, BuildID: buildID, APIVersion: cw.APIVersion,
		Home: string(c.Home), Socket: socket, StartedAt: time.Now().UTC(),
	}
}
