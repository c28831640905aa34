package dispatch

import "cw/internal/cw"

// use counts agents that have a process, or are about to.
type use struct {
	machine    int
	provider   map[string]int
	accounts   map[cw.AccountID]int
	project    map[cw.ProjectID]int
	initiative map[cw.InitiativeID]int
}

func useOf(w World) use {
	u := use{
		provider: map[string]int{}, accounts: map[cw.AccountID]int{},
		project: map[cw.ProjectID]int{}, initiative: map[cw.InitiativeID]int{},
	}
	for _, a := range w.Agents {
		if !a.Alive() {
			continue
		}
		u.machine++
		u.provider[a.Provider]++
		u.accounts[a.AccountID]++
		u.initiative[a.InitiativeID]++
		for _, p := range a.ProjectIDs {
			u.project[p]++
		}
	}
	return u
}

// take counts one more.
func (u *use) take(provider string, account cw.AccountID, in *cw.Initiative) {
	u.machine++
	u.provider[provider]++
	if account != "" {
		u.accounts[account]++
	}
	u.initiative[in.ID]++
	for _, p := range in.Projects {
		u.project[p.ID]++
	}
}

// account chooses the account with the fewest agents, where accounts have a
// limit; "" where any will do. false when all have as many as may.
func (u *use) account(l cw.DispatchLimits, p Provider) (cw.AccountID, bool) {
	if l.Account <= 0 || len(p.Accounts) == 0 {
		return "", true
	}
	best := p.Accounts[0]
	for _, a := range p.Accounts[1:] {
		if u.accounts[a.ID] < u.accounts[best.ID] {
			best = a
		}
	}
	return best.ID, u.accounts[best.ID] < l.Account
}
