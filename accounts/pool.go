package accounts

import (
	"cmp"
	"slices"
	"time"

	"cw/internal/cw"
)

const (
	// resetMost is how far ahead the end of a limit may lie: the longest window
	// that is known lasts a month.
	resetMost = 32 * 24 * time.Hour
	// resetJust is how long ago an end that a CLI told may have passed to be
	// taken as one that is about to come: times are told to the minute, and
	// clocks differ a little.
	resetJust = 10 * time.Minute
	// resetSoon is when such an end is taken to come.
	resetSoon = time.Minute
)

// Need says what an account is wanted for.
type Need struct {
	// New is true for a new agent: an account above the watermark is spared, as
	// long as there is another.
	New bool
	// Without are accounts that were tried in vain.
	Without []cw.AccountID
}

// Choice is an account for a run or, without one, when there will be one.
type Choice struct {
	Account cw.Account // valid when Found
	Found   bool
	// AboveWatermark tells that every account that can be used is above the
	// watermark.
	AboveWatermark bool
	// Back is when the first account comes back that is at its limit now; nil
	// when none of them will by itself. Only without an account.
	Back *time.Time
}

// Choose chooses from the accounts of a provider: enabled, not about to be
// removed, with credentials that can be used, and not at a limit; of these the
// one with the greatest priority, then the one that was used least recently,
// then by name. It is pure: the same pool gives the same choice.
func Choose(pool []cw.Account, n Need, now time.Time) Choice {
	pool = InService(pool, n)
	usable := without(pool, func(a cw.Account) bool { return a.Exhausted(now) })
	if len(usable) == 0 {
		return Choice{Back: firstBack(pool)}
	}
	c := Choice{Found: true}
	if n.New {
		spared := without(usable, func(a cw.Account) bool { return a.AboveWatermark(now, cw.WatermarkPercent) })
		c.AboveWatermark = len(spared) == 0
		if !c.AboveWatermark {
			usable = spared
		}
	}
	c.Account = slices.MinFunc(usable, before)
	return c
}

// InService gives the accounts that can be used now or, when their limit is
// over, by themselves. That the user's own login was refused, or that the CLI is
// not logged in, counts only beside other accounts: alone it is what there is,
// and a person may have logged in since.
func InService(pool []cw.Account, n Need) []cw.Account {
	pool = without(pool, func(a cw.Account) bool {
		return !a.Enabled || a.Draining || a.RemovedAt != nil || slices.Contains(n.Without, a.ID)
	})
	valid := without(pool, func(a cw.Account) bool { return !a.Ready() })
	if len(valid) > 0 {
		return valid
	}
	return without(pool, func(a cw.Account) bool { return a.Kind != cw.AccountOwn })
}

func without(pool []cw.Account, bad func(cw.Account) bool) []cw.Account {
	return slices.DeleteFunc(slices.Clone(pool), bad)
}

// firstBack is when the first limit ends.
func firstBack(pool []cw.Account) *time.Time {
	var first *time.Time
	for _, a := range pool {
		if first == nil || a.ExhaustedUntil.Before(*first) {
			first = a.ExhaustedUntil
		}
	}
	return first
}

// before orders accounts by who is due first.
func before(a, b cw.Account) int {
	return cmp.Or(
		cmp.Compare(b.Priority, a.Priority),
		lastUsed(a).Compare(lastUsed(b)),
		cmp.Compare(a.Name, b.Name),
		cmp.Compare(a.ID, b.ID),
	)
}

// lastUsed is the zero time for an account that never was.
func lastUsed(a cw.Account) time.Time {
	if a.LastUsedAt == nil {
		return time.Time{}
	}
	return *a.LastUsedAt
}

// Mark is the mark of an account whose CLI was at a limit. One that is at a limit
// again as soon as the last one was over gets a minute at least: its end was told
// wrongly, and runs must not follow each other without a pause.
func Mark(a cw.Account, limit cw.Limit, now time.Time) cw.Exhaustion {
	until := Until(limit, now)
	justOver := a.ExhaustedUntil != nil && !a.Exhausted(now) && a.ExhaustedUntil.After(now.Add(-resetJust))
	if soon := now.Add(resetSoon); justOver && until.Before(soon) {
		until = soon
	}
	return cw.Exhaustion{AccountID: a.ID, Until: until.UTC(), Kind: limit.Kind, Text: limit.Text}
}

// Until says how long an account counts as exhausted: as long as its CLI told,
// when that is plausible. An end that has passed, or lies further ahead than any
// window lasts, is told by a clock that is wrong or read wrongly; then, and
// without any, it is cw.DefaultCooldown.
func Until(limit cw.Limit, now time.Time) time.Time {
	switch {
	case limit.Until == nil || limit.Until.After(now.Add(resetMost)):
	case limit.Until.After(now):
		return *limit.Until
	case limit.Until.After(now.Add(-resetJust)):
		return now.Add(resetSoon)
	}
	return now.Add(cw.DefaultCooldown)
}
