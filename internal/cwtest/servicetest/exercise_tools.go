package servicetest

import (
	"testing"

	"cw/internal/cw"
)

// toolsCase: tools are offered to agents, and to nobody else.
func toolsCase(t *testing.T, f Fixture) {
	box, err := f.Services.Toolbox(soon(t))
	if f.Who == cw.ActorAgent {
		ok(t, err)
		if box.AgentID == "" || len(box.Tools) == 0 {
			t.Errorf("the toolbox is %+v", box)
		}
		return
	}
	wantCode(t, "Toolbox", err, cw.CodeForbidden)
}
