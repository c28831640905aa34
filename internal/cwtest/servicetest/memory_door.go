package servicetest

import (
	"context"
	"slices"
	"time"

	"cw/internal/cw"
)

// doorAddress is where a Memory claims to listen.
const doorAddress = "127.0.0.1:7420"

// OpenDoor implements cw.DoorService.
func (m *Memory) OpenDoor(_ context.Context, req cw.OpenRequest) (cw.Opened, error) {
	if err := req.Check(); err != nil {
		return cw.Opened{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	code := cw.NewOpenCode()
	m.codes = append(m.codes, code)
	return cw.Opened{
		Address: doorAddress, URL: cw.OpenURL(doorAddress, req.Path, code), ExpiresAt: time.Now().Add(cw.OpenCodeLife).UTC(),
	}, nil
}

// StartSession implements cw.DoorService.
func (m *Memory) StartSession(_ context.Context, req cw.SessionRequest) (created cw.CreatedToken, err error) {
	m.change(func() {
		i := slices.Index(m.codes, req.Code)
		if i < 0 {
			err = cw.BadOpenCode()
			return
		}
		m.codes = slices.Delete(m.codes, i, i+1)
		secret := cw.NewDashboardToken()
		created, err = m.addToken(cw.Actor{Kind: cw.ActorPerson}, cw.NewSession(cw.TokenID(cw.NewID()), secret, m.now()), secret)
	})
	return created, err
}

// EndSession implements cw.DoorService.
func (m *Memory) EndSession(ctx context.Context) (cw.Token, error) {
	actor := cw.ActorOf(ctx)
	if actor.Kind != cw.ActorDashboard {
		return cw.Token{}, cw.NoSession()
	}
	return m.RevokeToken(ctx, actor.ID)
}
