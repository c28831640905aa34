package store

import (
	"context"
	"log/slog"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// slowLog is gorm's logger: it tells of slow statements, without their values.
// (gorm's own prints them with their values on stdout.) Errors are not told
// here, they are returned.
type slowLog struct {
	log  *slog.Logger
	over time.Duration
}

var _ gorm.ParamsFilter = slowLog{}

// LogMode changes nothing: the level is that of the slog logger.
func (l slowLog) LogMode(logger.LogLevel) logger.Interface { return l }

// Info drops what gorm says about itself.
func (l slowLog) Info(context.Context, string, ...any) {}

// Warn drops what gorm says about itself.
func (l slowLog) Warn(context.Context, string, ...any) {}

// Error drops what gorm returns as an error too.
func (l slowLog) Error(context.Context, string, ...any) {}

// Trace is called after each statement.
func (l slowLog) Trace(ctx context.Context, begin time.Time, statement func() (sql string, rows int64), _ error) {
	took := time.Since(begin)
	if took < l.over {
		return
	}
	sql, rows := statement()
	l.log.WarnContext(ctx, "slow database statement", "took", took, "rows", rows, "statement", sql)
}

// ParamsFilter keeps values out of the statement that is logged.
func (l slowLog) ParamsFilter(_ context.Context, sql string, _ ...any) (string, []any) {
	return sql, nil
}
