package daemon_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/lab"
)

// TestAdmit: an agent that is asked for by hand while the machine has no memory for
// it is refused with the reason, and nothing of it is left; the only one is started,
// and asked for again it is told, not refused.
func TestAdmit(t *testing.T) {
	t.Parallel()
	l := lab.New(t, binary)
	must(t, os.WriteFile(filepath.Join(string(l.Home), "config.yaml"), []byte("dispatch:\n  keepFree: 1TiB\n"), 0o600))
	script := filepath.Join(l.Books, "sleeps.sh")
	must(t, os.WriteFile(script, []byte("#!/bin/sh\nexec sleep 600\n"), 0o700))
	l.Start()
	req := cw.SpawnRequest{
		RequestKey: cw.NewID(), Goal: "sleep", Projects: []string{l.Repo}, Provider: "script", Script: script,
		Env: map[string]string{"PATH": os.Getenv("PATH")},
	}
	first, err := l.Client().Spawn(t.Context(), req)
	must(t, err)
	if again, err := l.Client().Spawn(t.Context(), req); err != nil || again.ID != first.ID {
		t.Errorf("the same request again: %s, %v", again.ID, err)
	}
	req.RequestKey = cw.NewID()
	_, err = l.Client().Spawn(t.Context(), req)
	if cw.ErrorCode(err) != cw.CodeRefused || !strings.Contains(err.Error(), "0 MiB of memory are free beside what is kept") || !strings.Contains(cw.ErrorHint(err), "cw agent list --status running") {
		t.Errorf("a second one: %v (%s)", err, cw.ErrorHint(err))
	}
	all, err := cw.AllAgents(t.Context(), l.Client(), cw.AgentFilter{})
	must(t, err)
	if len(all) != 1 {
		t.Errorf("%d agents are left", len(all))
	}
}
