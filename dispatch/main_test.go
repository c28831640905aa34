package dispatch

import (
	"testing"

	"go.uber.org/goleak"
)

// gorm's cache of prepared statements has one goroutine per database that nothing
// can end.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("gorm.io/gorm/internal/lru.NewLRU[...].func1"))
}
