package forge

import (
	"net/url"
	"strings"
	"testing"

	"cw/internal/cw"
)

func TestParseRemote(t *testing.T) {
	t.Parallel()
	tests := map[string]Repository{
		"https://github.com/octocat/Hello-World.git":               {"https", "github.com", "octocat/Hello-World"},
		"https://GitHub.com/octocat/Hello-World/":                  {"https", "github.com", "octocat/Hello-World"},
		"https://octocat:ghp_secret@github.com/octocat/Hello.git":  {"https", "github.com", "octocat/Hello"},
		"git@github.com:octocat/Hello-World.git":                   {"", "github.com", "octocat/Hello-World"},
		"github.com:/octocat/Hello-World":                          {"", "github.com", "octocat/Hello-World"},
		"ssh://git@ssh.github.com:443/octocat/Hello-World.git":     {"", "github.com", "octocat/Hello-World"},
		"git@altssh.gitlab.com:group/project.git":                  {"", "gitlab.com", "group/project"},
		"https://gitlab.example.com:8443/a/b/c.d/my_project.git":   {"https", "gitlab.example.com:8443", "a/b/c.d/my_project"},
		"http://127.0.0.1:3000/o/n":                                {"http", "127.0.0.1:3000", "o/n"},
		"http://[::1]:3000/o/n":                                    {"http", "[::1]:3000", "o/n"},
		"https://github.com/octocat/.github":                       {"https", "github.com", "octocat/.github"},
		"https://github.com/octocat":                               {},
		"https://github.com/octocat/..":                            {},
		"https://github.com/octocat/../x":                          {},
		"https://github.com/a/b%2Fc%3Fd":                           {},
		"https://github.com/a/b?x=1":                               {},
		"https://github.com/a/b#x":                                 {},
		"https://github.com//b":                                    {},
		"https://evil.com\\@github.com/a/b":                        {},
		"https://github.com/a/b c":                                 {},
		"https:///a/b":                                             {},
		"file:///srv/git/app.git":                                  {},
		"/srv/git/app.git":                                         {},
		"../app":                                                   {},
		"ext::sh -c id":                                            {},
		"ftp://github.com/a/b":                                     {},
		"":                                                         {},
		"git@github.com:octocat/" + strings.Repeat("x", remoteMax): {},
	}
	for remote, want := range tests {
		got, err := ParseRemote(remote)
		if want == (Repository{}) {
			if cw.ErrorCode(err) != cw.CodeInvalid {
				t.Errorf("%.80q: %+v, %v", remote, got, err)
			}
			continue
		}
		if err != nil || got != want {
			t.Errorf("%.80q: %+v, %v", remote, got, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%.80q: %v", remote, err)
		}
	}
}

func TestWhich(t *testing.T) {
	t.Parallel()
	tests := []struct {
		host         string
		wanted, want cw.Forge
	}{
		{"github.com", "", cw.ForgeGitHub},
		{"acme.ghe.com", "", cw.ForgeGitHub},
		{"gitlab.com", "", cw.ForgeGitLab},
		{"gitlab.example.com", "", cw.ForgeGitLab},
		{"git.example.com", "", ""},
		{"git.example.com", cw.ForgeGitLab, cw.ForgeGitLab},
		{"git.example.com", cw.ForgeGitHub, cw.ForgeGitHub},
		{"github.com.example.com", "", ""},
		{"github.com", "gitea", ""},
	}
	for _, test := range tests {
		got, err := Repository{Host: test.host, Path: "a/b"}.Which(test.wanted)
		if got != test.want || test.want == "" && (cw.ErrorCode(err) != cw.CodeInvalid || cw.ErrorHint(err) == "") {
			t.Errorf("%s, wanted %q: %q, %v", test.host, test.wanted, got, err)
		}
	}
}

// TestAddress: tokens go to the API of the remote's host, and never in the clear
// over a network.
func TestAddress(t *testing.T) {
	t.Parallel()
	tests := []struct {
		forge        cw.Forge
		remote, want string
	}{
		{cw.ForgeGitHub, "git@github.com:a/b", PublicAddress(cw.ForgeGitHub)},
		{cw.ForgeGitHub, "http://github.com/a/b", PublicAddress(cw.ForgeGitHub)},
		{cw.ForgeGitHub, "git@acme.ghe.com:a/b", "https://api.acme.ghe.com/"},
		{cw.ForgeGitHub, "https://git.example.com:8443/a/b", "https://git.example.com:8443/api/v3/"},
		{cw.ForgeGitHub, "ssh://git@git.example.com:2222/a/b", "https://git.example.com/api/v3/"},
		{cw.ForgeGitHub, "http://localhost:3000/a/b", "http://localhost:3000/api/v3/"},
		{cw.ForgeGitLab, "git@gitlab.com:a/b", PublicAddress(cw.ForgeGitLab)},
		{cw.ForgeGitLab, "http://gitlab.example.com/a/b", "https://gitlab.example.com/api/v4/"},
		{cw.ForgeGitLab, "http://127.0.0.1:3000/a/b", "http://127.0.0.1:3000/api/v4/"},
	}
	for _, test := range tests {
		r, err := ParseRemote(test.remote)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := r.Address(test.forge); err != nil || got != test.want {
			t.Errorf("%s: %s, %v", test.remote, got, err)
		}
	}
	for address, want := range map[string]string{
		"https://git.example.com":                 "https://git.example.com/api/v4/",
		"https://git.example.com/api/v4/":         "https://git.example.com/api/v4/",
		"https://example.com/gitlab/":             "https://example.com/gitlab/api/v4/",
		"http://127.0.0.1:3000":                   "http://127.0.0.1:3000/api/v4/",
		"http://git.example.com":                  "",
		"http://127.0.0.1.example.com":            "",
		"http://[::ffff:127.0.0.1]":               "",
		"https://oauth2:token@git.example.com":    "",
		"https://git.example.com?private_token=x": "",
		"https://git.example.com#x":               "",
		"git.example.com":                         "",
		"javascript:alert(1)":                     "",
		"":                                        "",
	} {
		got, err := CheckAddress(cw.ForgeGitLab, address)
		if got != want || want == "" && (cw.ErrorCode(err) != cw.CodeInvalid || strings.Contains(err.Error(), "token@")) {
			t.Errorf("%s: %q, %v", address, got, err)
		}
	}
}

func TestAt(t *testing.T) {
	t.Parallel()
	tests := []struct {
		forge                 cw.Forge
		remote, address, want string
	}{
		{cw.ForgeGitHub, "git@github.com:a/b", "https://api.github.com/", "a/b"},
		{cw.ForgeGitHub, "https://github.com/a/b/c", "https://api.github.com/", ""},
		{cw.ForgeGitLab, "https://example.com/gitlab/group/project", "https://example.com/gitlab/api/v4/", "group/project"},
		{cw.ForgeGitLab, "git@example.com:gitlab/project", "https://example.com/gitlab/api/v4/", "gitlab/project"},
		{cw.ForgeGitLab, "https://example.com/gitlab/project", "https://example.com/gitlab/api/v4/", ""},
		{cw.ForgeGitLab, "https://example.com/gitlab/group/project", "https://example.com/api/v4/", "gitlab/group/project"},
	}
	for _, test := range tests {
		r, err := ParseRemote(test.remote)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := r.At(test.forge, test.address); got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%s at %s: %q, %v", test.remote, test.address, got, err)
		}
	}
}

// FuzzParseRemote: whatever the URL is, what comes out names a host and a path
// that stand in an address as they are, and no credential.
func FuzzParseRemote(f *testing.F) {
	for _, remote := range []string{
		"https://user:pass@github.com/a/b.git", "git@gitlab.com:a/b/c", "ssh://git@h:22/a/b", "http://[::1]:80/a/b", "file:///a/b",
		"https://github.com/a/%2e%2e", "a:b/c", "git@h:/~u/a/b", "https://h/a//b", "https://h:99999/a/b",
	} {
		f.Add(remote)
	}
	f.Fuzz(func(t *testing.T, remote string) {
		r, err := ParseRemote(remote)
		if err != nil {
			if cw.ErrorCode(err) != cw.CodeInvalid || strings.Contains(err.Error(), "@") {
				t.Errorf("%q: %v", remote, err)
			}
			return
		}
		if strings.ContainsAny(r.Host+r.Path, "@?#\\ %") || strings.HasSuffix(r.Path, ".git") && !strings.HasSuffix(strings.TrimSuffix(r.Path, ".git"), ".git") && !strings.Contains(remote, ".git.git") {
			t.Errorf("%q: %+v", remote, r)
		}
		for _, part := range strings.Split(r.Path, "/") {
			if part == "" || part == "." || part == ".." {
				t.Errorf("%q: %+v", remote, r)
			}
		}
		for _, forge := range cw.Forges() {
			address, err := r.Address(forge)
			if err != nil {
				continue
			}
			u, err := url.Parse(address)
			if err != nil || u.User != nil || u.Scheme != "https" && !isLoopback(u.Host) || !strings.HasSuffix(u.Host, r.Host) {
				t.Errorf("%q at %s: %s, %v", remote, forge, address, err)
			}
			again, err := CheckAddress(forge, address)
			if err != nil || again != address {
				t.Errorf("%q at %s: %s, then %s, %v", remote, forge, address, again, err)
			}
		}
	})
}
