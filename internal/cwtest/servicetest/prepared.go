package servicetest

import (
	"os"
	"path/filepath"
	"testing"

	"cw/environment"
	"cw/internal/cw"
)

// Names in a prepared Memory.
const (
	PreparedAgent      = "brave-otter" // at rest, works in PreparedProject
	PreparedStandalone = "calm-heron"  // runs, works in no project
	PreparedProject    = "shop"
	preparedFile       = "checks: {test: go test ./...}\n" // its cw.yaml, which nobody trusts yet
)

// PreparedDigest is that of the cw.yaml of PreparedProject.
func PreparedDigest() string { return environment.Digest([]byte(preparedFile)) }

// Prepared makes a Memory with everything that Exercise asks for. Paths in it
// hold characters that are special in a URL.
func Prepared(t testing.TB) (*Memory, Fixture) {
	t.Helper()
	dir := t.TempDir()
	repo := func(name string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Join(path, ".git"), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	m := NewMemory()
	ctx := cw.WithActor(t.Context(), cw.Actor{Kind: cw.ActorPerson})
	shop, err := m.AddProject(ctx, cw.ProjectRequest{Path: repo(PreparedProject)})
	ok(t, err)
	m.CommitFile(shop.Path, preparedFile)
	_, err = m.Spawn(ctx, cw.SpawnRequest{Goal: "sell more", Name: PreparedAgent, Projects: []string{PreparedProject}})
	ok(t, err)
	_, err = m.Spawn(ctx, cw.SpawnRequest{Goal: "think", Name: PreparedStandalone})
	ok(t, err)
	m.Forget(3)
	for _, said := range []struct {
		agent   string
		session int
		text    string
	}{
		{PreparedAgent, 1, "one\ntwo\nth"},
		{PreparedStandalone, 1, "not mine\n"},
		{PreparedAgent, 1, "ree\n:colon\n\ndata: x\nid: 7\n"},
		{PreparedAgent, 2, "\x00\xff\xfe not UTF-8\r\n"},
		{PreparedAgent, 2, "torn "},
		{PreparedAgent, 2, "over three "},
		{PreparedAgent, 2, "chunks\nlast without an end"},
	} {
		m.Say(said.agent, said.session, said.text)
	}
	m.Finish(PreparedAgent, cw.StatusIdle)
	m.Tell(cw.Event{Type: cw.EventAgentWarning, ActorKind: cw.ActorCW, InitiativeID: "springsaleaa", Data: []byte(`{"warning":"a\nb"}`)})
	fresh := repo("we ird%2F..?#ü;+&=")
	return m, Fixture{
		Services: m, Who: cw.ActorPerson,
		CommitFile: func(_ *testing.T, content string) { m.CommitFile(fresh, content) },
		Agent:      PreparedAgent, Standalone: PreparedStandalone, Project: PreparedProject,
		Repo: fresh, NoRepo: dir,
		Spawn: cw.SpawnRequest{Goal: "go on\nand on"},
		Say: func(n int) {
			for range n {
				m.Say(PreparedAgent, 2, "more\nand mo")
			}
		},
		Happen: func() { m.Tell(cw.Event{Type: cw.EventSecurityRefused, ActorKind: cw.ActorCW, Data: []byte(`{}`)}) },
		Gone:   1,
		Work: func(t *testing.T, projects ...string) (string, func()) {
			view, err := m.Spawn(ctx, cw.SpawnRequest{Goal: "work", Projects: projects})
			ok(t, err)
			return view.Alias, func() { m.Finish(view.Alias, cw.StatusIdle) }
		},
		Ask: func(t *testing.T) string {
			view, err := m.Spawn(ctx, cw.SpawnRequest{Goal: "ask"})
			ok(t, err)
			m.SignalQuestions(view.Alias, Asked()...)
			return view.Alias
		},
		Talk: func(t *testing.T) (string, cw.Services) {
			view, err := m.Spawn(ctx, cw.SpawnRequest{Goal: "talk", Projects: []string{PreparedProject}})
			ok(t, err)
			return view.Alias, m.As(view.Alias)
		},
		Text: func() string { return "go on <&>\nand on " + cw.NewID() },
		Lose: m.Lose, Dispatches: true,
		Suggest: func(t *testing.T, initiative cw.InitiativeID, proposals ...cw.Proposal) string {
			view, err := m.Spawn(ctx, cw.SpawnRequest{Goal: "suggest"})
			ok(t, err)
			m.Assign(view.Alias, initiative)
			m.Suggest(view.Alias, proposals...)
			return view.Alias
		},
	}
}
