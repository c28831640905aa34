package daemon

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cw/internal/cw"
)

// sessions implements cw.DoorService: how the browsers of people come in.
type sessions struct {
	keys    tokens
	door    *tcpDoor
	codes   *codes
	unknown string // the key of proofs of sessions that are none
}

// newSessions removes what earlier daemons left for browsers: their codes died
// with them, and their sessions end when another program has their port.
func newSessions(ctx context.Context, keys tokens, door *tcpDoor) (sessions, error) {
	left, err := filepath.Glob(keys.home.Handover("*"))
	for _, file := range left {
		err = errors.Join(err, os.Remove(file))
	}
	if err != nil {
		err = fmt.Errorf("remove pages for browsers: %w", err)
	}
	s := sessions{keys: keys, door: door, codes: newCodes(), unknown: cw.HashToken(cw.NewDashboardToken())}
	return s, errors.Join(err, s.settle(ctx))
}

// settle ends all sessions when the door had to move: an open page may have sent
// its token to whoever listens at the port that it knows.
func (s sessions) settle(ctx context.Context) error {
	return s.door.settle(func(from string) error {
		ended, err := s.keys.endSessions(ctx)
		if err != nil {
			return fmt.Errorf("end the sessions whose tokens may have been seen: %w", err)
		}
		s.door.log.Warn("all sessions of browsers were ended, since another program listens at their port; cw open begins new ones",
			"port", from, "sessions", ended)
		return nil
	})
}

// prove shows that this is the daemon of a session. What is none is answered in
// the same form, so that nobody learns which there are.
func (s sessions) prove(ctx context.Context, r cw.ProofRequest) (string, error) {
	session, known, err := s.keys.store.Session(ctx, r.Session)
	switch {
	case err != nil:
		return "", fmt.Errorf("look up a session: %w", err)
	case !known:
		return cw.SessionProof(s.unknown, cw.SessionLives, r), nil
	case session.RevokedAt != nil || session.Expired(time.Now()):
		return cw.SessionProof(session.Hash, cw.SessionOver, r), nil
	}
	return cw.SessionProof(session.Hash, cw.SessionLives, r), nil
}

// OpenDoor implements cw.DoorService.
func (s sessions) OpenDoor(ctx context.Context, req cw.OpenRequest) (cw.Opened, error) {
	if err := req.Check(); err != nil {
		return cw.Opened{}, err
	}
	address, err := s.door.open(ctx)
	if err = errors.Join(err, s.settle(ctx)); err != nil {
		return cw.Opened{}, err
	}
	code := cw.NewOpenCode()
	out := cw.Opened{Address: address, URL: cw.OpenURL(address, req.Path, code)}
	gone := func() {}
	if req.File {
		out.File = s.keys.home.Handover(cw.NewID())
		if err := writeWhole(out.File, handoverPage(out.URL), 0o600); err != nil {
			return cw.Opened{}, cw.Errorf(cw.CodeFailed, "the page for the browser cannot be written").
				WithHint("cw open --print needs none").Because(err)
		}
		gone = func() { _ = os.Remove(out.File) } // its code is good for nothing by now
	}
	out.ExpiresAt = s.codes.add(code, gone).UTC()
	return out, nil
}

// handoverPage is a page that leads a browser on, so that no command line holds
// the code.
func handoverPage(url string) []byte {
	page := strings.NewReplacer("URL", template.HTMLEscapeString(url))
	return []byte(page.Replace(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url=URL">
<title>cw</title>
<p><a href="URL" rel="noreferrer">Open the dashboard of cw</a></p>
</html>
`))
}

// StartSession implements cw.DoorService. It is the act of the person who ran
// cw open: nobody else has the code.
func (s sessions) StartSession(ctx context.Context, req cw.SessionRequest) (cw.CreatedToken, error) {
	if err := s.codes.redeem(req.Code); err != nil {
		return cw.CreatedToken{}, err
	}
	if err := s.keys.endExpired(ctx); err != nil {
		return cw.CreatedToken{}, err
	}
	id, secret := cw.TokenID(cw.NewID()), cw.NewDashboardToken()
	return s.keys.add(ctx, cw.NewSession(id, secret, time.Now().UTC()), secret, cw.Actor{Kind: cw.ActorPerson})
}

// EndSession implements cw.DoorService.
func (s sessions) EndSession(ctx context.Context) (cw.Token, error) {
	actor := cw.ActorOf(ctx)
	if actor.Kind != cw.ActorDashboard {
		return cw.Token{}, cw.NoSession()
	}
	return s.keys.RevokeToken(ctx, actor.ID)
}
