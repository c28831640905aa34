package daemon

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"cw/internal/cw"
	"cw/internal/store"
	"cw/orchestrator"
)

const (
	// diskEvery is the time between two looks at the disk's free space.
	diskEvery = 10 * time.Second
	// sweepEvery is the time between two clean-ups.
	sweepEvery = time.Hour
	// vacuumPause is between two slices of giving pages back, for those who want
	// to write; vacuumLeast is how many free pages are worth it.
	vacuumPause = 20 * time.Millisecond
	vacuumLeast = 1024
)

// keeper is the part of the engine that a clean-up asks.
type keeper interface {
	CollectTrash(ctx context.Context, dryRun, pressure bool) ([]cw.Garbage, error)
	PackMirrors(ctx context.Context) error
}

// janitor keeps the home in order: it watches the disk, keeps the reserve,
// drops what is kept no longer, and copies the state once a day. It only ever
// works in small pieces, so that nobody waits for it.
type janitor struct {
	home     cw.Home
	store    *store.DB
	engine   keeper
	settings Settings
	floor    orchestrator.DiskFloor
	buildID  string
	masks    masks
	now      func() time.Time // the store's clock
	log      *slog.Logger

	sweeping chan struct{} // holds a token while somebody cleans up

	mu    sync.Mutex
	low   bool      // guarded by mu: as the last event told
	sizes *cw.Sizes // guarded by mu
}

func newJanitor(c Config, db *store.DB, engine keeper, buildID string, log *slog.Logger) *janitor {
	return &janitor{
		home: c.Home, store: db, engine: engine, settings: c.Settings, floor: floorOf(c.Settings), buildID: buildID, masks: c.masks,
		now: time.Now, log: log, sweeping: make(chan struct{}, 1),
	}
}

func floorOf(s Settings) orchestrator.DiskFloor {
	return orchestrator.DiskFloor{MinFree: int64(s.Disk.MinFree), Percent: s.Disk.MinFreePercent}
}

// Run looks and cleans up until ctx ends. What cannot be done now is done
// later, and none of it ends the daemon.
func (j *janitor) Run(ctx context.Context) error {
	var work sync.WaitGroup
	defer work.Wait()
	lack := make(chan struct{}, 1) // rings when the disk got low
	work.Go(func() { j.watchDisk(ctx, lack) })
	again := time.NewTicker(sweepEvery)
	defer again.Stop()
	for pressure := false; ; {
		j.sweep(ctx, pressure)
		select {
		case <-ctx.Done():
			return nil
		case <-lack:
			pressure = true
		case <-again.C:
			pressure = j.isLow()
		}
	}
}

// watchDisk tells when the disk gets low and when it is enough again.
func (j *janitor) watchDisk(ctx context.Context, lack chan<- struct{}) {
	tick := time.NewTicker(diskEvery)
	defer tick.Stop()
	for {
		if j.lookAtDisk(ctx) {
			select {
			case lack <- struct{}{}:
			default: // it rings already
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// lookAtDisk keeps the reserve and stores an event when the disk crossed its
// floor. It tells whether the disk got low just now.
func (j *janitor) lookAtDisk(ctx context.Context) (gotLow bool) {
	j.store.KeepReserve()
	space, err := j.floor.Look(string(j.home))
	if err != nil {
		j.log.WarnContext(ctx, "look at the disk", "error", err)
		return false
	}
	if space.Low() {
		if err := j.store.ShrinkWAL(ctx); err != nil {
			j.log.WarnContext(ctx, "give space back", "error", err)
		}
	}
	if space.Low() == j.isLow() {
		return false
	}
	kind := cw.EventDiskOK
	if space.Low() {
		kind = cw.EventDiskLow
	}
	j.log.WarnContext(ctx, "the free space crossed the floor", "event", kind, "free", Bytes(space.Free), "floor", Bytes(space.Floor))
	state := cw.DiskState{FreeBytes: space.Free, FloorBytes: space.Floor}
	if err := j.store.AddEvents(ctx, cw.NewEvent(kind, cw.Actor{Kind: cw.ActorCW}, state)); err != nil {
		j.log.WarnContext(ctx, "store that the free space crossed the floor", "error", err)
		return false // it is told at the next look
	}
	j.mu.Lock()
	j.low = space.Low()
	j.mu.Unlock()
	return space.Low()
}

func (j *janitor) isLow() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.low
}

// measured gives the sizes of the home's parts, nil before the first look.
func (j *janitor) measured() *cw.Sizes {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.sizes
}

// sweep is one whole clean-up.
func (j *janitor) sweep(ctx context.Context, pressure bool) {
	j.heal(ctx)
	if path, err := j.store.BackupDaily(ctx); err != nil {
		j.trouble(ctx, "copy the state", err)
	} else if path != "" {
		j.log.InfoContext(ctx, "the state was copied", "to", path)
	}
	found, err := j.collect(ctx, false, pressure)
	if err != nil {
		j.trouble(ctx, "clean up", err)
	}
	for _, g := range found {
		if g.Error != "" {
			j.trouble(ctx, "clean up "+g.Path, errors.New(g.Error))
		} else if g.Goes {
			j.log.InfoContext(ctx, "cleaned up", "kind", g.Kind, "agent", g.Agent, "path", g.Path, "bytes", g.Bytes, "reason", g.Reason)
		}
	}
	if !pressure { // packing takes space before it frees some
		if err := j.engine.PackMirrors(ctx); err != nil {
			j.trouble(ctx, "pack mirrors", err)
		}
	}
	j.vacuum(ctx)
	sizes := measureHome(ctx, j.home, j.now())
	if ctx.Err() != nil {
		return
	}
	j.mu.Lock()
	j.sizes = &sizes
	j.mu.Unlock()
}

func (j *janitor) trouble(ctx context.Context, what string, err error) {
	if ctx.Err() == nil {
		j.log.WarnContext(ctx, what, "error", err)
	}
}

// vacuum gives free pages back, a slice at a time.
func (j *janitor) vacuum(ctx context.Context) {
	for before := -1; ; {
		left, err := j.store.Vacuum(ctx)
		if err != nil {
			j.trouble(ctx, "give free pages back", err)
			return
		}
		if left < vacuumLeast || left == before {
			return
		}
		before = left
		select {
		case <-ctx.Done():
			return
		case <-time.After(vacuumPause):
		}
	}
}
