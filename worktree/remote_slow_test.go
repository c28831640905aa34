package worktree

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

// TestRemoteSilent: an address that takes a connection and says nothing ends by
// time.
func TestRemoteSilent(t *testing.T) {
	t.Parallel()
	l, _ := newRemote(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	l.isRemote("http://" + silent.Addr().String() + "/x")
	l.m.git.limit = func(p place) time.Duration {
		if p.name == "remote" && p.limit != reachLimit {
			t.Errorf("it may take %s", p.limit)
		}
		return 200 * time.Millisecond
	}
	err = l.m.FetchRemote(ctx(t), l.p, nil)
	if cw.ErrorCode(err) != cw.CodeFailed || !strings.Contains(err.Error(), "did not answer") {
		t.Errorf("%v", err)
	}
}

// TestRemoteStuck: one that says what it has and then sends nothing may hold up
// the first clone for long, and a spawn that can do without it for minutes.
func TestRemoteStuck(t *testing.T) {
	t.Parallel()
	l, bare := newRemote(t)
	home := t.TempDir()
	ssh, stuck := filepath.Join(home, "ssh"), filepath.Join(home, "stuck")
	if err := os.WriteFile(ssh, []byte("#!/bin/sh\n[ -e '"+stuck+"' ] && exec sleep 600\nexec git upload-pack '"+bare+"'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, home, ".gitconfig", "[core]\n\tsshCommand = \"'"+ssh+"'\"\n[ssh]\n\tvariant = ssh\n")
	l.isRemote("forge.example:shop")
	env := map[string]string{"HOME": home}
	ordinary, limits := l.m.git.limit, map[time.Duration]bool{}
	l.m.git.limit = func(p place) time.Duration {
		if p.name != "remote" || p.limit == reachLimit {
			return ordinary(p)
		}
		limits[p.limit] = true
		if p.limit == updateLimit {
			write(t, home, "stuck", "")
			return 200 * time.Millisecond
		}
		return ordinary(p)
	}
	if err := l.m.FetchRemote(ctx(t), l.p, env); err != nil || !cmp.Equal(limits, map[time.Duration]bool{cloneLimit: true}) {
		t.Fatalf("%v, limits %v", err, limits)
	}
	l.pushed("main", "next.txt")
	err := l.m.FetchRemote(ctx(t), l.p, env)
	if cw.ErrorCode(err) != cw.CodeFailed || !strings.Contains(err.Error(), "more than 5m0s") {
		t.Errorf("%v", err)
	}
}

// TestHalfClone: only what was never fetched, and has nothing of an agent, is
// nobody's.
func TestHalfClone(t *testing.T) {
	t.Parallel()
	l, _ := newRemote(t)
	if err := l.m.ensureClone(ctx(t), l.p); err != nil || !HalfClone(l.p.GitDir) {
		t.Errorf("an empty clone is whole, %v", err)
	}
	l.fetchRemote()
	if HalfClone(l.p.GitDir) {
		t.Error("a whole clone is half")
	}
	a := l.remoteAgent("brave-otter", "")
	a.commit("x.txt", "x\n")
	a.handOver()
	if err := os.Remove(filepath.Join(l.p.GitDir, fetchedFile)); err != nil || HalfClone(l.p.GitDir) {
		t.Errorf("the clone with the branch of an agent is half, %v", err)
	}
	git(t, l.p.GitDir, "pack-refs", "--all", "--prune")
	if HalfClone(l.p.GitDir) {
		t.Error("the clone with the packed branch of an agent is half")
	}
}
