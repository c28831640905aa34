package daemon

import (
	"io"
	"log/slog"
	"time"

	"github.com/lmittmann/tint"
	"gopkg.in/natefinch/lumberjack.v2"

	"cw/internal/cw"
)

const (
	logMaxMB      = 10 // of daemon.log before it is rotated
	logMaxBackups = 3
)

// newLog makes the daemon's log: daemon.log, rotated, and in the foreground
// also the terminal.
func newLog(home cw.Home, foreground io.Writer) (*slog.Logger, io.Closer) {
	file := &lumberjack.Logger{Filename: home.DaemonLog(), MaxSize: logMaxMB, MaxBackups: logMaxBackups}
	handler := slog.Handler(slog.NewTextHandler(file, nil))
	if foreground != nil {
		handler = slog.NewMultiHandler(handler, tint.NewTextHandler(foreground, &tint.Options{TimeFormat: time.TimeOnly}))
	}
	return slog.New(handler), file
}
