package daemon

import (
	"log/slog"
	"testing"

	"cw/dispatch"
	"cw/internal/cw"
	"cw/internal/notify"
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
	j := newJanitor(Config{Home: cw.Home(dir), Settings: DefaultSettings()}, db, noEngine{new(int)}, "build", slog.New(slog.DiscardHandler))
	service := daemonService{facts: cw.DaemonStatus{Home: dir, PID: 7}, store: db, janitor: j, door: &tcpDoor{}, notices: new(notify.Notifier), tasks: new(dispatch.Dispatcher)}
	st, err := service.Status(t.Context())
	if err != nil || st.PID != 7 || st.DatabaseBytes == 0 || st.LogBytes == 0 || st.FreeBytes == 0 || st.FloorBytes == 0 || st.Sizes != nil {
		t.Errorf("%+v, %v", st, err)
	}
	j.sweep(t.Context(), false)
	if st, err = service.Status(t.Context()); err != nil || st.Sizes == nil || st.Sizes.Backups == 0 {
		t.Errorf("after a sweep: %+v, %v", st.Sizes, err)
	}
}

// TestShutdownWithoutADatabase: a daemon that cannot read its state any more can
// still be ended, and says who it is.
func TestShutdownWithoutADatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, err := store.Open(t.Context(), store.Options{Dir: dir})
	must(t, err)
	must(t, db.Close())
	j := newJanitor(Config{Home: cw.Home(dir), Settings: DefaultSettings()}, db, noEngine{new(int)}, "build", slog.New(slog.DiscardHandler))
	ended := false
	service := daemonService{facts: cw.DaemonStatus{Home: dir, PID: 7}, store: db, janitor: j, door: &tcpDoor{}, shutdown: func() { ended = true }}
	if _, err := service.Status(t.Context()); err == nil {
		t.Error("the status of a closed database is told")
	}
	if st, err := service.Shutdown(t.Context()); err != nil || st.PID != 7 || !ended {
		t.Errorf("%+v, %v, ended: %v", st, err, ended)
	}
}

func TestMemoryPercent(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		total, free int64
		want        int
	}{{1000, 390, 61}, {1000, 1, 100}, {1000, 1000, 0}, {0, 390, 0}, {1000, 0, 0}, {390, 1000, 0}} {
		if got := memoryPercent(tt.total, tt.free); got != tt.want {
			t.Errorf("%d of %d are free: %d %% in use, want %d", tt.free, tt.total, got, tt.want)
		}
	}
}
