package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type costOptions struct {
	app   *app
	by    string
	since string
	today bool
}

func newCostCmd(a *app, runF func(context.Context, *costOptions) error) *cobra.Command {
	opts := &costOptions{app: a}
	var ways []string
	for _, way := range cw.CostWays() {
		ways = append(ways, string(way))
	}
	cmd := &cobra.Command{
		Use:   "cost",
		Short: "Show what runs cost",
		Long: `Sum the costs of runs, the greatest first; days in order. Agents that were removed
count. A cost is the CLI's own figure; where it tells none, it is the tokens times
list prices, shown as estimated. Runs whose model has no known price are counted
as unpriced. Runs that are under way count with what they cost so far. Days are
those of this machine's time zone, or of TZ; a run counts for the day on which it
was started. --today gives the sum that cw status, cw top and the dashboard show.`,
		Example: "cw cost\ncw cost --today\ncw cost --by day --since 7d\ncw cost --by account --since 2026-01-01",
		Args:    noArgs,
		RunE:    start(a, runF, costRun, opts),
	}
	cmd.Flags().StringVar(&opts.by, "by", string(cw.CostByAgent), "sum by `WHAT`: "+strings.Join(ways, ", "))
	cmd.Flags().BoolVar(&opts.today, "today", false, "only runs that were started today")
	cmd.Flags().StringVar(&opts.since, "since", "", "only runs that were started since this `TIME`: 7d, 12h, or a date like 2026-01-31")
	cmd.MarkFlagsMutuallyExclusive("today", "since")
	return cmd
}

func costRun(ctx context.Context, o *costOptions) error {
	a := o.app
	q := cw.CostQuery{By: cw.CostBy(o.by), Zone: a.zone()}
	if err := q.Check(); err != nil {
		return err
	}
	var err error
	if q.Since, err = parseSince(o.since, a.now()); err != nil {
		return err
	}
	if o.today {
		today, err := cw.CostToday(a.now(), q.Zone)
		if err != nil {
			return err
		}
		q.Since = today.Since
	}
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	rows, err := svc.Costs(ctx, q)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(append([]cw.CostRow{}, rows...))
	}
	if len(rows) == 0 {
		a.note("%s", noRuns(o.since, o.today))
		return nil
	}
	a.printCosts(q.By, rows)
	return nil
}

func noRuns(since string, today bool) string {
	if today {
		return "no runs today"
	}
	if since != "" {
		return "no runs since then"
	}
	return "no runs yet"
}

func (a *app) printCosts(by cw.CostBy, rows []cw.CostRow) {
	total := cw.SumCosts(rows)
	total.Name = "total"
	cells := [][]string{}
	for _, r := range append(rows, total) {
		u := r.Usage
		unpriced := ""
		if r.Unpriced > 0 {
			unpriced = count(r.Unpriced, "run")
		}
		cells = append(cells, []string{
			r.Name, fmt.Sprint(r.Runs), dollars(r.CostUSD), costCell(r.EstimatedUSD), unpriced,
			thousands(u.InputTokens + u.CacheReadTokens + u.CacheWriteTokens), thousands(u.OutputTokens),
		})
	}
	table(a.out, "", []string{strings.ToUpper(string(by)), "RUNS", "COST", "ESTIMATED", "UNPRICED", "TOKENS IN", "OUT"}, cells)
	if n := total.UnderWay; n > 0 {
		a.note("%s so far is in the sum", count(n, "run")+plural(n, " is under way: what it cost", " are under way: what they cost"))
	}
}

// parseSince reads a time in the past: an age (90m, 12h, 7d) or a date, in the
// caller's time zone; nil for none. CodeInvalid.
func parseSince(text string, now time.Time) (*time.Time, error) {
	if text == "" {
		return nil, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n < 100_000 {
			at := now.AddDate(0, 0, -n)
			return &at, nil
		}
	}
	if age, err := time.ParseDuration(text); err == nil && age >= 0 {
		at := now.Add(-age)
		return &at, nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04", time.RFC3339} {
		if at, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return &at, nil
		}
	}
	return nil, usagef("--since %.40q is no time", text).WithHint("give an age like 7d or 12h, or a date like 2026-01-31")
}
