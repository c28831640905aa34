package daemon

import (
	"io"
	"log/slog"
	"time"

	"github.com/lmittmann/tint"
	"gopkg.in/natefinch/lumberjack.v2"
)

// newLog makes the daemon's log: daemon.log, rotated, and in the foreground
// also the terminal. Live secrets are masked in it.
func newLog(c Config, m masks) (*slog.Logger, io.Closer) {
	s, foreground := c.Settings.Log, c.Stderr
	file := &lumberjack.Logger{Filename: c.Home.DaemonLog(), MaxSize: s.MaxSize, MaxBackups: s.Backups}
	lines := maskedWriter{file, m.Set}
	level := levelOf(s.Level)
	options := &slog.HandlerOptions{Level: level}
	handler := slog.Handler(slog.NewTextHandler(lines, options))
	if s.Format == "json" {
		handler = slog.NewJSONHandler(lines, options)
	}
	if foreground != nil {
		handler = slog.NewMultiHandler(handler, tint.NewTextHandler(maskedWriter{foreground, m.Set}, &tint.Options{Level: level, TimeFormat: time.TimeOnly}))
	}
	return slog.New(handler), file
}

// levelOf reads a level that was checked when it was loaded.
func levelOf(name string) slog.Level {
	level := slog.LevelInfo
	_ = level.UnmarshalText([]byte(name)) // stays info
	return level
}
