package badinput

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"cw/internal/cwtest/lab"
)

// preset writes a user's preset whose CLI is a shell script.
func preset(t *testing.T, l *lab.Lab, name, script, more string) {
	t.Helper()
	cli := executable(t, root(l), name+"-cli", "#!/bin/sh\n"+script)
	text := fmt.Sprintf("name: %s\ntitle: The %s CLI\ncommand:\n  paths: [%q]\n  install: get-me %s\n%s", name, name, cli, name, more)
	must(t, os.WriteFile(filepath.Join(l.Home.Providers(), name+".yaml"), []byte(text), 0o600))
}

// versioned asks the CLI for its version.
const versioned = "version:\n  args: [--version]\n  pattern: '(\\d+\\.\\d+\\.\\d+)'\n  minimum: 2.0.0\n"

// TestProviders: a CLI that is unknown, not there, too old or that does not
// tell its version is refused before anything is made.
func TestProviders(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	preset(t, l, "old", "echo 'The old CLI 1.9.12 (build 7)'", versioned)
	preset(t, l, "dumb", "echo 'hello'", versioned)
	preset(t, l, "sick", "echo 'cannot find libfoo.so' >&2; exit 127", versioned)
	preset(t, l, "gone", "exit 0", versioned)
	must(t, os.Remove(filepath.Join(root(l), "gone-cli")))
	l.Start()
	notExecutable := filepath.Join(root(l), "notes.txt")
	must(t, os.WriteFile(notExecutable, []byte("#!/bin/sh\n"), 0o644))
	git, err := filepath.Abs("/usr/bin")
	must(t, err)
	onlyGit := filepath.Join(root(l), "bin")
	must(t, os.Mkdir(onlyGit, 0o755))
	must(t, os.Symlink(filepath.Join(git, "git"), filepath.Join(onlyGit, "git")))

	run := func(flags ...string) call { return call{args: append(append([]string{"run"}, flags...), "work")} }
	spawn := func(flags ...string) call {
		return call{args: append(append([]string{"agent", "spawn", "--project", "."}, flags...), "work")}
	}
	refusedAll(t, l, []refusal{
		{"unknown", run("--provider", "cluade"), exitNotFound, []string{"cluade", "no provider"}, []string{"did you mean claude", "script"}},
		{"unknown spawned", spawn("--provider", "nobody"), exitNotFound, []string{"nobody", "no provider"}, []string{"claude", "script", "fake"}},
		{"a path as its name", run("--provider", "../../etc/passwd"), exitNotFound, []string{"no provider"}, []string{"claude"}},
		{"not installed", run("--provider", "gone"), exitNotFound, []string{"gone", "not installed"}, []string{"get-me gone"}},
		{"not installed spawned", spawn("--provider", "gone"), exitNotFound, []string{"gone", "not installed"}, []string{"get-me gone"}},
		{"none installed", call{args: []string{"run", "work"}, env: []string{"PATH=" + onlyGit}}, exitNotFound, []string{"no provider CLI is installed"}, []string{"npm install", "--provider script"}},
		{"too old", run("--provider", "old"), exitRefused, []string{"1.9.12", "too old", "2.0.0"}, []string{"get-me old"}},
		{"too old spawned", spawn("--provider", "old"), exitRefused, []string{"1.9.12", "too old", "2.0.0"}, []string{"get-me old"}},
		{"tells no version", run("--provider", "dumb"), exitRefused, []string{"no version", "hello"}, []string{"get-me dumb"}},
		{"fails when asked", run("--provider", "sick"), exitFailed, []string{"sick-cli", "127", "cannot find libfoo.so"}, []string{"by hand", "get-me sick"}},
		{"script without a file", run("--provider", "script"), exitUsage, []string{"script", "executable"}, []string{"--script"}},
		{"script that is not there", run("--script", "./nope.sh"), exitUsage, []string{"nope.sh", "no script"}, []string{"absolute"}},
		{"script that is not executable", run("--script", notExecutable), exitUsage, []string{"notes.txt", "not executable"}, []string{"chmod +x"}},
		{"script that is a folder", run("--script", onlyGit), exitUsage, []string{"not executable"}, []string{"chmod +x"}},
		{"script with another provider", run("--provider", "fake", "--script", notExecutable), exitUsage, []string{"--script"}, []string{"--provider script"}},
		{"an architect for nothing", run("--provider", "fake", "--mode", "plan"), exitUsage, []string{"plan", "works for an initiative"}, []string{"--initiative"}},
		{"no mode", run("--provider", "fake", "--mode", "dance"), exitUsage, []string{"dance", "no mode"}, []string{"execute"}},
		{"a task that is none", spawn("--provider", "fake", "--task", "abc"), exitNotFound, []string{"no task", "abc"}, []string{"cw task list"}},
	}, l.Repo)
}

// TestCannotStart: a CLI that ends before it begins is told with its own
// reason. A run took place, so the row stays as evidence.
func TestCannotStart(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	preset(t, l, "mute", "echo 'Session ID is already in use: 1234' >&2\necho 'choose another one' >&2\nexit 1", "")
	preset(t, l, "silent", "exit 1", "")
	l.Start()
	rubbish := executable(t, root(l), "rubbish", "\x7fELF this is no program")
	noShell := executable(t, root(l), "no-shell", "#!/no/such/shell\n")
	tests := []struct {
		name  string
		flags []string
		error []string
	}{
		{"reason on stderr", []string{"--provider", "mute"}, []string{"code 1", "before it began", "Session ID is already in use: 1234"}},
		{"no reason", []string{"--provider", "silent"}, []string{"code 1", "before it began"}},
		{"no executable format", []string{"--script", rubbish}, []string{"could not be started", "exec format error"}},
		{"no interpreter", []string{"--script", noShell}, []string{"could not be started", "no such file"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := ask(t, l, append(append([]string{"run", "--json"}, tt.flags...), "work")...)
			got := decode[report](t, a.stdout)
			if a.code != exitFailed || got.Agent.Status != "crashed" || got.Agent.Reason != "start_failed" {
				t.Errorf("%s", a)
			}
			holds(t, "the error", got.Agent.Error, tt.error...)
			f := lastError(t, a)
			if f.Error.Code != "failed" || f.Error.Hint == "" {
				t.Errorf("%+v", f)
			}
			holds(t, "standard error", f.Error.Message, "start_failed", tt.error[len(tt.error)-1])
			if v := show(t, l, got.Agent.Name); v.Status != "crashed" || v.Reason != "start_failed" || v.Error != got.Agent.Error {
				t.Errorf("the row says %+v", v)
			}
			for _, p := range processes(l) {
				if p.Run == got.Agent.Runs[0].ID || strings.Contains(p.Command, filepath.Join(l.Home.Runs(), got.Agent.Name)+"/") {
					t.Errorf("left behind: %+v", p)
				}
			}
			plain := ask(t, l, append(append([]string{"run"}, tt.flags...), "work")...)
			if plain.code != exitFailed {
				t.Errorf("%s", plain)
			}
			holds(t, "the message for people", plain.stderr, append(tt.error[len(tt.error)-1:], "hint: cw agent show")...)
		})
	}
}

// TestBadPresets: files of the user that are no presets never stop the daemon,
// at its start or later; doctor names them.
func TestBadPresets(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	file := func(name, text string) {
		must(t, os.WriteFile(filepath.Join(l.Home.Providers(), name), []byte(text), 0o600))
	}
	good, err := os.ReadFile(filepath.Join(l.Home.Providers(), "fake.yaml"))
	must(t, err)
	file("typo.yaml", "name: typo\ntitel: Typo\ncommand:\n  names: [typo]\n")
	file("letter.yaml", "Dear cw,\n\tthis is: no: preset\n  - at all\n")
	file("binary.yaml", string([]byte{0, 1, 2, 0xff, 0xfe}))
	file("empty.yaml", "")
	file("noname.yaml", "title: Nobody\n")
	file("broken-claude.yaml", "name: claude\ncommand: 7\n")
	file("huge.yaml", "name: huge # "+strings.Repeat("x", 300<<10)+"\n")
	file("bomb.yaml", "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f]\nname: *g\n")
	file("deep.yaml", strings.Repeat("[", 256<<10))
	file("tagged.yaml", strings.Replace(string(good), "name: fake", "name: !!str fake", 1))
	must(t, os.Mkdir(filepath.Join(l.Home.Providers(), "folder.yaml"), 0o700))
	must(t, syscall.Mkfifo(filepath.Join(l.Home.Providers(), "pipe.yaml"), 0o600))
	must(t, os.Symlink("/nowhere/at/all", filepath.Join(l.Home.Providers(), "dangling.yaml")))
	bad := []string{"typo", "letter", "binary", "empty", "noname", "broken-claude", "huge", "bomb", "deep", "tagged", "folder", "pipe", "dangling"}
	if os.Geteuid() != 0 { // root reads everything
		file("secret.yaml", string(good))
		must(t, os.Chmod(filepath.Join(l.Home.Providers(), "secret.yaml"), 0))
		bad = append(bad, "secret")
	}

	works(t, l, "agent", "list") // starts the daemon
	if got, a := runs(t, l, commits("a.txt")); a.code != exitOK || got.Agent.Status != "idle" {
		t.Fatalf("%s", a)
	}
	ran := filepath.Join(root(l), "ran")
	preset(t, l, "bare", "touch "+ran, "")
	doctor := ask(t, l, "doctor")
	if doctor.code != exitFailed {
		t.Errorf("%s", doctor)
	}
	for _, name := range bad {
		holds(t, "doctor", doctor.stdout+doctor.stderr, name+".yaml")
	}
	holds(t, "doctor", doctor.stdout+doctor.stderr, "titel", "typo.yaml:2:", "bare-cli")
	if _, err := os.Stat(ran); err == nil {
		t.Error("doctor set a CLI to work whose version is not to be asked for")
	}
	refused(t, l, refusal{"typo", call{args: []string{"run", "--provider", "typo", "work"}}, exitNotFound, []string{"typo"}, []string{"fake"}}, l.Repo)

	file("fake.yaml", "name: fake\nspawn: {args: [") // while the daemon runs
	if _, a := runs(t, l, commits("b.txt")); a.code != exitOK {
		t.Errorf("the last good preset is not used: %s", a)
	}
	must(t, os.RemoveAll(l.Home.Providers()))
	must(t, os.WriteFile(l.Home.Providers(), []byte("no folder"), 0o600))
	if _, a := runs(t, l, commits("c.txt")); a.code != exitOK {
		t.Errorf("the last good preset is not used: %s", a)
	}
	must(t, os.Remove(l.Home.Providers()))
	must(t, os.Mkdir(l.Home.Providers(), 0o700))
	file("fake.yaml", string(good)) // mended
	if _, a := runs(t, l, commits("d.txt")); a.code != exitOK {
		t.Errorf("a mended preset is not used: %s", a)
	}
}

// TestKilled: an agent that somebody else killed is told as killed, with the
// signal's name.
func TestKilled(t *testing.T) {
	t.Parallel()
	l := started(t)
	for _, sig := range []string{"KILL", "SEGV", "ABRT", "TERM"} {
		t.Run(sig, func(t *testing.T) {
			t.Parallel()
			script := executable(t, root(l), "die-"+sig, "#!/bin/sh\ncat >/dev/null; echo begun; kill -"+sig+" $$\nsleep 60\n")
			a := ask(t, l, "run", "--json", "--script", script, "work")
			v := decode[report](t, a.stdout).Agent
			if a.code != exitFailed || v.Status != "crashed" || v.Reason != "killed" || v.ExitCode != nil || len(v.Runs) != 1 || v.Runs[0].TermSignal != "SIG"+sig {
				t.Errorf("%s", a)
			}
			holds(t, "the error", v.Error, "SIG"+sig, "not by cw")
			holds(t, "standard error", lastError(t, a).Error.Message, "crashed", "killed", "SIG"+sig)
		})
	}
}
