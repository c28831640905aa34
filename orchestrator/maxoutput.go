package orchestrator

import (
	"context"
	"fmt"

	"cw/internal/proc"
)

// room is the part of the buffer that the next read may fill, and whether the
// limit of a run's output is what bounds it. Bytes up to the limit are stored
// line by line as any: what is left of a line there, and could be the beginning
// of a secret, is not.
func (f *follower) room() (buf []byte, limited bool) {
	most := f.o.MaxOutput
	if most <= 0 || f.offset+int64(len(f.buf)) <= most {
		return f.buf, false
	}
	return f.buf[:max(0, most-f.offset)], true
}

// tellFull says, once for all daemons, that the output of a run reached its limit.
func (f *follower) tellFull(ctx context.Context) error {
	if err := f.o.warn(ctx, f.state.Agent, fullText(f.state.Run.SessionNumber, f.o.MaxOutput)); err != nil {
		return err
	}
	f.o.Log.Warn("the output of a run reached its limit", "agent", f.state.Agent.Alias, "run", f.state.Run.ID, "bytes", f.offset, "limit", f.o.MaxOutput)
	f.full = true
	return nil
}

// endFull ends a run whose output reached its limit: its file would fill the disk.
// A daemon that comes after this one reads up to the limit again, and ends it.
func (f *follower) endFull(giveUp func()) {
	if f.full && !f.gaveUp {
		f.gaveUp = true
		giveUp()
	}
}

// endedFullText tells why the run was ended, "" when it was not for its output.
func (f *follower) endedFullText(obs proc.Observation) string {
	if !f.full || obs.Exit == nil || obs.Exit.Stopped == "" {
		return ""
	}
	return fullText(f.state.Run.SessionNumber, f.o.MaxOutput)
}

func fullText(session int, limit int64) string {
	return fmt.Sprintf("its output in session %d reached the limit of %d MiB, so cw ended the run and kept what came before; runs.maxOutput says how much a run may write", session, limit>>20)
}
