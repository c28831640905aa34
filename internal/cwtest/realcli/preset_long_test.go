package realcli

import (
	"os"
	"syscall"
	"testing"
	"time"

	"cw/internal/cwtest/model"
)

// TestPresetsGiveUp: without quota, and nothing told of when to try again, each
// CLI takes its time, and tells of a limit in the end. One goes on for hours,
// and tells of its tries.
func TestPresetsGiveUp(t *testing.T) {
	t.Parallel()
	if os.Getenv("CW_E2E_LONG") == "" {
		t.Skip("it takes minutes: make e2e-long")
	}
	atOnce := make(chan struct{}, 2)
	for _, c := range presetCLIs {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.env(t, t.TempDir(), "") // skips before it waits
			atOnce <- struct{}{}
			defer func() { <-atOnce }()
			quota := c.quota
			quota.Header = nil
			srv := model.New(t, func(*model.Turn) model.Reply { return model.Fail(quota) })
			s := c.install(t, srv, c.driver(t))
			f := s.giveUp(srv)
			if f.limit == nil || f.refused || f.state.Success() {
				t.Errorf("limit %v, refused %v\n%s", f.limit, f.refused, f)
			}
			if c.tireless && f.summary.Retry.Attempt == 0 {
				t.Errorf("it told of no try\n%s", f)
			}
		})
	}
}

// giveUp runs a prompt to its end, or, of a CLI that tries for hours, until it
// has told of a try.
func (s *started) giveUp(srv *model.Server) finished {
	s.t.Helper()
	if !s.cli.tireless {
		return s.do(prompt, "")
	}
	cmd, out, chosen := s.begin(prompt, "")
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for len(srv.Requests()) <= quietTries && s.t.Context().Err() == nil {
		<-tick.C
	}
	s.signal(syscall.SIGKILL)
	out.wait(cmd)
	return s.read(cmd, out, chosen)
}

// quietTries is how often qwen asks, in five bursts, before it tells of anything.
const quietTries = 20
