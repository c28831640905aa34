package badinput

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

// raw gives what `cw agent logs --raw` prints.
func raw(t *testing.T, l *lab.Lab, name string, flags ...string) string {
	t.Helper()
	return works(t, l, append([]string{"agent", "logs", "--raw", name}, flags...)...).stdout
}

// same compares bytes without printing them all.
func same(t *testing.T, what, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	t.Errorf("%s: %d bytes, want %d; they differ at byte %d: %q, want %q", what, len(got), len(want), at,
		got[at:min(len(got), at+40)], want[at:min(len(want), at+40)])
}

// TestRawIsExact: torn, huge and invalid output comes back byte for byte, from
// stored chunks alone.
func TestRawIsExact(t *testing.T) {
	t.Parallel()
	l := started(t)
	const pieces = 600
	for seed := uint64(1); seed <= 3; seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			want := string(fakecli.NewStream(seed, false).Bytes(pieces))
			got, a := runs(t, l, fakecli.Script{Seed: seed, Pieces: pieces, Signal: done})
			if a.code != exitOK {
				t.Fatalf("%s", a)
			}
			name := got.Agent.Name
			same(t, "--raw", raw(t, l, name), want)
			same(t, "--session 1", raw(t, l, name, "--session", "1"), want)
			same(t, "--session 2", raw(t, l, name, "--session", "2"), "")
			same(t, "--follow", raw(t, l, name, "--follow"), want)
			var joined bytes.Buffer
			for line := range strings.Lines(raw(t, l, name, "--json")) {
				var c struct {
					SessionNumber int    `json:"sessionNumber"`
					Session       int    `json:"session"`
					Offset        int64  `json:"offset"`
					Bytes         []byte `json:"bytes"`
				}
				must(t, json.Unmarshal([]byte(line), &c))
				if c.Offset != int64(joined.Len()) {
					t.Errorf("a chunk begins at %d, the one before ended at %d", c.Offset, joined.Len())
				}
				joined.Write(c.Bytes)
			}
			same(t, "--raw --json", joined.String(), want)
			if rendered := works(t, l, "agent", "logs", name).stdout; !strings.Contains(rendered, "line 1 ") || strings.Contains(rendered, "\x00") {
				t.Errorf("rendered: %s", cut(rendered))
			}
		})
	}
	t.Run("bad session", func(t *testing.T) {
		refuses(t, l, refusal{"", call{args: []string{"agent", "logs", "--session", "-1", "x"}}, exitUsage, []string{"-1", "from 1"}, []string{"--session"}})
		refuses(t, l, refusal{"", call{args: []string{"agent", "logs", "--session", "one", "x"}}, exitUsage, []string{"one"}, []string{"--help"}})
		refuses(t, l, refusal{"", call{args: []string{"agent", "logs", "--raw", "no-such-agent"}}, exitNotFound, []string{"no-such-agent"}, []string{"cw"}})
	})
}

// TestOddOutput: output that no parser likes is kept and ends no run.
func TestOddOutput(t *testing.T) {
	t.Parallel()
	l := started(t)
	tests := []struct {
		name  string
		print string // shell
		want  string
	}{
		{"not UTF-8", `printf 'a\377\376\300\200b\n\355\240\200\n'`, "a\xff\xfe\xc0\x80b\n\xed\xa0\x80\n"},
		{"no final newline", `printf 'first\nlast words'`, "first\nlast words"},
		{"half a letter at the end", `printf 'caf\303'`, "caf\xc3"},
		{"zero bytes", `printf 'a\000b\000\n'`, "a\x00b\x00\n"},
		{"only line feeds", `printf '\n\n\n\n'`, "\n\n\n\n"},
		{"carriage returns", `printf '10%%\r50%%\r100%%\r\nend\r'`, "10%\r50%\r100%\r\nend\r"},
		{"escapes for a terminal", `printf '\033[2J\033]0;title\007\033[31mred\n'`, "\x1b[2J\x1b]0;title\x07\x1b[31mred\n"},
		{"nothing", `true`, ""},
		{"nothing but stderr", `echo only here >&2`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			script := executable(t, root(l), strings.ReplaceAll(tt.name, " ", "-"), "#!/bin/sh\ncat >/dev/null\n"+tt.print+"\necho '"+done+"' > .cw/output/signal.json\n")
			a := worksAs(t, l, call{args: []string{"run", "--json", "--script", script, "work"}})
			got := decode[report](t, a.stdout)
			if got.Agent.Status != "idle" {
				t.Errorf("%s", a)
			}
			same(t, "--raw", raw(t, l, got.Agent.Name), tt.want)
			rendered := works(t, l, "agent", "logs", got.Agent.Name).stdout
			for _, text := range []string{a.stderr, rendered} {
				if strings.ContainsAny(text, "\x1b\x00\x07") || strings.ToValidUTF8(text, "") != text {
					t.Errorf("shown as it is: %q", text)
				}
			}
		})
	}
}

// TestHugeLine: a line of 50 MB without an end in sight.
func TestHugeLine(t *testing.T) {
	t.Parallel()
	l := started(t)
	const big = 50 << 20
	got, a := runs(t, l, fakecli.Script{Pieces: 1, Tame: true, Big: big, File: "a.txt", Content: "a\n", Commit: "Add a", Signal: `{"status":"done"}`})
	if a.code != exitOK || got.Commits != 1 {
		t.Fatalf("%s", a)
	}
	if len(a.stderr) > 1<<20 {
		t.Errorf("%d bytes are shown of the line", len(a.stderr))
	}
	want := string(fakecli.NewStream(0, true).Bytes(1)) + strings.Repeat("B", big) + "\n"
	same(t, "--raw", raw(t, l, got.Agent.Name), want)
	rendered := works(t, l, "agent", "logs", got.Agent.Name).stdout
	if len(rendered) > 1<<20 {
		t.Errorf("%d bytes are rendered: %s", len(rendered), cut(rendered))
	}
	holds(t, "what is rendered", rendered, "line 1 ", fmt.Sprint(big), "raw output")
}

// TestFollow: --follow shows what comes and ends when the agent is at rest.
func TestFollow(t *testing.T) {
	t.Parallel()
	l := started(t)
	gate := filepath.Join(l.Books, "go")
	name := detached(t, l, fakecli.Script{Seed: 7, Pieces: 50, Wait: gate, Signal: done})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	want := fakecli.NewStream(7, false).Bytes(50)
	cmd := command(ctx, l, call{args: []string{"agent", "logs", "--raw", "--follow", name}})
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	first := make([]byte, bytes.IndexByte(want, '\n')+1)
	_, err = io.ReadFull(out, first) // comes before the end
	must(t, err)
	if v := show(t, l, name); v.Status != "running" {
		t.Errorf("it is %s", v.Status)
	}
	must(t, os.WriteFile(gate, nil, 0o600))
	rest, err := io.ReadAll(out)
	must(t, err)
	if err := cmd.Wait(); err != nil {
		t.Errorf("--follow ended with %v", err)
	}
	same(t, "--follow", string(first)+string(rest), string(want))
	if v := show(t, l, name); v.Status != "idle" {
		t.Errorf("--follow ended while it was %s", v.Status)
	}
}

// TestClosedPipe: nobody reads what cw prints any more. It ends, and the agent
// works on.
func TestClosedPipe(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.Env = []string{"PATH=" + filepath.Dir(l.Binary) + ":" + os.Getenv("PATH")}
	goal := filepath.Join(root(l), "goal.md")
	for name, line := range map[string]string{
		"stdout":         "cw run --name %s --provider fake --prompt-file %s | true",
		"both":           "cw run --name %s --provider fake --prompt-file %s 2>&1 | head -n 1",
		"closed at once": "cw run --name %s --provider fake --prompt-file %s >&- 2>&-",
		"json":           "cw run --json --name %s --provider fake --prompt-file %s 2>&1 | head -c 1",
		// The daemon that this starts must not hold the pipe.
		"piped": "cw run --name %s --provider fake --prompt-file %s 2>&1 | cat",
	} {
		t.Run(name, func(t *testing.T) {
			s := fakecli.Script{Book: l.Books, Pieces: 400, PaceMS: 1, File: "a.txt", Content: "a\n", Commit: "Add a", Signal: `{"status":"done"}`}
			must(t, os.WriteFile(goal, []byte(s.Goal()), 0o600))
			alias := "pipe-" + strings.ReplaceAll(name, " ", "-")
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			shell := command(ctx, l, call{})
			shell.Path, shell.Args, shell.Err = "/bin/sh", []string{"sh", "-c", fmt.Sprintf(line, alias, goal)}, nil
			if out, err := shell.CombinedOutput(); ctx.Err() != nil {
				t.Fatalf("it does not end: %v: %s", err, cut(string(out)))
			}
			works(t, l, "agent", "attach", alias) // waits for its end
			v := show(t, l, alias)
			if v.Status != "idle" || lab.Git(t, l.Repo, "rev-parse", v.Branch) != v.HeadCommit {
				t.Errorf("%+v", v)
			}
			same(t, "--raw", raw(t, l, alias), string(fakecli.NewStream(0, false).Bytes(400)))
		})
	}
	works(t, l, "stop")
}
