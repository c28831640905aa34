package main

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cw/internal/cw"
	"cw/internal/proc"
)

func TestConversationOptions(t *testing.T) {
	t.Parallel()
	ask, err := parsed(t, []string{"--task-id", "t", "--from", "f", "--queue", "--wake", "--timeout", "2m", "--", "-v?"},
		func(a *app, f func(context.Context, *askOptions) error) runner { return newAskCmd(a, f) })
	if err != nil {
		t.Fatal(err)
	}
	sameOptions(t, &askOptions{question: "-v?", from: "f", task: "t", queue: true, wake: true, timeout: 2 * time.Minute}, ask)
	listen, err := parsed(t, []string{"--agent-id", "a", "--timeout", "1s", "--follow"},
		func(a *app, f func(context.Context, *listenOptions) error) runner { return newListenCmd(a, f) })
	if err != nil {
		t.Fatal(err)
	}
	sameOptions(t, &listenOptions{agent: "a", timeout: time.Second, follow: true}, listen)
	answer, err := parsed(t, []string{"--conversation-id", "c", "yes"},
		func(a *app, f func(context.Context, *answerOptions) error) runner { return newAnswerCmd(a, f) })
	if err != nil {
		t.Fatal(err)
	}
	sameOptions(t, &answerOptions{answer: "yes", conversation: "c"}, answer)
	list, err := parsed(t, []string{"--agent", "x", "--status", "pending,answered", "--limit", "3", "--sort", "createdAt"},
		func(a *app, f func(context.Context, *conversationListOptions) error) runner {
			return newConversationListCmd(a, f)
		})
	if err != nil {
		t.Fatal(err)
	}
	sameOptions(t, &conversationListOptions{agent: "x", statuses: []string{"pending", "answered"}, listing: listing{limit: 3, sort: "createdAt"}}, list)
}

// talks are conversations of every status, with words that a terminal would
// obey.
func talks() []cw.ConversationView {
	later := func(m int) *time.Time { at := epoch.Add(time.Duration(m-10) * time.Minute); return &at }
	base := cw.Conversation{
		FromAgentID: "aaaaaaaaaaaa", FromRunID: "rrrrrrrrrrrr", ToAgentID: "bbbbbbbbbbbb", TargetKind: cw.AskedAgent, TargetID: "calm-fox",
		Question: "Which parser?\n\x1b[2JThe new\u202eone?", Status: cw.ConversationPending, CreatedAt: *later(0), UpdatedAt: *later(0),
	}
	view := func(id cw.ConversationID, change func(*cw.ConversationView)) cw.ConversationView {
		c := cw.ConversationView{Conversation: base, From: "brave-otter", To: "calm-fox"}
		c.ID = id
		change(&c)
		return c
	}
	return []cw.ConversationView{
		view("cccccccccccc", func(c *cw.ConversationView) {
			c.To, c.ToAgentID, c.TargetKind, c.TargetID, c.PhaseID, c.Queue = "", "", cw.AskedPhase, "pppppppppppp", "pppppppppppp", true
			c.Reason = "no agent of the\nphase runs"
			c.Question = strings.Repeat("Who does the schema? ", 10)
		}),
		view("dddddddddddd", func(*cw.ConversationView) {}),
		view("eeeeeeeeeeee", func(c *cw.ConversationView) {
			c.Status, c.Answer, c.DeliveredAt, c.AnsweredAt, c.FetchedAt = cw.ConversationAnswered, "\x1b]0;evil\aThe new one,\nin parser/\n", later(1), later(2), later(3)
		}),
		view("ffffffffffff", func(c *cw.ConversationView) {
			c.Status, c.Reason, c.TargetKind, c.TargetID, c.TaskID = cw.ConversationCancelled, "calm-fox was\nstopped", cw.AskedTask, "tttttttttttt", "tttttttttttt"
		}),
	}
}

func TestConversation(t *testing.T) {
	t.Parallel()
	all := func(b *bench) { b.fake.talks = talks() }
	narrow := func(b *bench) { all(b); b.outTTY, b.width = true, func() int { return 70 } }
	sessions(t, "conversation", []sessionCase{
		{"list", []string{"conversation", "list"}, all, 0},
		{"list json", []string{"conversation", "list", "--status", "answered", "--json"}, all, 0},
		{"list pending of one", []string{"conversation", "ls", "--status", "pending", "--agent", "calm-fox"}, all, 0},
		{"list narrow", []string{"conversation", "list"}, narrow, 0},
		{"list empty", []string{"conversation", "list", "--status", "all"}, nil, 0},
		{"list empty json", []string{"conversation", "list", "--json"}, nil, 0},
		{"list none like that", []string{"conversation", "list", "--agent", "wise-owl"}, all, 0},
		{"list bad status", []string{"conversation", "list", "--status", "open"}, all, 2},
		{"show pending", []string{"conversation", "show", "dddddddddddd"}, all, 0},
		{"show queued", []string{"conversation", "show", "cccccccccccc"}, all, 0},
		{"show answered", []string{"conversation", "show", "eeeeeeeeeeee"}, all, 0},
		{"show answered on terminal", []string{"conversation", "show", "eeeeeeeeeeee"}, func(b *bench) { all(b); b.outTTY = true }, 0},
		{"show cancelled", []string{"conversation", "show", "ffffffffffff"}, all, 0},
		{"show json", []string{"conversation", "show", "--json", "eeeeeeeeeeee"}, all, 0},
		{"show unknown", []string{"conversation", "show", "vvvvvvvvvvvv"}, all, 3},
		{"show nothing", []string{"conversation", "show"}, all, 2},
	})
}

// inAgent makes the bench a process of brave-otter's run.
func inAgent(b *bench) {
	b.env[proc.RunVariable] = "r1"
	b.fake.self = cw.Whoami{Kind: cw.ActorAgent, AgentID: "aaaaaaaaaaaa", Name: "brave-otter", RunID: "rrrrrrrrrrrr"}
}

func TestTalk(t *testing.T) {
	t.Parallel()
	after := func(change func(*bench)) func(*bench) { return func(b *bench) { inAgent(b); change(b) } }
	answered, cancelled := talks()[2], talks()[3]
	says := func(c cw.ConversationView) func(*bench) { return after(func(b *bench) { b.fake.outcome = &c }) }
	stdin := func(text string) func(*bench) { return after(func(b *bench) { b.in = strings.NewReader(text) }) }
	asked := after(func(b *bench) {
		b.fake.pendings = []cw.PendingConversation{
			{ConversationID: "vvvvvvvvvvvv", FromAgentID: "bbbbbbbbbbbb", Question: "Which <one>?\n\x1b[2J", TaskID: "tttttttttttt"},
			{ConversationID: "wwwwwwwwwwww", FromAgentID: "cccccccccccc", Question: "And why?"},
		}
		b.fake.over = true
	})
	refused := func(method string) func(*bench) {
		return after(func(b *bench) {
			b.fake.errs[method] = cw.Errorf(cw.CodeForbidden, "you are brave-otter, not calm-fox").WithHint("leave the name out")
		})
	}
	person := func(b *bench) { b.up = false }
	fox := func(args ...string) []string {
		return append([]string{"ask", "Which?", "--agent-id", "calm-fox"}, args...)
	}
	sessions(t, "talk", []sessionCase{
		{"ask", fox(), says(answered), 0},
		{"ask on terminal", fox(), func(b *bench) { says(answered)(b); b.outTTY = true }, 0},
		{"ask json", fox("--json"), says(answered), 0},
		{"ask of a phase", []string{"ask", "Which?", "--phase-id", "pppppppppppp"}, says(answered), 0},
		{"ask of a task, nobody yet", []string{"ask", "Which?", "--task-id", "tttttttttttt", "--queue"}, says(answered), 0},
		{"ask cancelled", fox(), says(cancelled), 4},
		{"ask refused", fox("--from", "calm-fox"), refused("Ask"), 4},
		{"ask nobody", []string{"ask", "Which?"}, inAgent, 2},
		{"ask two", fox("--task-id", "t"), inAgent, 2},
		{"ask empty flag", []string{"ask", "Which?", "--agent-id", ""}, inAgent, 2},
		{"ask nothing", []string{"ask", "--agent-id", "calm-fox"}, inAgent, 2},
		{"ask empty stdin", []string{"ask", "-", "--agent-id", "calm-fox"}, stdin(" \n"), 2},
		{"ask too much", []string{"ask", "-", "--agent-id", "calm-fox"}, stdin(strings.Repeat("x", cw.ConversationTextMax+9)), 2},
		{"ask hyphen", []string{"ask", "-v?", "--agent-id", "calm-fox"}, inAgent, 2},
		{"ask negative timeout", fox("--timeout", "-1s"), inAgent, 2},
		{"ask by a person", fox(), person, 4},
		{"listen", []string{"listen"}, asked, 0},
		{"listen follow", []string{"listen", "--follow"}, asked, 4},
		{"listen refused", []string{"listen", "--agent-id", "calm-fox"}, refused("PendingConversations"), 4},
		{"listen bad timeout", []string{"listen", "--timeout", "soon"}, inAgent, 2},
		{"listen empty flag", []string{"listen", "--agent-id="}, inAgent, 2},
		{"listen to nobody", []string{"listen"}, func(b *bench) { b.env[proc.RunVariable] = "r1" }, 4},
		{"listen by a person", []string{"listen"}, person, 4},
		{"answer", []string{"answer", "the new one", "--conversation-id", "vvvvvvvvvvvv"}, inAgent, 0},
		{"answer json", []string{"answer", "--json", "the new one", "--conversation-id", "vvvvvvvvvvvv"}, inAgent, 0},
		{"answer nothing", []string{"answer", "--conversation-id", "vvvvvvvvvvvv"}, inAgent, 2},
		{"answer empty", []string{"answer", "-", "--conversation-id", "vvvvvvvvvvvv"}, stdin(""), 2},
		{"answer what", []string{"answer", "x"}, inAgent, 2},
		{"answer refused", []string{"answer", "x", "--conversation-id", "vvvvvvvvvvvv"}, refused("AnswerConversation"), 4},
		{"answer by a person", []string{"answer", "x", "--conversation-id", "vvvvvvvvvvvv"}, person, 4},
	})
	b := newBench(t)
	stdin("two\nlines\n")(b)
	if text, code := b.session(t.Context(), "answer", "-", "--conversation-id", "v"); code != 0 || b.fake.told[0] != "v two\nlines\n" {
		t.Errorf("told %q\n%s", b.fake.told, text)
	}
}

// TestTalkStartsNoDaemon: what is for agents only starts none for a person.
func TestTalkStartsNoDaemon(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"ask", "x", "--agent-id", "y"}, {"listen"}, {"answer", "x", "--conversation-id", "y"}} {
		b := newBench(t)
		b.up = false
		if text, code := b.session(t.Context(), args...); code != 4 || b.started != 0 {
			t.Errorf("started %d\n%s", b.started, text)
		}
	}
}

// TestAskOnce: each question has a key of its own, and asks as what the caller is.
func TestAskOnce(t *testing.T) {
	t.Parallel()
	keys := map[string]bool{}
	for range 2 {
		b := newBench(t)
		inAgent(b)
		b.fake.outcome = &talks()[2]
		b.in = strings.NewReader("Which?")
		if text, code := b.session(t.Context(), "ask", "-", "--agent-id", "calm-fox", "--wake"); code != 0 {
			t.Fatal(text)
		}
		req := b.fake.asks[0]
		if req.From != "" || req.Question != "Which?" || !req.Wake || req.Queue {
			t.Errorf("asked %+v", req)
		}
		keys[req.RequestKey] = true
	}
	if len(keys) != 2 || keys[""] {
		t.Errorf("keys: %v", keys)
	}
}

// TestTalkTimesOut: each way of waiting ends with the exit code that says what
// was waited for.
func TestTalkTimesOut(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		args  []string
		setup func(*bench)
		code  int
	}{
		{"ask", []string{"ask", "x", "--agent-id", "calm-fox", "--timeout", "3s"}, func(*bench) {}, 6},
		{"ask unsaid", []string{"ask", "x", "--agent-id", "calm-fox", "--timeout", "3s"}, func(b *bench) { b.fake.errs["AskHangs"] = io.EOF }, 5},
		{"listen", []string{"listen", "--timeout", "3s"}, func(*bench) {}, 6},
		{"listen follow", []string{"listen", "--timeout", "3s", "--follow"}, func(b *bench) {
			b.fake.pendings = []cw.PendingConversation{{ConversationID: "vvvvvvvvvvvv", FromAgentID: "bbbbbbbbbbbb", Question: "x"}}
		}, 6},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				inAgent(b)
				tc.setup(b)
				begin := time.Now()
				text, code := b.session(t.Context(), tc.args...)
				if code != tc.code || time.Since(begin) != 3*time.Second {
					t.Errorf("exit code %d after %s, want %d", code, time.Since(begin), tc.code)
				}
				golden(t, "talk/timeout "+tc.name, text)
			})
		})
	}
}

// TestTalkLeft: Ctrl-C ends every wait.
func TestTalkLeft(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"ask", "x", "--agent-id", "calm-fox"}, {"listen"}, {"listen", "--follow", "--timeout", "1h"}} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			inAgent(b)
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			if text, code := b.session(ctx, args...); code != 130 {
				t.Error(text)
			}
		})
	}
}
