package main

import (
	"strings"
	"testing"
)

// TestSuggest: a word that is no command leads to the one that was meant, and to
// none where it only resembles one by chance.
func TestSuggest(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"ls": "did you mean cw agent list?", "ps": "did you mean cw agent list?", "login": "did you mean cw account login?",
		"agnt": "did you mean cw agent?", "inbx": "did you mean cw inbox?", "version": "did you mean cw --version?",
		"xyz": "cw --help lists the commands", "go": "cw --help lists the commands",
	} {
		if text, code := newBench(t).session(t.Context(), word); code != 2 || !strings.Contains(text, want) {
			t.Errorf("cw %s: exit code %d, want %q:\n%s", word, code, want, text)
		}
	}
	for _, args := range [][]string{{"help", "nosuch"}, {"help", "agent", "nosuch"}, {"agent", "nosuch"}} {
		if text, code := newBench(t).session(t.Context(), args...); code != 2 || !strings.Contains(text, `no command "nosuch"`) {
			t.Errorf("cw %s: exit code %d:\n%s", strings.Join(args, " "), code, text)
		}
	}
	if text, code := newBench(t).session(t.Context(), "help", "agent", "list"); code != 0 || !strings.Contains(text, "cw agent list") {
		t.Errorf("exit code %d:\n%s", code, text)
	}
}
