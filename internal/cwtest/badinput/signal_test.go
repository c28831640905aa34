package badinput

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

// TestBadSignals: a signal that is not one of this run, whole and plain, does
// not count. The run ends as no_signal, told with what is wrong, and the work
// is handed over all the same.
func TestBadSignals(t *testing.T) {
	t.Parallel()
	l := started(t)
	good := filepath.Join(root(l), "planted.json")
	must(t, os.WriteFile(good, []byte(done), 0o644))
	sparse := filepath.Join(root(l), "sparse")
	f, err := os.Create(sparse)
	must(t, err)
	bigFiles := f.Truncate(1<<40) == nil
	must(t, f.Close())
	must(t, os.Remove(sparse))
	const path = ".cw/output/signal.json"
	tests := []struct {
		name, shell string
		error       []string
	}{
		{"none", "true", []string{"not there"}},
		{"symlink", "ln -s " + good + " " + path, []string{"symbolic link"}},
		{"symlink inside", "echo '" + done + "' > .cw/output/x && ln -s x " + path, []string{"symbolic link"}},
		{"symlink to nothing", "ln -s /nowhere " + path, []string{"symbolic link"}},
		{"hard link", "ln " + good + " " + path, []string{"hard link"}},
		{"FIFO", "mkfifo " + path, []string{"named pipe"}},
		{"directory", "mkdir " + path, []string{"folder"}},
		{"1 TB sparse", "truncate -s 1T " + path, []string{"larger than"}},
		{"a little too large", "(printf '{\"status\":\"done\",\"result\":\"'; head -c 1048576 /dev/zero | tr '\\0' x; printf '\"}') > " + path, []string{"larger than"}},
		{"half-written", `printf '{"status":"done","resu' > ` + path, []string{"not one JSON object"}},
		{"empty", ": > " + path, []string{"empty"}},
		{"array", `echo '[{"status":"done"}]' > ` + path, []string{"array"}},
		{"string", `echo '"done"' > ` + path, []string{"string"}},
		{"null", `echo null > ` + path, []string{"null"}},
		{"two objects", `echo '{"status":"error","error":"x"}{"status":"done"}' > ` + path, []string{"not one JSON object"}},
		{"not UTF-8", `printf '{"status":"done","result":"\377"}' > ` + path, []string{"UTF-8"}},
		{"no status", `echo '{"result":"done"}' > ` + path, []string{"status", "missing"}},
		{"unknown status", `echo '{"status":"finished"}' > ` + path, []string{"finished", "done"}},
		{"questions without any", `echo '{"status":"questions"}' > ` + path, []string{"questions", "missing or empty"}},
		{"its folder a symlink", "echo '" + done + "' > .cw/tmp/signal.json && rmdir .cw/output && ln -s tmp .cw/output", []string{"symbolic link"}},
		{"its folder gone", "rm -r .cw", []string{"not there"}},
		{"its folder a file", "rm -r .cw/output && echo x > .cw/output", []string{"plain file"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if strings.HasPrefix(tt.name, "1 TB") && !bigFiles {
				lab.Lacks(t, "the file system has no files of 1 TB")
			}
			s := commits("work.txt")
			s.Signal, s.Shell = "", tt.shell
			got, a := runs(t, l, s)
			v := got.Agent
			if a.code != exitFailed || v.Status != "crashed" || v.Reason != "no_signal" || got.Commits != 1 || v.ExitCode == nil || *v.ExitCode != 0 {
				t.Errorf("%s", a)
			}
			holds(t, "the error", v.Error, append([]string{path}, tt.error...)...)
			f := lastError(t, a)
			if f.Error.Code != "failed" || f.Error.Hint == "" {
				t.Errorf("%+v", f)
			}
			holds(t, "standard error", f.Error.Message, append([]string{"no_signal"}, tt.error...)...)
			loose := 0
			if strings.HasPrefix(tt.name, "its folder a ") {
				loose = 1 // git ignores a folder there, not what was put in its place
			}
			if got.HandedOver != "refs/heads/"+v.Branch || got.DirtyFiles != loose {
				t.Errorf("handed over as %q, %d files not committed", got.HandedOver, got.DirtyFiles)
			}
		})
	}
}

// TestLenientSignals: what agents like to write differently is taken.
func TestLenientSignals(t *testing.T) {
	t.Parallel()
	l := started(t)
	tests := []struct {
		name, signal, status string
		code                 int
		words                string // in warnings, questions, or error
	}{
		{"unknown fields", `{"status":"done","result":"ok","confidence":0.9,"files":["a"]}`, "idle", exitOK, "confidence, files"},
		{"byte order mark", "\ufeff" + `{"status":"done"}`, "idle", exitOK, ""},
		{"a result that is no text", `{"status":"done","result":{"files":3}}`, "idle", exitOK, ""},
		{"questions", `{"status":"questions","questions":["Tabs or spaces?",{"question":"Which port?","options":["80","8080"]}]}`, "waiting_for_input", exitWaiting, "Which port?"},
		{"error", `{"status":"error","error":"the tests need a database"}`, "crashed", exitFailed, "the tests need a database"},
		{"error without words", `{"status":"error"}`, "crashed", exitFailed, "without saying"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := commits("work.txt")
			s.Signal = tt.signal
			got, a := runs(t, l, s)
			text := strings.Join(got.Agent.Warnings, "\n") + got.Agent.Error
			for _, q := range got.Agent.PendingQuestions {
				text += q.Question
			}
			if a.code != tt.code || got.Agent.Status != tt.status {
				t.Errorf("%s", a)
			}
			holds(t, "the row", text, tt.words)
		})
	}
	t.Run("done with nothing", func(t *testing.T) {
		got, a := runs(t, l, fakecli.Script{Signal: `{"status":"done"}`})
		if a.code != exitFailed || got.Agent.Status != "idle" || got.ExitReason != "nothingCommitted" {
			t.Errorf("%s", a)
		}
		holds(t, "the warnings", strings.Join(got.Agent.Warnings, "\n"), "committed nothing")
	})
	t.Run("done and not committed", func(t *testing.T) {
		got, a := runs(t, l, fakecli.Script{File: "loose.txt", Signal: `{"status":"done"}`})
		if a.code != exitFailed || got.Agent.Status != "idle" || got.ExitReason != "uncommitted" || got.DirtyFiles != 1 {
			t.Errorf("%s", a)
		}
		holds(t, "the warnings", strings.Join(got.Agent.Warnings, "\n"), "uncommitted", "loose.txt")
		if _, err := os.Stat(filepath.Join(got.Agent.Worktree, "loose.txt")); err != nil {
			t.Errorf("the work is not kept: %v", err)
		}
	})
}

// TestEarlierSignal: a signal that is tracked in the repository is there
// before the run begins, and is not the run's word.
func TestEarlierSignal(t *testing.T) {
	t.Parallel()
	l := started(t)
	must(t, os.MkdirAll(filepath.Join(l.Repo, ".cw", "output"), 0o755))
	must(t, os.WriteFile(filepath.Join(l.Repo, ".cw", "output", "signal.json"), []byte(`{"status":"done","result":"of last year"}`), 0o644))
	lab.Git(t, l.Repo, "add", "-f", ".cw/output/signal.json")
	lab.Git(t, l.Repo, "commit", "-q", "-m", "Track a signal by mistake")
	t.Run("alone", func(t *testing.T) {
		s := commits("work.txt")
		s.Signal = ""
		got, a := runs(t, l, s)
		if a.code != exitFailed || got.Agent.Reason != "no_signal" || got.Agent.Result == "of last year" || got.Commits != 1 {
			t.Errorf("%s", a)
		}
		holds(t, "the error", got.Agent.Error, "not there")
		if got.DirtyFiles != 0 {
			t.Errorf("what cw set aside counts as the agent's work: %d files", got.DirtyFiles)
		}
	})
	t.Run("with one of the run", func(t *testing.T) {
		got, a := runs(t, l, commits("work.txt"))
		if a.code != exitOK || got.Agent.Status != "idle" || got.Agent.Result != "ok" || got.Commits != 1 {
			t.Errorf("%s", a)
		}
	})
}
