package orchestrator

import (
	"context"
	"fmt"
	"os"
)

// Lag is how far the stored output is behind the raw files of the runs that
// are not over.
type Lag struct {
	Runs int   // that are not over
	Sum  int64 // bytes that are not stored yet
	Max  int64 // the most of one run
}

// Lag measures. A run whose file cannot be looked at is not behind: it is not
// there yet, or its agent did something to it, which must not hide the rest.
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
		if err != nil {
			continue
		}
		behind := max(0, info.Size()-stored)
		lag.Sum += behind
		lag.Max = max(lag.Max, behind)
	}
	return lag, nil
}
