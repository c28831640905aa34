//go:build linux

package bench

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // to write rows beside the program

	"cw/internal/cw"
	"cw/internal/cwtest/lab"
)

// history gives a home n agents that are done, with everything that is stored of
// each. One is real; the others have its rows under other ids, since a thousand
// spawns would take longer than all that is measured. The daemon runs again at
// the end.
func history(r *rig, l *lab.Lab, n int) {
	r.Helper()
	script := filepath.Join(r.TempDir(), "agent.sh")
	r.must(os.WriteFile(script, []byte("#!/bin/sh\nseq 1000\necho '{\"status\":\"done\",\"noChanges\":\"nothing to do\"}' > .cw/output/signal.json\n"), 0o700))
	v, err := l.Client().Spawn(r.Context(), cw.SpawnRequest{
		RequestKey: cw.NewID(), Goal: "Count.", Projects: []string{l.Repo}, Provider: "script", Script: script,
		Env: map[string]string{"PATH": os.Getenv("PATH")},
	})
	r.must(err)
	v = l.Until(string(v.ID), func(v cw.AgentView) bool { return v.Status.AtRest() && !v.Settling })
	if v.Status != cw.StatusIdle {
		r.Fatalf("the model agent is %s: %s", v.Status, v.Error)
	}
	l.Kill()
	// The seal tells that somebody wrote beside the program.
	r.must(os.Remove(filepath.Join(string(l.Home), "cw.db-seal")))
	// What is told apart by a name of its own gets one; NULL stays unique.
	copyRows(r, l, "cw.db", n-1, map[string]map[string]string{
		"agents":          {"id": "id || '-' || n", "alias": "alias || '-' || n"},
		"agent_worktrees": {"agent_id": "agent_id || '-' || n"},
		"runs":            {"id": "id || '-' || n", "agent_id": "agent_id || '-' || n"},
		"messages":        {"id": "id || '-' || n", "agent_id": "agent_id || '-' || n", "run_id": "run_id || '-' || n"},
		"tokens":          {"id": "id || '-' || n", "hash": "hash || '-' || n", "run_id": "run_id || '-' || n", "agent_id": "agent_id || '-' || n"},
		"ops":             {"id": "id || '-' || n", "request_key": "NULL", "run_id": "run_id || '-' || n", "agent_id": "agent_id || '-' || n"},
		"events":          {"seq": "NULL", "run_id": "run_id || '-' || n", "agent_id": "agent_id || '-' || n"},
	})
	copyRows(r, l, "log.db", n-1, map[string]map[string]string{
		"agent_log_chunks": {"id": "NULL", "agent_id": "agent_id || '-' || n"},
	})
	l.Start()
	if all, err := cw.AllAgents(r.Context(), l.Client(), cw.AgentFilter{}); err != nil || len(all) != n {
		r.Fatalf("%d agents, %v; want %d", len(all), err, n)
	}
}

// copyRows copies every row of some tables n times, with other values in some
// columns.
func copyRows(r *rig, l *lab.Lab, database string, n int, tables map[string]map[string]string) {
	r.Helper()
	db, err := sql.Open("sqlite", filepath.Join(string(l.Home), database))
	r.must(err)
	defer db.Close()
	for table, changed := range tables {
		rows, err := db.QueryContext(r.Context(), "SELECT name FROM pragma_table_info(?)", table)
		r.must(err)
		var names, values []string
		for rows.Next() {
			var name string
			r.must(rows.Scan(&name))
			names = append(names, name)
			if value := changed[name]; value != "" {
				name = value
			}
			values = append(values, name)
		}
		r.must(rows.Err())
		r.must(rows.Close())
		_, err = db.ExecContext(r.Context(), fmt.Sprintf(
			"WITH RECURSIVE copies (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copies WHERE n < %d) INSERT INTO %s (%s) SELECT %s FROM %s, copies",
			n, table, strings.Join(names, ", "), strings.Join(values, ", "), table))
		r.must(err)
	}
}
