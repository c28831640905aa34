package accounts

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"
)

const (
	stateFile = "refresh.json"
	// backoffFirst and backoffMax bound how long a token endpoint that failed is
	// left alone; it doubles.
	backoffFirst, backoffMax = 10 * time.Second, 15 * time.Minute
	// backoffSteps is how often it doubles at most.
	backoffSteps = 10
)

// refreshState is what all processes know about renewing a login.
type refreshState struct {
	// Of names the refresh token that all of it is about: what failed with another
	// one says nothing.
	Of        string    `json:"of,omitempty"`
	Failures  int       `json:"failures,omitempty"`
	NotBefore time.Time `json:"notBefore,omitzero"` // the endpoint is left alone until then
	RenewedAt time.Time `json:"renewedAt,omitzero"`
	Dead      string    `json:"dead,omitempty"` // why it is not renewed any more, when the provider said so
}

// failed is the state after one more failure.
func (st refreshState) failed(now time.Time) refreshState {
	st.NotBefore = now.Add(min(backoffMax, backoffFirst<<min(st.Failures, backoffSteps)))
	st.Failures++
	return st
}

// waits tells whether the endpoint is left alone still. A time further ahead than
// it ever is was noted by another clock.
func (st refreshState) waits(now time.Time) bool {
	wait := st.NotBefore.Sub(now)
	return wait > 0 && wait <= backoffMax
}

// readState reads what is known about a login. The file lies where agents can
// write: what is damaged is as if nothing had happened.
func readState(dir string, c credentials) refreshState {
	var st refreshState
	none := refreshState{Of: digest(c.refresh)}
	data, err := readOwn(filepath.Join(dir, stateFile))
	if err != nil || json.Unmarshal(data, &st) != nil || st.Of != none.Of || st.Failures < 0 {
		return none
	}
	return st
}

// writeState is not synced: it saves requests and nothing else.
func writeState(dir string, st refreshState) {
	data, _ := json.Marshal(st)
	tmp := filepath.Join(dir, stateFile+".tmp")
	if os.WriteFile(tmp, data, fileMode) == nil {
		_ = os.Rename(tmp, filepath.Join(dir, stateFile))
	}
}
