package store

import (
	"fmt"
	"slices"
	"testing"

	"cw/internal/cw"
)

func dashboardToken(name string) cw.Token {
	return cw.Token{
		ID: cw.TokenID(cw.NewID()), Name: name, Hash: cw.HashToken(cw.NewDashboardToken()), Scopes: []cw.Scope{cw.ScopeRead},
	}
}

func person() cw.Actor { return cw.Actor{Kind: cw.ActorPerson} }

func TestDashboardTokens(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := b.runningAgent("brave-otter") // has a token, too
	told := len(b.toldEvents())

	first, err := b.AddDashboardToken(t.Context(), dashboardToken("wall"), person())
	b.must(err)
	_, err = b.AddDashboardToken(t.Context(), dashboardToken("wall"), person())
	refuses(t, err, cw.CodeRefused, `"wall" already`)
	unnamed, err := b.AddDashboardToken(t.Context(), dashboardToken(""), person())
	b.must(err)
	numbered, err := b.AddDashboardToken(t.Context(), dashboardToken(""), person())
	b.must(err)
	if unnamed.Name != "dashboard" || numbered.Name != "dashboard-2" || first.Kind != cw.ActorDashboard || first.CreatedAt.IsZero() {
		t.Errorf("%+v, %+v, %+v", first, unnamed, numbered)
	}

	gone, err := b.RevokeDashboardToken(t.Context(), "wall", person())
	b.must(err)
	again, err := b.RevokeDashboardToken(t.Context(), "wall", person())
	b.must(err)
	same(t, "revoked twice", again, gone)
	if gone.ID != first.ID || gone.RevokedAt == nil {
		t.Errorf("revoked %+v", gone)
	}
	second, err := b.AddDashboardToken(t.Context(), dashboardToken("wall"), person())
	b.must(err)
	byName, err := b.RevokeDashboardToken(t.Context(), "wall", person())
	b.must(err)
	if byName.ID != second.ID {
		t.Errorf("the name means %s, want the living %s", byName.ID, second.ID)
	}
	byID, err := b.RevokeDashboardToken(t.Context(), string(numbered.ID), person())
	b.must(err)
	if byID.ID != numbered.ID {
		t.Errorf("by id: %+v", byID)
	}

	page, err := b.TokenPage(t.Context(), cw.PageQuery{})
	b.must(err)
	same(t, "newest first, the run's token is not among them", page.Items, []cw.Token{byName, byID, unnamed, gone})
	found, ok, err := b.TokenByHash(t.Context(), first.Hash)
	b.must(err)
	if !ok {
		t.Error("a revoked token is not found by its hash")
	}
	same(t, "by hash", found, gone)

	var types []cw.EventType
	for _, e := range b.toldEvents()[told:] {
		types = append(types, e.Type)
		if e.ActorKind != cw.ActorPerson || e.AgentID == in.Agent.ID {
			t.Errorf("event %+v", e)
		}
	}
	const made, ended = cw.EventTokenCreated, cw.EventTokenRevoked
	same(t, "events", types, []cw.EventType{made, made, made, ended, made, ended, ended})
}

// TestRunTokensAreNotDashboards: what belongs to a run is neither seen nor
// ended from here, by whatever name.
func TestRunTokensAreNotDashboards(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := b.runningAgent("brave-otter")
	var token cw.Token
	b.must(b.state.read.Where("run_id = ?", in.Run.ID).Take(&token).Error)
	before := b.dump()
	for _, ref := range []string{string(token.ID), token.Name, "", "brave-otter", string(in.Run.ID), token.Hash, "nobody", "%", "' OR 1=1 --"} {
		_, err := b.RevokeDashboardToken(t.Context(), ref, person())
		refuses(t, err, cw.CodeNotFound, "cw token list")
	}
	same(t, "the state", b.dump(), before)
}

// TestTokenEventFails: without the event there is no token, and none is ended.
func TestTokenEventFails(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	living, err := b.AddDashboardToken(t.Context(), dashboardToken("wall"), person())
	b.must(err)
	b.must(b.state.write.Exec("CREATE TRIGGER no_events BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'no events today'); END").Error)
	if _, err := b.AddDashboardToken(t.Context(), dashboardToken("other"), person()); err == nil {
		t.Error("a token was made without its event")
	}
	if _, err := b.RevokeDashboardToken(t.Context(), "wall", person()); err == nil {
		t.Error("a token was ended without its event")
	}
	page, err := b.TokenPage(t.Context(), cw.PageQuery{})
	b.must(err)
	same(t, "tokens", page.Items, []cw.Token{living})
}

// TestTokenNamesAtOnce: many ask for the default name at the same time, and
// each gets one of its own.
func TestTokenNamesAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const many = 20
	names := make(chan string, many)
	for range many {
		go func() {
			token, err := b.AddDashboardToken(t.Context(), dashboardToken(""), person())
			if err != nil {
				t.Error(err)
			}
			names <- token.Name
		}()
	}
	var got []string
	for range many {
		got = append(got, <-names)
	}
	want := []string{"dashboard"}
	for n := 2; n <= many; n++ {
		want = append(want, fmt.Sprintf("dashboard-%d", n))
	}
	slices.Sort(got)
	slices.Sort(want)
	same(t, "names", got, want)
}

// TestTokenNameMeansTheLiving: also when the clock was set back, so that an
// ended token of the name looks newer.
func TestTokenNameMeansTheLiving(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	gone, err := b.AddDashboardToken(t.Context(), dashboardToken("wall"), person())
	b.must(err)
	_, err = b.RevokeDashboardToken(t.Context(), "wall", person())
	b.must(err)
	b.must(b.state.write.Exec("UPDATE tokens SET created_at = ? WHERE id = ?", gone.CreatedAt.AddDate(1, 0, 0), gone.ID).Error)
	living, err := b.AddDashboardToken(t.Context(), dashboardToken("wall"), person())
	b.must(err)
	ended, err := b.RevokeDashboardToken(t.Context(), "wall", person())
	b.must(err)
	if ended.ID != living.ID || ended.RevokedAt == nil {
		t.Errorf("ended %+v, want %s", ended, living.ID)
	}
}
