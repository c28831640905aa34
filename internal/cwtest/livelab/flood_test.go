package livelab

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/talker"
)

// TestFlood: one agent asks 10,000 times while seven others talk. What it may is
// counted, the rest is refused and leaves nothing behind; whatever the others ask
// is answered.
func TestFlood(t *testing.T) {
	t.Parallel()
	const floods, growthMax = 10_000, 16 << 20
	s := talker.NewStage(t, binary)
	size := talker.FloodSize{Flood: floods, Alone: 10, Beside: 15}
	before := stateSize(t, s)
	got := s.Flood(size)

	refused := got.Flood.Refused[cw.CodeRefused] + got.Flood.Refused[cw.CodeTooMany]
	if got.Flood.Answered+refused != floods {
		t.Errorf("of %d questions %d were answered, refused %v", floods, got.Flood.Answered, got.Flood.Refused)
	}
	// A minute's worth at once, and then as fast as it comes back.
	may := cw.AsksPerMinute + int(got.Lasted*cw.AsksPerMinute/time.Minute) + 1
	if got.Flood.Answered == 0 || got.Flood.Answered > may {
		t.Errorf("%d questions were taken in %s, at most %d may be", got.Flood.Answered, got.Lasted, may)
	}
	rows, err := cw.SomePages(t.Context(), 0, func(ctx context.Context, q cw.PageQuery) (cw.Page[cw.ConversationView], error) {
		return s.Client().Conversations(ctx, cw.ConversationFilter{PageQuery: q, Agent: string(got.Flooder.ID)})
	})
	must(t, err)
	if len(rows) != got.Flood.Answered {
		t.Errorf("%d conversations of it are stored, %d were answered", len(rows), got.Flood.Answered)
	}
	if growth := stateSize(t, s) - before; growth > growthMax {
		t.Errorf("the state grew by %d MiB", growth>>20)
	}
	t.Logf("%d taken, %d refused in %s; the others waited at most %s alone and %s beside", got.Flood.Answered, refused, got.Lasted,
		slices.Max(got.Alone), slices.Max(got.Beside))
}

// stateSize is how many bytes the state takes on the disk.
func stateSize(t *testing.T, s *talker.Stage) (n int64) {
	t.Helper()
	for _, name := range []string{"cw.db", "cw.db-wal"} {
		info, err := os.Stat(string(s.Home) + "/" + name)
		must(t, err)
		n += info.Size()
	}
	return n
}
