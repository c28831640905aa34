package daemon

import (
	"testing"

	"cw/internal/cw"
	"cw/internal/store"
)

// TestStatusMeasures: beside what does not change, the status tells the sizes
// of both databases and the room that is left.
func TestStatusMeasures(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, err := store.Open(t.Context(), store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	st, err := daemonService{facts: cw.DaemonStatus{Home: dir, PID: 7}, store: db}.Status(t.Context())
	if err != nil || st.PID != 7 || st.DatabaseBytes == 0 || st.LogBytes == 0 || st.FreeBytes == 0 {
		t.Errorf("%+v, %v", st, err)
	}
}
