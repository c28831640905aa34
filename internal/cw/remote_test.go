package cw

import (
	"strings"
	"testing"
)

func TestParseRemote(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string][2]string{ // URL → as it is stored, name
		"https://forge.example/team/site.git":      {"https://forge.example/team/site.git", "site"},
		"HTTPS://Forge.Example:8443/Team/Site/":    {"https://forge.example:8443/Team/Site", "Site"},
		"ssh://git@forge.example:22/team/site.git": {"ssh://git@forge.example:22/team/site.git", "site"},
		"ssh://forge.example/~me/site":             {"ssh://forge.example/~me/site", "site"},
		"git@forge.example:team/site.git":          {"git@forge.example:team/site.git", "site"},
		"Forge.example:site":                       {"forge.example:site", "site"},
		"git@forge.example:/srv/site/":             {"git@forge.example:/srv/site", "site"},
		"file:///srv/git/my%20site.git":            {"file:///srv/git/my%20site.git", "my site"},
		"file:///srv/site/.git":                    {"file:///srv/site/.git", "site"},
		"file://localhost/srv/site":                {"file:///srv/site", "site"},
		"http://127.0.0.1:8080/site.git":           {"http://127.0.0.1:8080/site.git", "site"},
		"http://[::1]:8080/site.git":               {"http://[::1]:8080/site.git", "site"},
		"https://forge.example/a%2Fb":              {"https://forge.example/a%2Fb", "a/b"},
	} {
		got, err := ParseRemote(raw)
		if err != nil || got != want[0] || RemoteName(got) != want[1] {
			t.Errorf("%q is %q, called %q, %v; want %q", raw, got, RemoteName(got), err, want)
		}
		if !LooksRemote(raw) {
			t.Errorf("%q is taken for a path", raw)
		}
		if again, err := ParseRemote(got); err != nil || again != got {
			t.Errorf("%q is not stable: %q, %v", got, again, err)
		}
	}
}

// TestHostileRemotes: nothing that runs a program, is an option, or holds a
// secret gets through, and no secret is repeated.
func TestHostileRemotes(t *testing.T) {
	t.Parallel()
	for raw, says := range map[string]string{
		"":                                       "empty",
		"ext::sh -c touch% /tmp/x":               "space",
		"ext::sh":                                "no URL",
		"fd::17":                                 "no URL",
		"file::/srv/x":                           "no URL",
		"ext::https://forge.example/x":           "names no repository",
		"ext://sh/x":                             "does not use ext",
		"git://forge.example/x":                  "does not use git",
		"ftp://forge.example/x":                  "does not use ftp",
		"git+ssh://git@forge.example/x":          "no credentials",
		"javascript://forge.example/x":           "does not use javascript",
		"-u/x":                                   "hyphen",
		"--upload-pack=touch:x":                  "hyphen",
		"ssh://-oProxyCommand=x/y":               "odd host",
		"ssh://git@-oProxyCommand=x/y":           "odd host",
		"ssh://-x@forge.example/y":               "odd user",
		"ssh://a%20b@forge.example/y":            "odd user",
		"ssh://forge.example/-oProxyCommand":     "names no repository",
		"-oProxyCommand=x:y":                     "hyphen",
		"a@-oProxyCommand:y":                     "no URL",
		"forge.example:-oProxyCommand":           "no URL",
		"[::1]:x":                                "no URL",
		"https://me:s3cret@forge.example/x":      "no credentials",
		"https://s3cret@forge.example/x":         "no credentials",
		"ssh://git:s3cret@forge.example/x":       "no credentials",
		"gopher://me:s3cret@forge.example/x":     "no credentials",
		"https://forge.example/x?token=s3cret":   "no credentials",
		"https://forge.example/x#s3cret":         "no credentials",
		"https://me:s3cret@forge.example:port/x": "no URL",
		"me:s3cret@forge.example:x":              "no URL",
		"http://forge.example/x":                 "not safe",
		"http://127.0.0.1.forge.example/x":       "not safe",
		"file://forge.example/x":                 "another machine",
		"file:///":                               "names no repository",
		"https://forge.example/":                 "names no repository",
		"https:///x":                             "odd host",
		"https://forge.example/a\nb":             "control",
		"https://forge.example/a\x00b":           "control",
		`https://forge.example\@other.example/x`: "backslash",
		"https://" + strings.Repeat("x", 3000):   "longer",
		"/srv/git/x":                             "no URL",
	} {
		got, err := ParseRemote(raw)
		if ErrorCode(err) != CodeInvalid || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%.60q: %q, %v; want %q", raw, got, err, says)
		}
	}
}

func TestLooksRemote(t *testing.T) {
	t.Parallel()
	for _, path := range []string{".", "..", "/srv/a:b", "./a:b", "site", "src/a:b", "", ":x"} {
		if LooksRemote(path) {
			t.Errorf("%q is taken for a URL", path)
		}
	}
	for _, odd := range []string{"ext::sh", "x://y", "a:b"} {
		if !LooksRemote(odd) {
			t.Errorf("%q is taken for a path", odd)
		}
	}
}
