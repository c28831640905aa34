package api

import (
	"context"
	"net/http"
	"time"

	"cw/internal/cw"
)

type getCosts struct {
	By     string `query:"by" doc:"what they are summed by: run, agent (the default), task, initiative, account, provider or day"`
	Then   string `query:"then" doc:"part each sum by another of these: by=day&then=account is a sum for each account of each day"`
	Since  string `query:"since" doc:"only runs that were started then or later, as RFC 3339"`
	Until  string `query:"until" doc:"only runs that were started before, as RFC 3339"`
	Limit  int    `query:"limit" doc:"the greatest number of sums on the page; 0 stands for 100"`
	Cursor string `query:"cursor" doc:"where the page begins: next of the page before, with the same parameters. Without it: the first page"`
	Zone   string `query:"zone" doc:"the time zone of the days, as the IANA names it: Europe/Berlin; without one they are those of UTC"`
}

// query reads the parameters. CodeInvalid.
func (in *getCosts) query() (q cw.CostQuery, err error) {
	q.Then, q.Zone = cw.CostBy(in.Then), in.Zone
	if q.By = cw.CostBy(in.By); q.By == "" {
		q.By = cw.CostByAgent
	}
	if q.Since, err = timeParam("since", in.Since); err != nil {
		return q, err
	}
	if q.Until, err = timeParam("until", in.Until); err != nil {
		return q, err
	}
	return q, q.Check()
}

// timeParam reads a time; nil when there is none. CodeInvalid.
func timeParam(name, text string) (*time.Time, error) {
	if text == "" {
		return nil, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil, cw.Errorf(cw.CodeInvalid, "the parameter %s is no time: %.40q", name, text).WithHint("write it as 2026-01-02T03:04:05Z")
	}
	return &at, nil
}

type setBudget struct {
	Body setBudgetBody
}

type setBudgetBody struct {
	Scope    cw.BudgetScope `json:"scope" doc:"agent, initiative or account"`
	Ref      string         `json:"ref" doc:"of what: its name or id"`
	LimitUSD float64        `json:"limitUsd" doc:"US dollars; 0 takes the budget away"`
}

func registerCosts(s *Server) {
	services := s.opts.Services
	handle(s, "get-costs", func(ctx context.Context, in *getCosts) (cw.Page[cw.CostRow], error) {
		q, err := in.query()
		if err != nil {
			return cw.Page[cw.CostRow]{}, err
		}
		rows, err := services.Costs(ctx, q)
		if err != nil {
			return cw.Page[cw.CostRow]{}, err
		}
		return cw.CostPage(rows, q, cw.PageQuery{Limit: in.Limit, Cursor: in.Cursor})
	})
	handle(s, "list-budgets", func(ctx context.Context, _ *struct{}) (cw.Page[cw.Budget], error) {
		budgets, err := services.Budgets(ctx)
		return cw.Page[cw.Budget]{Items: orEmpty(budgets)}, err
	})
	handle(s, "set-budget", func(ctx context.Context, in *setBudget) (cw.Budget, error) {
		return services.SetBudget(ctx, in.Body.Scope, in.Body.Ref, in.Body.LimitUSD)
	})
}

// Costs implements cw.CostService. It reads all pages.
func (c *Client) Costs(ctx context.Context, q cw.CostQuery) ([]cw.CostRow, error) {
	if err := q.Check(); err != nil { // without one the daemon sums by agent
		return nil, err
	}
	params := query{}
	params.text("by", string(q.By))
	params.text("then", string(q.Then))
	params.text("zone", q.Zone)
	for name, at := range map[string]*time.Time{"since": q.Since, "until": q.Until} {
		if at != nil {
			params.text(name, at.UTC().Format(time.RFC3339Nano))
		}
	}
	rows, err := cw.AllPages(ctx, func(ctx context.Context, page cw.PageQuery) (cw.Page[cw.CostRow], error) {
		params.page(page)
		return call[cw.Page[cw.CostRow]](ctx, c, request{method: http.MethodGet, path: "/v1/costs", query: params})
	})
	if err == nil && rows == nil {
		rows = []cw.CostRow{}
	}
	return rows, err
}

// Budgets implements cw.CostService.
func (c *Client) Budgets(ctx context.Context) ([]cw.Budget, error) {
	page, err := call[cw.Page[cw.Budget]](ctx, c, request{method: http.MethodGet, path: "/v1/budgets"})
	return page.Items, err
}

// SetBudget implements cw.CostService.
func (c *Client) SetBudget(ctx context.Context, scope cw.BudgetScope, ref string, limitUSD float64) (cw.Budget, error) {
	if err := cw.CheckBudget(scope, limitUSD); err != nil { // JSON has no words for some numbers
		return cw.Budget{}, err
	}
	return call[cw.Budget](ctx, c, request{method: http.MethodPost, path: "/v1/budgets", body: setBudgetBody{scope, ref, limitUSD}})
}
