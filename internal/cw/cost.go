package cw

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"
)

// CostBy says what costs are summed by.
type CostBy string

// The ways to sum costs.
const (
	CostByRun        CostBy = "run"
	CostByAgent      CostBy = "agent"
	CostByTask       CostBy = "task"
	CostByInitiative CostBy = "initiative"
	CostByAccount    CostBy = "account"
	CostByProvider   CostBy = "provider"
	CostByDay        CostBy = "day" // of the run's start, in the zone of the query
)

// CostWays lists the ways to sum costs.
func CostWays() []CostBy {
	return []CostBy{CostByRun, CostByAgent, CostByTask, CostByInitiative, CostByAccount, CostByProvider, CostByDay}
}

// CostQuery asks for sums.
type CostQuery struct {
	By    CostBy     `json:"by"`
	Then  CostBy     `json:"then,omitempty"`  // what each sum is parted by; "": it is not
	Since *time.Time `json:"since,omitempty"` // runs that were started then or later
	Until *time.Time `json:"until,omitempty"` // runs that were started before
	Zone  string     `json:"zone,omitempty"`  // time zone of the days: Europe/Berlin; "": UTC
}

// CostToday is the query whose sum is what today cost, for every face: all runs that
// were started on the calendar day of a time in a time zone ("": UTC), those of
// removed agents too, and those under way with what they cost so far. CodeInvalid.
func CostToday(now time.Time, zone string) (CostQuery, error) {
	q := CostQuery{By: CostByDay, Zone: zone}
	loc, err := q.Location()
	if err != nil {
		return q, err
	}
	year, month, day := now.In(loc).Date()
	since := time.Date(year, month, day, 0, 0, 0, 0, loc)
	q.Since = &since
	return q, nil
}

// SumCosts adds sums up.
func SumCosts(rows []CostRow) CostRow {
	var sum CostRow
	for _, r := range rows {
		sum.Runs += r.Runs
		sum.UnderWay += r.UnderWay
		sum.CostUSD += r.CostUSD
		sum.EstimatedUSD += r.EstimatedUSD
		sum.Unpriced += r.Unpriced
		sum.Usage = sum.Usage.Add(r.Usage)
	}
	return sum
}

// RunSpend is what a run that is under way used and cost so far.
type RunSpend struct {
	RunID   RunID
	CostUSD float64
	Source  CostSource
	Usage   Usage
}

// Location is the time zone of the days. CodeInvalid.
func (q CostQuery) Location() (*time.Location, error) {
	zone, err := time.LoadLocation(q.Zone)
	if err != nil || zone == time.Local { // that of this machine, which callers cannot mean
		return nil, Errorf(CodeInvalid, "there is no time zone %.40q", q.Zone).WithHint("name it as the IANA does: Europe/Berlin, America/New_York; without one days are those of UTC")
	}
	return zone, nil
}

// Check refuses queries that are none. CodeInvalid.
func (q CostQuery) Check() error {
	if !slices.Contains(CostWays(), q.By) {
		return Errorf(CodeInvalid, "costs cannot be summed by %.40q", string(q.By)).
			WithHint("by run, agent, task, initiative, account, provider or day")
	}
	if q.Then != "" && (q.Then == q.By || !slices.Contains(CostWays(), q.Then)) {
		return Errorf(CodeInvalid, "sums by %s cannot be parted by %.40q", q.By, string(q.Then)).
			WithHint("by another of run, agent, task, initiative, account, provider and day")
	}
	_, err := q.Location()
	return err
}

// CostSource says where the figure of a run's cost comes from.
type CostSource string

// The sources of a cost.
const (
	CostFromCLI   CostSource = "cli"   // the CLI's own figure
	CostFromTable CostSource = "table" // tokens times the prices in cw's table
	CostUnknown   CostSource = ""      // neither: the model is not in the table
)

// CostRow is one sum.
type CostRow struct {
	Key  string `json:"key" doc:"id of what the sum is of, or the day"`
	Name string `json:"name" doc:"for people"`
	Then string `json:"then,omitempty" doc:"of sums that are parted: id of what the part is of, or the day; empty also for what belongs to none"`
	// ThenName is never empty where sums are parted.
	ThenName string  `json:"thenName,omitempty" doc:"of sums that are parted: what the part is of, for people"`
	Runs     int     `json:"runs" doc:"runs in it"`
	CostUSD  float64 `json:"costUsd" doc:"US dollars"`
	// Estimated is the part that comes from cw's table of prices.
	EstimatedUSD float64 `json:"estimatedUsd" doc:"the part that is tokens times list prices: of runs whose CLI tells no cost, and of those that are under way"`
	Unpriced     int     `json:"unpriced" doc:"runs whose cost is not known; their tokens count"`
	// UnderWay are runs that are not over. What they cost so far counts.
	UnderWay int   `json:"underWay" doc:"runs that are not over: what they used and cost so far is in the sum"`
	Usage    Usage `json:"usage" doc:"tokens"`
}

// BudgetScope says what a budget is for.
type BudgetScope string

// The scopes of budgets.
const (
	BudgetAgent      BudgetScope = "agent"
	BudgetInitiative BudgetScope = "initiative"
	BudgetAccount    BudgetScope = "account"
)

// BudgetWarnPercent is the share of a budget at which people are warned.
const BudgetWarnPercent = 80

// Budget is a hard limit of cost. At 80 % there is a warning; at 100 % agents
// are asked to commit and stop, and then stopped.
type Budget struct {
	Scope    BudgetScope `json:"scope" gorm:"primaryKey" doc:"agent, initiative or account"`
	ScopeID  string      `json:"scopeId" gorm:"primaryKey" doc:"of what"`
	Name     string      `json:"name" gorm:"-" doc:"of what, for people"`
	Slug     string      `json:"slug,omitempty" gorm:"-" doc:"of an initiative: what commands call it"`
	LimitUSD float64     `json:"limitUsd" doc:"US dollars, greater than 0"`
	SpentUSD float64     `json:"spentUsd" gorm:"-" doc:"spent so far, by runs that are over and by those that are under way"`
	Unpriced int         `json:"unpriced,omitempty" gorm:"-" doc:"runs that count for it and whose cost is not known, as their model has no price: nothing of them is in what is spent; only in lists"`
	WarnedAt *time.Time  `json:"warnedAt" doc:"when 80 % were reached; null: not yet"`
	SpentAt  *time.Time  `json:"spentAt" doc:"when all of it was spent; null: not yet"`
	SetAt    time.Time   `json:"setAt" doc:"when it was set"`
}

// Ref is what commands call that which it is for.
func (b Budget) Ref() string { return cmp.Or(b.Slug, b.Name, b.ScopeID) }

// CheckBudget refuses limits that are none. CodeInvalid.
func CheckBudget(scope BudgetScope, limitUSD float64) error {
	scopes := []BudgetScope{BudgetAgent, BudgetInitiative, BudgetAccount}
	switch {
	case !slices.Contains(scopes, scope):
		return Errorf(CodeInvalid, "there are no budgets for %.40q", string(scope)).WithHint("there are budgets for an agent, an initiative and an account")
	case math.IsNaN(limitUSD) || math.IsInf(limitUSD, 0) || limitUSD < 0:
		return Errorf(CodeInvalid, "a budget of %v is none", limitUSD).WithHint("it is US dollars: 5 or 0.50; 0 takes it away")
	}
	return nil
}

// CostService is what faces may ask about costs, and limit.
type CostService interface {
	// Costs sums costs, the greatest first; days in order. Sums that are parted are
	// in the order of their keys, the greatest part of each first.
	Costs(ctx context.Context, q CostQuery) ([]CostRow, error)
	// Budgets lists all budgets with what is spent of them.
	Budgets(ctx context.Context) ([]Budget, error)
	// SetBudget sets a limit for an agent, an initiative or an account (by
	// reference); 0 takes it away. CodeNotFound, CodeInvalid.
	SetBudget(ctx context.Context, scope BudgetScope, ref string, limitUSD float64) (Budget, error)
}
