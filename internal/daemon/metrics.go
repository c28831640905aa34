package daemon

import (
	"context"
	"fmt"
	"io"
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
}

// metricsOf gives the writer of /metrics, nil when they are switched off.
func metricsOf(c Config, p *parts, hub *event.Hub, started time.Time) func(context.Context, io.Writer) error {
	if !c.Settings.Metrics.Enabled {
		return nil
	}
	m := metrics{
		store: p.store, engine: p.engine, hub: hub, version: c.Version, started: started,
		streams: func() int { return p.server.OpenStreams() }, // which is made with this writer
	}
	return m.write
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

// write looks and writes.
func (m metrics) write(ctx context.Context, w io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, metricsMax)
	defer cancel()
	seen, err := m.measure(ctx)
	if err != nil {
		return err
	}
	return writeMetrics(w, families(seen))
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
