package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cw/internal/proc"
	"cw/internal/service"
)

// TestService: the commands do what they say, with a service manager that notes
// what it is asked.
func TestService(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		args  []string
		setup func(*bench, string)
		code  int
		says  string // on stdout or stderr
		asks  string // of the manager
		pids  int    // daemons ended before
	}{
		{"install", []string{"service", "install"}, nil, 0, "installed, and runs (systemd)", "systemctl --user restart cw", 1},
		{"install without a daemon", []string{"service", "install"}, func(b *bench, _ string) { b.up = false }, 0, "installed, and runs", "systemctl --user restart", 0},
		{"install again", []string{"service", "install"}, installed, 0, "installed, and runs", "systemctl --user restart", 1},
		{"install a program that goes", []string{"service", "install"}, func(b *bench, _ string) { b.unit.Binary = filepath.Join(b.unit.UserHome, "cw") }, 4, "there is no program", "", 0},
		{"install json", []string{"service", "install", "--json"}, nil, 0, `"running": true`, "", 1},
		{"install inside", []string{"service", "install"}, func(b *bench, _ string) { b.env[proc.RunVariable] = "r1" }, 4, "an agent has no part", "", 0},
		{"install foreign", []string{"service", "install"}, func(_ *bench, file string) { put(file, "mine") }, 4, "was not made by cw", "", 0},
		{"install without a manager", []string{"service", "install"}, func(b *bench, _ string) {
			b.unit.Run = func(context.Context, ...string) (string, error) { return "", errors.New("no such bus") }
		}, 1, "no such bus", "", 0},
		{"status", []string{"service", "status"}, nil, 0, "not installed (systemd)", "is-active", 0},
		{"status installed", []string{"service", "status"}, installed, 0, "installed, and runs", "is-active", 0},
		{"remove", []string{"service", "remove"}, installed, 0, "not installed", "systemctl --user disable --now", 0},
		{"remove none", []string{"service", "remove"}, nil, 0, "not installed", "is-active", 0},
		{"other system", []string{"service", "install"}, func(b *bench, _ string) { b.unit.OS = "plan9" }, 4, "no service for plan9", "", 0},
		{"help", []string{"service"}, nil, 0, "cw service [command]", "", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			asked := manager(t, b)
			s, err := service.Status(t.Context(), b.unitOf())
			if err != nil {
				t.Fatal(err)
			}
			if tc.setup != nil {
				tc.setup(b, s.File)
			}
			*asked = nil
			text, code := b.session(t.Context(), tc.args...)
			if code != tc.code || !strings.Contains(text, tc.says) || len(b.gonePIDs) != tc.pids {
				t.Errorf("exit code %d, want %d and %q; %d daemons ended, want %d\n%s", code, tc.code, tc.says, len(b.gonePIDs), tc.pids, text)
			}
			if said := strings.Join(*asked, "\n"); !strings.Contains(said, tc.asks) {
				t.Errorf("asked, without %q:\n%s", tc.asks, said)
			}
		})
	}
}

// manager gives a bench a systemd that notes what it is asked, and a program
// that stays where it is.
func manager(t *testing.T, b *bench) (asked *[]string) {
	t.Helper()
	asked = new([]string)
	b.unit = service.Options{
		OS: "linux", UserHome: t.TempDir(), UID: 1000, Binary: "/bin/sh", Path: "/usr/bin",
		Run: func(_ context.Context, argv ...string) (string, error) {
			*asked = append(*asked, strings.Join(argv, " "))
			switch {
			case slices.Contains(argv, "is-active") && !slices.ContainsFunc(*asked, func(c string) bool { return strings.Contains(c, " restart ") }):
				return "inactive\n", errors.New("exit status 3")
			case slices.Contains(argv, "is-active"):
				return "active\n", nil
			}
			return "", nil
		},
	}
	return asked
}

func (b *bench) unitOf() service.Options {
	o, _ := b.service("/home/lead/.cw")
	return o
}

// installed puts the definition where it belongs, of a service that runs.
func installed(b *bench, _ string) {
	s, err := service.Install(context.Background(), b.unitOf())
	if err != nil || !s.Installed {
		panic(fmt.Sprint(s, err))
	}
	run := b.unit.Run
	b.unit.Run = func(ctx context.Context, argv ...string) (string, error) {
		said, err := run(ctx, argv...)
		if slices.Contains(argv, "is-active") {
			return "active\n", nil
		}
		return said, err
	}
}

func put(file, text string) {
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		panic(err)
	}
}
