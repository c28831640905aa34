package daemon_test

import (
	"errors"
	"os"
	"path/filepath"
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

// TestPrepareHomeOfSomebodyElse: a folder with other people's things under the names of
// cw's is not made a home, and one that is being removed is none any more; settings that
// somebody put there before, and a home that lost its database, are taken.
func TestPrepareHomeOfSomebodyElse(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		files []string
		taken bool
	}{
		"nothing":               {nil, true},
		"settings":              {[]string{"config.yaml", "providers/mine.yaml", "notes.txt"}, true},
		"programs":              {[]string{"bin/mine"}, false},
		"repositories":          {[]string{"repos/shop/README"}, false},
		"a home":                {[]string{"cw.db", "bin/b1/cw", "repos/shop.git/HEAD"}, true},
		"a home without its db": {[]string{"run/daemon.lock", "bin/b1/cw"}, true},
		"a home that is going":  {[]string{"cw.db", "run/daemon.lock", "uninstalling"}, false},
	} {
		home := cw.Home(filepath.Join(t.TempDir(), "home"))
		if err := os.Mkdir(string(home), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, file := range tt.files {
			path := filepath.Join(string(home), file)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		err := daemon.PrepareHome(home)
		if (err == nil) != tt.taken || err != nil && cw.ErrorCode(err) != cw.CodeRefused {
			t.Errorf("%s: %v, want it taken: %v", name, err, tt.taken)
		}
	}
}
