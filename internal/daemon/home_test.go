package daemon_test

import (
	"testing"

	"cw/internal/cw"
	"cw/internal/daemon"
)

// TestDefaultHome: a relative path would be another home in each directory.
func TestDefaultHome(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		home, user string
		want       cw.Home
		code       cw.Code
	}{
		{"", "/home/lead", "/home/lead/.cw", ""},
		{"/srv/cw/", "/home/lead", "/srv/cw", ""},
		{"relative", "/home/lead", "", cw.CodeInvalid},
		{"~/cw", "/home/lead", "", cw.CodeInvalid},
		{"", "home", "", cw.CodeInvalid},
		{"", "", "", cw.CodeInvalid},
	} {
		got, err := daemon.DefaultHome(func(name string) string { return map[string]string{"CW_HOME": tt.home, "HOME": tt.user}[name] })
		if got != tt.want || cw.ErrorCode(err) != tt.code || err != nil && cw.ErrorHint(err) == "" {
			t.Errorf("CW_HOME=%q HOME=%q: %q, %v", tt.home, tt.user, got, err)
		}
	}
}
