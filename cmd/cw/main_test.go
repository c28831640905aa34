package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"cw/internal/cw"
	"cw/internal/daemon"
	"cw/internal/proc"
	"cw/internal/service"
)

var update = flag.Bool("update", false, "write golden files and docs/cli.md anew")

// TestMain is cw itself when it is started as one: daemons and shims of the
// tests, and what agents call, are this very binary.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && slices.Contains([]string{"serve", "shim", "id", "ask", "listen", "answer"}, os.Args[1]) {
		main()
	}
	time.Local = time.UTC
	goleak.VerifyTestMain(m)
}

// epoch is the time in tests.
var epoch = time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)

// bench is an app over buffers and a fake daemon.
type bench struct {
	*app
	fake     *fakeServices
	stdout   *bytes.Buffer
	stderr   *lockedBuffer
	up       bool            // a daemon answers
	started  int             // how often connect started one
	gonePIDs []int           // waited for
	sigterm  int             // pid that holds the home and cannot be asked
	log      string          // content of daemon.log; "-" for no file
	unit     service.Options // of the service manager
	// screen tells whether there is one for a browser; browsed is how a browser
	// was started, and browseErr why not.
	screen    bool
	browsed   []string
	browseErr error
	// commands are those that were run in folders; runs is what they do.
	commands []childCommand
	runs     func() error
	// recovered is what a recovery finds.
	recovered daemon.RecoverReport
}

// childCommand is a command that was run in a folder.
type childCommand struct {
	dir          string
	command, env []string
}

// newBench makes one. The working directory is /work/repo, which need not exist.
func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{fake: newFake(), stdout: &bytes.Buffer{}, stderr: &lockedBuffer{}, up: true, log: "-", screen: true}
	b.app = &app{
		streams: streams{in: strings.NewReader(""), out: b.stdout, err: b.stderr, width: func() int { return 80 }},
		env:     environ{"PATH": "/bin:/usr/bin", "HOME": "/home/lead", "LANG": "C.UTF-8", "SECRET": "no"},
		dir:     "/work/repo",
		now:     func() time.Time { return epoch },
	}
	unreachable := cw.Errorf(cw.CodeUnreachable, "no daemon is running").WithHint("start one with `cw serve`").Because(os.ErrNotExist)
	b.farEnds = farEnds{
		stay:   func(context.Context) (cw.Services, error) { return b.fake, nil },
		home:   func() (cw.Home, error) { return "/home/lead/.cw", nil },
		inside: func(cw.Home) bool { return b.env[proc.RunVariable] != "" },
		connect: func(context.Context) (cw.Services, error) {
			if !b.up {
				b.started++
				b.up = true
			}
			return b.fake, nil
		},
		reach: func(context.Context) (cw.Services, error) {
			if !b.up {
				return nil, unreachable
			}
			return b.fake, nil
		},
		serve:   func(context.Context, cw.Home, map[string]string, io.Writer) error { return nil },
		examine: func(context.Context, cw.Home) []daemon.Check { return nil },
		rebuild: func(_ context.Context, o daemon.RecoverOptions) (daemon.RecoverReport, error) {
			if b.up {
				return daemon.RecoverReport{}, cw.Errorf(cw.CodeRefused, "a daemon runs").WithHint("cw stop")
			}
			r := b.recovered
			r.DryRun = o.DryRun
			return r, nil
		},
		service: func(home cw.Home) (service.Options, error) {
			o := b.unit
			o.Home = home
			return o, nil
		},
		browser: func() ([]string, bool) { return []string{"xdg-open"}, b.screen },
		browse:  func(argv []string) error { b.browsed = argv; return b.browseErr },
		end:     func(cw.Home) (int, error) { return b.sigterm, nil },
		holder:  func(cw.Home) int { return b.sigterm },
		gone: func(_ context.Context, pid int) error {
			b.gonePIDs = append(b.gonePIDs, pid)
			b.up = false
			return nil
		},
		within: func(dir string, command, env []string) error {
			b.commands = append(b.commands, childCommand{dir, command, env})
			if b.runs != nil {
				return b.runs()
			}
			return nil
		},
		log: func(ctx context.Context, _ string, _ int, w io.Writer, follow bool) error {
			if b.log == "-" {
				return os.ErrNotExist
			}
			if _, err := io.WriteString(w, b.log); err != nil || !follow {
				return err
			}
			<-ctx.Done()
			return nil
		},
	}
	return b
}

// session is one command line and everything that came of it, as it is kept in
// a golden file.
func (b *bench) session(ctx context.Context, args ...string) (text string, code int) {
	code = b.execute(ctx, args)
	var s strings.Builder
	words := make([]string, len(args))
	for i, arg := range args {
		words[i] = cw.ShellWord(arg)
	}
	fmt.Fprintf(&s, "$ cw %s\n", strings.Join(words, " "))
	for _, part := range []struct{ name, text string }{{"stdout", b.stdout.String()}, {"stderr", b.stderr.String()}} {
		if part.text != "" {
			fmt.Fprintf(&s, "-- %s\n%s", part.name, part.text)
			if !strings.HasSuffix(part.text, "\n") {
				s.WriteString("(no line end)\n")
			}
		}
	}
	fmt.Fprintf(&s, "-- exit %d\n", code)
	return s.String(), code
}

// golden compares with a file below testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", strings.ReplaceAll(name, " ", "-")+".golden")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (make it with -update)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, diff)
	}
}

// sessionCase is one row of a table of sessions.
type sessionCase struct {
	name  string // of the golden file too
	args  []string
	setup func(*bench)
	code  int
}

// sessions runs a table. A case whose arguments hold --json must print exactly
// one JSON value on stdout, or nothing beside an error.
func sessions(t *testing.T, folder string, cases []sessionCase) {
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			// On its clock a limit of 20 ms ends only when nothing else can go on.
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				if tc.setup != nil {
					tc.setup(b)
				}
				text, code := b.session(t.Context(), tc.args...)
				if code != tc.code {
					t.Errorf("exit code %d, want %d\n%s", code, tc.code, text)
				}
				golden(t, folder+"/"+tc.name, text)
				if b.json {
					oneValue(t, b.stdout.Bytes())
				}
			})
		})
	}
}

// oneValue fails unless data is at most one JSON value.
func oneValue(t *testing.T, data []byte) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	values := 0
	for {
		var v any
		err := dec.Decode(&v)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("stdout is no JSON: %v\n%s", err, data)
		}
		values++
	}
	if values > 1 {
		t.Errorf("stdout holds %d JSON values, want one", values)
	}
}

// parsed gives the options that a command line fills in, or the error.
func parsed[O any](t *testing.T, args []string, cmd func(a *app, runF func(context.Context, *O) error) runner) (*O, error) {
	t.Helper()
	b := newBench(t)
	var got *O
	c := cmd(b.app, func(_ context.Context, o *O) error {
		got = o
		return nil
	})
	c.SetArgs(append([]string{}, args...)) // nil would mean those of the process
	c.SetOut(io.Discard)
	c.SetErr(io.Discard)
	err := c.ExecuteContext(t.Context())
	return got, err
}

// runner is what parsed needs of a command; it keeps cobra out of the tests.
type runner interface {
	SetArgs([]string)
	SetOut(io.Writer)
	SetErr(io.Writer)
	ExecuteContext(context.Context) error
}

// lockedBuffer is a buffer that several goroutines write to.
type lockedBuffer struct {
	lockedWriter
	buf bytes.Buffer
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}
