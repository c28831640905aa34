package cw_test

import (
	"os/exec"
	"testing"

	"cw/internal/cw"
)

// TestShellWord: a shell reads the word as it is, and what is plain stays readable.
func TestShellWord(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"", "a b", "it's", "$(touch x)", "`x`", "a;b", "a\nb", "*", "~", "-n", "ö", "!", `\`, "''"} {
		out, err := exec.Command("/bin/sh", "-c", "printf %s "+cw.ShellWord(word)).Output()
		if word == "-n" { // an option of printf, whatever its quotes are
			out, err = exec.Command("/bin/sh", "-c", "printf %s -- "+cw.ShellWord(word)).Output()
			out = out[2:]
		}
		if err != nil || string(out) != word {
			t.Errorf("%q: %q %v", word, out, err)
		}
	}
	for _, word := range []string{"lib/sm-1.2", "user@host:a", "a+b=c,d%"} {
		if got := cw.ShellWord(word); got != word {
			t.Errorf("%q is written as %s", word, got)
		}
	}
}
