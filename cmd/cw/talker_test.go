package main

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

// typist puts a person at a terminal, who types what is written to it.
func typist(b *bench) *io.PipeWriter {
	terminal(b, "")
	in, keys := io.Pipe()
	b.in = in
	return keys
}

// sentTexts are the messages that were sent.
func sentTexts(b *bench) []string {
	var out []string
	for _, s := range b.fake.sends {
		if s.WhenBusy != cw.BusyQueue {
			out = append(out, "not queued")
		}
		out = append(out, s.Text)
	}
	return out
}

// TestAttachSends: at a terminal each line is a message, a backslash lets the
// next line belong to it, Ctrl-D ends sending alone, and Ctrl-C leaves the agent
// at work.
func TestAttachSends(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.fake.add(running("brave-otter"), nil)
		keys := typist(b)
		ctx, cancel := context.WithCancel(t.Context())
		said := ""
		go func() {
			for _, line := range []string{"use the new parser\n", "\n", "two \\\n", "lines\\\\\n", "\n", "the last \\\n"} {
				_, _ = io.WriteString(keys, line)
				synctest.Wait()
			}
			_ = keys.Close() // Ctrl-D
			synctest.Wait()
			said = b.stderr.String()
			cancel()
		}()
		text, code := b.session(ctx, "agent", "attach", "brave-otter")
		want := []string{"use the new parser", "two \nlines\\\n", "the last "}
		if diff := cmp.Diff(want, sentTexts(b)); diff != "" || code != 130 {
			t.Errorf("exit code %d (-want +got):\n%s\n%s", code, diff, text)
		}
		if strings.Count(said, "queued: sent when this run ends") != 3 || !strings.Contains(said, "nothing more is sent") {
			t.Error(said)
		}
		if !strings.Contains(text, "you left; brave-otter goes on") {
			t.Error(text)
		}
	})
}

// TestAttachSendsInTime: what was typed when the run ended is sent, and the agent
// that goes on with it is watched.
func TestAttachSendsInTime(t *testing.T) {
	t.Parallel()
	idle, second := ended("brave-otter"), ended("brave-otter")
	second.Result = "The second one."
	b := newBench(t)
	b.fake.after[idle.ID] = second
	w := watch{app: b.app, svc: b.fake, agent: idle, talks: true}
	in := newLineReader(strings.NewReader("once more\n"))
	talk := w.talker(in)
	b.fake.add(idle, nil)
	for len(in.next()) == 0 { // it is read
	}
	if more, err := talk.more(t.Context(), idle); !more || err != nil {
		t.Errorf("more %v, %v", more, err)
	}
	if diff := cmp.Diff([]string{"once more"}, sentTexts(b)); diff != "" {
		t.Error(diff)
	}
}

// TestAttachNotSent: at a terminal, what cannot be sent is said, and watching
// goes on.
func TestAttachNotSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.fake.add(running("brave-otter"), nil)
		b.fake.breaks("Send", 1, cw.Errorf(cw.CodeRefused, "it is %s", "stopped").WithHint("resume it"))
		keys := typist(b)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			_, _ = io.WriteString(keys, "one\n")
			synctest.Wait()
			_, _ = io.WriteString(keys, "two\n")
			synctest.Wait()
			cancel()
			synctest.Wait()
			_ = keys.Close()
		}()
		text, code := b.session(ctx, "agent", "attach", "brave-otter")
		if code != 130 || !strings.Contains(text, "not sent: it is stopped; resume it") || !slices.Equal(sentTexts(b), []string{"two"}) {
			t.Errorf("sent %q\n%s", sentTexts(b), text)
		}
	})
}

// TestAttachMessages: what is piped in is sent only when that is asked for, and
// to its end.
func TestAttachMessages(t *testing.T) {
	t.Parallel()
	idle := ended("brave-otter")
	refused := cw.Errorf(cw.CodeRefused, "agent brave-otter is removed").WithHint("cw agent restore brave-otter")
	for _, c := range []struct {
		name  string
		flags []string
		agent cw.AgentView
		end   *cw.AgentView
		fails error
		in    string
		want  []string
		code  int
		says  string
	}{
		{name: "not asked for", agent: idle, in: "one\ntwo\n"},
		{name: "idle", flags: []string{"--messages"}, agent: idle, in: "one\nt\\\nwo\n\nthree", want: []string{"one", "t\nwo", "three"}},
		{name: "working", flags: []string{"--messages"}, agent: running("brave-otter"), end: &idle, in: "one\ntwo\n", want: []string{"one", "two"}},
		{name: "nothing", flags: []string{"--messages"}, agent: idle},
		{name: "it asks", flags: []string{"--messages"}, agent: waits(1), in: "one\ntwo\n", want: []string{"one", "two"}, code: 7},
		{name: "refused", flags: []string{"--messages"}, agent: idle, fails: refused, in: "one\ntwo\n", code: 4, says: `"one" was not sent`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.fake.add(c.agent, c.end)
			b.fake.after[c.agent.ID] = idle
			b.in = strings.NewReader(c.in)
			if c.fails != nil {
				b.fake.breaks("Send", 0, c.fails)
			}
			text, code := b.session(t.Context(), slices.Concat([]string{"agent", "attach", "brave-otter"}, c.flags)...)
			if diff := cmp.Diff(c.want, sentTexts(b)); diff != "" || code != c.code || !strings.Contains(text, c.says) {
				t.Errorf("exit code %d, want %d (-want +got):\n%s\n%s", code, c.code, diff, text)
			}
		})
	}
}

// TestAttachMessagesToNobody: who waits for more to send does not wait on behalf
// of an agent that takes nothing any more.
func TestAttachMessagesToNobody(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in, _ := io.Pipe() // nothing comes
	defer in.Close()
	crashed := ended("brave-otter")
	crashed.Status = cw.StatusCrashed
	talk := watch{app: b.app, svc: b.fake, agent: crashed, messages: true}.talker(newLineReader(in))
	if more, err := talk.more(t.Context(), crashed); more || err != nil {
		t.Errorf("more %v, %v", more, err)
	}
}
