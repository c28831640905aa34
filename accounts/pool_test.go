package accounts

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cw/internal/cw"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func in(d time.Duration) *time.Time {
	at := noon.Add(d)
	return &at
}

// account is one that can be used.
func account(name string, change ...func(*cw.Account)) cw.Account {
	a := cw.Account{ID: cw.AccountID("id-" + name), Provider: "claude", Name: name, Kind: cw.AccountToken, Enabled: true}
	for _, f := range change {
		f(&a)
	}
	return a
}

func used(d time.Duration) func(*cw.Account) { return func(a *cw.Account) { a.LastUsedAt = in(d) } }
func priority(n int) func(*cw.Account)       { return func(a *cw.Account) { a.Priority = n } }
func atLimit(d time.Duration) func(*cw.Account) {
	return func(a *cw.Account) { a.ExhaustedUntil = in(d) }
}
func disabled(a *cw.Account) { a.Enabled = false }
func draining(a *cw.Account) { a.Draining = true }
func removed(a *cw.Account)  { a.RemovedAt = in(-time.Hour) }
func invalid(a *cw.Account)  { a.Invalid = "revoked" }
func own(a *cw.Account)      { a.Kind = cw.AccountOwn }
func window(p float64, d time.Duration) func(*cw.Account) {
	return func(a *cw.Account) {
		a.Usage = append(a.Usage, cw.UsageWindow{Kind: "five_hour", UsedPercent: p, ResetsAt: in(d)})
	}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		pool []cw.Account
		need Need
		want string // "" for none
		back *time.Time
	}{
		{"none", nil, Need{}, "", nil},
		{"the only one", []cw.Account{account("a")}, Need{}, "a", nil},
		{"never used first", []cw.Account{account("a", used(-time.Hour)), account("b")}, Need{}, "b", nil},
		{"least recently used", []cw.Account{account("a", used(-time.Hour)), account("b", used(-2*time.Hour))}, Need{}, "b", nil},
		{"by name", []cw.Account{account("b"), account("a")}, Need{}, "a", nil},
		{"priority beats use", []cw.Account{account("a"), account("b", priority(1), used(0))}, Need{}, "b", nil},
		{"at its limit", []cw.Account{account("a", priority(1), atLimit(time.Hour)), account("b")}, Need{}, "b", nil},
		{"its limit is over", []cw.Account{account("a", priority(1), atLimit(0)), account("b")}, Need{}, "a", nil},
		{"disabled", []cw.Account{account("a", disabled), account("b", used(0))}, Need{}, "b", nil},
		{"draining", []cw.Account{account("a", draining), account("b", used(0))}, Need{}, "b", nil},
		{"removed", []cw.Account{account("a", removed), account("b", used(0))}, Need{}, "b", nil},
		{"invalid", []cw.Account{account("a", invalid), account("b", used(0))}, Need{}, "b", nil},
		{"tried in vain", []cw.Account{account("a"), account("b", used(0))}, Need{Without: []cw.AccountID{"id-a"}}, "b", nil},
		{"all at their limit", []cw.Account{account("a", atLimit(2*time.Hour)), account("b", atLimit(time.Hour))}, Need{}, "", in(time.Hour)},
		{"one that is out of service does not come back", []cw.Account{account("a", atLimit(time.Minute), disabled), account("b", atLimit(time.Hour))}, Need{}, "", in(time.Hour)},
		{"none comes back by itself", []cw.Account{account("a", invalid), account("b", disabled)}, Need{}, "", nil},
		{"the own login alone, refused once", []cw.Account{account("default", own, invalid)}, Need{}, "default", nil},
		{"the own login beside another", []cw.Account{account("default", own, invalid), account("b", used(0))}, Need{}, "b", nil},
		{"the own login beside one that comes back", []cw.Account{account("default", own, invalid), account("b", atLimit(time.Hour))}, Need{}, "", in(time.Hour)},
		{"a new agent spares one above the watermark", []cw.Account{account("a", window(96, time.Hour)), account("b", used(0))}, Need{New: true}, "b", nil},
		{"the watermark itself", []cw.Account{account("a", window(95, time.Hour)), account("b", used(0))}, Need{New: true}, "b", nil},
		{"below it", []cw.Account{account("a", window(94.9, time.Hour)), account("b", used(0))}, Need{New: true}, "a", nil},
		{"a window that is over", []cw.Account{account("a", window(99, -time.Hour)), account("b", used(0))}, Need{New: true}, "a", nil},
		{"an agent that is there is not new", []cw.Account{account("a", window(96, time.Hour)), account("b", used(0))}, Need{}, "a", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			before := fmt.Sprint(tt.pool)
			c := Choose(tt.pool, tt.need, noon)
			if c.Found != (tt.want != "") || c.Account.Name != tt.want || c.AboveWatermark {
				t.Errorf("chose %q (found %v, above %v), want %q", c.Account.Name, c.Found, c.AboveWatermark, tt.want)
			}
			if (c.Back == nil) != (tt.back == nil) || c.Back != nil && !c.Back.Equal(*tt.back) {
				t.Errorf("back %v, want %v", c.Back, tt.back)
			}
			if fmt.Sprint(tt.pool) != before {
				t.Error("the pool was changed")
			}
		})
	}
	c := Choose([]cw.Account{account("a", window(99, time.Hour)), account("b", window(96, time.Hour), used(0))}, Need{New: true}, noon)
	if !c.Found || c.Account.Name != "a" || !c.AboveWatermark {
		t.Errorf("all above the watermark: %+v", c)
	}
}

func TestUntil(t *testing.T) {
	t.Parallel()
	cooldown := in(cw.DefaultCooldown)
	tests := []struct {
		name       string
		told, want *time.Time
	}{
		{"not told", nil, cooldown},
		{"soon", in(time.Second), in(time.Second)},
		{"in days", in(7 * 24 * time.Hour), in(7 * 24 * time.Hour)},
		{"the most", in(32 * 24 * time.Hour), in(32 * 24 * time.Hour)},
		{"further than any window", in(32*24*time.Hour + time.Second), cooldown},
		{"now, told to the minute", in(0), in(time.Minute)},
		{"a moment ago", in(-9 * time.Minute), in(time.Minute)},
		{"past", in(-10 * time.Minute), cooldown},
		{"a clock that is hours ahead", in(-5 * time.Hour), cooldown},
		{"years ago", &time.Time{}, cooldown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := Until(cw.Limit{Until: tt.told}, noon); !got.Equal(*tt.want) {
				t.Errorf("%v, want %v", got, *tt.want)
			}
		})
	}
}

// aPool draws accounts in any state.
func aPool(t *rapid.T) []cw.Account {
	n := rapid.IntRange(0, 8).Draw(t, "accounts")
	pool := make([]cw.Account, n)
	for i := range pool {
		a := account(fmt.Sprint("a", i), priority(rapid.IntRange(0, 2).Draw(t, "priority")))
		maybe := func(what string, f func(*cw.Account)) {
			if rapid.IntRange(0, 3).Draw(t, what) == 0 {
				f(&a)
			}
		}
		maybe("at its limit", atLimit(aTime(t)))
		maybe("used", used(aTime(t)))
		maybe("disabled", disabled)
		maybe("draining", draining)
		maybe("removed", removed)
		maybe("invalid", invalid)
		maybe("own", own)
		maybe("window", window(rapid.Float64Range(80, 110).Draw(t, "percent"), aTime(t)))
		pool[i] = a
	}
	return pool
}

func aTime(t *rapid.T) time.Duration {
	return time.Duration(rapid.IntRange(-600, 600).Draw(t, "minutes")) * time.Minute
}

// TestChooseAny: whatever the pool, the choice can be used, nothing that can be
// used is passed over for nothing, and without one the time is right.
func TestChooseAny(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pool := aPool(t)
		need := Need{New: rapid.Bool().Draw(t, "new")}
		if len(pool) > 0 && rapid.Bool().Draw(t, "one was tried") {
			need.Without = []cw.AccountID{rapid.SampledFrom(pool).Draw(t, "tried").ID}
		}
		c := Choose(pool, need, noon)
		can := func(a cw.Account) bool {
			return a.Enabled && !a.Draining && a.RemovedAt == nil && a.Invalid == "" && !a.Exhausted(noon) && !slices.Contains(need.Without, a.ID)
		}
		if !c.Found {
			if i := slices.IndexFunc(pool, can); i >= 0 {
				t.Fatalf("%s was passed over", pool[i].Name)
			}
			if c.Back != nil && !c.Back.After(noon) {
				t.Fatalf("back at %v, which is over", c.Back)
			}
			return
		}
		a := c.Account
		if lone := a.Kind == cw.AccountOwn && a.Invalid != ""; lone {
			if slices.ContainsFunc(pool, can) {
				t.Fatalf("the refused login %s was chosen beside others", a.Name)
			}
			a.Invalid = ""
			if !can(a) {
				t.Fatalf("%s cannot be used: %+v", a.Name, a)
			}
			return
		}
		if !can(a) {
			t.Fatalf("%s cannot be used: %+v", a.Name, a)
		}
		for _, b := range pool {
			sparing := need.New && !c.AboveWatermark && b.AboveWatermark(noon, cw.WatermarkPercent)
			if can(b) && !sparing && (b.Priority > a.Priority || b.Priority == a.Priority && lastUsed(b).Before(lastUsed(a))) {
				t.Fatalf("%s was due before %s", b.Name, a.Name)
			}
			if c.AboveWatermark && can(b) && !b.AboveWatermark(noon, cw.WatermarkPercent) {
				t.Fatalf("%s is below the watermark", b.Name)
			}
		}
		if need.New && !c.AboveWatermark && a.AboveWatermark(noon, cw.WatermarkPercent) {
			t.Fatalf("%s is above the watermark", a.Name)
		}
	})
}

// TestNoneStarves: of accounts with the same priority each gets its turn before
// any gets its second.
func TestNoneStarves(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "accounts")
		pool := make([]cw.Account, n)
		for i := range pool {
			pool[i] = account(fmt.Sprint("a", i), used(aTime(t)))
			if pool[i].LastUsedAt.After(noon) {
				pool[i].LastUsedAt = nil
			}
		}
		now := noon
		for round := range 3 {
			seen := map[cw.AccountID]int{}
			for range n {
				now = now.Add(time.Second)
				c := Choose(pool, Need{New: true}, now)
				seen[c.Account.ID]++
				use(pool, c.Account.ID, now)
			}
			if len(seen) != n {
				t.Fatalf("round %d: %d of %d got a turn", round, len(seen), n)
			}
		}
	})
}

func use(pool []cw.Account, id cw.AccountID, now time.Time) {
	i := slices.IndexFunc(pool, func(a cw.Account) bool { return a.ID == id })
	pool[i].LastUsedAt = &now
}

// worker is an agent of the simulation.
type worker struct {
	on    cw.AccountID // "" while it is parked
	left  int          // steps of work
	tried []cw.AccountID
	done  bool
	lost  bool // no account will ever be there for it
}

// TestFailOverEnds: agents that fail over, with limits that end and credentials
// that are revoked, come to their end: each has done its work, or there is no
// account that will ever be back. None is given an account at its limit, and a
// parked one always has a time.
func TestFailOverEnds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pool := aPool(t)
		workers := make([]worker, rapid.IntRange(1, 6).Draw(t, "agents"))
		for i := range workers {
			workers[i].left = rapid.IntRange(1, 4).Draw(t, "steps")
		}
		failures := rapid.IntRange(0, 40).Draw(t, "failures")
		now := noon
		for step := 0; ; step++ {
			if step > 500 {
				t.Fatalf("it never ends: %+v", workers)
			}
			now = now.Add(time.Second)
			var next *time.Time
			busy := false
			for i := range workers {
				w := &workers[i]
				if w.done || w.lost {
					continue
				}
				if w.on == "" {
					c := Choose(pool, Need{Without: w.tried}, now)
					switch {
					case c.Found && c.Account.Exhausted(now):
						t.Fatalf("given %s, which is at its limit", c.Account.Name)
					case c.Found:
						w.on = c.Account.ID
						use(pool, w.on, now)
					case c.Back == nil:
						w.lost = true
						continue
					default:
						if next == nil || c.Back.Before(*next) {
							next = c.Back
						}
						continue
					}
				}
				busy = true
				failures = w.work(t, pool, failures, now)
			}
			if !busy && next == nil {
				break
			}
			if !busy {
				now = *next // all are parked: the first account is back then
			}
		}
		for _, w := range workers {
			if w.done == w.lost {
				t.Fatalf("neither done nor without any account: %+v", w)
			}
			if c := Choose(pool, Need{Without: w.tried}, now); w.lost && c.Found {
				t.Fatalf("given up, and there is %s", c.Account.Name)
			}
		}
	})
}

// work is one step: work, a limit, or refused credentials. It gives how many
// failures are left.
func (w *worker) work(t *rapid.T, pool []cw.Account, failures int, now time.Time) int {
	what := rapid.IntRange(0, 3).Draw(t, "what")
	if failures == 0 || what > 1 {
		w.left--
		w.done, w.tried = w.left == 0, nil
		return failures
	}
	i := slices.IndexFunc(pool, func(a cw.Account) bool { return a.ID == w.on })
	w.on = ""
	if what == 0 {
		told := now.Add(time.Duration(rapid.IntRange(-20*60, 20*60).Draw(t, "told")) * time.Minute)
		until := Until(cw.Limit{Until: &told}, now)
		pool[i].ExhaustedUntil = &until
		return failures - 1
	}
	pool[i].Invalid = "revoked"
	w.tried = append(w.tried, pool[i].ID)
	return failures - 1
}
