package main

import (
	"context"
	"strings"
	"testing"

	"cw/internal/cw"
)

func TestProjectOptions(t *testing.T) {
	t.Parallel()
	add, err := parsed(t, []string{"./x"},
		func(a *app, f func(context.Context, *projectAddOptions) error) runner { return newProjectAddCmd(a, f) })
	if err != nil {
		t.Fatal(err)
	}
	sameOptions(t, &projectAddOptions{where: "./x"}, add)
	show, err := parsed(t, []string{"x"},
		func(a *app, f func(context.Context, *projectShowOptions) error) runner {
			return newProjectShowCmd(a, f)
		})
	if err != nil {
		t.Fatal(err)
	}
	sameOptions(t, &projectShowOptions{ref: "x"}, show)
	remove, err := parsed(t, []string{"x"},
		func(a *app, f func(context.Context, *projectRemoveOptions) error) runner {
			return newProjectRemoveCmd(a, f)
		})
	if err != nil {
		t.Fatal(err)
	}
	sameOptions(t, &projectRemoveOptions{ref: "x"}, remove)
	list, err := parsed(t, nil,
		func(a *app, f func(context.Context, *projectListOptions) error) runner {
			return newProjectListCmd(a, f)
		})
	if err != nil {
		t.Fatal(err)
	}
	sameOptions(t, &projectListOptions{listing: listing{sort: "name"}}, list)
}

func TestProject(t *testing.T) {
	t.Parallel()
	site := func(b *bench) {
		b.fake.projects = []cw.Project{
			{ID: "pppppppppppp", Name: "site", Path: "/work/repo", Mirror: "site-pppp.git", Fallback: []string{}, CreatedAt: epoch, UpdatedAt: epoch},
			{ID: "qqqqqqqqqqqq", Name: "tools", Path: "/work/tools", Mirror: "tools-qqqq.git", Fallback: []string{}, CreatedAt: epoch, UpdatedAt: epoch},
		}
	}
	remote := func(b *bench) {
		b.fake.projects = []cw.Project{{
			ID: "pppppppppppp", Name: "site", RemoteURL: "https://forge.example/site", GitDir: "/work/home/repos/site-pppp.remote.git",
			Mirror: "site-pppp.git", Fallback: []string{}, CreatedAt: epoch, UpdatedAt: epoch,
		}}
	}
	untrusted := func(b *bench) {
		site(b)
		b.fake.file = cw.ProjectFileView{
			Present: true, Digest: "abcd", Content: "setup: [npm ci]\n# \x1b[2K\u202eseems harmless\n",
			File: cw.ProjectFile{Setup: []cw.ProjectCommand{{Name: "npm ci", Run: "npm ci"}}},
		}
	}
	broken := func(b *bench) {
		site(b)
		b.fake.file = cw.ProjectFileView{Present: true, Problem: "cw.yaml:1: unknown key \"checs\" (did you mean checks?)"}
	}
	typing := func(text string) func(*bench) {
		return func(b *bench) {
			untrusted(b)
			b.in, b.inTTY, b.errTTY = strings.NewReader(text), true, true
		}
	}
	sessions(t, "project", []sessionCase{
		{"add", []string{"project", "add", "../site"}, nil, 0},
		{"add json", []string{"project", "add", "--json", "."}, nil, 0},
		{"add remote", []string{"project", "add", "git@forge.example:team/site.git"}, nil, 0},
		{"add hostile", []string{"project", "add", "ext::sh"}, nil, 2},
		{"add with password", []string{"project", "add", "https://me:s3cret@forge.example/site"}, nil, 2},
		{"list remote", []string{"project", "list"}, remote, 0},
		{"show remote", []string{"project", "show", "https://forge.example/site"}, remote, 0},
		{"remove remote", []string{"project", "remove", "site"}, remote, 0},
		{"add nothing", []string{"project", "add"}, nil, 2},
		{"add refused", []string{"project", "add", "."}, func(b *bench) {
			b.fake.errs["AddProject"] = cw.Errorf(cw.CodeInvalid, "/work/repo is a bare repository").WithHint("name a checkout of it")
		}, 2},
		{"list", []string{"project", "list"}, site, 0},
		{"list json", []string{"project", "list", "--json"}, site, 0},
		{"list empty", []string{"project", "list"}, nil, 0},
		{"list empty json", []string{"project", "list", "--json"}, nil, 0},
		{"show", []string{"project", "show", "site"}, site, 0},
		{"show by path", []string{"project", "show", "."}, site, 0},
		{"show json", []string{"project", "show", "--json", "site"}, site, 0},
		{"show unknown", []string{"project", "show", "none"}, site, 3},
		{"show with file", []string{"project", "show", "site"}, untrusted, 0},
		{"show with file json", []string{"project", "show", "--json", "site"}, untrusted, 0},
		{"show broken file", []string{"project", "show", "site"}, broken, 0},
		{"trust asked", []string{"project", "trust", "site"}, typing("maybe\nyes\n"), 0},
		{"trust refused", []string{"project", "trust", "site"}, typing("no\n"), 4},
		{"trust left", []string{"project", "trust", "site"}, typing(""), 4},
		{"trust without a terminal", []string{"project", "trust", "site"}, untrusted, 7},
		{"trust yes", []string{"project", "trust", "--yes", "site"}, untrusted, 0},
		{"trust json", []string{"project", "trust", "--json", "--yes", "site"}, untrusted, 0},
		{"trust digest", []string{"project", "trust", "--digest", "abcd", "site"}, untrusted, 0},
		{"trust another digest", []string{"project", "trust", "--digest", "ef", "--yes", "site"}, untrusted, 4},
		{"trust changed meanwhile", []string{"project", "trust", "--yes", "site"}, func(b *bench) {
			untrusted(b)
			b.fake.errs["TrustProject"] = cw.Errorf(cw.CodeRefused, "the cw.yaml of site is another one than what you looked at").WithHint("look at it again: cw project trust site")
		}, 4},
		{"trust no file", []string{"project", "trust", "site"}, site, 4},
		{"trust broken file", []string{"project", "trust", "--yes", "site"}, broken, 4},
		{"trust unknown", []string{"project", "trust", "none"}, site, 3},
		{"trust revoke", []string{"project", "trust", "--revoke", "site"}, untrusted, 0},
		{"remove", []string{"project", "remove", "site"}, site, 0},
		{"remove json", []string{"project", "rm", "--json", "site"}, site, 0},
		{"remove used", []string{"project", "remove", "site"}, func(b *bench) {
			b.fake.errs["RemoveProject"] = cw.Errorf(cw.CodeRefused, "2 agents use site").WithHint("cw agent list --project site")
		}, 4},
	})
}

// TestNoWorkingDirectory: what depends on it says so, the rest works.
func TestNoWorkingDirectory(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		args []string
		code int
	}{
		{[]string{"project", "add", "."}, 1},
		{[]string{"project", "show", "./x"}, 1},
		{[]string{"project", "remove", ".."}, 1},
		{[]string{"agent", "list", "--project", "."}, 1},
		{[]string{"agent", "spawn", "--project", ".", "x"}, 1},
		{[]string{"agent", "spawn", "--script", "./x.sh", "x"}, 1},
		{[]string{"agent", "spawn", "--prompt-file", "x.md"}, 1},
		{[]string{"project", "add", "/work/site"}, 0},
		{[]string{"agent", "list", "--project", "site"}, 0},
		{[]string{"agent", "spawn", "--script", "prettier", "x"}, 1},
	} {
		b := newBench(t)
		b.dir = ""
		b.fake.add(running("brave-otter"), nil)
		text, code := b.session(t.Context(), tc.args...)
		if code != tc.code || strings.Contains(text, "the working directory is gone") != (code != 0) {
			t.Errorf("want exit code %d:\n%s", tc.code, text)
		}
	}
}
