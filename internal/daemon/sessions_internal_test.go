package daemon

import (
	"context"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
)

// lobby is a door for browsers over a store and a home of their own.
type lobby struct {
	*door
	sessions
}

func newLobby(t *testing.T) *lobby {
	t.Helper()
	d := newDoor(t)
	d.home = cw.Home(t.TempDir())
	must(t, os.Mkdir(d.home.RunState(), 0o700))
	must(t, os.WriteFile(d.home.Handover("old"), nil, 0o600)) // of a daemon that is gone
	tcp, err := newTCPDoor(t.Context(), Config{Home: d.home}, slog.New(slog.DiscardHandler))
	must(t, err)
	t.Cleanup(func() { must(t, tcp.close()) })
	s, err := newSessions(t.Context(), d.tokens, tcp)
	must(t, err)
	return &lobby{d, s}
}

func codeOf(t *testing.T, o cw.Opened) string {
	t.Helper()
	_, code, ok := strings.Cut(o.URL, "#code=")
	if !ok {
		t.Fatalf("there is no code in %q", o.URL)
	}
	return code
}

// TestHandover: the page that leads a browser on is for this user alone, and
// goes with its code.
func TestHandover(t *testing.T) {
	t.Parallel()
	l := newLobby(t)
	if _, err := os.Stat(l.home.Handover("old")); err == nil {
		t.Error("what an earlier daemon left is still there")
	}
	opened, err := l.OpenDoor(t.Context(), cw.OpenRequest{File: true, Path: "/agents/brave-otter"})
	must(t, err)
	info, err := os.Stat(opened.File)
	must(t, err)
	page, err := os.ReadFile(opened.File)
	must(t, err)
	code := codeOf(t, opened)
	if info.Mode().Perm() != 0o600 || strings.Count(string(page), opened.URL) != 2 || strings.Contains(opened.File, code) {
		t.Errorf("%s %s:\n%s", info.Mode(), opened.File, page)
	}
	if _, err := l.StartSession(t.Context(), cw.SessionRequest{Code: code}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(opened.File); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
	plain, err := l.OpenDoor(t.Context(), cw.OpenRequest{})
	must(t, err)
	if left, _ := fs.Glob(os.DirFS(l.home.RunState()), "open-*"); plain.File != "" || len(left) != 0 {
		t.Errorf("without being asked for: %q %q", plain.File, left)
	}
}

// TestSessionAtTheDoor: a session is a dashboard that may what a person may,
// until it is ended.
func TestSessionAtTheDoor(t *testing.T) {
	t.Parallel()
	l := newLobby(t)
	opened, err := l.OpenDoor(t.Context(), cw.OpenRequest{})
	must(t, err)
	made, err := l.StartSession(cw.WithActor(t.Context(), cw.Actor{Kind: "nobody"}), cw.SessionRequest{Code: codeOf(t, opened)})
	must(t, err)
	actor, scopes, err := l.authenticate(t.Context(), made.Secret)
	if err != nil || actor != (cw.Actor{Kind: cw.ActorDashboard, ID: string(made.ID)}) || !slices.Equal(scopes, cw.SessionScopes()) {
		t.Errorf("%+v %v %v", actor, scopes, err)
	}
	events, err := l.db.EventsAfter(t.Context(), 0, cw.EventFilter{Types: []cw.EventType{cw.EventTokenCreated}}, 10)
	must(t, err)
	if len(events.Events) != 1 || events.Events[0].ActorKind != cw.ActorPerson {
		t.Errorf("told as %+v", events)
	}
	if _, err := l.EndSession(cw.WithActor(t.Context(), actor)); err != nil {
		t.Error(err)
	}
	l.refuses(made.Secret)
}

// TestSessionExpires: after thirty days without use it opens nothing, and the
// next to come in clears it away. Its use is noted once an hour.
func TestSessionExpires(t *testing.T) {
	t.Parallel()
	l := newLobby(t)
	add := func(used time.Duration) cw.CreatedToken {
		t.Helper()
		secret := cw.NewDashboardToken()
		made, err := l.keys.add(t.Context(), cw.NewSession(cw.TokenID(cw.NewID()), secret, time.Now().UTC().Add(-used)), secret, cw.Actor{Kind: cw.ActorPerson})
		must(t, err)
		return made
	}
	fresh, hourOld, almost, over := add(time.Minute), add(61*time.Minute), add(cw.SessionLife-time.Minute), add(cw.SessionLife)
	l.refuses(over.Secret)
	for _, made := range []cw.CreatedToken{fresh, hourOld, almost} {
		if _, _, err := l.authenticate(t.Context(), made.Secret); err != nil {
			t.Errorf("%s: %v", made.Name, err)
		}
	}
	must(t, l.endExpired(t.Context()))
	page, err := l.Tokens(t.Context(), cw.PageQuery{})
	must(t, err)
	for _, now := range page.Items {
		moved := map[cw.TokenID]bool{hourOld.ID: true, almost.ID: true}[now.ID]
		if isNow := time.Since(*now.UsedAt) < 30*time.Second; isNow != moved || moved && time.Until(*now.ExpiresAt) < cw.SessionLife-30*time.Second {
			t.Errorf("%s: used at %s, until %s", now.Name, now.UsedAt, now.ExpiresAt)
		}
		if (now.RevokedAt != nil) != (now.ID == over.ID) {
			t.Errorf("%s: revoked at %v", now.Name, now.RevokedAt)
		}
	}
}

// TestDoorMoves: when another program has the port of the sessions, those end,
// once, with their events and before the new port is kept.
func TestDoorMoves(t *testing.T) {
	t.Parallel()
	l := newLobby(t)
	start := func() cw.CreatedToken {
		t.Helper()
		opened, err := l.OpenDoor(t.Context(), cw.OpenRequest{})
		must(t, err)
		made, err := l.StartSession(t.Context(), cw.SessionRequest{Code: codeOf(t, opened)})
		must(t, err)
		return made
	}
	restart := func(moves bool) {
		t.Helper()
		before := l.sessions.door.where()
		door := startDoor(t, l.home, nil)
		s, err := newSessions(t.Context(), l.tokens, door)
		must(t, err)
		if moved := door.where() != before; moved != moves {
			t.Errorf("from %s to %s", before, door.where())
		}
		l.sessions = s
	}
	session, other := start(), start()
	dashboard, err := l.CreateToken(t.Context(), cw.TokenRequest{})
	must(t, err)
	must(t, l.sessions.door.close())
	restart(false)
	if _, _, err := l.authenticate(t.Context(), session.Secret); err != nil {
		t.Errorf("at the same port: %v", err)
	}
	restart(true) // the door before listens on, as another program would
	l.refuses(session.Secret)
	l.refuses(other.Secret)
	if _, _, err := l.authenticate(t.Context(), dashboard.Secret); err != nil {
		t.Errorf("a token of a dashboard: %v", err)
	}
	events, err := l.db.EventsAfter(t.Context(), 0, cw.EventFilter{Types: []cw.EventType{cw.EventTokenRevoked}}, 10)
	must(t, err)
	if len(events.Events) != 2 || events.Events[0].ActorKind != cw.ActorCW {
		t.Errorf("told as %+v", events)
	}
	next := start()
	must(t, l.sessions.door.close())
	restart(false)
	if _, _, err := l.authenticate(t.Context(), next.Secret); err != nil {
		t.Errorf("a session of the new port: %v", err)
	}
}

// TestProve: only who has the token can tell what is proven, of a session that
// lives, of one that is over, and of what is none.
func TestProve(t *testing.T) {
	t.Parallel()
	l := newLobby(t)
	opened, err := l.OpenDoor(t.Context(), cw.OpenRequest{})
	must(t, err)
	made, err := l.StartSession(t.Context(), cw.SessionRequest{Code: codeOf(t, opened)})
	must(t, err)
	reader, err := l.CreateToken(t.Context(), cw.TokenRequest{})
	must(t, err)
	ask := cw.ProofRequest{Session: made.ID, Nonce: "0123456789abcdef", Host: opened.Address}
	proves := func(r cw.ProofRequest, secret string, state cw.SessionState) bool {
		t.Helper()
		got, err := l.prove(t.Context(), r)
		must(t, err)
		if len(got) != 64 {
			t.Errorf("another form: %q", got)
		}
		return got == cw.SessionProof(cw.HashToken(secret), state, r)
	}
	if !proves(ask, made.Secret, cw.SessionLives) {
		t.Error("a living session is not proven")
	}
	_, err = l.RevokeToken(t.Context(), string(made.ID))
	must(t, err)
	if proves(ask, made.Secret, cw.SessionLives) || !proves(ask, made.Secret, cw.SessionOver) {
		t.Error("a session that is over")
	}
	over := time.Now().UTC().Add(-cw.SessionLife)
	secret := cw.NewDashboardToken()
	expired, err := l.keys.add(t.Context(), cw.NewSession(cw.TokenID(cw.NewID()), secret, over), secret, cw.Actor{Kind: cw.ActorPerson})
	must(t, err)
	ask.Session = expired.ID
	if !proves(ask, secret, cw.SessionOver) {
		t.Error("a session that expired")
	}
	for _, none := range []cw.TokenID{reader.ID, "aaaaaaaaaaaa", ""} {
		ask.Session = none
		if proves(ask, reader.Secret, cw.SessionLives) || proves(ask, reader.Secret, cw.SessionOver) || proves(ask, "", cw.SessionLives) {
			t.Errorf("%q is proven", none)
		}
	}
}

// startDoor makes a door as a daemon of the home would, and closes it at the end.
func startDoor(t *testing.T, home cw.Home, change func(*Config)) *tcpDoor {
	t.Helper()
	c := Config{Home: home}
	if change != nil {
		change(&c)
	}
	d, err := newTCPDoor(t.Context(), c, slog.New(slog.DiscardHandler))
	must(t, err)
	t.Cleanup(func() { _ = d.close() })
	return d
}

// TestDoorIsKept: the port stays the same over restarts, another one is taken
// where somebody else has it, and what is configured wins.
func TestDoorIsKept(t *testing.T) {
	t.Parallel()
	home := cw.Home(t.TempDir())
	must(t, os.Mkdir(home.RunState(), 0o700))
	first := startDoor(t, home, nil)
	if first.where() != "" {
		t.Errorf("it is open at %s before anybody asked", first.where())
	}
	address, err := first.open(t.Context())
	must(t, err)
	if again, err := first.open(t.Context()); err != nil || again != address || first.where() != address {
		t.Errorf("opened again: %q %v", again, err)
	}
	must(t, first.close())

	second := startDoor(t, home, nil)
	if second.where() != address {
		t.Errorf("after a restart: %q, want %q", second.where(), address)
	}
	// While it has the port, another daemon of the home must do without.
	third := startDoor(t, home, nil)
	if third.where() == "" || third.where() == address {
		t.Errorf("with its port taken: %q", third.where())
	}
	must(t, second.close())
	if again := startDoor(t, home, nil); again.where() != address || again.close() != nil {
		t.Errorf("the new port is kept before the sessions of the old one ended: %q", again.where())
	}
	must(t, third.settle(func(string) error { return nil }))
	if moved := third.where(); third.close() != nil || startDoor(t, home, nil).where() != moved {
		t.Errorf("the new port %s is not kept", moved)
	}

	fixed := freeAddress(t)
	if d := startDoor(t, home, func(c *Config) { c.Settings.HTTP.Address = fixed }); d.where() != fixed {
		t.Errorf("configured %s, open at %s", fixed, d.where())
	}
	closed := startDoor(t, home, func(c *Config) { c.Flags = map[string]string{"http.address": ""} })
	if closed.where() != "" {
		t.Errorf("it was to be closed, and is open at %s", closed.where())
	}
	for _, text := range []string{"", "no address", "192.0.2.1:80", "0.0.0.0:80"} {
		must(t, os.WriteFile(home.DoorFile(), []byte(text), 0o600))
		d := startDoor(t, home, nil)
		if d.where() != "" {
			t.Errorf("%q: open at %s", text, d.where())
		}
		if at, err := d.open(t.Context()); err != nil || !strings.HasPrefix(at, "127.0.0.1:") {
			t.Errorf("%q: %q %v", text, at, err)
		}
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(context.WithoutCancel(t.Context()), "tcp", anyPort)
	must(t, err)
	defer l.Close()
	return l.Addr().String()
}
