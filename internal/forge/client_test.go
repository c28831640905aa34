package forge

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

// forges are the two, with a repository of each.
func forges() map[cw.Forge]string {
	return map[cw.Forge]string{cw.ForgeGitHub: "octocat/Hello-World", cw.ForgeGitLab: "my-group/sub.group/my-project"}
}

// TestOpen: a pull request is opened once; who asks again changes its title and
// text, and nothing else.
func TestOpen(t *testing.T) {
	t.Parallel()
	for f, repo := range forges() {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			s := newServer(t, f, repo)
			p := s.request()
			// Of a fork, of another base, and one that is closed: none of them is ours.
			s.put(pull{number: 1, head: p.Head, base: p.Base, state: s.stateOpen(), otherRepo: true, title: "theirs"})
			s.put(pull{number: 2, head: p.Head, base: "stable", state: s.stateOpen(), title: "stable"})
			s.put(pull{number: 3, head: p.Head, base: p.Base, state: "closed", title: "closed"})
			before := s.kept()

			first, err := s.client().Open(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			if first.Existed || first.Draft || first.Number != 10 || !strings.HasPrefix(first.URL, s.url+"/"+repo) {
				t.Errorf("opened %+v", first)
			}
			p.Title, p.Body, p.Draft = "Summer sale", "Again.\n", true // it is open already: no draft
			second, err := s.client().Open(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			want := first
			want.Existed = true
			if diff := cmp.Diff(want, second); diff != "" {
				t.Errorf("the second time: %s", diff)
			}
			own := pull{number: 10, head: p.Head, base: p.Base, title: p.Title, body: p.Body, state: s.stateOpen()}
			if diff := cmp.Diff(append(before, own), s.kept(), cmp.AllowUnexported(pull{})); diff != "" {
				t.Errorf("at the forge: %s", diff)
			}
		})
	}
}

// TestOpenDraft: a draft stays one when its text is changed.
func TestOpenDraft(t *testing.T) {
	t.Parallel()
	for f, repo := range forges() {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			s := newServer(t, f, repo)
			p := s.request()
			for _, draft := range []bool{true, false} {
				p.Draft = draft
				got, err := s.client().Open(t.Context(), p)
				if err != nil || !got.Draft || got.Existed == draft {
					t.Errorf("draft %v: %+v, %v", draft, got, err)
				}
			}
			want := map[cw.Forge]string{cw.ForgeGitHub: p.Title, cw.ForgeGitLab: "Draft: " + p.Title}
			if kept := s.kept(); len(kept) != 1 || kept[0].title != want[f] {
				t.Errorf("at the forge: %+v", kept)
			}
		})
	}
}

// TestOpenTwiceAtOnce: who finds that somebody was quicker changes that one.
func TestOpenTwiceAtOnce(t *testing.T) {
	t.Parallel()
	for f, repo := range forges() {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			s := newServer(t, f, repo)
			p := s.request()
			if _, err := s.client().Open(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			s.answerNext(200, "[]") // it is not listed yet
			p.Title = "Summer sale"
			got, err := s.client().Open(t.Context(), p)
			if err != nil || !got.Existed || len(s.kept()) != 1 || s.kept()[0].title != p.Title {
				t.Errorf("%+v, %v; at the forge: %+v", got, err, s.kept())
			}
			s.answerNext(200, "[]")
			s.own()
			s.answerNext(200, "[]") // and never will be
			_, err = s.client().Open(t.Context(), p)
			if cw.ErrorCode(err) != cw.CodeRefused || len(s.kept()) != 1 {
				t.Errorf("when it is never listed: %v", err)
			}
		})
	}
}

// TestRefusals: what a forge answers becomes what is wrong and what to do. The
// answers are those of the forges' descriptions.
func TestRefusals(t *testing.T) {
	t.Parallel()
	const failed = `{"message":"Validation Failed","errors":[%s],"documentation_url":"https://docs.github.com/rest","status":"422"}`
	tests := map[string]struct {
		forge  cw.Forge
		find   int // status of the answer to the first request; 0: it is a good one
		create int
		body   string
		code   cw.Code
		says   string
		hint   string
	}{
		"github bad token":      {cw.ForgeGitHub, 401, 0, `{"message":"Bad credentials","status":"401"}`, cw.CodeRefused, "the account work", "pull requests: write"},
		"github no right":       {cw.ForgeGitHub, 0, 403, `{"message":"Resource not accessible by personal access token","status":"403"}`, cw.CodeRefused, "Resource not accessible", "pull requests: write"},
		"github unknown":        {cw.ForgeGitHub, 404, 0, `{"message":"Not Found","status":"404"}`, cw.CodeNotFound, "cannot see it", "git remote -v"},
		"github no commits":     {cw.ForgeGitHub, 0, 422, strings.Replace(failed, "%s", `{"resource":"PullRequest","code":"custom","message":"No commits between main and cw/spring-sale"}`, 1), cw.CodeRefused, "nothing that main does not have", "--base"},
		"github no base":        {cw.ForgeGitHub, 0, 422, strings.Replace(failed, "%s", `{"resource":"PullRequest","field":"base","code":"invalid"}`, 1), cw.CodeInvalid, "no branch main", "--base"},
		"github no head":        {cw.ForgeGitHub, 0, 422, strings.Replace(failed, "%s", `{"resource":"PullRequest","field":"head","code":"invalid"}`, 1), cw.CodeInvalid, "no branch " + testBranch, "do the same again"},
		"github other":          {cw.ForgeGitHub, 0, 422, strings.Replace(failed, "%s", `{"resource":"PullRequest","code":"custom","message":"Draft pull requests are not supported in this repository."}`, 1), cw.CodeRefused, "Draft pull requests are not supported", "--title"},
		"github limit":          {cw.ForgeGitHub, 429, 0, `{"message":"API rate limit exceeded"}`, cw.CodeFailed, "no more requests", "hour"},
		"github second limit":   {cw.ForgeGitHub, 403, 0, `{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again.","documentation_url":"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"}`, cw.CodeFailed, "no more requests", "hour"},
		"github broken":         {cw.ForgeGitHub, 502, 0, `<html>Bad \u0000 Gateway</html>`, cw.CodeFailed, "Bad Gateway", "again"},
		"github no JSON":        {cw.ForgeGitHub, 200, 0, `<html>welcome</html>`, cw.CodeFailed, "cannot be read", "is this the address"},
		"github moved":          {cw.ForgeGitHub, 301, 0, `{"message":"Moved Permanently"}`, cw.CodeRefused, "elsewhere", "git remote set-url"},
		"github strange answer": {cw.ForgeGitHub, 0, 201, `{"number":12,"html_url":"javascript:alert(1)"}`, cw.CodeFailed, "without a number or an address", "look there"},
		"gitlab bad token":      {cw.ForgeGitLab, 401, 0, `{"message":"401 Unauthorized"}`, cw.CodeRefused, "the account work", "scope api"},
		"gitlab no right":       {cw.ForgeGitLab, 0, 403, `{"error":"insufficient_scope","error_description":"The request requires higher privileges than provided by the access token.","scope":"api"}`, cw.CodeRefused, "insufficient_scope", "scope api"},
		"gitlab unknown":        {cw.ForgeGitLab, 404, 0, `{"message":"404 Project Not Found"}`, cw.CodeNotFound, "cannot see it", "git remote -v"},
		"gitlab no base":        {cw.ForgeGitLab, 0, 422, `{"message":["Target branch \"main\" does not exist"]}`, cw.CodeInvalid, "no branch main", "--base"},
		"gitlab no head":        {cw.ForgeGitLab, 0, 422, `{"message":["Source branch \"cw/spring-sale\" does not exist"]}`, cw.CodeInvalid, "no branch " + testBranch, "do the same again"},
		"gitlab other":          {cw.ForgeGitLab, 0, 400, `{"message":{"title":["is too long (maximum is 255 characters)"]}}`, cw.CodeRefused, "is too long", "--title"},
		"gitlab limit":          {cw.ForgeGitLab, 429, 0, `Retry later`, cw.CodeFailed, "no more requests", "hour"},
		"gitlab broken":         {cw.ForgeGitLab, 500, 0, `{"message":"500 Internal Server Error"}`, cw.CodeFailed, "Internal Server Error", "again"},
		"gitlab moved":          {cw.ForgeGitLab, 302, 0, ``, cw.CodeRefused, "elsewhere", "git remote set-url"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, test.forge, forges()[test.forge])
			asked := 1
			if test.find != 0 {
				s.answerNext(test.find, test.body)
			} else {
				s.own()
				s.answerNext(test.create, test.body)
				asked = 2
			}
			out, err := s.client().Open(t.Context(), s.request())
			if cw.ErrorCode(err) != test.code || !strings.Contains(err.Error(), test.says) || !strings.Contains(cw.ErrorHint(err), test.hint) {
				t.Errorf("%+v, %v (%s), %s", out, err, cw.ErrorCode(err), cw.ErrorHint(err))
			}
			if strings.Contains(err.Error()+cw.ErrorHint(err), testToken) || strings.ContainsAny(err.Error(), "\x00\n\x1b") {
				t.Errorf("shown as %q", err)
			}
			if got := s.asked(); len(got) != asked {
				t.Errorf("asked for %q", got)
			}
		})
	}
}

// TestWrongToken goes through the server's own check.
func TestWrongToken(t *testing.T) {
	t.Parallel()
	for f, repo := range forges() {
		s := newServer(t, f, repo)
		c, err := New(Options{Forge: f, Address: s.url, Token: cw.NewSecret("another-token-0123"), Account: "GH_TOKEN"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Open(t.Context(), s.request()); cw.ErrorCode(err) != cw.CodeRefused || !strings.Contains(err.Error(), "GH_TOKEN") {
			t.Errorf("%s: %v", f, err)
		}
		for what, token := range map[string]string{"none": "", "two lines": "abc\r\nX-Evil: 1", "blank": "a b", "no ASCII": "tökén"} {
			if _, err := New(Options{Forge: f, Address: s.url, Token: cw.NewSecret(token)}); cw.ErrorCode(err) != cw.CodeInvalid {
				t.Errorf("%s, token with %s: %v", f, what, err)
			}
		}
	}
}

// TestUnreachable: nobody is there, or answers without an end.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	for f, repo := range forges() {
		s := newServer(t, f, repo)
		c, err := New(Options{Forge: f, Address: "http://127.0.0.1:1", Token: cw.NewSecret(testToken)})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Open(t.Context(), s.request())
		if cw.ErrorCode(err) != cw.CodeFailed || !strings.Contains(err.Error(), "cannot be reached") || strings.Contains(err.Error(), testToken) {
			t.Errorf("%s, nobody there: %v", f, err)
		}
		s.mu.Lock()
		s.answers = append(s.answers, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusOK)
			for r.Context().Err() == nil {
				if _, err := w.Write([]byte(strings.Repeat("[", 1<<16))); err != nil {
					return
				}
			}
		})
		s.mu.Unlock()
		if _, err = s.client().Open(t.Context(), s.request()); cw.ErrorCode(err) != cw.CodeFailed {
			t.Errorf("%s, an answer without an end: %v", f, err)
		}
	}
}

// TestRedirectKeepsToken: a token is not sent after a redirect, to the same host
// neither.
func TestRedirectKeepsToken(t *testing.T) {
	t.Parallel()
	for f, repo := range forges() {
		s := newServer(t, f, repo)
		s.own()
		s.answerNext(http.StatusTemporaryRedirect, "")
		_, err := s.client().Open(t.Context(), s.request())
		if cw.ErrorCode(err) != cw.CodeRefused || len(s.asked()) != 2 || len(s.kept()) > 0 {
			t.Errorf("%s: %v after %q", f, err, s.asked())
		}
	}
}

// TestNothingInTheClear: whatever address a client makes, a token leaves this
// machine by https alone.
func TestNothingInTheClear(t *testing.T) {
	t.Parallel()
	asked := 0
	client := httpClient(Options{Transport: roundTripper(func(*http.Request) (*http.Response, error) {
		asked++
		return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
	})})
	for address, sent := range map[string]bool{
		"https://git.example/": true, "http://127.0.0.1:1/": true, "http://git.example/": false, "http://127.0.0.1.git.example/": false,
	} {
		before := asked
		resp, err := client.Get(address)
		if err == nil {
			resp.Body.Close()
		}
		if (err == nil) != sent || (asked > before) != sent {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// roundTripper is a function as a transport.
type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
