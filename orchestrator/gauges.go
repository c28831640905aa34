package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Lag is how far the stored output is behind the raw files of the runs that
// are not over.
type Lag struct {
	Runs int   // that are not over
	Sum  int64 // bytes that are not stored yet
	Max  int64 // the most of one run
}

// Lag measures. A run whose file is not there yet, or no longer, is not behind.
func (o *Orchestrator) Lag(ctx context.Context) (Lag, error) {
	runs, err := o.Store.UnfinishedRuns(ctx)
	if err != nil {
		return Lag{}, fmt.Errorf("measure the lag of chunks: %w", err)
	}
	lag := Lag{Runs: len(runs)}
	for _, r := range runs {
		// The stored end first: what is written in between is no false zero.
		stored, err := o.Store.NextOffset(ctx, r.Agent.ID, r.Run.SessionNumber)
		if err != nil {
			return Lag{}, fmt.Errorf("measure the lag of chunks: %w", err)
		}
		info, err := os.Stat(r.Run.OutputPath)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return Lag{}, fmt.Errorf("measure the lag of chunks: %w", err)
		}
		behind := max(0, info.Size()-stored)
		lag.Sum += behind
		lag.Max = max(lag.Max, behind)
	}
	return lag, nil
}
