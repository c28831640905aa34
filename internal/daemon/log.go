package daemon

import (
	"io"
	"log/slog"
	"time"

	"github.com/lmittmann/tint"
	"gopkg.in/natefinch/lumberjack.v2"

	"cw/internal/cw"
)

// newLog makes the daemon's log: daemon.log, rotated, and in the foreground
// also the terminal.
func newLog(home cw.Home, s LogSettings, foreground io.Writer) (*slog.Logger, io.Closer) {
	file := &lumberjack.Logger{Filename: home.DaemonLog(), MaxSize: s.MaxSize, MaxBackups: s.Backups}
	level := levelOf(s.Level)
	options := &slog.HandlerOptions{Level: level}
	handler := slog.Handler(slog.NewTextHandler(file, options))
	if s.Format == "json" {
		handler = slog.NewJSONHandler(file, options)
	}
	if foreground != nil {
		handler = slog.NewMultiHandler(handler, tint.NewTextHandler(foreground, &tint.Options{Level: level, TimeFormat: time.TimeOnly}))
	}
	return slog.New(handler), file
}

// levelOf reads a level that was checked when it was loaded.
func levelOf(name string) slog.Level {
	level := slog.LevelInfo
	_ = level.UnmarshalText([]byte(name)) // stays info
	return level
}
