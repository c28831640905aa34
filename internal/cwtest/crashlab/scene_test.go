package crashlab

import (
	"context"
	"database/sql"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	_ "modernc.org/sqlite" // the databases are also looked at without the program

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

// scene is what is known of a lab without asking the program: what was promised
// to people, what was done to processes, and what was there before. look adds
// what is there now, and the invariants are judged over both.
type scene struct {
	lab    *lab.Lab
	canary string            // a secret that only the CLIs may have
	tells  bool              // and that they print, as their tokens
	mine   map[string]string // what is the user's, and must stay as it was

	mu       sync.Mutex
	promised []promise                // guarded by mu: texts that the program took
	given    map[cw.QuestionID]string // guarded by mu: answers that the program took
	killed   map[string]string        // guarded by mu: run → whom the test killed
	// uncounted tells that the program was spoilt on purpose: what is found
	// broken says nothing about it.
	uncounted bool
	put       map[string]string // files in worktrees that the test wrote → git's names for their contents

	views     []cw.AgentView // removed ones too
	books     map[string]fakecli.Book
	processes []lab.Process
	questions []cw.QuestionView
	// conversations are those of agents.
	conversations []cw.ConversationView
}

// promise is a mark in a text that the program acknowledged for an agent.
type promise struct {
	agent cw.AgentID
	mark  string
}

func newScene(l *lab.Lab) *scene {
	s := &scene{
		lab: l, canary: "canary-" + cw.NewID() + cw.NewID(),
		given: map[cw.QuestionID]string{}, killed: map[string]string{}, put: map[string]string{},
	}
	s.mine = s.belongings()
	return s
}

// promise notes the marks of texts that the program took.
func (s *scene) promise(agent cw.AgentID, texts ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, mark := range fakecli.Says(strings.Join(texts, " ")) {
		s.promised = append(s.promised, promise{agent: agent, mark: mark})
	}
}

// gave notes answers that the program took.
func (s *scene) gave(agent cw.AgentID, answers map[cw.QuestionID]string) {
	s.mu.Lock()
	maps.Copy(s.given, answers)
	s.mu.Unlock()
	s.promise(agent, slices.Collect(maps.Values(answers))...)
}

// kills notes that the test killed a process of a run. It is false when it did
// so before.
func (s *scene) kills(p lab.Process, what string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.Run == "" || s.killed[p.Run] != "" {
		return false
	}
	s.killed[p.Run] = what
	lab.KillProcess(p)
	return true
}

// look takes everything in. Nobody kills or asks any more.
func (s *scene) look() {
	t := s.lab.T
	t.Helper()
	s.views = nil
	for _, removed := range []bool{false, true} {
		views, err := cw.AllAgents(t.Context(), s.lab.Client(), cw.AgentFilter{Removed: removed})
		if err != nil {
			t.Fatalf("list agents: %v", err)
		}
		s.views = append(s.views, views...)
	}
	var err error
	if s.books, err = fakecli.ReadBooks(s.lab.Books); err != nil {
		t.Fatal(err)
	}
	s.processes = slices.DeleteFunc(lab.Processes(string(s.lab.Home)), func(p lab.Process) bool { return p.Run == "" })
	s.questions, err = cw.SomePages(t.Context(), 0, func(ctx context.Context, q cw.PageQuery) (cw.Page[cw.QuestionView], error) {
		return s.lab.Client().Questions(ctx, cw.QuestionFilter{PageQuery: q})
	})
	if err != nil {
		t.Fatalf("list questions: %v", err)
	}
	if s.conversations, err = s.allConversations(t.Context()); err != nil {
		t.Fatalf("list conversations: %v", err)
	}
}

// belongings is what is the user's in the repository: every ref but those that
// agents' branches come in by, what is checked out, and the configuration.
func (s *scene) belongings() map[string]string {
	out := map[string]string{
		"HEAD":   lab.Git(s.lab.T, s.lab.Repo, "symbolic-ref", "HEAD"),
		"status": lab.Git(s.lab.T, s.lab.Repo, "status", "--porcelain", "--ignored"),
		"config": lab.Git(s.lab.T, s.lab.Repo, "config", "--local", "--list"),
	}
	for line := range strings.Lines(lab.Git(s.lab.T, s.lab.Repo, "for-each-ref", "--format=%(refname) %(objectname)")) {
		ref, at, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.HasPrefix(ref, "refs/heads/agent/") && !strings.HasPrefix(ref, "refs/remotes/cw/") {
			out[ref] = at
		}
	}
	hooks, _ := filepath.Glob(filepath.Join(s.lab.Repo, ".git", "hooks", "*")) // the pattern is well formed
	out["hooks"] = strings.Join(hooks, " ")
	return out
}

// ask reads one column of a database, beside the program.
func (s *scene) ask(database, query string) (out []string) {
	t := s.lab.T
	t.Helper()
	// As a URL: the name of a test may hold a "#".
	file := url.URL{Scheme: "file", Path: filepath.Join(string(s.lab.Home), database), RawQuery: "mode=ro&_pragma=busy_timeout(10000)"}
	db, err := sql.Open("sqlite", file.String())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		out = append(out, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// puts writes a file into a worktree, as a person would: it must not be lost.
func (s *scene) puts(file, content string) {
	t := s.lab.T
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	s.put[file] = fakecli.Blob(content)
}

// gits are the git directories in which the work of agents may be: the mirrors
// and the user's repository.
func (s *scene) gits() []string {
	mirrors, _ := filepath.Glob(filepath.Join(s.lab.Home.Repos(), "*.git")) // the pattern is well formed
	return append(mirrors, filepath.Join(s.lab.Repo, ".git"))
}

// blobs are all contents that refs hold.
func (s *scene) blobs() map[string]bool {
	out := map[string]bool{}
	for _, dir := range s.gits() {
		for line := range strings.Lines(lab.Git(s.lab.T, dir, "rev-list", "--objects", "--all")) {
			id, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			out[id] = true
		}
	}
	return out
}

// places are the folders in which an agent's files may be now.
func (s *scene) places(v cw.AgentView) []string {
	out := []string{v.AgentCwd}
	for _, p := range v.Projects {
		out = append(out, p.Path)
		if p.Trash != "" {
			out = append(out, p.Trash)
		}
	}
	return out
}

// raw is the raw file of a run, nil when it is not there.
func raw(r cw.Run) []byte {
	data, err := os.ReadFile(r.OutputPath)
	if err != nil {
		return nil
	}
	return data
}
