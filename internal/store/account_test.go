package store

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cw/internal/cw"
)

// account makes one that can be stored.
func account(name string) cw.Account {
	return cw.Account{
		ID: cw.AccountID(cw.NewID()), Provider: "script", Name: name, Kind: cw.AccountToken, Enabled: true,
		Identity: "login of " + name, Usage: []cw.UsageWindow{},
	}
}

// addAccount stores an account.
func (b *bench) addAccount(name string) cw.Account {
	b.t.Helper()
	a := account(name)
	b.must(b.AddAccount(b.t.Context(), a, event(cw.EventAccountAdded, name)))
	return a
}

// account reads one.
func (b *bench) account(id cw.AccountID) cw.Account {
	b.t.Helper()
	a, err := b.AccountByID(b.t.Context(), id)
	b.must(err)
	return a
}

func TestAccounts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	all, err := b.Accounts(t.Context(), "")
	b.must(err)
	same(t, "at first", len(all), 0)
	one, two := b.addAccount("one"), b.addAccount("two")
	two.Priority = 5
	b.must(b.SetAccount(t.Context(), two, event(cw.EventAccountChanged, "two")))
	other := account("one")
	other.Provider, other.Identity = "claude", one.Identity // another provider's is another login
	b.must(b.AddAccount(t.Context(), other, event(cw.EventAccountAdded, "one")))

	for range 2 { // the account default is made once
		all, err = b.Accounts(t.Context(), "script")
		b.must(err)
		var names []string
		for _, a := range all {
			names = append(names, a.Name)
		}
		same(t, "by priority and name", names, []string{"two", "default", "one"})
	}
	own := all[1]
	if own.ID != "default-script" || own.Kind != cw.AccountOwn || !own.Enabled || own.Usage == nil || own.ConfigDir != "" {
		t.Errorf("the account default: %+v", own)
	}
	for ref, want := range map[string]cw.AccountID{
		string(one.ID): one.ID, "two": two.ID, "script/one": one.ID, "claude/one": other.ID, "default-script": own.ID, "script/default": own.ID,
	} {
		a, err := b.AccountByRef(t.Context(), ref)
		b.must(err)
		if a.ID != want {
			t.Errorf("%s is %s", ref, a.ID)
		}
	}
	_, err = b.AccountByRef(t.Context(), "one")
	refuses(t, err, cw.CodeInvalid, "claude/one, script/one")
	for _, ref := range []string{"", "nobody", "codex/one", "default-nobody", "/", "script/"} {
		_, err = b.AccountByRef(t.Context(), ref)
		refuses(t, err, cw.CodeNotFound, "cw account list")
	}
	_, err = b.AccountByID(t.Context(), "nobody")
	refuses(t, err, cw.CodeNotFound, "nobody")
	if a := b.account("default-codex"); a.Provider != "codex" || a.Name != cw.DefaultAccountName {
		t.Errorf("made on demand: %+v", a)
	}
}

// TestAccountRefusals: every account that cannot stand beside the others, added
// or changed to; nothing is stored or told.
func TestAccountRefusals(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first, second := b.addAccount("first"), b.addAccount("second")
	own := b.account("default-script")
	for name, c := range map[string]struct {
		of     cw.Account
		change func(*cw.Account)
		code   cw.Code
		says   string
	}{
		"name that is taken":  {second, func(a *cw.Account) { a.Name = "first" }, cw.CodeRefused, "script has an account first already"},
		"login that is there": {second, func(a *cw.Account) { a.Identity = first.Identity }, cw.CodeRefused, "the account first already"},
		"no name":             {second, func(a *cw.Account) { a.Name = "" }, cw.CodeInvalid, "no name"},
		"bad name":            {second, func(a *cw.Account) { a.Name = "a b" }, cw.CodeInvalid, "blanks"},
		"the default's name":  {second, func(a *cw.Account) { a.Name = "default" }, cw.CodeRefused, "your own login"},
		"an id for a name":    {second, func(a *cw.Account) { a.Name = "default-codex" }, cw.CodeRefused, "your own login"},
		"another default":     {own, func(a *cw.Account) { a.Name = "mine" }, cw.CodeRefused, "keeps its name"},
	} {
		before, told := b.dump(), len(b.toldEvents())
		changed := c.of
		c.change(&changed)
		refuses(t, b.SetAccount(t.Context(), changed, event(cw.EventAccountChanged, name)), c.code, c.says)
		if c.of.ID != own.ID {
			changed.ID = cw.AccountID(cw.NewID())
			if changed.Name == second.Name {
				changed.Name = "third"
			}
			if changed.Identity == second.Identity {
				changed.Identity = "another login"
			}
			refuses(t, b.AddAccount(t.Context(), changed, event(cw.EventAccountAdded, name)), c.code, c.says)
		}
		same(t, "rows after "+name, b.dump(), before)
		same(t, "told after "+name, len(b.toldEvents()), told)
	}
	refuses(t, b.SetAccount(t.Context(), account("nobody")), cw.CodeNotFound, "no account")
	refuses(t, b.RemoveAccount(t.Context(), "nobody", event(cw.EventAccountRemoved, "x")), cw.CodeNotFound, "no account")
	refuses(t, b.RemoveAccount(t.Context(), own.ID, event(cw.EventAccountRemoved, "x")), cw.CodeRefused, "cw account disable script/default")
	b.must(b.SetAccount(t.Context(), second)) // as it is
	// Without an identity many may stand side by side: it is not known whose they are.
	for range 2 {
		a := account(cw.NewID())
		a.Identity = ""
		b.must(b.AddAccount(t.Context(), a, event(cw.EventAccountAdded, a.Name)))
	}
}

// TestSameLoginAtOnce: of many who add one login at once exactly one does.
func TestSameLoginAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var added atomic.Int32
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			a := account(fmt.Sprintf("account-%d", i))
			a.Identity = "one login"
			switch err := b.AddAccount(t.Context(), a, event(cw.EventAccountAdded, a.Name)); cw.ErrorCode(err) {
			case "":
				added.Add(1)
			case cw.CodeRefused:
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	same(t, "added", added.Load(), int32(1))
	same(t, "told", len(b.toldEvents()), 1)
}

// TestSetAccountKeepsFacts: what a person changes leaves alone what was found
// out meanwhile.
func TestSetAccountKeepsFacts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.addAccount("one")
	stale := b.account(a.ID)
	until := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	b.must(b.SaveUsage(t.Context(), a.ID, []cw.UsageWindow{{Kind: "five_hour", UsedPercent: 50, ResetsAt: &until}}, time.Now()))
	b.must(b.change(t.Context(), "exhaust", func(tx *tx) error {
		return tx.exhaust(&cw.Exhaustion{AccountID: a.ID, Until: until, Kind: "five_hour", Text: "limit"})
	}))
	in := intent("brave-otter", b.addProject("one"))
	in.Agent.AccountID = a.ID
	b.must(b.IntendSpawn(t.Context(), in))
	stale.Name, stale.Email, stale.Priority, stale.Enabled, stale.Draining, stale.BaseURL = "work", "w@example.com", 7, false, true, "http://x"
	b.must(b.SetAccount(t.Context(), stale, event(cw.EventAccountChanged, "work")))
	got := b.account(a.ID)
	if got.Name != "work" || got.Email != "w@example.com" || got.Priority != 7 || got.Enabled || !got.Draining || got.BaseURL != "http://x" {
		t.Errorf("changed: %+v", got)
	}
	if got.ExhaustedUntil == nil || !got.ExhaustedUntil.Equal(until) || len(got.Usage) != 1 || got.UsageAt == nil || got.LastUsedAt == nil {
		t.Errorf("facts were lost: %+v", got)
	}
}

// TestRemoveAccount: refused while agents that are not at rest use it, parked
// ones too; its row stays, and name and login are free.
func TestRemoveAccount(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, status := range cw.AgentStatuses() {
		a := b.addAccount("work")
		in := b.agentAt("agent-"+strings.ReplaceAll(string(status), "_", "-"), status)
		b.exec("UPDATE agents SET account_id = '" + string(a.ID) + "' WHERE id = '" + string(in.Agent.ID) + "'")
		_, err := b.SetBudget(t.Context(), cw.BudgetAccount, string(a.ID), 5)
		b.must(err)
		views, err := b.AccountViews(t.Context(), "script")
		b.must(err)
		uses := 0
		for _, v := range views {
			if v.ID == a.ID {
				uses = len(v.Agents)
			}
		}
		err = b.RemoveAccount(t.Context(), a.ID, event(cw.EventAccountRemoved, "work"))
		if busy := !status.AtRest(); busy != (err != nil) || busy != (uses == 1) {
			t.Errorf("while its agent is %s: %v, used by %d", status, err, uses)
		} else if busy {
			refuses(t, err, cw.CodeRefused, in.Agent.Alias)
			refuses(t, err, cw.CodeRefused, "--drain")
			b.exec("UPDATE agents SET deleted_at = created_at WHERE id = '" + string(in.Agent.ID) + "'")
			b.must(b.RemoveAccount(t.Context(), a.ID, event(cw.EventAccountRemoved, "work")))
		}
		if gone := b.account(a.ID); gone.RemovedAt == nil || gone.Enabled {
			t.Errorf("removed: %+v", gone)
		}
		_, err = b.AccountByRef(t.Context(), string(a.ID))
		refuses(t, err, cw.CodeNotFound, "")
	}
	budgets, err := b.Budgets(t.Context())
	b.must(err)
	same(t, "budgets", len(budgets), 0)
}

// TestRemovedAccountGetsNoRuns: neither a spawn nor another run, and nothing is
// stored; the end of a run is stored all the same.
func TestRemovedAccountGetsNoRuns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.addAccount("work")
	rests := b.restingAgent("calm-bear", cw.StatusIdle)
	runs := b.runningAgent("wise-owl")
	b.must(b.RemoveAccount(t.Context(), a.ID, event(cw.EventAccountRemoved, "work")))
	in := intent("brave-otter", b.addProject("one"))
	before := b.dump()
	for _, id := range []cw.AccountID{a.ID, "nobody"} {
		in.Agent.AccountID = id
		err := b.IntendSpawn(t.Context(), in)
		if code := cw.ErrorCode(err); code != cw.CodeRefused && code != cw.CodeNotFound {
			t.Errorf("a spawn with %s: %v", id, err)
		}
		next := nextRun(rests.Agent.ID, 2)
		next.AccountID = id
		err = b.IntendRun(t.Context(), next)
		if code := cw.ErrorCode(err); code != cw.CodeRefused && code != cw.CodeNotFound {
			t.Errorf("a run with %s: %v", id, err)
		}
	}
	same(t, "rows", b.dump(), before)
	f := finish(runs, cw.StatusRunning, cw.StatusCrashed)
	next := nextRun(runs.Agent.ID, 2)
	next.AccountID = a.ID
	f.Next = &next
	done, err := b.FinishRun(t.Context(), f)
	b.must(err)
	same(t, "finished", done, true)
}

// TestAccountOfRuns: the account of a run is the one that its agent has, and
// counts as used from then on; an agent keeps what an intent does not name.
func TestAccountOfRuns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	work := b.addAccount("work")
	in := intent("brave-otter", b.addProject("one"))
	in.Agent.AccountID, in.Agent.Model = "", "big"
	b.must(b.IntendSpawn(t.Context(), in))
	b.must(b.SaveStarting(t.Context(), starting(in)))
	b.must(b.SaveRunning(t.Context(), running(in)))
	if b.account("default-script").LastUsedAt == nil {
		t.Error("a spawn does not count as a use")
	}
	last := in.Run.ID
	for i, c := range []struct {
		change                   func(*cw.RunIntent)
		provider, account, model string
	}{
		{func(*cw.RunIntent) {}, "script", "default-script", "big"},
		{func(n *cw.RunIntent) { n.AccountID = work.ID }, "script", string(work.ID), "big"},
		{func(n *cw.RunIntent) { n.Provider, n.Model = "script", "small" }, "script", string(work.ID), "small"},
		{func(n *cw.RunIntent) { n.Provider = "codex" }, "codex", "default-codex", ""},
		{func(n *cw.RunIntent) { n.Provider, n.AccountID, n.Model = "script", work.ID, "big" }, "script", string(work.ID), "big"},
	} {
		next := nextRun(in.Agent.ID, i+2)
		c.change(&next)
		f := cw.Finish{AgentID: in.Agent.ID, RunID: last, From: []cw.AgentStatus{cw.StatusRunning}, Status: cw.StatusCrashed, Next: &next}
		if i == 0 { // by both ways
			f.Next = nil
		}
		_, err := b.FinishRun(t.Context(), f)
		b.must(err)
		if i == 0 {
			b.must(b.IntendRun(t.Context(), next))
		}
		last = next.Run.ID
		v := b.agent("brave-otter")
		run := v.Runs[len(v.Runs)-1]
		got := []string{v.Provider, string(v.AccountID), v.Model, run.Provider, string(run.AccountID), run.Model}
		same(t, fmt.Sprintf("run %d", i+2), got, []string{c.provider, c.account, c.model, c.provider, c.account, c.model})
		if used := b.account(cw.AccountID(c.account)).LastUsedAt; used == nil {
			t.Errorf("run %d is no use of its account", i+2)
		}
		b.exec("UPDATE agents SET status = 'running'")
	}
	if v := b.agent("brave-otter"); v.AccountName != "work" {
		t.Errorf("its account is called %q", v.AccountName)
	}
}

// TestExhausted: the later mark stays, and is told when it is new or later; what
// a guess differs by is no news.
func TestExhausted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.addAccount("work")
	now := time.Now().UTC().Truncate(time.Second)
	at := func(d time.Duration) time.Time { return now.Add(d) }
	for i, c := range []struct {
		until, want time.Time
		told        bool
	}{
		{at(time.Hour), at(time.Hour), true},
		{at(time.Hour), at(time.Hour), false},
		{at(30 * time.Minute), at(time.Hour), false},
		{at(time.Hour + time.Second), at(time.Hour + time.Second), false},
		{at(3 * time.Hour), at(3 * time.Hour), true},
	} {
		in := b.runningAgent(fmt.Sprintf("agent-%c", 'a'+i))
		f := finish(in, cw.StatusRunning, cw.StatusParked)
		f.Reason, f.RetryAt, f.Events = cw.ReasonUsageLimit, &c.want, nil
		f.Exhausted = &cw.Exhaustion{AccountID: a.ID, Until: c.until, Kind: "five_hour", Text: "You've hit your limit"}
		before := len(b.toldEvents())
		_, err := b.FinishRun(t.Context(), f)
		b.must(err)
		got := b.account(a.ID)
		if !got.ExhaustedUntil.Equal(c.want) || got.ExhaustedKind != "five_hour" || got.ExhaustedText == "" || !got.Exhausted(now) {
			t.Errorf("%d: marked until %v, want %v", i, got.ExhaustedUntil, c.want)
		}
		types := b.toldTypes(before)
		if told := len(types) == 1 && types[0] == cw.EventAccountExhausted; told != c.told {
			t.Errorf("%d: told %v", i, types)
		}
	}
	b.exec("UPDATE accounts SET exhausted_until = '2020-01-01 00:00:00+00:00'") // long over
	in := b.runningAgent("late-otter")
	f := finish(in, cw.StatusRunning, cw.StatusCrashed)
	f.Exhausted = &cw.Exhaustion{AccountID: a.ID, Until: at(time.Minute)}
	before := len(b.toldEvents())
	_, err := b.FinishRun(t.Context(), f)
	b.must(err)
	same(t, "told anew", b.toldTypes(before), []cw.EventType{cw.EventAccountExhausted, cw.EventAgentStopped})
	in = b.runningAgent("lost-otter") // an account that nobody knows marks nothing
	f = finish(in, cw.StatusRunning, cw.StatusCrashed)
	f.Exhausted = &cw.Exhaustion{AccountID: "nobody", Until: at(time.Hour)}
	done, err := b.FinishRun(t.Context(), f)
	b.must(err)
	same(t, "finished", done, true)
}

// TestParkedAgents: from pending, starting and running; removed ones are not
// among them.
func TestParkedAgents(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	at := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	var want []string
	for _, from := range []cw.AgentStatus{cw.StatusPending, cw.StatusStarting, cw.StatusRunning} {
		in := b.agentAt("from-"+string(from), from)
		f := finish(in, from, cw.StatusParked)
		f.Reason, f.RetryAt = cw.ReasonUsageLimit, &at
		_, err := b.FinishRun(t.Context(), f)
		b.must(err)
		want = append(want, in.Agent.Alias)
	}
	gone := b.agentAt("gone-otter", cw.StatusParked)
	b.exec("UPDATE agents SET deleted_at = created_at WHERE id = '" + string(gone.Agent.ID) + "'")
	b.agentAt("idle-otter", cw.StatusIdle)
	parked, err := b.ParkedAgents(t.Context())
	b.must(err)
	var got []string
	for _, a := range parked {
		got = append(got, a.Alias)
		if a.RetryAt == nil || !a.RetryAt.Equal(at) || a.Warnings == nil {
			t.Errorf("%s: %v %v", a.Alias, a.RetryAt, a.Warnings)
		}
	}
	same(t, "parked", got, want)
}

// TestPutOff: a parked agent waits for longer, and that is told; one that went on
// meanwhile is left alone.
func TestPutOff(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	at := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	for _, status := range cw.AgentStatuses() {
		in := b.agentAt("agent-"+strings.ReplaceAll(string(status), "_", "-"), status)
		before, told := b.dump(), len(b.toldEvents())
		b.must(b.PutOff(t.Context(), in.Agent.ID, at, event(cw.EventAgentParked, in.Agent.Alias)))
		v := b.agent(in.Agent.Alias)
		if parked := status == cw.StatusParked; parked != (v.RetryAt != nil && v.RetryAt.Equal(at)) || parked != (len(b.toldEvents()) > told) {
			t.Errorf("%s: until %v, told %t", status, v.RetryAt, len(b.toldEvents()) > told)
		} else if !parked {
			same(t, "rows", b.dump(), before)
		}
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.addAccount("work")
	now := time.Now().UTC().Truncate(time.Second)
	resets := now.Add(time.Hour)
	windows := []cw.UsageWindow{{Kind: "five_hour", UsedPercent: 12.5, ResetsAt: &resets}, {Kind: "quota", UsedPercent: 1}}
	samples := func() (n int) {
		b.must(b.state.read.Raw("SELECT COUNT(*) FROM usage_samples WHERE account_id = ?", a.ID).Scan(&n).Error)
		return n
	}
	b.must(b.SaveUsage(t.Context(), a.ID, windows, now.Add(-samplesKept-time.Hour)))
	same(t, "samples", samples(), 2)
	b.must(b.SaveUsage(t.Context(), a.ID, windows, now)) // the first are too old now
	same(t, "samples", samples(), 2)
	b.must(b.SaveUsage(t.Context(), a.ID, nil, now.Add(-time.Minute))) // older figures
	got := b.account(a.ID)
	same(t, "windows", got.Usage, windows)
	if !got.UsageAt.Equal(now) || samples() != 2 {
		t.Errorf("known at %v, %d samples", got.UsageAt, samples())
	}
	refuses(t, b.SaveUsage(t.Context(), "nobody", windows, now), cw.CodeNotFound, "")
	b.must(b.SaveUsage(t.Context(), "default-claude", windows, now))
	same(t, "of a default", b.account("default-claude").Usage, windows)
}

// TestInvalid: many agents that are refused at once are one event.
func TestInvalid(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.addAccount("work")
	told := len(b.toldEvents())
	for _, why := range []string{"401", "401", "revoked", "", ""} {
		e := event(cw.EventAccountInvalid, why)
		if why == "" {
			e = cw.Event{}
		}
		b.must(b.SetInvalid(t.Context(), a.ID, why, e))
		same(t, "why", b.account(a.ID).Invalid, why)
	}
	same(t, "told", len(b.toldEvents())-told, 2)
	refuses(t, b.SetInvalid(t.Context(), "nobody", "x", event(cw.EventAccountInvalid, "x")), cw.CodeNotFound, "")
}
