package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"cw/internal/cw"
)

// SocketHost is the only Host that requests on the socket may name.
const SocketHost = "cw.sock"

// BodyMax is the greatest length of a request's body in bytes. A goal of
// cw.GoalMax fits, even where JSON escapes many of its bytes, and a text of
// cw.MessageMax even where it escapes all of them.
const BodyMax = 8 << 20

// bodyShort is the greatest length in bytes of a body without a text for an
// agent: names, a path. A caller that may only read must not be able to fill the memory.
const bodyShort = 64 << 10

// bodyPatience is how long a caller may take to send its body.
const bodyPatience = 30 * time.Second

// Peer is the process at the other end of a connection, as the kernel tells
// it, with the token that it showed.
type Peer struct {
	PID int // at the time it connected; 0 when it is in another pid namespace
	UID int
	// StartTime is when that process began, noted when it connected: a later
	// process with the same PID has another. Its unit is Options.StartTime's; 0
	// without one.
	StartTime uint64
	Token     string // from "Authorization: Bearer …", "" without one
}

// gate decides who may come in over the socket at all. It looks at the
// connection and the headers only: nothing of the body is read and no handler
// has run. TCP has other checks in the same places: see tcpFront.
type gate struct {
	uid      int           // the only user that may connect
	host     string        // the only Host
	patience time.Duration // for a body to arrive
	guards   cw.Guards     // may be nil
}

// admit gives nil, or why the request is refused. The order is fixed: who
// connects, then whether a web page may be behind it, then the form.
func (g gate) admit(r *http.Request, peer *Peer) error {
	for _, check := range []func(*http.Request, *Peer) error{g.peer, g.noPage, g.named, g.shaped} {
		if err := check(r, peer); err != nil {
			return err
		}
	}
	return nil
}

// peer lets in our own user only, root not excepted: root that wants in can
// become this user.
func (g gate) peer(_ *http.Request, peer *Peer) error {
	switch {
	case peer == nil:
		return cw.Errorf(cw.CodeUnauthorized, "it is not known who is calling")
	case peer.UID != g.uid:
		return cw.Errorf(cw.CodeForbidden, "this daemon belongs to another user").
			WithHint("run cw as the user who started the daemon")
	}
	return nil
}

// noPage refuses whatever a browser sends: a page that found a way to the
// socket (a forwarding proxy, say) must not be obeyed. Only browsers send
// these headers, so their presence is enough, empty or not.
func (g gate) noPage(r *http.Request, _ *Peer) error {
	if g.guards.Off("no-page") {
		return nil
	}
	for name := range r.Header {
		if strings.HasPrefix(name, "Sec-Fetch-") {
			name = "Sec-Fetch" // the rest is the caller's, and the log holds this error
		}
		if slices.Contains([]string{"Origin", "Referer", "Sec-Fetch"}, name) {
			return cw.Errorf(cw.CodeForbidden, "requests from web pages are refused here (%s)", name)
		}
	}
	return nil
}

func (g gate) named(r *http.Request, _ *Peer) error {
	if r.Host != g.host {
		return cw.Errorf(cw.CodeForbidden, "this is not the host that was asked for").
			WithHint("requests on the socket go to http://%s/", g.host)
	}
	return nil
}

func (g gate) shaped(r *http.Request, _ *Peer) error { return form(r) }

// form refuses bodies that are no JSON or too long, by what their headers say.
func form(r *http.Request) error {
	contentType, told := r.Header["Content-Type"]
	if r.ContentLength == 0 && !told {
		return nil
	}
	if r.ContentLength > BodyMax {
		return errBodyTooLong(BodyMax)
	}
	media := ""
	if len(contentType) == 1 {
		media, _, _ = mime.ParseMediaType(contentType[0])
	}
	if media != "application/json" {
		return cw.Errorf(cw.CodeInvalid, "a request's body must be JSON").WithHint("send Content-Type: application/json")
	}
	return nil
}

func errBodyTooLong(most int64) *cw.Error {
	return cw.Errorf(cw.CodeInvalid, "the request is longer than %d bytes", most).WithHint("send less at once")
}

// noBody refuses a body where none is read.
func noBody(r *http.Request) error {
	if r.ContentLength != 0 {
		return cw.Errorf(cw.CodeInvalid, "a body is not taken here").WithHint("send the request without one; parameters are in the address")
	}
	return nil
}

// bearer gives the token of a request, "" without one. A header of another
// form is refused rather than ignored: its sender believes it is known.
func bearer(r *http.Request) (string, error) {
	values := r.Header.Values("Authorization")
	if len(values) == 0 {
		return "", nil
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if len(values) > 1 || !strings.EqualFold(scheme, "Bearer") || strings.TrimSpace(token) == "" {
		return "", cw.Errorf(cw.CodeUnauthorized, "the Authorization header cannot be read").WithHint("send: Authorization: Bearer TOKEN")
	}
	return strings.TrimSpace(token), nil
}

// checkVersion refuses a caller of another major version of the API. Callers
// that tell none (curl) are taken as they are.
func checkVersion(r *http.Request) error {
	if v := r.Header.Get(versionHeader); v != "" && major(v) != major(cw.APIVersion) {
		if !versionForm().MatchString(v) {
			v = "unknown" // the log holds this error, and nothing that callers chose
		}
		return errVersion(v, cw.APIVersion)
	}
	return nil
}

// versionForm is what versions of the API look like.
var versionForm = cw.Pattern(`^[0-9]{1,4}(\.[0-9]{1,4}){0,2}$`)

func errVersion(client, daemon string) *cw.Error {
	return cw.Errorf(cw.CodeUnreachable, "this cw speaks version %q of the API and the daemon %q", client, daemon).
		WithHint("`cw restart` starts the daemon of this version; agents run on")
}

func major(version string) string {
	first, _, _ := strings.Cut(version, ".")
	return first
}

// allow decides whether the actor of ctx may use the route, by the table and,
// for agents, by whom or what they name.
func (s *Server) allow(ctx context.Context, row Route, named string) error {
	who := callerOf(ctx)
	actor := who.actor
	if err := row.mayCall(actor, who.scopes); err != nil {
		return err
	}
	if actor.Kind != cw.ActorAgent {
		return nil
	}
	if err := row.mayUse(who.tools); err != nil {
		return err
	}
	if row.Self && !s.isSelf(ctx, actor, named) {
		return cw.Errorf(cw.CodeForbidden, "an agent may only ask for itself here (%s)", row.ID).
			WithHint("your own id is in CW_AGENT_ID")
	}
	if noun := row.ownNoun(); noun != "" && !s.isOwn(ctx, actor, noun, named) {
		return row.errNotOwn()
	}
	return nil
}

// isSelf tells whether ref, an id or an alias, names the calling agent. What
// cannot be looked up is somebody else, so that nothing is learned from it.
func (s *Server) isSelf(ctx context.Context, actor cw.Actor, ref string) bool {
	if actor.AgentID == "" {
		return false
	}
	if ref == string(actor.AgentID) {
		return true
	}
	if cw.ValidAlias(ref) != nil {
		return false
	}
	view, err := s.opts.Services.Agent(ctx, ref)
	return err == nil && view.ID == actor.AgentID && view.Alias == ref
}

// receive reads the body of a request for a route.
func (s *Server) receive(w http.ResponseWriter, r *http.Request, row Route) error {
	if row.Dashboard != OwnPage {
		return s.gate.readBody(w, r, row.bodyMax(), s.gate.patience)
	}
	defer s.porch.enter(w)()
	return s.gate.readBody(w, r, row.bodyMax(), porchPatience)
}

// readBody replaces the body by its bytes, at most so many, so that a slow or
// endless sender is dealt with here. net/http lifts the deadline once the body
// has arrived.
func (g gate) readBody(w http.ResponseWriter, r *http.Request, most int64, patience time.Duration) error {
	if r.ContentLength == 0 || most == 0 {
		return noBody(r)
	}
	if r.ContentLength > most {
		return errBodyTooLong(most)
	}
	if err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(patience)); err != nil {
		return fmt.Errorf("set the deadline for a body: %w", err)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return errBodyTooLong(most)
	case err != nil:
		return cw.Errorf(cw.CodeInvalid, "the request's body did not arrive whole").WithHint("send it again").Because(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if out, ok := w.(*answer); ok {
		// A body in chunks may have come with a length too, which net/http does
		// not tell. Where one reader sees its end there another sees the next
		// request begin, so none is taken from such a connection.
		out.last = len(r.TransferEncoding) > 0
		out.bodyLeft = false
	}
	return nil
}
