package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// acpScript is an agent that says its last line to a prompt, whose text it must
// be able to read.
func acpScript(t *testing.T, last string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent")
	text := `#!/bin/sh
[ "$*" = "--acp --resume no" ] || exit 9
read a; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}'
read b; echo '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s1"}}'
read c; case "$c" in *'do the job'*) ;; *) exit 8;; esac
echo '` + last + `'
read d
`
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestACP: what the agent says comes out as lines, and its end as exit code. The
// agent's own flags are left alone.
func TestACP(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, last, want string
		code             int
	}{
		{"a result", `{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}`, `{"type":"acp.result","stopReason":"end_turn"}`, 0},
		{"an error", `{"jsonrpc":"2.0","id":3,"error":{"code":401,"message":"no"}}`, `{"type":"acp.error","method":"session/prompt","code":401,"message":"no"}`, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.in = strings.NewReader("do the job")
			code := b.execute(t.Context(), []string{"acp", "--cwd", t.TempDir(), "--", acpScript(t, tt.last), "--acp", "--resume", "no"})
			want := `{"type":"acp.init","sessionId":"s1"}` + "\n" + tt.want + "\n"
			if diff := cmp.Diff(want, b.stdout.String()); code != tt.code || diff != "" {
				t.Errorf("exit %d, want %d; stderr %s\n%s", code, tt.code, b.stderr.String(), diff)
			}
		})
	}
}

// TestACPCancelled: Ctrl-C and SIGTERM end the agent with the turn.
func TestACPCancelled(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.in = strings.NewReader("do the job")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code := b.execute(ctx, []string{"acp", "--cwd=" + t.TempDir(), "--", acpScript(t, "nothing"), "--acp", "--resume", "no"}); code != 130 {
		t.Errorf("exit %d; stderr %s", code, b.stderr.String())
	}
}

// TestACPUsage reads the flags, and refuses what cannot work.
func TestACPUsage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var got acpOptions
	cmd := newACPCmd(b.app, func(_ context.Context, o *acpOptions) error { got = *o; return nil })
	cmd.SetArgs([]string{"--cwd=/w", "--resume=-s", "--model=m", "--mode", "yolo", "--mcp=/m.json", "--", "/bin/agent", "--acp", "--mode", "x"})
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	got.app = nil
	want := acpOptions{cwd: "/w", resume: "-s", model: "m", mode: "yolo", servers: "/m.json", argv: []string{"/bin/agent", "--acp", "--mode", "x"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(acpOptions{})); diff != "" {
		t.Error(diff)
	}
	for name, args := range map[string][]string{
		"no agent":  {"acp", "--cwd=/"},
		"no prompt": {"acp", "--cwd=/", "--", "/bin/true"},
		"bad flag":  {"acp", "--what", "--", "/bin/true"},
	} {
		b := newBench(t)
		b.in = strings.NewReader("")
		if code := b.execute(t.Context(), args); code != 2 {
			t.Errorf("%s: exit %d, %s", name, code, b.stderr.String())
		}
	}
}
