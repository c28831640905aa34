package badinput

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"cw/internal/cwtest/lab"
)

// TestBadConfiguration: whatever config.yaml is, the command that needs the
// daemon says what is wrong with it and where, and nothing is started or
// changed. Commands that need no daemon go on working.
func TestBadConfiguration(t *testing.T) {
	t.Parallel()
	text := func(s string) func(*testing.T, *lab.Lab) {
		return func(t *testing.T, l *lab.Lab) { must(t, os.WriteFile(l.Home.Config(), []byte(s), 0o600)) }
	}
	tests := map[string]struct {
		spoil func(t *testing.T, l *lab.Lab)
		want  []string
	}{
		"unknown key":    {text("log:\n  levle: debug\n"), []string{":2:", "did you mean log.level?"}},
		"wrong value":    {text("log:\n  level: loud\n"), []string{":2:", "debug, info, warn or error"}},
		"two faults":     {text("log:\n  level: loud\nhttp:\n  address: 0.0.0.0:80\n"), []string{"2 faults", ":2:", ":4:", "TLS"}},
		"tabs":           {text("log:\n\tlevel: info\n"), []string{"line 2", "tabs"}},
		"twice":          {text("log:\n  level: info\n  level: warn\n"), []string{":3:", "twice"}},
		"no mapping":     {text("- log\n"), []string{":1:"}},
		"binary":         {text("\x00\xff\xfe\x7fELF"), []string{"config.yaml"}},
		"ten megabytes":  {text(strings.Repeat("# nothing\n", 1<<20)), []string{"larger than 1024 KiB"}},
		"aliases":        {text("log: &a {level: info}\nhttp: *a\n"), []string{":2:"}},
		"a folder":       {func(t *testing.T, l *lab.Lab) { must(t, os.Mkdir(l.Home.Config(), 0o700)) }, []string{"no file"}},
		"a pipe":         {func(t *testing.T, l *lab.Lab) { must(t, syscall.Mkfifo(l.Home.Config(), 0o600)) }, []string{"no file"}},
		"a link to it":   {func(t *testing.T, l *lab.Lab) { must(t, os.Symlink(l.Home.Config(), l.Home.Config())) }, []string{"config.yaml"}},
		"wrong variable": {func(_ *testing.T, l *lab.Lab) { l.Env = append(l.Env, "CW_CONFIG_LOG_LEVEL=loud") }, []string{"CW_CONFIG_LOG_LEVEL", "debug, info"}},
		"other variable": {func(_ *testing.T, l *lab.Lab) { l.Env = append(l.Env, "CW_CONFIG_LOGLEVEL=info") }, []string{"did you mean CW_CONFIG_LOG_LEVEL?"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			tt.spoil(t, l)
			for _, args := range [][]string{{"agent", "list"}, {"serve"}} {
				a := ask(t, l, args...)
				if a.code != exitUsage || !strings.Contains(a.stderr, "hint: ") {
					t.Errorf("%s", a)
				}
				holds(t, "the error", a.stderr, tt.want...)
			}
			if left, _ := filepath.Glob(filepath.Join(string(l.Home), "*.db")); len(left) > 0 || len(processes(l)) > 0 {
				t.Errorf("something was started: %v, %v", left, processes(l))
			}
			if a := ask(t, l, "doctor"); !strings.Contains(a.stdout, "fail  configuration") {
				t.Errorf("%s", a)
			}
			works(t, l, "config", "path")
			works(t, l, "id")
		})
	}
}

// TestAgentsDoNotConfigure: an agent can look at the settings and not change
// them by cw.
func TestAgentsDoNotConfigure(t *testing.T) {
	t.Parallel()
	l := started(t)
	script := commits("a.txt")
	script.Shell = "for x in 'set log.level debug' 'unset log.level' 'get log.level'; do cw config $x >.cw/tmp/out 2>&1; echo $? >>.cw/output/codes; done"
	got, a := runs(t, l, script)
	if a.code != exitOK {
		t.Fatalf("%s", a)
	}
	codes, err := os.ReadFile(filepath.Join(got.Agent.Runs[0].Dir, "output/codes"))
	must(t, err)
	if strings.Join(strings.Fields(string(codes)), " ") != "4 4 0" {
		t.Errorf("exit codes %q", codes)
	}
	if _, err := os.Stat(l.Home.Config()); err == nil {
		t.Error("an agent wrote the configuration")
	}
}
