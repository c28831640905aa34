package forge

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"cw/internal/cw"
)

const (
	// patience bounds one request to a forge with its answer.
	patience = 30 * time.Second
	// answerMax bounds one answer, in bytes. A list of pull requests has some
	// 20 KiB for each.
	answerMax = 8 << 20
)

// Options says with whose token which forge is asked.
type Options struct {
	Forge   cw.Forge
	Address string // of the API, as CheckAddress gives it
	Token   cw.Secret
	// Account names whose token it is, for people: "the account work", "GH_TOKEN".
	Account string
	// Proxy is how the forge is reached; nil: directly.
	Proxy func(*http.Request) (*url.URL, error)
	// Transport is used in place of an own one; nil: an own one. For tests.
	Transport http.RoundTripper
}

// PullRequest asks for one branch of a repository to be merged into another
// one. Both are at the forge.
type PullRequest struct {
	Repository string // as Repository.At gives it
	Head, Base string // names of branches
	Title      string // one line
	Body       string // Markdown
	Draft      bool   // of one that is opened; one that is open stays what it is
}

// Opened is a pull request at a forge.
type Opened struct {
	Number  int64
	URL     string // http or https, for people
	Draft   bool
	Existed bool // it was open already, and has the title and the body now
}

// api is what the forges differ in. The errors are those of their clients:
// explain makes them into ours. It is no interface: the type of what an
// interface holds keeps all its methods, and those of all that it leads to, in
// the program, which of go-github is 3.5 MB.
type api struct {
	// find gives the open pull request of the same branches; false: there is none.
	find   func(ctx context.Context, p PullRequest) (Opened, bool, error)
	create func(ctx context.Context, p PullRequest) (Opened, error)
	update func(ctx context.Context, p PullRequest, had Opened) (Opened, error)
}

// Client opens pull requests at one forge.
type Client struct {
	o   Options
	api api
}

// New makes a client. Nothing is connected. CodeInvalid for a forge that is
// none, and for an address or a token that cannot be one.
func New(o Options) (*Client, error) {
	address, err := CheckAddress(o.Forge, o.Address)
	if err != nil {
		return nil, err
	}
	o.Address = address
	if err := checkToken(o); err != nil {
		return nil, err
	}
	c := &Client{o: o}
	switch o.Forge {
	case cw.ForgeGitHub:
		c.api, err = newGitHub(o)
	case cw.ForgeGitLab:
		c.api = newGitLab(o)
	default:
		return nil, cw.Errorf(cw.CodeInvalid, "%.60q is no forge", string(o.Forge)).WithHint("there are github and gitlab")
	}
	if err != nil {
		return nil, cw.Errorf(cw.CodeInvalid, "no client for %s can be made", o.Forge.Title()).Because(err)
	}
	return c, nil
}

// checkToken refuses what cannot stand in a header.
func checkToken(o Options) error {
	token := o.Token.Reveal()
	if token == "" {
		return cw.Errorf(cw.CodeInvalid, "there is no token for %s", o.Forge.Title()).WithHint("%s", scopeHint(o.Forge))
	}
	for _, b := range []byte(token) {
		if b <= ' ' || b > '~' {
			return cw.Errorf(cw.CodeInvalid, "the token of %s has blanks or other characters in it that no token has", o.Account).
				WithHint("take it whole, without anything around it")
		}
	}
	return nil
}

// Open opens a pull request. When the same branches have an open one it gets
// the title and the body instead, so that asking twice does no harm.
//
// CodeNotFound when the token sees no such repository; CodeRefused for a token
// that is none or may not, and when there is nothing to be merged; CodeInvalid
// for branches that are not there; CodeTimeout and CodeFailed when the forge
// cannot be reached or answers something else. The token is in no error.
func (c *Client) Open(ctx context.Context, p PullRequest) (Opened, error) {
	out, err := c.open(ctx, p)
	if err != nil {
		return Opened{}, explain(ctx, c.o, p, err)
	}
	if u, err := url.Parse(out.URL); err != nil || u.Scheme != "https" && u.Scheme != "http" || out.Number <= 0 {
		return Opened{}, cw.Errorf(cw.CodeFailed, "%s answered without a number or an address of the pull request", c.o.Forge.Title()).
			WithHint("look there whether it was opened: %s", c.o.Address)
	}
	return out, nil
}

func (c *Client) open(ctx context.Context, p PullRequest) (Opened, error) {
	had, ok, err := c.api.find(ctx, p)
	if err != nil {
		return Opened{}, err
	}
	if !ok {
		out, refused := c.api.create(ctx, p)
		if refused == nil || !exists(refused) {
			return out, refused
		}
		// Somebody was quicker.
		if had, ok, err = c.api.find(ctx, p); err != nil {
			return Opened{}, err
		}
		if !ok {
			return Opened{}, refused
		}
	}
	out, err := c.api.update(ctx, p, had)
	out.Existed = true
	return out, err
}
