package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

func TestPR(t *testing.T) {
	t.Parallel()
	none := func(b *bench) {
		plans(b)
		b.fake.errs["CreatePullRequest"] = cw.Errorf(cw.CodeRefused, "nothing of spring-sale is merged yet").WithHint("see what its tasks wait for: cw dispatch status")
	}
	sessions(t, "pr", []sessionCase{
		{"create", []string{"pr", "create", "spring-sale"}, plans, 0},
		{"create draft", []string{"pr", "create", "spring-sale", "--draft", "--base", "develop"}, plans, 0},
		{"create json", []string{"pr", "create", "spring-sale", "--json"}, plans, 0},
		{"create nothing", []string{"pr", "create", "spring-sale"}, none, 4},
		{"create nowhere", []string{"pr", "create", "sprin-sale"}, plans, 3},
		{"create two", []string{"pr", "create", "spring-sale", "autumn"}, plans, 2},
		{"create odd forge", []string{"pr", "create", "spring-sale", "--forge", "gitlib"}, plans, 2},
		{"create empty base", []string{"pr", "create", "spring-sale", "--base", ""}, plans, 2},
		{"create no file", []string{"pr", "create", "spring-sale", "--body-file", ""}, plans, 2},
		{"create bad text", []string{"pr", "create", "spring-sale", "--body-file", "-"}, func(b *bench) { plans(b); stdin("a\xff")(b) }, 2},
	})
}

// TestPRRequest: what the flags say is asked for, and of the environment the
// tokens go along with what reaches a remote, and nothing else.
func TestPRRequest(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	plans(b)
	stdin("By hand.\n")(b)
	for name, value := range map[string]string{
		"GITHUB_TOKEN": "second", "GH_TOKEN": "first", "GITLAB_TOKEN": "third", "ANTHROPIC_API_KEY": "not this", "SSH_AUTH_SOCK": "/run/agent", "https_proxy": "http://p:1",
	} {
		b.env[name] = value
	}
	text, code := b.session(t.Context(), "pr", "create", "spring-sale", "--project", "shop", "--base", "develop", "--title", "Prices go down", "--body-file", "-", "--draft",
		"--forge", "github", "--account", "work", "--base-url", "https://git.example")
	if code != 0 || len(b.fake.asksPlans) != 1 {
		t.Fatalf("code %d, %d requests: %s", code, len(b.fake.asksPlans), text)
	}
	want := cw.PullRequestRequest{
		Project: "shop", Base: "develop", Title: "Prices go down", Body: "By hand.\n", Draft: true, Forge: cw.ForgeGitHub, Account: "work", BaseURL: "https://git.example",
		GitHubToken: cw.NewSecret("first"), GitLabToken: cw.NewSecret("third"),
		Env: map[string]string{"PATH": "/bin:/usr/bin", "SSH_AUTH_SOCK": "/run/agent", "https_proxy": "http://p:1"},
	}
	if diff := cmp.Diff(want, b.fake.asksPlans[0], cmp.Comparer(func(a, b cw.Secret) bool { return a.Reveal() == b.Reveal() })); diff != "" {
		t.Error(diff)
	}
}
