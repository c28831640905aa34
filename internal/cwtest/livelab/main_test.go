package livelab

import (
	"fmt"
	"os"
	"testing"

	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
	"cw/internal/cwtest/talker"
)

// binary is the program under test.
var binary string

func TestMain(m *testing.M) {
	fakecli.Main() // the test binary is also the provider CLI
	talker.Main()
	if dir := os.Getenv(serveIn); dir != "" {
		os.Exit(serveAlone(dir))
	}
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
