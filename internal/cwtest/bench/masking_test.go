//go:build linux

package bench

import (
	"fmt"
	"strings"
	"time"

	"cw/internal/cw"
)

// masked is how many accounts have secrets that are looked for.
const masked = 10

// masking is what ingest takes with the secrets of accounts masked, beside the
// same without the mask.
func masking(r *rig) []figure {
	agents := max(r.agents/4, 2)
	measure := func(guard string) func(int) time.Duration {
		return func(int) time.Duration {
			r.Helper()
			l, p := newPens(r, "CW_GUARD_OFF="+guard)
			for i := range masked {
				_, err := l.Client().AddAccount(r.Context(), cw.AddAccountRequest{
					Name: fmt.Sprint("account-", i), Token: cw.NewSecret(fmt.Sprintf("sk-ant-oat01-%s%04d", strings.Repeat("Ab9_", 22), i)),
				})
				r.must(err)
			}
			ids := p.spawn(l, agents)
			refs, written := make([]string, len(ids)), make([]*pen, len(ids))
			for i, id := range ids {
				refs[i], written[i] = string(id), p.of(id)
			}
			used, _ := load(r, l.Serving().PID, l.Client(), refs, written, r.load/6)
			for i, ref := range refs {
				stored(r, l, ref, written[i])
			}
			return used
		}
	}
	floors, own := inTurn(2, measure("masked"), measure(""))
	a, b := (own[0]+own[1])/2, max((floors[0]+floors[1])/2, 1)
	return []figure{{
		what: fmt.Sprintf("%d agents × %d lines/s, secrets of %d accounts masked: daemon's processor time", agents, linesPerSecond, masked),
		ours: percent(a), floor: "without the mask: " + percent(b),
		value: float64(a) / float64(b), goal: goal{bound: 1.1, unit: "×"},
	}}
}
