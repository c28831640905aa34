package forge

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"cw/internal/cw"
)

// gitLab has the functions of api at GitLab. The three calls are made by hand:
// see docs/decisions/0023-clients-of-the-forges.md.
type gitLab struct {
	address string // of the API, with a slash at its end
	token   cw.Secret
	http    *http.Client
}

func newGitLab(o Options) api {
	g := gitLab{address: o.Address, token: o.Token, http: httpClient(o)}
	return api{find: g.find, create: g.create, update: g.update}
}

// mergeRequest is what is read of a merge request.
type mergeRequest struct {
	IID             int64  `json:"iid"` // its number in the project
	WebURL          string `json:"web_url"`
	State           string `json:"state"`
	Draft           bool   `json:"draft"`
	SourceBranch    string `json:"source_branch"`
	TargetBranch    string `json:"target_branch"`
	SourceProjectID int64  `json:"source_project_id"`
	TargetProjectID int64  `json:"target_project_id"`
}

func (m mergeRequest) opened() Opened {
	return Opened{Number: m.IID, URL: m.WebURL, Draft: m.Draft}
}

// newMergeRequest is what is sent of one. What is empty is left out.
type newMergeRequest struct {
	Title        string `json:"title"`
	Description  string `json:"description"`
	SourceBranch string `json:"source_branch,omitempty"`
	TargetBranch string `json:"target_branch,omitempty"`
}

// find gives the open request of the same branches. Requests from forks have the
// same names of branches.
func (g gitLab) find(ctx context.Context, p PullRequest) (Opened, bool, error) {
	var list []mergeRequest
	filter := url.Values{"state": {"opened"}, "source_branch": {p.Head}, "target_branch": {p.Base}}
	if err := g.call(ctx, http.MethodGet, requestsOf(p)+"?"+filter.Encode(), nil, &list); err != nil {
		return Opened{}, false, err
	}
	for _, m := range list {
		if m.State == "opened" && m.SourceProjectID == m.TargetProjectID && m.SourceBranch == p.Head && m.TargetBranch == p.Base {
			return m.opened(), true, nil
		}
	}
	return Opened{}, false, nil
}

func (g gitLab) create(ctx context.Context, p PullRequest) (Opened, error) {
	var m mergeRequest
	err := g.call(ctx, http.MethodPost, requestsOf(p), newMergeRequest{draftTitle(p.Title, p.Draft), p.Body, p.Head, p.Base}, &m)
	return m.opened(), err
}

func (g gitLab) update(ctx context.Context, p PullRequest, had Opened) (Opened, error) {
	var m mergeRequest
	path := fmt.Sprintf("%s/%d", requestsOf(p), had.Number)
	err := g.call(ctx, http.MethodPut, path, newMergeRequest{Title: draftTitle(p.Title, had.Draft), Description: p.Body}, &m)
	return m.opened(), err
}

// requestsOf is where the merge requests of a project are, below the API.
func requestsOf(p PullRequest) string {
	return "projects/" + url.PathEscape(p.Repository) + "/merge_requests"
}

// draftTitle is how GitLab is told of a draft: by the title alone.
func draftTitle(title string, draft bool) string {
	const mark = "Draft: "
	if !draft || strings.HasPrefix(title, mark) {
		return title
	}
	return mark + title
}

// call makes one request and reads its answer. Any but a good one is a refusal.
func (g gitLab) call(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("write the request: %w", err)
		}
		body = bytes.NewReader(data)
	}
	r, err := http.NewRequestWithContext(ctx, method, g.address+path, body)
	if err != nil {
		return fmt.Errorf("make the request: %w", err)
	}
	r.Header.Set("Private-Token", g.token.Reveal())
	r.Header.Set("User-Agent", "cw")
	if in != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := g.http.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusCreated {
		said, _ := io.ReadAll(resp.Body) // what it says beside its status is only a help
		return refusal{status: resp.StatusCode, said: wordsOf(said)}
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	return nil
}

// wordsOf finds the words in what GitLab says of an error: "message" is a text, a
// list, or lists by the names of fields.
func wordsOf(said []byte) string {
	var answer struct {
		Message     any    `json:"message"`
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	if json.Unmarshal(said, &answer) != nil {
		return string(said)
	}
	return strings.TrimPrefix(cmp.Or(flat(answer.Message), answer.Error+": "+answer.Description), ": ")
}

func flat(message any) string {
	var all []string
	switch m := message.(type) {
	case string:
		return m
	case []any:
		for _, one := range m {
			all = append(all, flat(one))
		}
	case map[string]any:
		for _, field := range slices.Sorted(maps.Keys(m)) {
			all = append(all, field+" "+flat(m[field]))
		}
	}
	return strings.Join(all, ", ")
}
