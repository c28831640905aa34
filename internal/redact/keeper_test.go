package redact

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
)

func TestKeeper(t *testing.T) {
	dir := t.TempDir()
	k := &Keeper{Key: filepath.Join(dir, "secrets", "masks.key")}
	file := filepath.Join(dir, "kept")
	if got, err := k.Recall(file); err != nil || got != nil {
		t.Fatal(got, err)
	}
	want := []string{token, "second-secret"}
	if err := k.Keep(file, want); err != nil {
		t.Fatal(err)
	}
	if got, err := (&Keeper{Key: k.Key}).Recall(file); err != nil || !slices.Equal(got, want) {
		t.Fatal(got, err)
	}
	sealed, err := os.ReadFile(file)
	if err != nil || bytes.Contains(sealed, []byte("second")) || bytes.Contains(sealed, []byte("sk-ant")) {
		t.Fatalf("%q, %v", sealed, err)
	}
	for _, name := range []string{file, k.Key} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Error(info, err)
		}
	}
	sealed[len(sealed)-1] ^= 1
	if err := os.WriteFile(file, sealed, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := k.Recall(file); err == nil {
		t.Error("a changed file was read:", got)
	}
}

// TestKeeperOddFiles: agents can write where these files are.
func TestKeeperOddFiles(t *testing.T) {
	dir := t.TempDir()
	k := &Keeper{Key: filepath.Join(dir, "masks.key")}
	good := filepath.Join(dir, "good")
	if err := k.Keep(good, []string{token}); err != nil {
		t.Fatal(err)
	}
	link, pipe, big := filepath.Join(dir, "link"), filepath.Join(dir, "pipe"), filepath.Join(dir, "big")
	for _, err := range []error{os.Symlink(good, link), syscall.Mkfifo(pipe, 0o600), os.WriteFile(big, make([]byte, sealedMax+1), 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{link, pipe, big} {
		if got, err := k.Recall(name); err == nil {
			t.Error(name, got)
		}
	}
	for _, damaged := range []string{"short", string(make([]byte, keySize+1))} {
		if err := os.WriteFile(k.Key, []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := k.Recall(good); err == nil {
			t.Error("without its key:", got)
		}
		if err := k.Keep(good, []string{token}); err != nil {
			t.Error("a damaged key was not replaced:", err)
		}
	}
}

// TestKeepersAtOnce: many runs begin at the same time in a new home.
func TestKeepersAtOnce(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			k := &Keeper{Key: filepath.Join(dir, "masks.key")}
			file := filepath.Join(dir, string(rune('a'+i)))
			if err := k.Keep(file, []string{token}); err != nil {
				t.Error(err)
			}
			if got, err := k.Recall(file); err != nil || len(got) != 1 {
				t.Error(got, err)
			}
		})
	}
	all.Wait()
}

func TestNilMasksNothing(t *testing.T) {
	var s *Set
	s.Put("a", token)
	var k *Keeper
	if got := s.MaskString(token); got != token || s.Reach() != 0 || k.Keep("", []string{token}) != nil {
		t.Error(got)
	}
}
