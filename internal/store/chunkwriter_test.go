package store

import (
	"context"
	"testing"
)

// TestRunEndsBeforeItBegins: a writer that is ended before it stands has failed
// at nothing.
func TestRunEndsBeforeItBegins(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b.must(b.Run(ctx))
}
