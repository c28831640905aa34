package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"cw/internal/event"
	"cw/internal/store"
	"cw/orchestrator"
)

// metrics answers GET /metrics. Every request looks anew: nothing is counted
// while nobody asks.
type metrics struct {
	store   *store.DB
	engine  *orchestrator.Orchestrator
	hub     *event.Hub
	streams func() int // open ones
	version string
	started time.Time
	log     *slog.Logger
}

// metricsOf gives the handler of /metrics, nil when they are switched off.
func metricsOf(c Config, p *parts, hub *event.Hub, started time.Time) http.Handler {
	if !c.Settings.Metrics.Enabled {
		return nil
	}
	return metrics{
		store: p.store, engine: p.engine, hub: hub, log: p.log, version: c.Version, started: started,
		streams: func() int { return p.server.OpenStreams() }, // which is made with this handler
	}
}

// measured is everything that metrics are made of.
type measured struct {
	version       string
	rows          store.Gauges
	lag           orchestrator.Lag
	chunksWaiting int
	subscriptions int
	eventsWaiting int
	streams       int
	stateBytes    int64
	logBytes      int64
	process       processFacts
}

// metricsMax bounds one look; a disk that hangs must not collect requests.
const metricsMax = 10 * time.Second

// ServeHTTP implements http.Handler.
func (m metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), metricsMax)
	defer cancel()
	seen, err := m.measure(ctx)
	if err != nil {
		m.log.ErrorContext(ctx, "measure for metrics", "error", err)
		http.Error(w, "the figures cannot be read; cw logs tells why", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", metricsType)
	_ = writeMetrics(w, families(seen)) // the reader is gone
}

func (m metrics) measure(ctx context.Context) (measured, error) {
	seen := measured{version: m.version, chunksWaiting: m.store.Waiting(), streams: m.streams(), process: lookAtProcess()}
	seen.process.started = float64(m.started.Unix())
	seen.subscriptions, seen.eventsWaiting = m.hub.Depth()
	var err error
	if seen.rows, err = m.store.Gauges(ctx); err != nil {
		return measured{}, err
	}
	if seen.lag, err = m.engine.Lag(ctx); err != nil {
		return measured{}, err
	}
	if seen.stateBytes, seen.logBytes, err = m.store.Sizes(ctx); err != nil {
		return measured{}, fmt.Errorf("measure databases: %w", err)
	}
	return seen, nil
}
