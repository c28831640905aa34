package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"gorm.io/gorm"

	"cw/internal/cw"
)

// costKey says by what runs (r) of agents (a) with accounts (c) are summed:
// the key of a sum, its name for people, and its order. Only constants of the
// program come into the statement.
type costKey struct{ key, name, order string }

const (
	byCost   = "cost_usd DESC, runs DESC, key"
	costTime = "COALESCE(r.started_at, r.created_at)"
)

// day is that of a zone.
func costKeyOf(by cw.CostBy, day string) (costKey, bool) {
	key, ok := map[cw.CostBy]costKey{
		cw.CostByRun:        {"r.id", "COALESCE(a.alias, '') || ' ' || r.session_number", byCost},
		cw.CostByAgent:      {"r.agent_id", "COALESCE(a.alias, r.agent_id)", byCost},
		cw.CostByTask:       {"COALESCE(a.task_id, '')", "COALESCE(NULLIF(a.task_id, ''), 'no task')", byCost},
		cw.CostByInitiative: {"COALESCE(a.initiative_id, '')", "COALESCE((SELECT slug FROM initiatives WHERE id = a.initiative_id), NULLIF(a.initiative_id, ''), 'no initiative')", byCost},
		cw.CostByAccount:    {"r.account_id", "r.provider || '/' || COALESCE(c.name, CASE WHEN r.account_id = 'default-' || r.provider THEN 'default' ELSE r.account_id END)", byCost},
		cw.CostByProvider:   {"r.provider", "r.provider", byCost},
		cw.CostByDay:        {day, day, "key"},
	}[by]
	return key, ok
}

// Costs sums the costs of runs, of removed agents too: the greatest sum first,
// days in order. Runs that never started count for nothing. live is what runs that
// are under way cost so far, which no row tells; of one that is over by now the row
// counts. CodeInvalid as cw.CostQuery.Check.
func (db *DB) Costs(ctx context.Context, q cw.CostQuery, live ...cw.RunSpend) ([]cw.CostRow, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	under, err := json.Marshal(append([]cw.RunSpend{}, live...))
	if err != nil {
		return nil, err
	}
	var rows []cw.CostRow
	err = db.query(ctx, "sum costs", func(g *gorm.DB) (err error) {
		rows, err = costRows(g, q, string(under))
		return err
	})
	return rows, err
}

// runsWithLive are the runs, those that are under way with what is known of them from
// elsewhere: a list of cw.RunSpend as JSON.
const runsWithLive = `(SELECT n.id, n.agent_id, n.account_id, n.provider, n.session_number, n.started_at, n.created_at, n.ended_at,
	l.id IS NOT NULL AS live, IIF(l.id IS NULL, n.cost_usd, l.cost_usd) AS cost_usd,
	IIF(l.id IS NULL, n.cost_source, l.cost_source) AS cost_source, IIF(l.id IS NULL, n.usage, l.usage) AS usage
	FROM runs n LEFT JOIN (SELECT json_extract(value, '$.RunID') AS id, json_extract(value, '$.CostUSD') AS cost_usd,
		json_extract(value, '$.Source') AS cost_source, json_extract(value, '$.Usage') AS usage FROM json_each(?)) l
	ON l.id = n.id AND n.ended_at IS NULL)`

// costSum is a row of the statement in costRows.
type costSum struct {
	Key, Name, ThenKey, ThenName                    string
	Runs, Unpriced, UnderWay                        int
	CostUSD, EstimatedUSD                           float64
	Input, Output, CacheRead, CacheWrite, Reasoning int
}

func (s costSum) row() cw.CostRow {
	return cw.CostRow{
		Key: s.Key, Name: s.Name, Then: s.ThenKey, ThenName: s.ThenName, Runs: s.Runs, CostUSD: s.CostUSD, EstimatedUSD: s.EstimatedUSD, Unpriced: s.Unpriced, UnderWay: s.UnderWay,
		Usage: cw.Usage{
			InputTokens: s.Input, OutputTokens: s.Output, CacheReadTokens: s.CacheRead,
			CacheWriteTokens: s.CacheWrite, ReasoningTokens: s.Reasoning,
		},
	}
}

func costRows(g *gorm.DB, q cw.CostQuery, live string) ([]cw.CostRow, error) {
	zone, err := q.Location()
	if err != nil {
		return nil, err
	}
	day := dayIn(costTime, zone, time.Now())
	by, ok := costKeyOf(q.By, day)
	if !ok {
		return nil, fmt.Errorf("costs by %q have no statement", q.By)
	}
	columns, group, order := by.key+" AS key, "+by.name+" AS name", "key", by.order
	if then, parted := costKeyOf(q.Then, day); parted {
		columns += ", " + then.key + " AS then_key, " + then.name + " AS then_name"
		group, order = "key, then_key", "key, cost_usd DESC, runs DESC, then_key"
	}
	where, args := "(r.started_at IS NOT NULL OR r.cost_usd > 0)", []any{live}
	if q.Since != nil {
		where, args = where+" AND "+costTime+" >= ?", append(args, q.Since.UTC())
	}
	if q.Until != nil {
		where, args = where+" AND "+costTime+" < ?", append(args, q.Until.UTC())
	}
	tokens := func(name string) string { return "COALESCE(SUM(json_extract(r.usage, '$." + name + "')), 0)" }
	statement := `SELECT ` + columns + `, COUNT(*) AS runs, SUM(r.cost_usd) AS cost_usd,
			SUM(CASE WHEN r.cost_source = 'table' THEN r.cost_usd ELSE 0 END) AS estimated_usd,
			SUM((r.ended_at IS NOT NULL OR r.live) AND r.cost_source = ''
				AND COALESCE(json_extract(r.usage, '$.inputTokens') + json_extract(r.usage, '$.outputTokens'), 0) > 0) AS unpriced,
			SUM(r.ended_at IS NULL) AS under_way,
			` + tokens("inputTokens") + ` AS input, ` + tokens("outputTokens") + ` AS output,
			` + tokens("cacheReadTokens") + ` AS cache_read, ` + tokens("cacheWriteTokens") + ` AS cache_write,
			` + tokens("reasoningTokens") + ` AS reasoning
		FROM ` + runsWithLive + ` r LEFT JOIN agents a ON a.id = r.agent_id LEFT JOIN accounts c ON c.id = r.account_id
		WHERE ` + where + ` GROUP BY ` + group + ` ORDER BY ` + order
	var sums []costSum
	if err := g.Raw(statement, args...).Scan(&sums).Error; err != nil {
		return nil, err
	}
	rows := make([]cw.CostRow, len(sums))
	for i, s := range sums {
		rows[i] = s.row()
	}
	return rows, nil
}
