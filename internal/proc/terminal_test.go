package proc

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestInTerminal: the command has the given streams and environment and nothing
// else, and how it ended is told.
func TestInTerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in, err := os.CreateTemp(dir, "in")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if _, err := in.WriteString("typed\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Seek(0, 0); err != nil {
		t.Fatal(err)
	}
	out, err := os.CreateTemp(dir, "out")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	env, on := []string{"PATH=/usr/bin:/bin", "ONLY=this"}, Terminal{Dir: dir, In: in, Out: out, Err: out}
	err = InTerminal([]string{"sh", "-c", `read line; echo "$line $ONLY ${HOME-none}"; basename "$PWD"; echo loud >&2; exit 3`}, env, on)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("it ended with %v", err)
	}
	said, err := os.ReadFile(out.Name())
	if err != nil || string(said) != "typed this none\n"+filepath.Base(dir)+"\nloud\n" {
		t.Errorf("it said %q (%v)", said, err)
	}
	if err := InTerminal([]string{"true"}, env, on); err != nil {
		t.Error(err)
	}
	if err := InTerminal([]string{"sh"}, []string{"PATH=" + filepath.Join(dir, "nothing")}, on); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("a program that is not there: %v", err)
	}
	if err := InTerminal(nil, env, on); err == nil {
		t.Error("no command ran")
	}
}
