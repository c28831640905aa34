package main

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"
)

// FuzzEscapeControls: the JSON means the same, and a terminal obeys none of it.
func FuzzEscapeControls(f *testing.F) {
	f.Add("\u009b31m \x7f plain")
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "?")
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		safe := escapeControls(string(text))
		if strings.ContainsFunc(safe, unsafeRune) {
			t.Errorf("%q keeps a control character", safe)
		}
		var back string
		if err := json.Unmarshal([]byte(safe), &back); err != nil || back != s {
			t.Errorf("%q became %q (%v)", s, back, err)
		}
	})
}

func TestSmallTexts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ got, want string }{
		{cut("brave-otter", 6), "brave…"},
		{cut("otter", 5), "otter"},
		{cut("日本語", 2), "日…"},
		{cut("x", 0), ""},
		{elapsed(-time.Second), "0s"},
		{elapsed(59 * time.Second), "59s"},
		{elapsed(3*time.Minute + 5*time.Second), "3m05s"},
		{elapsed(2*time.Hour + 10*time.Minute), "2h10m"},
		{elapsed(100 * time.Hour), "4d"},
		{count(1, "commit"), "1 commit"},
		{count(0, "commit"), "0 commits"},
		{thousands(950), "950"},
		{thousands(12345), "12.3k"},
		{thousands(1_250_000), "1.2M"},
		{size(512), "512 B"},
		{size(3_565_158), "3.4 MiB"},
		{dollars(0.0042), "$0.0042"},
		{dollars(1.5), "$1.50"},
		{shortRef("refs/heads/agent/x"), "agent/x"},
		{shortRef("refs/remotes/cw/agent/x"), "cw/agent/x"},
		{shortCommit("abc"), "abc"},
	} {
		if tc.got != tc.want {
			t.Errorf("got %q, want %q", tc.got, tc.want)
		}
	}
}

// TestFullStdout: an answer that nobody got is a failure.
func TestFullStdout(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"id"}, {"id", "--json"}, {"status"}, {"agent", "list"}, {"stop"}, {"--help"}} {
		b := newBench(t)
		b.out = full{}
		b.fake.add(running("brave-otter"), nil)
		if text, code := b.session(t.Context(), args...); code != 1 || !strings.Contains(text, "no space left") {
			t.Errorf("want exit code 1:\n%s", text)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }
