package live

import (
	"context"
	"time"

	"cw/internal/board"
	"cw/internal/cw"
)

// Services are what the board reads and does.
type Services interface {
	cw.AgentService
	cw.QuestionService
	cw.MessageService
	cw.LogService
	cw.EventService
	cw.InboxService
	cw.DispatchService
	cw.CostService
	cw.ProposalService
	cw.TaskService
	cw.InitiativeService
	cw.DaemonService
}

// read asks for everything that the board shows. zone is that of its day.
func read(ctx context.Context, svc Services, now func() time.Time, zone string) (s board.Sight, err error) {
	if s.Status, err = svc.Status(ctx); err != nil {
		return s, err
	}
	in, err := svc.Inbox(ctx, "")
	if err != nil {
		return s, err
	}
	s.Inbox = in.Items
	if s.Agents, err = cw.AllAgents(ctx, svc, cw.AgentFilter{}); err != nil {
		return s, err
	}
	s.Initiatives, err = cw.SomePages(ctx, 0, func(ctx context.Context, q cw.PageQuery) (cw.Page[cw.Initiative], error) {
		return svc.Initiatives(ctx, cw.InitiativeFilter{PageQuery: q})
	})
	if err != nil {
		return s, err
	}
	today, err := cw.CostToday(now(), zone)
	if err != nil {
		return s, err
	}
	costs, err := svc.Costs(ctx, today)
	if err != nil {
		return s, err
	}
	s.Today = cw.SumCosts(costs)
	s.Dispatch, err = svc.Dispatch(ctx, "")
	s.At = now()
	return s, err
}
