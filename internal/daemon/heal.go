package daemon

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"cw/internal/cw"
	"cw/internal/proc"
	"cw/internal/redact"
	"cw/internal/store"
)

// healRead is how much raw output is read at once.
const healRead = 1 << 20

// heal stores output of runs that are over and of which the raw file holds more
// than the database: a power cut may take the last chunks with it.
func (j *janitor) heal(ctx context.Context) {
	runs, err := j.store.EndedRuns(ctx)
	if err != nil {
		j.trouble(ctx, "look for output that is not stored", err)
		return
	}
	for _, r := range runs {
		n, err := takeRaw(ctx, j.store, j.masks, r, int64(j.settings.Runs.MaxOutput))
		if err != nil {
			j.trouble(ctx, "store what is missing of the output of "+r.String(), err)
		}
		if n > 0 {
			j.log.WarnContext(ctx, "output that was missing is stored", "agent", r.Alias, "session", r.SessionNumber, "bytes", n)
		}
		if ctx.Err() != nil {
			return
		}
	}
}

// takeRaw stores what the raw file of a run that is over holds beyond the end of
// its chunks, up to so many bytes of the run, and gives the bytes. A file that is gone, or that is not the one
// whose beginning was stored, gives none; secrets are masked. It waits for the
// store's Run.
func takeRaw(ctx context.Context, db *store.DB, m masks, r store.EndedRun, most int64) (int64, error) {
	next, err := db.NextOffset(ctx, r.AgentID, r.SessionNumber)
	if err != nil {
		return 0, err
	}
	raw, err := openRest(ctx, db, r, next)
	if raw == nil || err != nil {
		return 0, err
	}
	defer raw.Close()
	secrets, err := m.keeper.Recall(filepath.Join(filepath.Dir(r.OutputPath), redact.FileName))
	if err != nil {
		return 0, err
	}
	m.Put("heal", secrets...)
	defer m.Put("heal")
	var taken int64
	buf := make([]byte, healRead)
	for {
		buf := buf[:max(0, min(int64(len(buf)), most-next))]
		n, err := raw.Read(buf)
		if changed := new(proc.RawChangedError); n == 0 || errors.As(err, &changed) {
			return taken, nil
		}
		if err != nil {
			return taken, err
		}
		masked, sure := m.MaskWindow(raw.Before(m.Reach()), buf[:n], n < len(buf))
		pieces, _ := proc.Cut(masked[:sure], n < len(buf))
		chunks := make([]cw.Chunk, len(pieces))
		at := next
		for i, p := range pieces {
			chunks[i] = cw.Chunk{AgentID: r.AgentID, AgentName: r.Alias, SessionNumber: r.SessionNumber, Offset: at, Bytes: p, CreatedAt: r.EndedAt}
			at += int64(len(p))
		}
		if at == next { // nothing is whole before the limit
			return taken, nil
		}
		if _, err := db.AppendChunks(ctx, chunks); err != nil {
			return taken, err
		}
		raw.Advance(buf[:at-next])
		taken, next = taken+at-next, at
	}
}

// openRest opens the raw file where the chunks end; nil when nothing is to be
// read there.
func openRest(ctx context.Context, db *store.DB, r store.EndedRun, next int64) (*proc.Raw, error) {
	if size, ok := plainSize(r.OutputPath); !ok || size <= next {
		return nil, nil
	}
	var tail []byte
	if next > 0 {
		last, err := db.ChunksFrom(ctx, cw.ChunkQuery{AgentID: r.AgentID, Session: r.SessionNumber, Only: true, Offset: next - 1})
		if cw.ErrorCode(err) == cw.CodeGone {
			return nil, nil // it was dropped, and its file is to go
		}
		if err != nil || len(last) == 0 {
			return nil, err
		}
		tail = last[len(last)-1].Bytes
	}
	raw, err := proc.OpenRaw(r.OutputPath, next, tail)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return raw, err
}

// orTime is the first time that is known.
func orTime(times ...time.Time) time.Time {
	for _, t := range times {
		if !t.IsZero() {
			return t.UTC()
		}
	}
	return time.Now().UTC()
}

// plainSize is the size of a plain file; false for anything else.
func plainSize(path string) (int64, bool) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return 0, false
	}
	return info.Size(), true
}
