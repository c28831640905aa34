package store

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// roleVariable makes this test binary play another process; see roles.
const roleVariable = "CW_STORE_TEST_ROLE"

// roles are what this binary can be when a test starts it again.
func roles() map[string]func(dir string) error {
	return map[string]func(dir string) error{
		"appender": runAppender,
		"opener":   runOpener,
		"answerer": runAnswerer,
	}
}

func TestMain(m *testing.M) {
	if role := roles()[os.Getenv(roleVariable)]; role != nil {
		if err := role(os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	// gorm's cache of prepared statements has one goroutine per database that
	// nothing can end; it is asleep and holds no connection.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("gorm.io/gorm/internal/lru.NewLRU[...].func1"))
}
