package store_test

import (
	"cw/internal/store"
	"cw/planning"
)

// The store is what planning wants kept.
var _ planning.Store = (*store.DB)(nil)
