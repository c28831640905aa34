package forge

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"cw/internal/cw"
)

const (
	testToken  = "test_0123456789abcdef" // no form of a real one
	testBranch = "cw/spring-sale"
)

// server stands in for a forge on this machine. It has the two routes that are
// called, and answers in the shapes of the public descriptions of the APIs.
type server struct {
	t     *testing.T
	forge cw.Forge
	repo  string // the only one that the token sees
	url   string

	mu       sync.Mutex
	pulls    []pull             // guarded by mu
	answers  []http.HandlerFunc // guarded by mu; the next ones, in place of its own
	requests []string           // guarded by mu; METHOD path
}

// pull is what a forge keeps of a pull request.
type pull struct {
	number           int
	head, base       string
	title, body      string
	state            string
	draft, otherRepo bool
}

func newServer(t *testing.T, f cw.Forge, repo string) *server {
	t.Helper()
	s := &server{t: t, forge: f, repo: repo}
	listening := httptest.NewServer(s)
	t.Cleanup(listening.Close)
	s.url = listening.URL
	return s
}

// client is one with the right token.
func (s *server) client() *Client {
	s.t.Helper()
	c, err := New(Options{Forge: s.forge, Address: s.url, Token: cw.NewSecret(testToken), Account: "the account work"})
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// pull is what a test asks for.
func (s *server) request() PullRequest {
	return PullRequest{Repository: s.repo, Head: testBranch, Base: "main", Title: "Spring sale", Body: "Prices go down.\n"}
}

// answerNext answers the next request so, in place of what the server would do.
func (s *server) answerNext(status int, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = append(s.answers, func(w http.ResponseWriter, _ *http.Request) { say(w, status, body) })
}

// own lets the server answer the next request itself.
func (s *server) own() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = append(s.answers, nil)
}

func (s *server) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

func (s *server) kept() []pull {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.pulls)
}

func (s *server) put(p pull) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pulls = append(s.pulls, p)
}

func say(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if status >= 300 && status < 400 {
		w.Header().Set("Location", "/elsewhere")
	}
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
}

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.Method+" "+r.URL.EscapedPath())
	if len(s.answers) > 0 {
		next := s.answers[0]
		s.answers = s.answers[1:]
		if next != nil {
			next(w, r)
			return
		}
	}
	if s.forge == cw.ForgeGitHub {
		s.gitHub(w, r)
		return
	}
	s.gitLab(w, r)
}

func (s *server) gitHub(w http.ResponseWriter, r *http.Request) {
	root := "/api/v3/repos/" + s.repo + "/pulls"
	number, one := strings.CutPrefix(r.URL.Path, root+"/")
	switch {
	case r.Header.Get("Authorization") != "Bearer "+testToken:
		say(w, 401, `{"message":"Bad credentials","documentation_url":"https://docs.github.com/rest","status":"401"}`)
	case one && r.Method == http.MethodPatch:
		s.edit(w, r, number, "body")
	case r.URL.Path != root:
		say(w, 404, `{"message":"Not Found","documentation_url":"https://docs.github.com/rest/pulls/pulls#list-pull-requests","status":"404"}`)
	case r.Method == http.MethodGet:
		q := r.URL.Query()
		owner, branch, _ := strings.Cut(q.Get("head"), ":")
		if repoOwner, _, _ := strings.Cut(s.repo, "/"); owner != repoOwner {
			branch = "" // a filter that it does not understand counts for nothing
		}
		s.list(w, func(p pull) bool {
			return p.state == q.Get("state") && p.base == q.Get("base") && (branch == "" || p.head == branch)
		})
	case r.Method == http.MethodPost:
		var in struct {
			Title, Head, Base, Body string
			Draft                   bool
		}
		s.read(r, &in)
		if s.open(in.Head, in.Base) {
			say(w, 422, `{"message":"Validation Failed","errors":[{"resource":"PullRequest","code":"custom","message":"A pull request already exists for octocat:cw/spring-sale."}],"documentation_url":"https://docs.github.com/rest/pulls/pulls#create-a-pull-request","status":"422"}`)
			return
		}
		s.add(w, pull{head: in.Head, base: in.Base, title: in.Title, body: in.Body, draft: in.Draft})
	default:
		say(w, 405, `{}`)
	}
}

func (s *server) gitLab(w http.ResponseWriter, r *http.Request) {
	root := "/api/v4/projects/" + strings.ReplaceAll(s.repo, "/", "%2F") + "/merge_requests"
	number, one := strings.CutPrefix(r.URL.EscapedPath(), root+"/")
	switch {
	case r.Header.Get("Private-Token") != testToken:
		say(w, 401, `{"message":"401 Unauthorized"}`)
	case one && r.Method == http.MethodPut:
		s.edit(w, r, number, "description")
	case r.URL.EscapedPath() != root:
		say(w, 404, `{"message":"404 Project Not Found"}`)
	case r.Method == http.MethodGet:
		q := r.URL.Query()
		s.list(w, func(p pull) bool {
			return p.state == q.Get("state") && p.base == q.Get("target_branch") && p.head == q.Get("source_branch")
		})
	case r.Method == http.MethodPost:
		var in struct {
			Title, Description string
			Source             string `json:"source_branch"`
			Target             string `json:"target_branch"`
		}
		s.read(r, &in)
		if s.open(in.Source, in.Target) {
			say(w, 409, `{"message":["Another open merge request already exists for this source branch: !5"]}`)
			return
		}
		s.add(w, pull{head: in.Source, base: in.Target, title: in.Title, body: in.Description, draft: strings.HasPrefix(in.Title, "Draft:")})
	default:
		say(w, 405, `{}`)
	}
}

func (s *server) open(head, base string) bool {
	return slices.ContainsFunc(s.pulls, func(p pull) bool { return p.state == s.stateOpen() && !p.otherRepo && p.head == head && p.base == base })
}

func (s *server) stateOpen() string {
	if s.forge == cw.ForgeGitHub {
		return "open"
	}
	return "opened"
}

func (s *server) add(w http.ResponseWriter, p pull) {
	p.number, p.state = len(s.pulls)+7, s.stateOpen()
	s.pulls = append(s.pulls, p)
	say(w, 201, s.json(p))
}

func (s *server) edit(w http.ResponseWriter, r *http.Request, number, body string) {
	in := map[string]any{}
	s.read(r, &in)
	n, _ := strconv.Atoi(number)
	for i := range s.pulls {
		if p := &s.pulls[i]; p.number == n {
			p.title, p.body = fmt.Sprint(in["title"]), fmt.Sprint(in[body])
			if s.forge == cw.ForgeGitLab {
				p.draft = strings.HasPrefix(p.title, "Draft:")
			}
			say(w, 200, s.json(*p))
			return
		}
	}
	say(w, 404, `{"message":"Not Found"}`)
}

func (s *server) list(w http.ResponseWriter, which func(pull) bool) {
	all := []string{}
	for _, p := range s.pulls {
		if which(p) {
			all = append(all, s.json(p))
		}
	}
	say(w, 200, "["+strings.Join(all, ",")+"]")
}

func (s *server) read(r *http.Request, into any) {
	if err := json.NewDecoder(r.Body).Decode(into); err != nil {
		s.t.Errorf("%s %s: %v", r.Method, r.URL, err)
	}
}

// json is the whole answer about a pull request, as the forge's own description
// has it.
func (s *server) json(p pull) string {
	file := "github_pull.json"
	if s.forge == cw.ForgeGitLab {
		file = "gitlab_merge_request.json"
	}
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		s.t.Error(err)
	}
	var out map[string]any
	if err := json.Unmarshal(text, &out); err != nil {
		s.t.Error(err)
	}
	out["title"], out["state"], out["draft"] = p.title, p.state, p.draft
	if s.forge == cw.ForgeGitLab {
		out["iid"], out["description"], out["source_branch"], out["target_branch"] = p.number, p.body, p.head, p.base
		out["web_url"] = fmt.Sprintf("%s/%s/-/merge_requests/%d", s.url, s.repo, p.number)
		if p.otherRepo {
			out["source_project_id"] = 99
		}
	} else {
		out["number"], out["body"] = p.number, p.body
		out["html_url"] = fmt.Sprintf("%s/%s/pull/%d", s.url, s.repo, p.number)
		head, base := out["head"].(map[string]any), out["base"].(map[string]any)
		head["ref"], base["ref"] = p.head, p.base
		head["repo"].(map[string]any)["full_name"], base["repo"].(map[string]any)["full_name"] = s.repo, s.repo
		if p.otherRepo {
			head["repo"].(map[string]any)["full_name"] = "somebody/fork"
		}
	}
	data, err := json.Marshal(out)
	if err != nil {
		s.t.Error(err)
	}
	return string(data)
}
