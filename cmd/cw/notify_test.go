package main

import (
	"testing"

	"cw/internal/cw"
)

func TestNotify(t *testing.T) {
	t.Parallel()
	trials := func(ok bool) func(*bench) {
		return func(b *bench) {
			b.fake.trials = []cw.HookTrial{
				{Kind: cw.HookWebhook, Target: "https://example.com", OK: true, Detail: "it took the notification, which was signed"},
				{Kind: cw.HookCommand, Target: "sh", OK: ok, Detail: "it ended with code 3: no\x1b[31m display"},
			}
		}
	}
	sessions(t, "notify", []sessionCase{
		{"test", []string{"notify", "test"}, trials(true), 0},
		{"test failed", []string{"notify", "test"}, trials(false), 1},
		{"test json", []string{"notify", "test", "--json"}, trials(false), 1},
		{"test nothing", []string{"notify", "test"}, func(b *bench) {
			b.fake.errs["TryHooks"] = cw.Errorf(cw.CodeRefused, "no notifications are configured").WithHint("cw config set notify.webhook URL")
		}, 4},
	})
}
