package daemon_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

// hub stands in for GitHub: one repository, acme/shop, and whoever has a token
// may do anything.
type hub struct {
	url string

	mu     sync.Mutex
	tokens []string         // guarded by mu; of each request
	opened []map[string]any // guarded by mu; the pull requests as they are now
	calls  []string         // guarded by mu
}

func newHub(t *testing.T) *hub {
	t.Helper()
	h := &hub{}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	h.url = s.URL
	return h
}

// ServeHTTP implements http.Handler.
func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tokens = append(h.tokens, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	h.calls = append(h.calls, r.Method+" "+r.URL.Path)
	const root = "/api/v3/repos/acme/shop/pulls"
	var in map[string]any
	_ = json.NewDecoder(r.Body).Decode(&in) // a GET has none
	var out any = map[string]string{"message": "Not Found"}
	switch {
	case r.Method == http.MethodGet && r.URL.Path == root:
		list := []map[string]any{}
		for _, pr := range h.opened {
			if "acme:"+pr["head"].(map[string]any)["ref"].(string) == r.URL.Query().Get("head") {
				list = append(list, pr)
			}
		}
		out = list
	case r.Method == http.MethodPost && r.URL.Path == root:
		repo := map[string]any{"full_name": "acme/shop"}
		pr := map[string]any{
			"number": len(h.opened) + 7, "html_url": fmt.Sprintf("%s/acme/shop/pull/%d", h.url, len(h.opened)+7), "state": "open",
			"title": in["title"], "body": in["body"], "draft": in["draft"],
			"head": map[string]any{"ref": in["head"], "repo": repo}, "base": map[string]any{"ref": in["base"], "repo": repo},
		}
		h.opened = append(h.opened, pr)
		w.WriteHeader(http.StatusCreated)
		out = pr
	case r.Method == http.MethodPatch && len(h.opened) > 0 && r.URL.Path == fmt.Sprintf("%s/%v", root, h.opened[0]["number"]):
		h.opened[0]["title"], h.opened[0]["body"] = in["title"], in["body"]
		out = h.opened[0]
	default:
		w.WriteHeader(http.StatusNotFound)
	}
	_ = json.NewEncoder(w).Encode(out)
}

// sale is an initiative of which something is merged, in a lab whose repository
// is at a hub. The remote is a bare repository on this machine.
func sale(t *testing.T, l *lab.Lab, h *hub) (i cw.Initiative, bare, head string) {
	t.Helper()
	remotes := t.TempDir()
	bare = filepath.Join(remotes, "acme", "shop.git")
	lab.Git(t, l.Repo, "clone", "-q", "--bare", l.Repo, bare)
	lab.Git(t, l.Repo, "remote", "add", "origin", h.url+"/acme/shop.git")
	lab.Git(t, l.Repo, "config", "url."+remotes+"/.pushInsteadOf", h.url+"/")
	ctx, c := t.Context(), l.Client()
	_, err := c.AddProject(ctx, cw.ProjectRequest{Path: l.Repo})
	must(t, err)
	i, err = c.CreateInitiative(ctx, cw.CreateInitiativeRequest{Start: true, Name: "Spring sale", Goal: "Prices go down, says @boss.", Projects: []string{"shop"}})
	must(t, err)
	provider := "fake"
	_, err = c.EditInitiative(ctx, i.Slug, cw.InitiativeEdit{Work: &cw.WorkEdit{Provider: &provider}})
	must(t, err)
	phase, err := c.CreatePhase(ctx, cw.CreatePhaseRequest{Initiative: i.Slug, Name: "Prices"})
	must(t, err)
	approved := cw.PhaseApproved
	_, err = c.EditPhase(ctx, phase.ID, cw.PhaseEdit{Status: &approved})
	must(t, err)
	script := fakecli.Script{Book: l.Books, File: "sale.txt", Content: "-20 %\n", Commit: "Begin the sale", Signal: doneSignal}
	task, err := c.CreateTask(ctx, cw.CreateTaskRequest{PhaseID: phase.ID, Name: "Lower the prices", Body: script.Goal()})
	must(t, err)
	for end := time.Now().Add(4 * time.Minute); task.Status != cw.TaskDone || head == ""; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the task is %s, and the branch is shown at %q", task.Status, head)
		}
		task, err = c.Task(ctx, task.ID)
		must(t, err)
		head = lab.Git(t, l.Repo, "for-each-ref", "--format=%(objectname)", "refs/remotes/"+i.Branch())
	}
	return i, bare, head
}

// TestPullRequest is one from the first push to a title that is changed, with a
// token of the caller's and then of an account. Neither is written down.
func TestPullRequest(t *testing.T) {
	t.Parallel()
	l := lab.New(t, binary)
	l.Env = []string{"CW_CONFIG_HTTP_ADDRESS=127.0.0.1:0", "CW_CONFIG_LOG_LEVEL=debug", "CW_CONFIG_DISPATCH_KEEPFREE=1MiB"}
	l.Start()
	h := newHub(t)
	i, bare, head := sale(t, l, h)
	ctx, c := t.Context(), l.Client()
	mine := lab.Git(t, l.Repo, "for-each-ref")

	caller, kept := "caller-"+cw.NewID()+cw.NewID(), "account-"+cw.NewID()+cw.NewID()
	req := cw.PullRequestRequest{Base: "main", Forge: cw.ForgeGitHub, Draft: true, GitHubToken: cw.NewSecret(caller)}
	for what, bad := range map[string]struct {
		change func(*cw.PullRequestRequest)
		code   cw.Code
		hint   string
	}{
		"itself as a base":         {func(r *cw.PullRequestRequest) { r.Base = i.Branch() }, cw.CodeInvalid, "--base"},
		"no forge":                 {func(r *cw.PullRequestRequest) { r.Forge = "" }, cw.CodeInvalid, "--forge github"},
		"a token for another host": {func(r *cw.PullRequestRequest) {}, cw.CodeRefused, "--base-url"},
		"no token":                 {func(r *cw.PullRequestRequest) { r.GitHubToken = cw.Secret{} }, cw.CodeRefused, "cw account add --provider github"},
		"an address in the clear":  {func(r *cw.PullRequestRequest) { r.BaseURL = "http://github.example" }, cw.CodeInvalid, "https"},
		"another forge's account":  {func(r *cw.PullRequestRequest) { r.Account = "claude/default" }, cw.CodeInvalid, "cw account list"},
	} {
		r := req
		bad.change(&r)
		_, err := c.CreatePullRequest(ctx, i.Slug, r)
		if cw.ErrorCode(err) != bad.code || !strings.Contains(cw.ErrorHint(err), bad.hint) {
			t.Errorf("with %s: %v, hint %q", what, err, cw.ErrorHint(err))
		}
	}
	if refs := lab.Git(t, bare, "for-each-ref"); strings.Contains(refs, i.Branch()) || len(h.calls) > 0 {
		t.Fatalf("refused, and yet at the remote: %s; asked: %q", refs, h.calls)
	}

	req.BaseURL = h.url
	first, err := c.CreatePullRequest(ctx, i.Slug, req)
	must(t, err)
	if first.Number != 7 || first.Existed || !first.Pushed || !first.Draft || first.Head != head || first.Base != "main" || first.Title != "Spring sale" || first.Project != "shop" {
		t.Errorf("opened %+v", first)
	}
	if at := lab.Git(t, bare, "rev-parse", i.Branch()); at != head {
		t.Errorf("at the remote is %s", at)
	}
	if body := fmt.Sprint(h.opened[0]["body"]); !strings.Contains(body, "Prices go down") || strings.Contains(body, "@boss") {
		t.Errorf("its text: %q", body)
	}

	_, err = c.AddAccount(ctx, cw.AddAccountRequest{Provider: "github", Name: "work", Token: cw.NewSecret(kept), BaseURL: h.url})
	must(t, err)
	second, err := c.CreatePullRequest(ctx, string(i.ID), cw.PullRequestRequest{Base: "main", Forge: cw.ForgeGitHub, Title: "Summer sale", Body: "By " + kept})
	must(t, err)
	want := first
	want.Existed, want.Pushed, want.Title = true, false, "Summer sale"
	if second != want {
		t.Errorf("the second time: %+v", second)
	}
	if body := fmt.Sprint(h.opened[0]["body"]); len(h.opened) != 1 || h.opened[0]["title"] != "Summer sale" || strings.Contains(body, kept) {
		t.Errorf("at the forge: %v", h.opened)
	}
	if len(h.tokens) != 4 || h.tokens[0] != caller || h.tokens[3] != kept {
		t.Errorf("the tokens of requests: %q", h.tokens)
	}
	if now := lab.Git(t, l.Repo, "for-each-ref"); now != mine {
		t.Errorf("in the user's repository:\n%s\nand before:\n%s", now, mine)
	}
	if tried, err := c.TestAccount(ctx, "github/work"); err != nil || !tried.OK {
		t.Errorf("tried: %+v, %v", tried, err)
	}
	fromAfar(t, l, i)
	for _, secret := range []string{caller, kept} {
		for _, form := range forms(secret) {
			for place, text := range homeTexts(t, l) {
				if strings.Contains(text, form) {
					t.Errorf("a token is in %s", place)
				}
			}
		}
	}
}

// fromAfar: the session of a person may open a pull request with an account's
// token, and does not say where any goes; the token of a dashboard may not.
func fromAfar(t *testing.T, l *lab.Lab, i cw.Initiative) {
	t.Helper()
	token, err := l.Client().CreateToken(t.Context(), cw.TokenRequest{Name: "board", Scopes: []cw.Scope{cw.ScopeOperate}})
	must(t, err)
	address, code := openPrint(t, l)
	if got := ask(t, address, http.MethodPost, "/v1/initiatives/"+i.Slug+"/pull-request", token.Secret); got != 403 {
		t.Errorf("an operator's token: %d", got)
	}
	session, _ := startSession(t, address, code)
	for body, code := range map[string]int{
		`{"base":"main","forge":"github"}`:                                     200,
		`{"base":"main","forge":"github","baseUrl":"https://evil.example"}`:    403,
		`{"base":"main","forge":"github","githubToken":"0123456789abcdef"}`:    403,
		`{"base":"main","forge":"github","account":"claude/default"}`:          400,
		`{"base":"main","forge":"github","account":"default","draft":true}`:    409,
		`{"base":"main","forge":"gitea"}`:                                      400,
		`{"base":"main","forge":"gitlab"}`:                                     409,
		`{"base":"main","forge":"github","gitlabToken":"0123456789abcdefghi"}`: 403,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/v1/initiatives/"+i.Slug+"/pull-request", strings.NewReader(body))
		must(t, err)
		req.Header.Set("Authorization", "Bearer "+session.Secret)
		req.Header.Set("Content-Type", "application/json")
		res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		must(t, err)
		res.Body.Close()
		if res.StatusCode != code {
			t.Errorf("%s: %d, not %d", body, res.StatusCode, code)
		}
	}
}

// homeTexts are the files of a home, but cw's own copies and repositories.
func homeTexts(t *testing.T, l *lab.Lab) map[string]string {
	t.Helper()
	texts := map[string]string{"terminal": l.DaemonLog()}
	must(t, filepath.WalkDir(string(l.Home), func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // gone already
		case path == l.Home.Bin():
			return filepath.SkipDir
		case d.Type().IsRegular():
			if data, err := os.ReadFile(path); err == nil {
				texts[path] = string(data)
			}
		}
		return nil
	}))
	if len(texts) < 10 {
		t.Fatalf("only %d files were found", len(texts))
	}
	return texts
}
