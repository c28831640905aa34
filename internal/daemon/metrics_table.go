package daemon

import (
	"maps"
	"runtime"
	"slices"

	"cw/internal/cw"
	"cw/internal/store"
)

// families makes the metrics of what was measured. docs/observability.md
// explains each.
func families(m measured) []family {
	const gauge, counter = "gauge", "counter"
	p := m.process
	out := []family{
		{"cw_build_info", gauge, []string{"version", "goversion"}, "Always 1; which cw this is.", []sample{{[]string{m.version, runtime.Version()}, 1}}},
		{"cw_agents", gauge, []string{"status"}, "Agents by their status.", agentSamples(m.rows.Agents)},
		{"cw_runs", gauge, []string{"outcome", "reason", "provider"}, "Runs that are over, by how they left their agent.", ended(m.rows.Runs)},
		{"cw_run_starts_total", counter, []string{"reason", "provider"}, "Runs that were planned, by why.", starts(m.rows.Runs)},
		{"cw_provider_errors_total", counter, []string{"provider", "bucket"}, "Runs that ended because of their provider.", providerErrors(m.rows.Runs)},
		{"cw_live_runs", gauge, nil, "Runs that are not over.", one(m.lag.Runs)},
		{"cw_chunk_lag_bytes", gauge, []string{"of"}, "Output of live runs that is not stored yet.", []sample{{[]string{"sum"}, float64(m.lag.Sum)}, {[]string{"max"}, float64(m.lag.Max)}}},
		{"cw_queue_depth", gauge, []string{"queue"}, "What waits inside the daemon.", []sample{{[]string{"chunks"}, float64(m.chunksWaiting)}, {[]string{"events"}, float64(m.eventsWaiting)}}},
		{"cw_event_subscriptions", gauge, nil, "Readers of events that are connected.", one(m.subscriptions)},
		{"cw_open_streams", gauge, nil, "Streams that the API has open.", one(m.streams)},
		{"cw_events_total", counter, nil, "Events that were ever stored.", one(m.rows.LastEvent)},
		{"cw_database_bytes", gauge, []string{"db"}, "Size on disk, with what is not merged yet.", []sample{{[]string{"cw"}, float64(m.stateBytes)}, {[]string{"log"}, float64(m.logBytes)}}},
		{"go_goroutines", gauge, nil, "Goroutines of the daemon.", one(p.goroutines)},
		{"go_memstats_heap_alloc_bytes", gauge, nil, "Bytes of live and not yet collected objects.", one(p.heapBytes)},
		{"go_gc_cycles_total", counter, nil, "Finished garbage collections.", one(p.collections)},
		{"process_cpu_seconds_total", counter, nil, "Processor time that the daemon used.", one(p.cpuSeconds)},
		{"process_start_time_seconds", gauge, nil, "When the daemon was started, in Unix time.", one(p.started)},
	}
	if p.residentBytes > 0 { // told by Linux alone
		out = append(out,
			family{"process_resident_memory_bytes", gauge, nil, "Memory of the daemon that is in RAM.", one(p.residentBytes)},
			family{"process_open_fds", gauge, nil, "Files that the daemon has open.", one(p.openFiles)})
	}
	return out
}

// agentSamples gives every status, also those that no agent has.
func agentSamples(counts []store.AgentCount) []sample {
	byStatus := map[cw.AgentStatus]int{}
	for _, c := range counts {
		byStatus[c.Status] = c.Count
	}
	var out []sample
	for _, status := range cw.AgentStatuses() {
		out = append(out, sample{[]string{string(status)}, float64(byStatus[status])})
	}
	return out
}

func ended(runs []store.RunCount) []sample {
	return tally(runs, func(r store.RunCount) []string {
		if r.Outcome == "" {
			return nil
		}
		return []string{string(r.Outcome), string(r.OutcomeReason), r.Provider}
	})
}

func starts(runs []store.RunCount) []sample {
	return tally(runs, func(r store.RunCount) []string { return []string{string(r.Reason), r.Provider} })
}

func providerErrors(runs []store.RunCount) []sample {
	return tally(runs, func(r store.RunCount) []string {
		bucket := map[cw.Reason]string{
			cw.ReasonUsageLimit: "limit", cw.ReasonAuth: "auth", cw.ReasonStartFailed: "start",
		}[r.OutcomeReason]
		if bucket == "" {
			return nil
		}
		return []string{r.Provider, bucket}
	})
}

// tally sums the runs that have the same labels; those without any are left
// out.
func tally(runs []store.RunCount, labels func(store.RunCount) []string) []sample {
	type key [3]string
	sums := map[key]*sample{}
	for _, r := range runs {
		l := labels(r)
		if l == nil {
			continue
		}
		var k key
		copy(k[:], l)
		if sums[k] == nil {
			sums[k] = &sample{labels: l}
		}
		sums[k].value += float64(r.Count)
	}
	var out []sample
	for _, k := range slices.SortedFunc(maps.Keys(sums), func(a, b key) int { return slices.Compare(a[:], b[:]) }) {
		out = append(out, *sums[k])
	}
	return out
}
