package service_test

import (
	"context"
	"errors"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/lab"
	"cw/internal/service"
)

var update = flag.Bool("update", false, "write the golden files anew")

// desk is a user's folder with a program, and a service manager that notes what
// it is asked.
type desk struct {
	service.Options

	t      *testing.T
	asked  []string
	answer func(command string) (string, error)
}

func newDesk(t *testing.T, system string) *desk {
	t.Helper()
	d := &desk{t: t, answer: func(string) (string, error) { return "", nil }}
	user := t.TempDir()
	binary := filepath.Join(user, "bin", "cw")
	must(t, os.MkdirAll(filepath.Dir(binary), 0o700))
	must(t, os.WriteFile(binary, []byte("#!/bin/true\n"), 0o700))
	d.Options = service.Options{
		OS: system, Home: cw.Home(filepath.Join(user, ".cw")), UserHome: user, UID: 1000, Binary: binary, Path: "/usr/bin:/bin",
		Run: func(_ context.Context, argv ...string) (string, error) {
			d.asked = append(d.asked, strings.Join(argv, " "))
			return d.answer(d.asked[len(d.asked)-1])
		},
	}
	return d
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (d *desk) wants(s service.State, err error, code cw.Code) service.State {
	d.t.Helper()
	if cw.ErrorCode(err) != code {
		d.t.Fatalf("%v, want code %q", err, code)
	}
	if err != nil && cw.ErrorHint(err) == "" {
		d.t.Errorf("no hint: %v", err)
	}
	return s
}

// acts are the commands that change something.
func (d *desk) acts() []string {
	return slices.DeleteFunc(slices.Clone(d.asked), func(c string) bool {
		return strings.Contains(c, "show-environment") || strings.Contains(c, "is-active") || strings.Contains(c, "print") || strings.Contains(c, "loginctl")
	})
}

func TestDefinitions(t *testing.T) {
	for system, golden := range map[string]string{"linux": "cw.service", "darwin": "dev.cw.daemon.plist"} {
		t.Run(system, func(t *testing.T) {
			d := newDesk(t, system)
			s, err := service.Install(t.Context(), d.Options)
			d.wants(s, err, "")
			if !s.Installed || s.Foreign || filepath.Base(s.File) != golden {
				t.Errorf("%+v", s)
			}
			data, err := os.ReadFile(s.File)
			must(t, err)
			got := strings.ReplaceAll(string(data), d.UserHome, "/home/user")
			name := filepath.Join("testdata", golden)
			if *update {
				must(t, os.MkdirAll("testdata", 0o755))
				must(t, os.WriteFile(name, []byte(got), 0o644))
			}
			want, err := os.ReadFile(name)
			must(t, err)
			if got != string(want) {
				t.Errorf("it is\n%s\nrun: go test ./internal/service -update", got)
			}
		})
	}
}

// TestAgentsSurvive: the lines without which the manager ends agents.
func TestAgentsSurvive(t *testing.T) {
	for name, lines := range map[string][]string{
		"cw.service":          {"KillMode=process\n", "OOMPolicy=continue\n", "Restart=on-failure\n"},
		"dev.cw.daemon.plist": {"<key>AbandonProcessGroup</key>\n\t<true/>"},
	} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		must(t, err)
		for _, line := range lines {
			if !strings.Contains(string(data), line) {
				t.Errorf("%s lacks %q", name, line)
			}
		}
	}
}

// TestUnitIsValid asks systemd itself.
func TestUnitIsValid(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		lab.Lacks(t, "systemd-analyze: not installed")
	}
	d := newDesk(t, "linux")
	d.Home = cw.Home(filepath.Join(d.UserHome, `odd "home" 100%`))
	s, err := service.Install(t.Context(), d.Options)
	d.wants(s, err, "")
	verify := exec.Command(analyze, "--user", "verify", s.File)
	verify.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir()) // without one it does not begin
	out, err := verify.CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func TestInstallAndRemove(t *testing.T) {
	d := newDesk(t, "linux")
	d.answer = func(command string) (string, error) {
		switch {
		case strings.Contains(command, "is-active"):
			return "active\n", nil
		case strings.Contains(command, "loginctl"):
			return "no\n", nil
		}
		return "", nil
	}
	s, err := service.Install(t.Context(), d.Options)
	d.wants(s, err, "")
	if !s.Installed || !s.Running || s.Lingers || !strings.Contains(s.Hint, "enable-linger") || s.Manager != "systemd" {
		t.Errorf("%+v", s)
	}
	want := []string{"systemctl --user daemon-reload", "systemctl --user enable cw.service", "systemctl --user restart cw.service"}
	if got := d.acts(); !slices.Equal(got, want) {
		t.Errorf("asked %q", got)
	}
	s, err = service.Install(t.Context(), d.Options) // again
	d.wants(s, err, "")
	d.asked = nil
	s, err = service.Remove(t.Context(), d.Options)
	d.wants(s, err, "")
	if _, err := os.Stat(s.File); !errors.Is(err, fs.ErrNotExist) || s.Installed {
		t.Errorf("%v %+v", err, s)
	}
	if got := d.acts(); !slices.Equal(got, []string{"systemctl --user disable --now cw.service"}) {
		t.Errorf("asked %q", got)
	}
	d.asked = nil
	_, err = service.Remove(t.Context(), d.Options)
	must(t, err)
	if len(d.acts()) != 0 {
		t.Errorf("for a service that is not there: %q", d.acts())
	}
}

// TestForeign: a unit of that name which cw did not make is not touched, nor is
// the manager asked to do something with it.
func TestForeign(t *testing.T) {
	for _, system := range []string{"linux", "darwin"} {
		d := newDesk(t, system)
		s, err := service.Status(t.Context(), d.Options)
		must(t, err)
		must(t, os.MkdirAll(filepath.Dir(s.File), 0o700))
		must(t, os.WriteFile(s.File, []byte("# mine\n"), 0o600))
		s, err = service.Status(t.Context(), d.Options)
		if err != nil || !s.Foreign || s.Installed {
			t.Errorf("%+v %v", s, err)
		}
		s, err = service.Install(t.Context(), d.Options)
		d.wants(s, err, cw.CodeRefused)
		s, err = service.Remove(t.Context(), d.Options)
		d.wants(s, err, cw.CodeRefused)
		s, err = service.Status(t.Context(), d.Options)
		must(t, err)
		data, err := os.ReadFile(s.File)
		if err != nil || string(data) != "# mine\n" || len(d.acts()) != 0 {
			t.Errorf("%s: %q %v, asked %q", system, data, err, d.acts())
		}
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*desk)
		code   cw.Code
	}{
		"no systemd":       {func(d *desk) { d.answer = func(string) (string, error) { return "", exec.ErrNotFound } }, cw.CodeFailed},
		"a manager's no":   {func(d *desk) { d.answer = no("enable") }, cw.CodeFailed},
		"no program":       {func(d *desk) { d.Binary = filepath.Join(d.UserHome, "none") }, cw.CodeRefused},
		"relative program": {func(d *desk) { d.Binary = "cw" }, cw.CodeRefused},
		"temporary program": {func(d *desk) {
			dir := filepath.Join(d.UserHome, "go-build1", "exe")
			must(d.t, os.MkdirAll(dir, 0o700))
			d.Binary = filepath.Join(dir, "cw")
			must(d.t, os.WriteFile(d.Binary, nil, 0o700))
		}, cw.CodeRefused},
		"program in the temporary directory": {func(d *desk) { d.Temp = d.UserHome + "/" }, cw.CodeRefused},
		"line end in a path":                 {func(d *desk) { d.Home += "\nExecStartPre=/bin/sh" }, cw.CodeInvalid},
		"another system":                     {func(d *desk) { d.OS = "plan9" }, cw.CodeRefused},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, "linux")
			c.change(d)
			s, err := service.Install(t.Context(), d.Options)
			d.wants(s, err, c.code)
		})
	}
}

func no(to string) func(string) (string, error) {
	return func(command string) (string, error) {
		if strings.Contains(command, to) {
			return "Failed to do it", errors.New("exit status 1")
		}
		return "", nil
	}
}

// TestHomesHaveNames: a second home has a service of its own.
func TestHomesHaveNames(t *testing.T) {
	d := newDesk(t, "linux")
	one, err := service.Status(t.Context(), d.Options)
	must(t, err)
	d.Home = "/other"
	other, err := service.Status(t.Context(), d.Options)
	must(t, err)
	if one.Name != "cw.service" || other.Name == one.Name {
		t.Errorf("%s and %s", one.Name, other.Name)
	}
}
