package servicetest

import (
	"context"

	"cw/internal/cw"
)

// TryHooks implements cw.NoticeService: no hook is configured.
func (m *Memory) TryHooks(context.Context) ([]cw.HookTrial, error) {
	return nil, cw.Errorf(cw.CodeRefused, "no notifications are configured").WithHint("cw config set notify.webhook URL")
}
