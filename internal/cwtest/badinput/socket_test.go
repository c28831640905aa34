package badinput

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cw/internal/cwtest/lab"
)

// TestDeadSocket: whatever a dead daemon left where the socket belongs does
// not hinder the next one, which any command starts by itself.
func TestDeadSocket(t *testing.T) {
	t.Parallel()
	tests := map[string]func(t *testing.T, l *lab.Lab){
		"killed": func(t *testing.T, l *lab.Lab) {
			l.Start()
			l.Kill()
			if _, err := os.Stat(l.Socket()); err != nil {
				t.Fatalf("there is no dead socket: %v", err)
			}
		},
		"of nobody": func(t *testing.T, l *lab.Lab) {
			must(t, os.MkdirAll(l.Home.RunState(), 0o700))
			s, err := net.ListenUnix("unix", &net.UnixAddr{Name: l.Home.Socket(), Net: "unix"})
			must(t, err)
			s.SetUnlinkOnClose(false)
			must(t, s.Close())
		},
		"a plain file": func(t *testing.T, l *lab.Lab) {
			must(t, os.MkdirAll(l.Home.RunState(), 0o700))
			must(t, os.WriteFile(l.Home.Socket(), []byte("x"), 0o600))
		},
		"told elsewhere": func(t *testing.T, l *lab.Lab) {
			must(t, os.MkdirAll(l.Home.RunState(), 0o700))
			must(t, os.WriteFile(l.Home.SocketFile(), []byte(filepath.Join(root(l), "nowhere.sock")+"\n"), 0o600))
		},
		"a lock with a dead pid": func(t *testing.T, l *lab.Lab) {
			must(t, os.MkdirAll(l.Home.RunState(), 0o700))
			must(t, os.WriteFile(l.Home.DaemonLock(), []byte("4194303\n"), 0o600))
		},
	}
	for name, leave := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			leave(t, l)
			if a := ask(t, l, "status"); a.code != exitUnreachable || !strings.Contains(a.stderr, "hint: ") {
				t.Errorf("no daemon runs: %s", a)
			}
			if got, a := runs(t, l, commits("a.txt")); a.code != exitOK || got.HandedOver == "" {
				t.Errorf("%s", a)
			}
			if a := works(t, l, "status"); !strings.Contains(a.stdout, l.Socket()) {
				t.Errorf("%s", a)
			}
			works(t, l, "stop")
		})
	}
}
