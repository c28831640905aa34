package realcli

import (
	"slices"
	"strings"
	"testing"
	"time"

	"cw/internal/cwtest/draw"
	"cw/internal/cwtest/model"
)

// makers makes a worker of each CLI that must do what the tests below ask.
var makers = map[string]func(t *testing.T, v Version, url string) *worker{
	"claude": newClaudeOf,
	"codex":  newCodexOf,
}

// withEach runs a test with each CLI at a model server of its own, with one version of
// it, drawn, and with CW_LONG with both.
func withEach(t *testing.T, scenario model.Scenario, test func(t *testing.T, srv *model.Server, w *worker)) {
	for name, newWorker := range makers {
		for _, v := range draw.Some(Versions(t), 1) {
			t.Run(name+" "+string(v), func(t *testing.T) {
				t.Parallel()
				srv := model.New(t, scenario)
				test(t, srv, newWorker(t, v, srv.URL))
			})
		}
	}
}

// prompt is what an agent might be told; the scenarios take all they use out of
// it.
const prompt = `<role>
You change code in a git worktree.
</role>

<task>
Write the sentence "Good morning." into greeting.txt.
</task>

<signal_format>
At the end write .cw/output/signal.json.
</signal_format>
`

// done edits, commits, signals and says goodbye.
func done(t *model.Turn) model.Reply {
	t.RequireTags("role", "task", "signal_format")
	sentence := t.Find(t.Block("task"), `"(.+)"`)
	file := t.Find(t.Block("task"), `into (\S+)\.`)
	signal := t.Find(t.Block("signal_format"), `\S+signal\.json`)
	switch t.Number() {
	case 1:
		return model.Say("First the file.").Think("An easy one.").Write(file, sentence+"\n")
	case 2:
		t.Output()
		return model.Say("Now the commit.").Shell("git add " + file + " && git commit -qm 'Add a greeting' && git rev-parse HEAD")
	case 3:
		commit := t.Find(t.Output(), `[0-9a-f]{40}`)
		return model.Say("The signal.").Write(signal, `{"status":"done","result":"`+commit+`"}`)
	default:
		t.Output()
		return model.Say("Wrote " + file + ".")
	}
}

func TestEditsCommitsAndSignals(t *testing.T) {
	t.Parallel()
	withEach(t, done, func(t *testing.T, srv *model.Server, w *worker) {
		out := w.run(prompt)
		if e := w.told(out); e.failed || e.text != "Wrote greeting.txt." || e.session == "" || out.code != 0 {
			t.Errorf("exit %d, told %+v\n%s", out.code, e, out)
		}
		head := w.git("rev-parse", "HEAD")
		if got, want := w.read(".cw/output/signal.json"), `{"status":"done","result":"`+head+`"}`; got != want {
			t.Errorf("signal = %s, want %s", got, want)
		}
		if got := w.git("show", "HEAD:greeting.txt"); got != "Good morning." {
			t.Errorf("committed %q", got)
		}
		if to := srv.Outbound(); len(to) > 0 {
			t.Errorf("it tried to reach %v", to)
		}
	})
}

// TestNeedsEachBlock is the twin of the above: a scenario must not be able to do
// its work when the prompt does not tell it how.
func TestNeedsEachBlock(t *testing.T) {
	t.Parallel()
	without, _, _ := strings.Cut(prompt, "<signal_format>")
	withEach(t, done, func(t *testing.T, srv *model.Server, w *worker) {
		if out := w.run(without); !w.told(out).failed || out.code == 0 {
			t.Errorf("the run went well without <signal_format>:\n%s", out)
		}
		errs := srv.TakeErrors() // claude 2.1.332 asks again, though it is told not to
		if len(errs) == 0 || slices.ContainsFunc(errs, func(err error) bool { return !strings.Contains(err.Error(), "signal_format") }) {
			t.Errorf("errors = %v", errs)
		}
	})
}

// TestToolFails: a command that fails is told to the model as a failure, and
// what it wrote before as well.
func TestToolFails(t *testing.T) {
	t.Parallel()
	scenario := func(t *model.Turn) model.Reply {
		if t.Number() == 1 {
			return model.Say("Let me see.").Shell("echo before; echo after; exit 3")
		}
		results := t.Current().Results()
		t.Require(len(results) == 1 && results[0].Failed, "results: %+v", results)
		t.Find(results[0].Text, `(?s)before.*after`)
		t.Find(results[0].Text, `(?i)exit code 3`)
		return model.Say("It failed.")
	}
	withEach(t, scenario, func(t *testing.T, _ *model.Server, w *worker) {
		if out := w.run(prompt); w.told(out).text != "It failed." {
			t.Errorf("%s", out)
		}
	})
}

func TestResumes(t *testing.T) {
	t.Parallel()
	scenario := func(t *model.Turn) model.Reply {
		if len(t.Earlier()) == 0 {
			return model.Say("Which port shall it be?")
		}
		t.Require(t.Earlier().Answers()[0] == "Which port shall it be?", "earlier answers: %q", t.Earlier().Answers())
		_, asked := t.Earlier().Prompts()[0].Block("task")
		t.Require(asked, "the first prompt has gone")
		return model.Say("Port " + t.Find(t.Block("answers"), `\d+`) + " it is.")
	}
	withEach(t, scenario, func(t *testing.T, _ *model.Server, w *worker) {
		session := w.told(w.run(prompt)).session
		out := w.resume("<answers>\n8080\n</answers>\n", session)
		if e := w.told(out); e.text != "Port 8080 it is." || e.session != session {
			t.Errorf("told %+v, want session %s\n%s", e, session, out)
		}
	})
}

// TestLongPrompt: stdin carries what no argument could (128 KiB on Linux).
func TestLongPrompt(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("All work and no play. ", 300_000/22)
	scenario := func(t *model.Turn) model.Reply {
		t.Require(t.Block("task") == strings.TrimSpace(long), "the task came as %d bytes", len(t.Block("task")))
		return model.Say("Read.")
	}
	withEach(t, scenario, func(t *testing.T, _ *model.Server, w *worker) {
		if out := w.run("<task>\n" + long + "\n</task>\n"); w.told(out).text != "Read." {
			t.Errorf("%s", out)
		}
	})
}

// interruptible takes long over its first tool call; resumed, it wants to see
// what it said before.
func interruptible(t *model.Turn) model.Reply {
	switch {
	case len(t.Earlier()) > 0:
		answers := t.Earlier().Answers()
		t.Require(len(answers) == 1 && answers[0] == "This will take a while.", "earlier answers: %q", answers)
		return model.Say("Back again.")
	case t.Number() == 1:
		return model.Say("This will take a while.").Shell("sleep 60 & echo $! > pid && mv pid started; wait")
	default: // a model that answers at once would let the CLI end well
		return model.Say("Interrupted.").After(time.Minute)
	}
}
