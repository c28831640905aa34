package forge

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/google/go-github/v92/github"

	"cw/internal/cw"
)

// saidMax is how much of a forge's words comes into an error, in characters.
const saidMax = 300

// refusal is an answer that is none of the good ones.
type refusal struct {
	status int
	said   string   // the forge's words
	fields []string // of the request, that GitHub does not take
}

// Error implements error.
func (r refusal) Error() string { return fmt.Sprintf("%d %s", r.status, clean(r.said, saidMax)) }

// refusalOf reads the errors of both forges; false for what is no answer.
func refusalOf(err error) (refusal, bool) {
	var limit *github.RateLimitError
	var abuse *github.AbuseRateLimitError
	var hub *github.ErrorResponse
	var moved *github.RedirectionError
	var lab refusal
	switch {
	case errors.As(err, &limit), errors.As(err, &abuse):
		return refusal{status: http.StatusTooManyRequests}, true
	case errors.As(err, &moved):
		return refusal{status: moved.StatusCode}, true
	case errors.As(err, &hub) && hub.Response != nil:
		r := refusal{status: hub.Response.StatusCode, said: hub.Message}
		for _, e := range hub.Errors {
			if e.Message != "" {
				r.said += "; " + e.Message
			}
			if e.Field != "" {
				r.fields = append(r.fields, e.Field)
			}
		}
		return r, true
	case errors.As(err, &lab):
		return lab, true
	}
	return refusal{}, false
}

// exists tells whether a pull request was not opened because there is one.
func exists(err error) bool {
	r, ok := refusalOf(err)
	return ok && r.exists()
}

func (r refusal) exists() bool {
	return r.ofRequest() && strings.Contains(strings.ToLower(r.said), "already exists")
}

// ofRequest tells whether it is the request that the forge does not take.
func (r refusal) ofRequest() bool {
	return r.status == http.StatusUnprocessableEntity || r.status == http.StatusBadRequest || r.status == http.StatusConflict
}

// explain makes what a client tells into what is wrong and what to do.
func explain(ctx context.Context, o Options, p PullRequest, err error) error {
	if r, ok := refusalOf(err); ok {
		return r.explain(o, p)
	}
	var timeout net.Error
	var of *url.Error
	cause := err
	if errors.As(err, &of) {
		cause = of.Err // without the address, which the text has
	}
	title := o.Forge.Title()
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return cw.Errorf(cw.CodeInterrupted, "the call was given up").Because(ctx.Err())
	case errors.Is(err, errRedirect):
		return moved(o, p)
	case errors.As(err, &timeout) && timeout.Timeout(), ctx.Err() != nil:
		return cw.Errorf(cw.CodeTimeout, "%s did not answer in time", title).Because(cause).WithHint("whether the pull request was opened is not known; do the same again, which opens no second one")
	case errors.Is(err, errTooLong):
		return cw.Errorf(cw.CodeFailed, "%s answered more than %d MiB", title, answerMax>>20)
	case of == nil:
		return cw.Errorf(cw.CodeFailed, "%s answered what cannot be read", title).Because(cause).
			WithHint("is this the address of %s? %s", title, o.Address)
	}
	return cw.Errorf(cw.CodeFailed, "%s cannot be reached: %s", title, clean(cause.Error(), saidMax)).Because(cause).
		WithHint("check the network and the address %s, then do the same again", o.Address)
}

// explain says what an answer means.
func (r refusal) explain(o Options, p PullRequest) *cw.Error {
	title, said := o.Forge.Title(), clean(r.said, saidMax)
	words := func(text string) string {
		if said == "" {
			return text
		}
		return text + ": " + said
	}
	lower := strings.ToLower(said)
	switch {
	case r.status == http.StatusUnauthorized:
		return cw.Errorf(cw.CodeRefused, "%s does not take the token of %s", title, o.Account).
			WithHint("it may be over or revoked; make another: %s", scopeHint(o.Forge))
	case r.status == http.StatusTooManyRequests, r.status == http.StatusForbidden && strings.Contains(lower, "rate limit"):
		return cw.Errorf(cw.CodeFailed, "%s takes no more requests of %s for now", title, o.Account).WithHint("do the same again in an hour")
	case r.status == http.StatusForbidden:
		return cw.Errorf(cw.CodeRefused, "%s", words("the token of "+o.Account+" may open no pull request in "+p.Repository)).WithHint("%s", scopeHint(o.Forge))
	case r.status == http.StatusNotFound:
		return cw.Errorf(cw.CodeNotFound, "there is no repository %s at %s, or the token of %s cannot see it", p.Repository, hostOf(o), o.Account).
			WithHint("check the remote (git remote -v); %s", scopeHint(o.Forge))
	case r.status >= 300 && r.status < 400:
		return moved(o, p)
	case strings.Contains(lower, "no commits between"):
		return cw.Errorf(cw.CodeRefused, "%s has nothing that %s does not have", p.Head, p.Base).WithHint("there is nothing to open a pull request for; name another base with --base")
	case r.exists():
		return cw.Errorf(cw.CodeRefused, "%s", words(title+" has a pull request of these branches already, and does not list it")).WithHint("look there: %s", hostOf(o))
	case r.names("base") || strings.Contains(lower, "target branch"):
		return cw.Errorf(cw.CodeInvalid, "%s has no branch %s at %s", p.Repository, p.Base, hostOf(o)).WithHint("push it, or name another with --base")
	case r.names("head") || strings.Contains(lower, "source branch"):
		return cw.Errorf(cw.CodeInvalid, "%s has no branch %s at %s", p.Repository, p.Head, hostOf(o)).WithHint("somebody may have deleted it just now; do the same again, which pushes it")
	case r.ofRequest():
		return cw.Errorf(cw.CodeRefused, "%s", words(title+" does not open this pull request")).WithHint("see what it says; --title, --body-file and --base change it")
	}
	return cw.Errorf(cw.CodeFailed, "%s", words(title+" answered "+http.StatusText(r.status))).WithHint("do the same again later; it opens no second one")
}

func (r refusal) names(field string) bool {
	return slices.Contains(r.fields, field)
}

func moved(o Options, p PullRequest) *cw.Error {
	return cw.Errorf(cw.CodeRefused, "%s is elsewhere now, says %s", p.Repository, hostOf(o)).
		WithHint("a token is not sent after it; give the remote its new URL: git remote set-url origin URL")
}

// hostOf is the forge's host, for people.
func hostOf(o Options) string {
	u, err := url.Parse(o.Address)
	if err != nil {
		return o.Forge.Title()
	}
	return strings.TrimPrefix(u.Host, "api.")
}

// scopeHint says what a token needs.
func scopeHint(f cw.Forge) string {
	if f == cw.ForgeGitLab {
		return "a token needs the scope api and the role Developer (GitLab, Preferences, Access tokens); cw account add --provider gitlab --name work --token - keeps it"
	}
	return "a token needs pull requests: write for this repository, or, a classic one, the scope repo (GitHub, Settings, Developer settings); cw account add --provider github --name work --token - keeps it"
}

// clean makes words of a stranger into one short line.
func clean(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, text)
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return string(runes)
}
