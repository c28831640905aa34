package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
	"cw/internal/daemon"
	"cw/internal/proc"
)

func TestLifeOptions(t *testing.T) {
	t.Parallel()
	check := func(want, got any, err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
			return
		}
		sameOptions(t, want, got)
	}
	list, err := parsed(t, []string{"--agent", "x", "--status", "answered,withdrawn", "--limit", "3"},
		func(a *app, f func(context.Context, *questionListOptions) error) runner {
			return newQuestionListCmd(a, f)
		})
	check(&questionListOptions{agent: "x", statuses: []string{"answered", "withdrawn"}, listing: listing{limit: 3, sort: "createdAt"}}, list, err)
	answer, err := parsed(t, []string{"q", "--option", "A, or B", "--option", "C"},
		func(a *app, f func(context.Context, *questionAnswerOptions) error) runner {
			return newQuestionAnswerCmd(a, f)
		})
	check(&questionAnswerOptions{words: []string{"q"}, options: []string{"A, or B", "C"}}, answer, err)
	text, err := parsed(t, []string{"q", "--text", ""},
		func(a *app, f func(context.Context, *questionAnswerOptions) error) runner {
			return newQuestionAnswerCmd(a, f)
		})
	check(&questionAnswerOptions{words: []string{"q"}, hasText: true}, text, err)
	all, err := parsed(t, []string{"x", "--answers", "-", "-f"},
		func(a *app, f func(context.Context, *agentAnswerOptions) error) runner {
			return newAgentAnswerCmd(a, f)
		})
	check(&agentAnswerOptions{ref: "x", file: "-", follow: true}, all, err)
	resume, err := parsed(t, []string{"x", "--follow", "--", "-v", "too"},
		func(a *app, f func(context.Context, *agentResumeOptions) error) runner {
			return newAgentResumeCmd(a, f)
		})
	check(&agentResumeOptions{ref: "x", words: []string{"-v", "too"}, follow: true}, resume, err)
	send, err := parsed(t, []string{"x", "go", "on", "--no-queue"},
		func(a *app, f func(context.Context, *agentSendOptions) error) runner { return newAgentSendCmd(a, f) })
	check(&agentSendOptions{ref: "x", words: []string{"go", "on"}, noQueue: true}, send, err)
	set, err := parsed(t, []string{".", "stall", "resume"},
		func(a *app, f func(context.Context, *projectSetOptions) error) runner { return newProjectSetCmd(a, f) })
	check(&projectSetOptions{ref: ".", key: "stall", value: "resume"}, set, err)
	gc, err := parsed(t, []string{"--dry-run"},
		func(a *app, f func(context.Context, *gcOptions) error) runner { return newGCCmd(a, f) })
	check(&gcOptions{dryRun: true}, gc, err)
	backup, err := parsed(t, []string{"f", "--logs"},
		func(a *app, f func(context.Context, *backupOptions) error) runner { return newBackupCmd(a, f) })
	check(&backupOptions{path: "f", logs: true}, backup, err)
}

func TestQuestion(t *testing.T) {
	t.Parallel()
	asks := func(b *bench) {
		b.fake.add(waits(3), nil)
		was := asked()[0]
		was.ID, was.Status, was.Answer, was.AnsweredBy, was.AnsweredAt = "tttttttttttt", cw.QuestionAnswered, "The old one", "person", &epoch
		withdrawn := asked()[2]
		withdrawn.ID, withdrawn.AgentID, withdrawn.Status = "uuuuuuuuuuuu", "bbbbbbbbbbbb", cw.QuestionWithdrawn
		b.fake.answered = []cw.QuestionView{{Question: was, Agent: "brave-otter"}, {Question: withdrawn, Agent: "calm-fox"}}
	}
	stdin := func(text string) func(*bench) {
		return func(b *bench) { asks(b); b.in = strings.NewReader(text) }
	}
	idle := func(b *bench) { b.fake.add(ended("brave-otter"), nil) }
	otter := []string{"agent", "answer", "brave-otter"}
	file := append(otter, "--answers", "-")
	sessions(t, "question", []sessionCase{
		{"list", []string{"question", "list"}, asks, 0},
		{"list and checkpoints", []string{"question", "list"}, func(b *bench) { idle(b); b.fake.status.Checkpoints = 2 }, 0},
		{"list and named checkpoints", []string{"question", "list"}, func(b *bench) {
			asks(b)
			b.fake.status.Checkpoints = 2
			b.fake.dispatch = cw.DispatchStatus{
				Waiting: []cw.DispatchTask{
					{ID: "jjjjjjjjjjjj", Name: "Choose\x1b[2J it", Wait: &cw.WaitReason{Code: cw.WaitPerson, Text: "a person has to answer 2 questions"}},
					{ID: "kkkkkkkkkkkk", Name: "Later", Wait: &cw.WaitReason{Code: cw.WaitPhase, Text: "its phase is not approved"}},
				},
				Running: []cw.DispatchTask{{ID: "hhhhhhhhhhhh", Name: "Lower it", Status: cw.TaskVerifying}, {ID: "iiiiiiiiiiii", Name: "Raise it", Status: cw.TaskVerifying}},
				Merges:  []cw.Merge{{TaskID: "hhhhhhhhhhhh", Status: cw.MergeQueued, Verify: true}, {TaskID: "iiiiiiiiiiii", Status: cw.MergeQueued, Verify: true, VerifiedBy: "person"}},
			}
		}, 0},
		{"list all", []string{"question", "ls", "--status", "all"}, asks, 0},
		{"list json", []string{"question", "list", "--status", "answered", "--json"}, asks, 0},
		{"list empty", []string{"question", "list"}, idle, 0},
		{"list empty json", []string{"question", "list", "--json"}, idle, 0},
		{"list none like that", []string{"question", "list", "--status", "withdrawn,answered", "--agent", "wise-owl"}, asks, 0},
		{"list bad status", []string{"question", "list", "--status", "opne"}, asks, 2},
		{"list narrow", []string{"question", "list"}, func(b *bench) { asks(b); b.outTTY, b.width = true, func() int { return 60 } }, 0},
		{"show", []string{"question", "show", "rrrrrrrrrrrr"}, asks, 0},
		{"show answered", []string{"question", "show", "tttttttttttt"}, asks, 0},
		{"show json", []string{"question", "show", "--json", "qqqqqqqqqqqq"}, asks, 0},
		{"show unknown", []string{"question", "show", "vvvvvvvvvvvv"}, asks, 3},
		{"show nothing", []string{"question", "show"}, asks, 2},
		{"answer label", []string{"question", "answer", "qqqqqqqqqqqq", "The new one"}, asks, 0},
		{"answer words", []string{"question", "answer", "qqqqqqqqqqqq", "neither"}, asks, 0},
		{"answer like an id", []string{"question", "answer", "ssssssssssss", "implementing"}, asks, 0},
		{"answer option", []string{"question", "answer", "rrrrrrrrrrrr", "--option", "Linux", "--option", "Plan 9"}, asks, 0},
		{"answer text", []string{"question", "answer", "ssssssssssss", "--text", "--quick"}, asks, 0},
		{"answer text stdin", []string{"question", "answer", "ssssssssssss", "--text", "-"}, stdin("two\nlines\n"), 0},
		{"answer stdin", []string{"question", "answer", "ssssssssssss", "-"}, stdin("words"), 0},
		{"answer json", []string{"question", "answer", "--json", "ssssssssssss", "x"}, asks, 0},
		{"answer last", []string{"question", "answer", "qqqqqqqqqqqq", "x"}, func(b *bench) { b.fake.add(waits(1), nil) }, 0},
		{"answer wrong option", []string{"question", "answer", "qqqqqqqqqqqq", "--option", "The nwe one"}, asks, 2},
		{"answer two options", []string{"question", "answer", "qqqqqqqqqqqq", "--option", "The old one", "--option", "The new one"}, asks, 2},
		{"answer option of none", []string{"question", "answer", "ssssssssssss", "--option", "x"}, asks, 2},
		{"answer empty", []string{"question", "answer", "ssssssssssss", "  "}, asks, 2},
		{"answer empty text", []string{"question", "answer", "ssssssssssss", "--text", ""}, asks, 2},
		{"answer answered", []string{"question", "answer", "tttttttttttt", "x"}, asks, 4},
		{"answer withdrawn", []string{"question", "answer", "uuuuuuuuuuuu", "x"}, asks, 4},
		{"answer unknown", []string{"question", "answer", "vvvvvvvvvvvv", "x"}, asks, 3},
		{"answer both", []string{"question", "answer", "qqqqqqqqqqqq", "--option", "x", "--text", "y"}, asks, 2},
		{"answer nothing", []string{"question", "answer", "--text", "y"}, asks, 2},
		{"answer twice", []string{"question", "answer", "qqqqqqqqqqqq", "x", "--text", "y"}, asks, 2},
		{"answer unquoted", []string{"question", "answer", "qqqqqqqqqqqq", "the", "new", "one"}, asks, 2},
		{"answer no terminal", []string{"question", "answer", "qqqqqqqqqqqq", "rrrrrrrrrrrr"}, asks, 2},
		{"answer no terminal one", []string{"question", "answer", "qqqqqqqqqqqq"}, asks, 2},
		{"answer none open", []string{"question", "answer"}, idle, 4},
		{"agent no terminal", otter, asks, 2},
		{"agent no terminal json", append(otter, "--json"), asks, 2},
		{"agent asks nothing", otter, idle, 4},
		{"agent unknown", []string{"agent", "answer", "no-one"}, asks, 3},
		{"agent file", file, stdin(`{"qqqqqqqqqqqq": "The new one", "targets": ["Linux", "macOS"], "2": "--quick"}`), 0},
		{"agent file json", append(file, "--json"), stdin(`{"qqqqqqqqqqqq": "The new one"}`), 0},
		{"agent file some", file, stdin(`{"2": "--quick"}`), 0},
		{"agent file unknown", file, stdin(`{"2": "--quick", "3": "x", "vvvvvvvvvvvv": "y"}`), 3},
		{"agent file answered", file, stdin(`{"2": "--quick", "tttttttttttt": "x"}`), 4},
		{"agent file of another", file, stdin(`{"uuuuuuuuuuuu": "x"}`), 3},
		{"agent file no JSON", file, stdin(`2: --quick`), 2},
		{"agent file wrong label", file, stdin(`{"targets": ["Linux", "Plan9"]}`), 2},
		{"agent no such file", append(otter, "--answers", "/no/such/file"), asks, 2},
		{"help", []string{"question"}, nil, 0},
	})
}

// TestAnswerIsAllOrNothing: nothing is sent unless all of a file is valid.
func TestAnswerIsAllOrNothing(t *testing.T) {
	t.Parallel()
	for _, data := range []string{
		`{"2": "good", "targets": ["wrong"]}`, `{"2": "good", "z": "unknown"}`, `{"2": "good", "1": ""}`, `{"2": "good"} x`,
		`{"2": "good", "ssssssssssss": "twice"}`,
	} {
		b := newBench(t)
		b.fake.add(waits(3), nil)
		b.in = strings.NewReader(data)
		if text, code := b.session(t.Context(), "agent", "answer", "brave-otter", "--answers", "-"); code == 0 || len(b.fake.answers) > 0 {
			t.Errorf("%s was sent:\n%s", data, text)
		}
	}
}

func TestLife(t *testing.T) {
	t.Parallel()
	stopped := func(b *bench) {
		b.fake.add(*with(running("brave-otter"), func(v *cw.AgentView) { v.Status, v.Reason = cw.StatusStopped, cw.ReasonUser }), nil)
	}
	messages := func(b *bench) {
		v := ended("calm-fox")
		v.QueuedMessages = 1
		v.Status = cw.StatusRunning
		b.fake.add(v, nil)
		b.fake.messages = []cw.Message{
			{Seq: 1, RunID: "rrrrrrrrrrrr", Role: cw.RoleUser, Origin: cw.OriginCW, Body: "<task>\n" + strings.Repeat("line\n", 20) + "</task>", DeliveredAt: &epoch, CreatedAt: epoch},
			{Seq: 2, RunID: "rrrrrrrrrrrr", Role: cw.RoleAssistant, Origin: cw.OriginAgent, Body: "Done.\x1b[2J", CreatedAt: epoch},
			{Seq: 3, Role: cw.RoleUser, Origin: cw.OriginPerson, Actor: "person", Body: "and the lexer\ntoo", QueuedAt: &epoch, CreatedAt: epoch},
			{Seq: 4, Role: cw.RoleUser, Origin: cw.OriginPerson, Body: "never mind", HiddenAt: &epoch, CreatedAt: epoch},
		}
	}
	removed := func(b *bench) {
		three(b)
		if _, err := b.fake.Remove(t.Context(), "calm-fox"); err != nil {
			t.Error(err)
		}
	}
	follows := func(b *bench) {
		stopped(b)
		b.fake.after["aaaaaaaaaaaa"] = ended("brave-otter")
	}
	sessions(t, "life", []sessionCase{
		{"resume", []string{"agent", "resume", "brave-otter"}, stopped, 0},
		{"resume json", []string{"agent", "resume", "--json", "brave-otter", "go", "on"}, stopped, 0},
		{"resume running", []string{"agent", "resume", "brave-otter"}, three, 4},
		{"resume unknown", []string{"agent", "resume", "no-one"}, stopped, 3},
		{"resume nobody", []string{"agent", "resume"}, stopped, 2},
		{"resume empty", []string{"agent", "resume", "brave-otter", ""}, stopped, 2},
		{"resume follow", []string{"agent", "resume", "brave-otter", "-f"}, follows, 0},
		{"resume lost", []string{"agent", "resume", "brave-otter"}, func(b *bench) { stopped(b); b.fake.errs["Resume"] = gone() }, 5},
		{"send queued", []string{"agent", "send", "brave-otter", "and", "more"}, three, 0},
		{"send idle", []string{"agent", "send", "calm-fox", "and more"}, three, 0},
		{"send json", []string{"agent", "send", "--json", "brave-otter", "more"}, three, 0},
		{"send busy", []string{"agent", "send", "--no-queue", "brave-otter", "more"}, three, 4},
		{"send empty", []string{"agent", "send", "brave-otter"}, three, 2},
		{"send nobody", []string{"agent", "send"}, three, 2},
		{"messages", []string{"agent", "messages", "calm-fox"}, messages, 0},
		{"messages full", []string{"agent", "messages", "calm-fox", "--full", "--limit", "1"}, messages, 0},
		{"messages json", []string{"agent", "messages", "--json", "calm-fox"}, messages, 0},
		{"messages none", []string{"agent", "messages", "brave-otter"}, three, 0},
		{"show queued", []string{"agent", "show", "calm-fox"}, messages, 0},
		{"remove", []string{"agent", "remove", "calm-fox", "brave-otter", "no-one", "wise-owl"}, three, 4},
		{"remove json", []string{"agent", "remove", "--json", "calm-fox"}, three, 0},
		{"remove clean", []string{"agent", "rm", "calm-fox"}, func(b *bench) {
			b.fake.add(*with(ended("calm-fox"), func(v *cw.AgentView) { v.Projects[0].State = cw.WorktreeRemoved }), nil)
		}, 0},
		{"remove nobody", []string{"agent", "remove"}, three, 2},
		{"remove empty", []string{"agent", "remove", "calm-fox", ""}, three, 2},
		{"restore", []string{"agent", "restore", "calm-fox"}, removed, 0},
		{"restore json", []string{"agent", "restore", "--json", "calm-fox"}, removed, 0},
		{"restore gone", []string{"agent", "restore", "calm-fox"}, func(b *bench) {
			removed(b)
			b.fake.errs["Restore"] = cw.Errorf(cw.CodeGone, "nothing holds the worktree of calm-fox any more").WithHint("its branch is agent/calm-fox")
		}, 4},
		{"list removed", []string{"agent", "list", "--removed"}, removed, 0},
		{"list none removed", []string{"agent", "list", "--removed"}, three, 0},
		{"list stalled and waiting", []string{"agent", "list"}, func(b *bench) {
			last := epoch.Add(-12 * time.Minute)
			b.fake.add(waits(2), nil)
			b.fake.add(*with(running("calm-fox"), func(v *cw.AgentView) {
				v.Activity = &cw.Activity{State: cw.ActivityStalled, Tool: "Bash", LastAt: &last}
			}), nil)
		}, 0},
		{"show removed", []string{"agent", "show", "calm-fox"}, removed, 0},
		{"show stalled", []string{"agent", "show", "brave-otter"}, func(b *bench) {
			last := epoch.Add(-12 * time.Minute)
			b.fake.add(*with(running("brave-otter"), func(v *cw.AgentView) {
				v.Activity = &cw.Activity{State: cw.ActivityStalled, Tool: "Bash", LastAt: &last}
				v.Runs = []cw.Run{{SessionNumber: 2, Reason: cw.RunFollowUp, Fresh: true, StartedAt: &last}}
			}), nil)
		}, 0},
		{"show cleaned up", []string{"agent", "show", "calm-fox"}, func(b *bench) {
			b.fake.add(*with(ended("calm-fox"), func(v *cw.AgentView) { v.Settling, v.Projects[0].State = true, cw.WorktreeRemoved }), nil)
		}, 0},
		{"set", []string{"project", "set", "site", "stall", "resume"}, sites, 0},
		{"set json", []string{"project", "set", "--json", "site", "autoResume", "true"}, sites, 0},
		{"set fallback", []string{"project", "set", "site", "fallback", "codex,gemini"}, sites, 0},
		{"set no fallback", []string{"project", "set", "--json", "site", "fallback", "none"}, sites, 0},
		{"set fallback twice", []string{"project", "set", "site", "fallback", "codex,codex"}, sites, 2},
		{"set spawn", []string{"project", "set", "site", "agentSpawn", "1"}, sites, 0},
		{"set spawn json", []string{"project", "set", "--json", "site", "agentSpawn", "2"}, sites, 0},
		{"set spawn too deep", []string{"project", "set", "site", "agentSpawn", "4"}, sites, 2},
		{"set spawn wrong", []string{"project", "set", "site", "agentSpawn", "yes"}, sites, 2},
		{"set slip", []string{"project", "set", "site", "autoresume", "true"}, sites, 2},
		{"set unknown key", []string{"project", "set", "site", "colour", "red"}, sites, 2},
		{"set wrong value", []string{"project", "set", "site", "stall", "never"}, sites, 2},
		{"set wrong bool", []string{"project", "set", "site", "autoResume", "perhaps"}, sites, 2},
		{"set too few", []string{"project", "set", "site", "stall"}, sites, 2},
		{"set unknown project", []string{"project", "set", "nowhere", "stall", "event"}, sites, 3},
	})
}

func sites(b *bench) {
	b.fake.projects = []cw.Project{{ID: "pppppppppppp", Name: "site", Path: "/work/repo", Mirror: "site-pppp.git", Fallback: []string{}, Stall: cw.StallEvent, CreatedAt: epoch, UpdatedAt: epoch}}
}

func TestHouse(t *testing.T) {
	t.Parallel()
	garbage := func(b *bench) {
		b.fake.garbage = cw.GCReport{FreedBytes: 5 << 20, Items: []cw.Garbage{
			{Kind: cw.GarbageTrash, Agent: "calm-fox", Path: "/home/lead/.cw/trash/calm-fox", Bytes: 5 << 20, Goes: true, Reason: "removed 8 days ago"},
			{Kind: cw.GarbageTrash, Agent: "wise-owl", Path: "/home/lead/.cw/trash/wise-owl", Bytes: 1 << 20, Reason: "removed 2 days ago, kept for 7"},
			{Kind: cw.GarbageKeepRef, Agent: "wise-owl", Reason: "kept for 30 days"},
		}}
	}
	low := func(b *bench) {
		b.fake.status.FloorBytes, b.fake.status.FreeBytes, b.fake.status.DiskLow = 1<<30, 100<<20, true
		b.fake.status.Sizes = &cw.Sizes{Runs: 1 << 30, Worktrees: 5 << 30, Trash: 1 << 20, Mirrors: 1 << 21, Backups: 1 << 22, At: epoch.Add(-time.Minute)}
	}
	damaged := func(b *bench) {
		b.up = false
		b.recovered = daemon.RecoverReport{
			Damaged: []string{"cw.db: page 7 is not readable"}, Moved: []string{"/home/lead/.cw/damaged/20260102T150405.000/cw.db"},
			Backup: "/home/lead/.cw/backups/daily.db", Rows: map[string]int{"runs": 5, "agents": 3}, Runs: []string{"calm-fox, run 2"},
			OutputBytes: 5 << 20, Unknown: []string{"how run 2 of calm-fox ended"},
		}
	}
	sessions(t, "house", []sessionCase{
		{"recover", []string{"recover"}, damaged, 0},
		{"recover dry run", []string{"recover", "-n"}, damaged, 0},
		{"recover json", []string{"recover", "--json"}, damaged, 0},
		{"recover nothing", []string{"recover"}, func(b *bench) { b.up = false }, 0},
		{"recover while one runs", []string{"recover"}, nil, 4},
		{"recover inside", []string{"recover"}, func(b *bench) { damaged(b); b.env[proc.RunVariable] = "r1" }, 4},
		{"gc", []string{"gc"}, garbage, 0},
		{"gc dry run", []string{"gc", "--dry-run"}, garbage, 0},
		{"gc json", []string{"gc", "--json"}, nil, 0},
		{"gc nothing", []string{"gc"}, nil, 0},
		{"gc fails", []string{"gc"}, func(b *bench) { garbage(b); b.fake.garbage.Items[0].Error = "permission denied" }, 1},
		{"gc inside", []string{"gc"}, func(b *bench) {
			b.fake.errs["CollectGarbage"] = cw.Errorf(cw.CodeForbidden, "an agent may not do this (collect-garbage)")
		}, 4},
		{"backup", []string{"backup", "../copy.db"}, nil, 0},
		{"backup logs json", []string{"backup", "--logs", "--json", "/tmp/copy.db"}, nil, 0},
		{"backup there", []string{"backup", "copy.db"}, func(b *bench) {
			b.fake.errs["Backup"] = cw.Errorf(cw.CodeRefused, "/work/repo/copy.db is there already").WithHint("give another name, or remove it")
		}, 4},
		{"backup nowhere", []string{"backup"}, nil, 2},
		{"status low", []string{"status"}, low, 0},
		{"status low json", []string{"status", "--json"}, low, 0},
	})
}

// TestResumeAsks looks at what is asked of the daemon, and from where the
// agent is watched.
func TestResumeAsks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fake.add(*with(running("brave-otter"), func(v *cw.AgentView) { v.Status, v.SessionNumber = cw.StatusCrashed, 3 }), nil)
	b.fake.after["aaaaaaaaaaaa"] = ended("brave-otter")
	b.in = strings.NewReader("line one\nline two\n")
	if text, code := b.session(t.Context(), "agent", "resume", "brave-otter", "-", "--follow", "--fresh"); code != 0 {
		t.Fatal(text)
	}
	want := []cw.ResumeRequest{{Text: "line one\nline two\n", Fresh: true, Env: map[string]string{"PATH": "/bin:/usr/bin", "LANG": "C.UTF-8"}}}
	if diff := cmp.Diff(want, b.fake.resumes); diff != "" {
		t.Errorf("request differs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(cw.OutputQuery{Session: 4, Until: cw.UntilRest}, b.fake.queries[0]); diff != "" {
		t.Errorf("query differs (-want +got):\n%s", diff)
	}
}

// TestNextStepsElsewhere: outside of the repository, the commands that a report
// proposes name it, whichever command watched.
func TestNextStepsElsewhere(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args   []string
		status cw.AgentStatus
	}{
		{[]string{"agent", "resume", "--follow", "brave-otter", "go on"}, cw.StatusCrashed},
		{[]string{"agent", "attach", "brave-otter"}, cw.StatusIdle},
	} {
		for dir, want := range map[string]string{
			"/work/my site/src": "  git merge agent/brave-otter\n",
			"/work":             "  git -C '/work/my site' merge agent/brave-otter\n",
		} {
			b := newBench(t)
			b.dir = dir
			end := ended("brave-otter")
			b.fake.projects = []cw.Project{{ID: end.Projects[0].ProjectID, Name: "site", Path: "/work/my site"}}
			b.fake.add(*with(end, func(v *cw.AgentView) { v.Status = tt.status }), nil)
			b.fake.after[end.ID] = end
			if text, code := b.session(t.Context(), tt.args...); code != 0 || !strings.Contains(text, want) {
				t.Errorf("in %s, %q lacks %q:\n%s", dir, tt.args, want, text)
			}
		}
	}
}

// TestInRepository: a folder is in a repository when git takes it for that one,
// by whichever path.
func TestInRepository(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	for _, dir := range []string{"repo/.git", "repo/src/deep", "repo/lib/.git", "repo/lib/src", "beside"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("repo", filepath.Join(base, "link")); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]bool{
		"repo": true, "repo/src/deep": true, "link": true, "link/src": true,
		"repo/lib": false, "repo/lib/src": false, "beside": false, "": false,
	} {
		if got := inRepository(filepath.Join(base, dir), filepath.Join(base, "repo")); got != want {
			t.Errorf("%q: %t", dir, got)
		}
	}
	if inRepository("", filepath.Join(base, "repo")) {
		t.Error("a working directory that is gone is in it")
	}
}

// TestResumeInterrupted: Ctrl-C does not leave it open whether the agent goes on.
func TestResumeInterrupted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fake.add(ended("brave-otter"), nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if text, code := b.session(ctx, "agent", "resume", "brave-otter"); code != 0 || len(b.fake.resumes) != 1 {
		t.Errorf("%d resumed\n%s", len(b.fake.resumes), text)
	}
}

// TestSendTooLong needs an endless stdin to show that reading ends.
func TestSendTooLong(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"agent", "send", "x", "-"}, {"agent", "resume", "x", "-"}, {"agent", "answer", "x", "--answers", "-"}} {
		b := newBench(t)
		b.in = endless{}
		if text, code := b.session(t.Context(), args...); code != 2 {
			t.Errorf("%q: %s", args, text)
		}
	}
}

// TestAtRest: watching ends only when neither the agent nor cw does anything
// by itself.
func TestAtRest(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		change func(*cw.AgentView)
		want   bool
	}{
		{"running", func(v *cw.AgentView) { v.Status = cw.StatusRunning }, false},
		{"starting", func(v *cw.AgentView) { v.Status = cw.StatusStarting }, false},
		{"parked", func(v *cw.AgentView) { v.Status = cw.StatusParked }, false},
		{"idle", func(v *cw.AgentView) { v.Status = cw.StatusIdle }, true},
		{"idle, cleaned up", func(v *cw.AgentView) { v.Status, v.Settling = cw.StatusIdle, true }, false},
		{"idle, with a text", func(v *cw.AgentView) { v.Status, v.QueuedMessages = cw.StatusIdle, 1 }, false},
		{"crashed, with a text", func(v *cw.AgentView) { v.Status, v.QueuedMessages = cw.StatusCrashed, 1 }, true},
		{"stopped", func(v *cw.AgentView) { v.Status = cw.StatusStopped }, true},
		{"asks", func(v *cw.AgentView) { v.Status, v.PendingQuestions = cw.StatusWaitingForInput, asked() }, true},
		{"answered", func(v *cw.AgentView) { v.Status = cw.StatusWaitingForInput }, false},
	} {
		if got := atRest(*with(running("brave-otter"), tc.change)); got != tc.want {
			t.Errorf("%s: %t, want %t", tc.name, got, tc.want)
		}
	}
}

// TestRunWaitsUntilSettled: while cw clears up after the last run, where the
// agent's work lies is not decided yet.
func TestRunWaitsUntilSettled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		end := *with(ended("brave-otter"), func(v *cw.AgentView) { v.Settling = true })
		b.fake.add(running("brave-otter"), &end)
		text, code := b.session(t.Context(), "run", "--json", "x")
		var got report
		if err := json.Unmarshal(b.stdout.Bytes(), &got); err != nil || code != 0 || got.Agent.Settling {
			t.Errorf("%v\n%s", err, text)
		}
	})
}

// TestRunGivesUp: an agent that should go on by itself and does not is not
// waited for without an end.
func TestRunGivesUp(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"run", "x"}, {"agent", "attach", "brave-otter"}} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			end := waits(0)
			b.fake.add(running("brave-otter"), &end)
			text, code := b.session(t.Context(), args...)
			if code != 7 || !strings.Contains(text, "cw agent resume brave-otter") {
				t.Error(text)
			}
		})
	}
}

// TestRunTellsOfEverythingBeside: another run and a silence are shown while
// they happen.
func TestRunTellsOfEverythingBeside(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fake.add(running("brave-otter"), nil)
	for _, e := range []struct {
		t cw.EventType
		p any
	}{
		{cw.EventAgentResumed, cw.AgentResumed{SessionNumber: 2, Reason: cw.RunMissingSignal, Why: "signal.json is missing"}},
		{cw.EventAgentResumed, cw.AgentResumed{SessionNumber: 3, Reason: cw.RunCommit, Why: "my-project/\x1b[2J"}},
		{cw.EventAgentStalled, cw.AgentStalled{Seconds: 312, LastTool: "Bash", Processes: 2}},
	} {
		b.fake.events = append(b.fake.events, cw.NewEvent(e.t, cw.Actor{}, e.p))
	}
	told := "silent for 5m12s, last tool Bash, 0.0 s of CPU, 2 processes, 0 connections"
	ctx, cancel := context.WithCancel(t.Context())
	b.err = &untilText{Writer: b.stderr, text: told, then: cancel}
	text, code := b.session(ctx, "run", "x")
	if code != 130 {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{
		"── run 2: asked once more for the signal: signal.json is missing\n", "── run 3: asked to commit what is left: my-project/\n", told,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

// untilText does something once a text was written.
type untilText struct {
	io.Writer
	text string
	then func()
	seen strings.Builder
}

func (u *untilText) Write(b []byte) (int, error) {
	u.seen.Write(b)
	if strings.Contains(u.seen.String(), u.text) {
		u.then()
	}
	return u.Writer.Write(b)
}
