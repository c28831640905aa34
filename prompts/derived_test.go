package prompts

import (
	"regexp"
	"strings"
	"testing"
)

// TestDerivedIsToldWhatItCanDo: a CLI that runs no commands gets its task and no
// word of what only commands do; an architect cannot be one.
func TestDerivedIsToldWhatItCanDo(t *testing.T) {
	t.Parallel()
	in := Input{
		AgentID: "k3v7q2mzt5ha", AgentName: "calm-otter", Task: "Lower the prices.", Cwd: "/w", Derived: true, Commands: AgentCommands(),
		Projects: []Project{{Name: "shop", Branch: "agent/calm-otter", BaseCommit: "a1b2c3d"}},
	}
	p, err := Render("execute", in)
	if err != nil || !strings.Contains(p.Text, "Lower the prices.") {
		t.Fatalf("%v\n%s", err, p.Text)
	}
	if found := regexp.MustCompile("signal|cw |git |pwd|progress|listen|manifest|" + in.AgentID).FindString(p.Text); found != "" {
		t.Errorf("it is told of %q\n%s", found, p.Text)
	}
	for _, mode := range []string{"discuss", "refine", "plan", "detail"} {
		if _, err := Render(mode, in); err == nil {
			t.Errorf("mode %s has a prompt without commands", mode)
		}
	}
}
