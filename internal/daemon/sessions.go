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
	keys  tokens
	door  *tcpDoor
	codes *codes
}

// newSessions removes what earlier daemons left for browsers: their codes died
// with them.
func newSessions(keys tokens, door *tcpDoor) (sessions, error) {
	left, err := filepath.Glob(keys.home.Handover("*"))
	for _, file := range left {
		err = errors.Join(err, os.Remove(file))
	}
	if err != nil {
		err = fmt.Errorf("remove pages for browsers: %w", err)
	}
	return sessions{keys: keys, door: door, codes: newCodes()}, err
}

// OpenDoor implements cw.DoorService.
func (s sessions) OpenDoor(ctx context.Context, req cw.OpenRequest) (cw.Opened, error) {
	if err := req.Check(); err != nil {
		return cw.Opened{}, err
	}
	address, err := s.door.open(ctx)
	if err != nil {
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
