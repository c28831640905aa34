package api

import (
	"context"
	"net/http"

	"cw/internal/cw"
)

type collectGarbage struct {
	Body *cw.GCRequest
}

type makeBackup struct {
	Body cw.BackupRequest
}

func registerHouse(s *Server) {
	services := s.opts.Services
	handle(s, "collect-garbage", func(ctx context.Context, in *collectGarbage) (cw.GCReport, error) {
		report, err := services.CollectGarbage(ctx, orZero(in.Body))
		report.Items = orEmpty(report.Items)
		return report, err
	})
	handle(s, "make-backup", func(ctx context.Context, in *makeBackup) (cw.BackupReport, error) {
		report, err := services.Backup(ctx, in.Body)
		report.Files = orEmpty(report.Files)
		return report, err
	})
}

// orZero gives what a body that need not be there says.
func orZero[T any](body *T) T {
	if body == nil {
		return *new(T)
	}
	return *body
}

// CollectGarbage implements cw.HouseService.
func (c *Client) CollectGarbage(ctx context.Context, req cw.GCRequest) (cw.GCReport, error) {
	return call[cw.GCReport](ctx, c, request{method: http.MethodPost, path: "/v1/gc", body: req})
}

// Backup implements cw.HouseService.
func (c *Client) Backup(ctx context.Context, req cw.BackupRequest) (cw.BackupReport, error) {
	return call[cw.BackupReport](ctx, c, request{method: http.MethodPost, path: "/v1/backup", body: req})
}
