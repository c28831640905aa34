package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/proc"
	"cw/providers"

	"github.com/google/go-cmp/cmp"
)

// TestPathOfPeopleOnly: programs are looked for, and asked for their version, on
// a person's PATH, never on one that came over the network or from an agent.
func TestPathOfPeopleOnly(t *testing.T) {
	t.Parallel()
	s := providerService{environ: []string{"PATH=/usr/bin"}}
	for kind, want := range map[cw.ActorKind]string{cw.ActorPerson: "/own", cw.ActorDashboard: "/usr/bin", cw.ActorAgent: "/usr/bin"} {
		ctx := cw.WithActor(t.Context(), cw.Actor{Kind: kind})
		if got := s.pathOf(ctx, "/own"); got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
		if got := s.pathOf(ctx, ""); got != "/usr/bin" {
			t.Errorf("%s without one: %s", kind, got)
		}
	}
}

// TestWithTroubles: what is wrong with a file stands with the provider that it
// concerns.
func TestWithTroubles(t *testing.T) {
	t.Parallel()
	views := []cw.ProviderView{{Name: "claude", Origin: cw.OriginEmbedded}, {Name: "tool", Origin: "/p/mine.yaml"}}
	problems := []providers.Problem{
		{File: "/p/claude.yaml", Line: 2, Column: 3, Message: "a"}, {File: "/p/mine.yaml", Message: "b"}, {File: "/p/new.yml", Message: "c"},
		{File: "/p/a.yaml", Message: "d"},
	}
	got := map[string]string{}
	var names []string
	for _, v := range withTroubles(views, problems) {
		got[v.Name] = v.Trouble
		names = append(names, v.Name)
	}
	want := map[string]string{"claude": "/p/claude.yaml:2:3: a", "tool": "/p/mine.yaml: b", "new": "/p/new.yml: c", "a": "/p/a.yaml: d"}
	if diff := cmp.Diff(want, got); diff != "" || strings.Join(names, " ") != "a claude new tool" {
		t.Errorf("%v: %s", names, diff)
	}
}

// TestProbes: a program is asked once for as long as its file stays as it is,
// and again when it told nothing.
func TestProbes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tool, asked := filepath.Join(dir, "tool"), filepath.Join(dir, "asked")
	write := func(does string, at time.Time) {
		t.Helper()
		if err := os.WriteFile(tool, []byte(fmt.Sprintf("#!/bin/sh\necho x >> %s\n%s\n", asked, does)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(tool, at, at); err != nil {
			t.Fatal(err)
		}
	}
	p := newProbes()
	ask := func(path, want string, times int) {
		t.Helper()
		got := p.ask(t.Context(), tool, path, proc.Command{Argv: []string{tool}, Dir: dir, Env: []string{"PATH=/usr/bin:/bin"}})
		all, _ := os.ReadFile(asked)
		if strings.TrimSpace(got) != want || strings.Count(string(all), "x") != times {
			t.Errorf("told %q, want %q; asked %d times, want %d", got, want, strings.Count(string(all), "x"), times)
		}
	}
	write("echo 1.0", time.Unix(1000, 0))
	ask("/a", "1.0", 1)
	ask("/a", "1.0", 1)
	ask("/b", "1.0", 2) // what it starts may be another there
	write("echo 2.0", time.Unix(2000, 0))
	ask("/a", "2.0", 3)
	write("exit 1", time.Unix(3000, 0))
	ask("/a", "", 4)
	ask("/a", "", 5)
}
