package live

import (
	"context"
	"errors"
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"cw/internal/cw"
)

// Run shows the board on the terminal of this process until somebody quits or ctx
// ends. The terminal is left as it was.
func Run(ctx context.Context, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	profile := colorprofile.ASCII
	if o.Look.Colour {
		profile = colorprofile.ANSI
	}
	m := New(ctx, o)
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithColorProfile(profile))
	var watch sync.WaitGroup
	watch.Go(func() {
		_ = Watch(ctx, o.Services, func(ctx context.Context) error { // it ends with ctx
			sight, err := read(ctx, o.Services, o.Now, o.Zone)
			if ctx.Err() == nil {
				p.Send(seen{sight, err})
			}
			if cw.ErrorCode(err) == cw.CodeUnreachable {
				return err
			}
			return nil // the board shows it and looks again
		}, cw.EventAgentActivity)
	})
	_, err := p.Run()
	cancel()
	watch.Wait()
	if errors.Is(err, tea.ErrProgramKilled) || errors.Is(err, tea.ErrInterrupted) {
		return context.Canceled
	}
	return err
}
