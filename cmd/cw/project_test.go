package main

import (
	"context"
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
	sameOptions(t, &projectAddOptions{path: "./x"}, add)
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
	sameOptions(t, &projectListOptions{}, list)
}

func TestProject(t *testing.T) {
	t.Parallel()
	site := func(b *bench) {
		b.fake.projects = []cw.Project{
			{ID: "pppppppppppp", Name: "site", Path: "/work/repo", Mirror: "site-pppp.git", CreatedAt: epoch, UpdatedAt: epoch},
			{ID: "qqqqqqqqqqqq", Name: "tools", Path: "/work/tools", Mirror: "tools-qqqq.git", CreatedAt: epoch, UpdatedAt: epoch},
		}
	}
	sessions(t, "project", []sessionCase{
		{"add", []string{"project", "add", "../site"}, nil, 0},
		{"add json", []string{"project", "add", "--json", "."}, nil, 0},
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
		{"remove", []string{"project", "remove", "site"}, site, 0},
		{"remove json", []string{"project", "rm", "--json", "site"}, site, 0},
		{"remove used", []string{"project", "remove", "site"}, func(b *bench) {
			b.fake.errs["RemoveProject"] = cw.Errorf(cw.CodeRefused, "2 agents use site").WithHint("cw agent list --project site")
		}, 4},
	})
}
