package mergelab

import (
	"fmt"
	"os"
	"testing"

	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

// binary is the program under test.
var binary string

func TestMain(m *testing.M) {
	fakecli.Main() // the test binary is also the provider CLI
	built, cleanup, err := lab.Build()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = built
	code := m.Run()
	cleanup()
	os.Exit(code)
}
