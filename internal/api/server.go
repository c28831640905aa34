package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path"
	"reflect"
	"runtime/debug"
	"time"

	"cw/internal/cw"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// Defaults of the options.
const (
	defaultGrace = 2 * time.Second  // for requests in flight when the server ends
	defaultKeep  = 15 * time.Second // between signs of life in a quiet stream
	defaultStall = 10 * time.Second // without progress, after which a reader is cut
)

// versionHeader carries cw.APIVersion on every request and every answer.
const versionHeader = "Cw-Api"

// Refusals that are lines of the log, of one caller in a while; those without
// a token count as one. Any web page can cause them, and the log is rotated:
// without a bound they would drive out what it is for.
const (
	refusalLines = 60
	refusalWhile = time.Minute
)

// Options says what a server serves, and to whom.
type Options struct {
	// Services does the work. Needed.
	Services cw.Services
	// Identify tells who a peer is, from its token and its process tree. An
	// error refuses the request. Needed.
	Identify func(ctx context.Context, peer Peer) (cw.Actor, error)
	// StartTime tells when a process began. It is asked once for each
	// connection, for Peer.StartTime, so that Identify can see that the pid
	// belongs to another process by now: the one that connected may end and
	// leave the open connection to somebody else. On an error the peer counts
	// as unknown. nil: not asked.
	StartTime func(pid int) (uint64, error)
	// Rights are those of an agent's run; nil: what every run has. An error
	// refuses the request.
	Rights func(ctx context.Context, actor cw.Actor) (cw.Rights, error)
	// Asker gives the agent that asked people the questions of a request, Sender
	// the one that sent another agent a message. On an error, and with nil, they are
	// nobody's.
	Asker  func(ctx context.Context, id cw.RequestID) (cw.AgentID, error)
	Sender func(ctx context.Context, id cw.MessageID) (cw.AgentID, error)
	// Authenticate tells whose token a request over TCP shows, and what it may.
	// CodeUnauthorized for a token that is none, or no longer. nil: no TCP.
	Authenticate func(ctx context.Context, token string) (cw.Actor, []cw.Scope, error)
	// Prove shows to a page that this is the daemon of its session: see
	// cw.SessionProof. It does not tell whether there is such a session. nil: it
	// is not shown.
	Prove func(ctx context.Context, r cw.ProofRequest) (string, error)
	// Metrics writes the answer of GET /metrics, in the text format of
	// Prometheus. nil: there is none.
	Metrics func(ctx context.Context, w io.Writer) error
	// Site is the files of the dashboard, with index.html; they are served over TCP
	// to whoever asks for them. nil: there is none.
	Site fs.FS
	// OnRefused hears of every refusal of a known caller that lacks the right:
	// what is the operation and the pattern of its route. ctx outlives the request. May be nil.
	OnRefused func(ctx context.Context, actor cw.Actor, what string)
	// Log takes what people must not see. nil: nothing is logged.
	Log *slog.Logger
	// Guards lets tests take a guard out. May be nil.
	Guards cw.Guards
	// Version and BuildID of the program, told in the Server header.
	Version, BuildID string
	// KeepAlive is the time between signs of life in a quiet stream; 0: 15 s.
	KeepAlive time.Duration
	// Stall is the time without progress after which a stream's reader is cut;
	// 0: 10 s.
	Stall time.Duration
	// Grace is the time that requests in flight get when the server ends; 0: 2 s.
	Grace time.Duration
}

func (o Options) withDefaults() Options {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Rights == nil {
		o.Rights = func(context.Context, cw.Actor) (cw.Rights, error) { return cw.Rights{Scopes: cw.RunScopes()}, nil }
	}
	if o.Asker == nil {
		o.Asker = func(context.Context, cw.RequestID) (cw.AgentID, error) { return "", nil }
	}
	if o.Sender == nil {
		o.Sender = func(context.Context, cw.MessageID) (cw.AgentID, error) { return "", nil }
	}
	if o.Prove == nil {
		o.Prove = func(context.Context, cw.ProofRequest) (string, error) {
			return "", cw.Errorf(cw.CodeNotFound, "there are no sessions here")
		}
	}
	if o.OnRefused == nil {
		o.OnRefused = func(context.Context, cw.Actor, string) {}
	}
	o.KeepAlive = cmp.Or(o.KeepAlive, defaultKeep)
	o.Stall = cmp.Or(o.Stall, defaultStall)
	o.Grace = cmp.Or(o.Grace, defaultGrace)
	return o
}

// Server answers the API's requests.
type Server struct {
	opts     Options
	gate     gate
	site     *site // nil: none
	mux      *http.ServeMux
	api      huma.API
	rows     map[string]Route // by operation id
	patterns map[string]Route // the same, by pattern
	used     map[string]bool  // patterns that were registered
	faults   []error          // of the construction
	streams  map[string]bool  // operation ids of the routes that answer with a stream
	seats    seats            // of open streams
	visits   visits           // open streams of tokens
	porch    porch            // bodies of callers without a token
	tickets  tickets          // that open a stream in place of a token
	refusals *Allowance       // of lines in the log
}

// NewServer makes a server for the daemon's own user. It is an error when a
// route has no row in Routes, or a row no route.
func NewServer(opts Options) (*Server, error) {
	return newServer(opts, Routes(), registerAll)
}

func registerAll(s *Server) {
	registerDaemon(s)
	registerProjects(s)
	registerTrust(s)
	registerAgents(s)
	registerMessages(s)
	registerAgentMessages(s)
	registerQuestions(s)
	registerTools(s)
	registerConversations(s)
	registerPlans(s)
	registerOutput(s)
	registerEvents(s)
	registerInitiatives(s)
	registerDocuments(s)
	registerPhases(s)
	registerTasks(s)
	registerDispatch(s)
	registerMerges(s)
	registerProposals(s)
	registerPrompts(s)
	registerForges(s)
	registerInbox(s)
	registerAccounts(s)
	registerCosts(s)
	registerProviders(s)
	registerTokens(s)
	registerDoor(s)
	registerProof(s)
	registerSettings(s)
	registerTickets(s)
	registerHouse(s)
	registerNotices(s)
	registerHealth(s)
	registerOpenAPI(s)
}

func newServer(opts Options, table []Route, register func(*Server)) (*Server, error) {
	if opts.Services == nil || opts.Identify == nil {
		return nil, errors.New("an API server needs services and a way to identify callers")
	}
	s := &Server{
		opts:     opts.withDefaults(),
		gate:     gate{uid: os.Geteuid(), host: SocketHost, patience: bodyPatience, guards: opts.Guards},
		mux:      http.NewServeMux(),
		rows:     map[string]Route{},
		patterns: map[string]Route{},
		used:     map[string]bool{},
		streams:  map[string]bool{},
		refusals: NewAllowance(refusalLines, refusalWhile),
	}
	var err error
	if s.site, err = newSite(opts.Site); err != nil {
		return nil, err
	}
	for _, row := range table {
		s.rows[row.ID], s.patterns[row.Pattern()] = row, row
	}
	s.api = humago.New(guardedMux{s}, humaConfig())
	// A secret travels as the string that it is.
	s.api.OpenAPI().Components.Schemas.RegisterTypeAlias(reflect.TypeFor[cw.Secret](), reflect.TypeFor[string]())
	s.api.UseMiddleware(throughEdge)
	s.mux.HandleFunc("/", s.nothingHere)
	register(s)
	for _, name := range []string{"ErrorModel", "ErrorDetail"} { // huma describes them, and reshape replaces them
		delete(s.api.OpenAPI().Components.Schemas.Map(), name)
	}
	s.describe()
	for _, row := range s.rows {
		if !s.used[row.Pattern()] {
			s.faults = append(s.faults, fmt.Errorf("the table names %s, which no route serves", row.Pattern()))
		}
	}
	return s, errors.Join(s.faults...)
}

func humaConfig() huma.Config {
	config := huma.DefaultConfig("cw", cw.APIVersion)
	config.OpenAPIPath, config.DocsPath, config.SchemasPath = "", "", "" // nothing is served by itself
	config.CreateHooks = nil                                             // no $schema fields in answers
	config.AllowAdditionalPropertiesByDefault = true                     // unknown fields are ignored: newer clients send more
	config.Transformers = []huma.Transformer{reshape}
	config.Formats = map[string]huma.Format{
		"application/json": {Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: readJSON},
		"json":             {Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: readJSON},
	}
	return config
}

// guardedMux is the mux that huma registers its routes on: it puts the rights
// of the table before every handler, whoever registers it.
type guardedMux struct{ s *Server }

// ServeHTTP implements humago.Mux.
func (m guardedMux) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.s.mux.ServeHTTP(w, r) }

// HandleFunc implements humago.Mux.
func (m guardedMux) HandleFunc(pattern string, handler func(http.ResponseWriter, *http.Request)) {
	s := m.s
	if row, ok := s.patterns[pattern]; ok {
		s.used[pattern] = true
		s.mux.HandleFunc(pattern, s.guarded(row, handler))
		return
	}
	s.faults = append(s.faults, fmt.Errorf("the route %s has no row in the table of rights", pattern))
}

func (s *Server) guarded(row Route, handler http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		if err := s.allow(ctx, row, r.PathValue(row.namedBy())); err != nil {
			what := fmt.Sprintf("%s (%s)", row.ID, row.Pattern())
			s.logRefusal(ctx, "refused", "actor", cw.ActorOf(ctx).Kind, "id", cw.ActorOf(ctx).ID, "what", what)
			s.opts.OnRefused(context.WithoutCancel(ctx), cw.ActorOf(ctx), what)
			s.writeError(ctx, w, err)
			return
		}
		if err := s.receive(w, r, row); err != nil {
			s.writeError(ctx, w, err)
			return
		}
		if actor := cw.ActorOf(ctx); s.streams[row.ID] && actor.Kind == cw.ActorDashboard {
			stream, leave, err := s.visits.begin(ctx, actor.ID)
			if err != nil {
				s.writeError(ctx, w, err)
				return
			}
			defer leave()
			r = r.WithContext(stream)
		}
		handler(w, r)
	}
}

// Handler gives the whole API as the socket has it, with its gate. It needs to
// know the peer of each connection, so it serves only what comes in through
// Serve.
func (s *Server) Handler() http.Handler { return s.handler(socketFront{s}) }

func (s *Server) handler(f front) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serveHTTP(f, w, r) })
}

func (s *Server) serveHTTP(f front, w http.ResponseWriter, r *http.Request) {
	out := &answer{ResponseWriter: w, stall: s.opts.Stall, bodyLeft: r.ContentLength != 0}
	defer out.hangUp()
	var who caller
	began := time.Now()
	defer func() { s.logRequest(r, who.actor.Kind, out.status, time.Since(began)) }()
	defer s.recoverPanic(out, r)
	out.Header().Set(versionHeader, cw.APIVersion)
	var err error
	who, err = f.enter(out, r)
	switch {
	case errors.Is(err, errPreflight):
		out.last = true
		out.WriteHeader(http.StatusNoContent)
		return
	case err != nil:
		s.logRefusal(r.Context(), "not let in", "method", knownMethod(r.Method), "route", s.shownRoute(r), "error", err)
		out.last = true
		s.writeError(r.Context(), out, err)
		return
	}
	if who.actor.Kind == nobody {
		out.last = true // who shows no token keeps none of the connections, of which there are only so many
	} else {
		out.Header().Set("Server", fmt.Sprintf("cw/%s (%s)", s.opts.Version, s.opts.BuildID))
	}
	who.host = r.Host
	r = r.WithContext(withCaller(r.Context(), who))
	if who.site {
		s.serveSite(out, r)
		return
	}
	if !servable(r) {
		s.nothingHere(out, r)
		return
	}
	s.mux.ServeHTTP(out, r)
}

// rowOf gives the row of the route that a request is for, an empty one when
// there is none.
func (s *Server) rowOf(r *http.Request) Route {
	if !servable(r) {
		return Route{}
	}
	_, pattern := s.mux.Handler(r)
	return s.patterns[pattern]
}

// servable tells whether the mux may see the request: it would answer an
// unclean path with a redirect and HEAD with the whole of GET.
func servable(r *http.Request) bool {
	escaped := r.URL.EscapedPath()
	return path.Clean(escaped) == escaped && r.Method != http.MethodHead
}

// nothingHere answers what no route serves: 405 where another method would do.
func (s *Server) nothingHere(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := s.mux.Handler(other); pattern != "/" && pattern != "" && servable(other) {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 {
		s.writeError(r.Context(), w, cw.Errorf(cw.CodeNotFound, "there is nothing at %.200q", r.URL.Path).
			WithHint("GET /v1/openapi.json describes all that there is"))
		return
	}
	for _, method := range allowed {
		w.Header().Add("Allow", method)
	}
	s.writeError(r.Context(), w, cw.Errorf(cw.CodeInvalid, "%.20q cannot be used here", r.Method).
		WithHint("use %s", allowed[0]).Because(errMethod))
}

// recoverPanic keeps one broken request from ending the daemon.
func (s *Server) recoverPanic(w *answer, r *http.Request) {
	value := recover()
	switch value {
	case nil:
		return
	case http.ErrAbortHandler: // meant to break the connection
		panic(value)
	}
	err := s.internal(r.Context(), panicError(value, debug.Stack()))
	if w.started {
		panic(http.ErrAbortHandler) // half an answer went out: the caller must see that it is broken
	}
	s.writeError(r.Context(), w, err)
}
