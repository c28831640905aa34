package dispatch

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cw/internal/cw"
)

// gallery is a store with one branch, and a user's repository that notes what it
// is shown. Everything else is not there.
type gallery struct {
	Store
	Repos

	mu    sync.Mutex
	head  string        // guarded by mu
	shown []string      // guarded by mu
	takes time.Duration // to show one
}

func (g *gallery) IntegrationsOf(_ context.Context, id cw.InitiativeID) ([]cw.Integration, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return []cw.Integration{
		{InitiativeID: id, ProjectID: "untouched", BaseCommit: "base", Head: "base"}, {InitiativeID: id, ProjectID: "p", BaseCommit: "base", Head: g.head},
	}, nil
}

func (g *gallery) ProjectByRef(_ context.Context, ref string) (cw.Project, error) {
	return cw.Project{ID: cw.ProjectID(ref)}, nil
}

func (g *gallery) Publish(_ context.Context, p cw.Project, in cw.Integration) error {
	time.Sleep(g.takes)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shown = append(g.shown, string(p.ID)+" "+in.Head)
	return nil
}

// TestShowSoon: what moved is shown at once, what moves after it once and as it is
// then, and nobody waits for it.
func TestShowSoon(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		g := &gallery{takes: 100 * time.Millisecond}
		d := New(Config{Store: g, Repos: g, Log: slog.New(slog.DiscardHandler)})
		move := func(head string) {
			g.mu.Lock()
			g.head = head
			g.mu.Unlock()
			d.showSoon(ctx, "i")
		}
		after := func(wait time.Duration, want ...string) {
			t.Helper()
			time.Sleep(wait)
			synctest.Wait()
			g.mu.Lock()
			defer g.mu.Unlock()
			if !slices.Equal(g.shown, want) {
				t.Errorf("shown was %q, want %q", g.shown, want)
			}
		}
		move("1")
		after(g.takes, "p 1")
		move("2")
		move("3")
		after(showEvery/2, "p 1")
		move("4")
		after(showEvery/2+g.takes, "p 1", "p 4")
		after(10*showEvery, "p 1", "p 4")
		d.work.Wait() // nothing is left that would look again
		move("5")
		after(g.takes, "p 1", "p 4", "p 5")
		move("6")
		cancel()
		d.work.Wait()
		after(10*showEvery, "p 1", "p 4", "p 5")
	})
}
