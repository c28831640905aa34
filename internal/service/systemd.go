package service

import (
	"cmp"
	"context"
	"path/filepath"
	"strconv"
	"strings"

	"cw/internal/cw"
)

// systemd is the user's own service manager on Linux.
type systemd struct{ Options }

func (s systemd) file() (name, path string) {
	config := s.Config
	if config == "" {
		config = filepath.Join(s.UserHome, ".config")
	}
	name = "cw" + s.suffix() + ".service"
	return name, filepath.Join(config, "systemd", "user", name)
}

// definition is the unit. KillMode=process: the default ends every process in
// the unit's control group, and agents are in it. OOMPolicy=continue: the
// default ends the unit when the kernel kills one of these. An end with 2 (bad
// settings) or 4 (another daemon has the home) would come again at once.
func (s systemd) definition() string {
	return `# ` + mark + `; the next one replaces it.
[Unit]
Description=cw, coding agents as a team (` + specifiers(string(s.Home)) + `)
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
Type=exec
ExecStart=` + word(s.Binary) + ` serve
Environment=` + word("CW_HOME="+string(s.Home)) + `
Environment=` + word("PATH="+s.Path) + `
KillMode=process
OOMPolicy=continue
TasksMax=infinity
Restart=on-failure
RestartSec=2
RestartPreventExitStatus=2 4

[Install]
WantedBy=default.target
`
}

// word is one word of a unit file, whatever is in it but line ends and, in a
// command, dollar signs, which checkText refuses.
func word(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`).Replace(text) + `"`
}

func specifiers(text string) string { return strings.ReplaceAll(text, "%", "%%") }

func (s systemd) reachable(ctx context.Context) error {
	said, err := s.Run(ctx, "systemctl", "--user", "show-environment")
	if err != nil {
		return cw.Errorf(cw.CodeFailed, "no systemd of the user answers: %s", strings.TrimSpace(said+" "+err.Error())).
			WithHint("log in as this user (su alone starts none), or do without a service: cw serve, or any command, starts the daemon").Because(err)
	}
	return nil
}

func (s systemd) start(ctx context.Context) error {
	name, _ := s.file()
	for _, argv := range [][]string{
		{"systemctl", "--user", "daemon-reload"},
		{"systemctl", "--user", "enable", name},
		{"systemctl", "--user", "restart", name}, // also one that runs, with the old definition
	} {
		if said, err := s.Run(ctx, argv...); err != nil {
			return failed(err, said, argv...)
		}
	}
	return nil
}

func (s systemd) stop(ctx context.Context) error {
	name, _ := s.file()
	argv := []string{"systemctl", "--user", "disable", "--now", name}
	if said, err := s.Run(ctx, argv...); err != nil {
		return failed(err, said, argv...)
	}
	return nil
}

func (s systemd) look(ctx context.Context, st *State) {
	st.Manager = "systemd"
	if said, err := s.Run(ctx, "systemctl", "--user", "is-active", st.Name); err == nil {
		st.Running = strings.TrimSpace(said) == "active"
	} else if text := strings.TrimSpace(said); text != "inactive" && text != "failed" && text != "unknown" {
		first, _, _ := strings.Cut(cmp.Or(text, err.Error()), "\n")
		st.Trouble = "systemd does not answer for your user: " + first
	}
	user := strconv.Itoa(s.UID)
	if said, err := s.Run(ctx, "loginctl", "show-user", user, "--property=Linger", "--value"); err == nil {
		st.Lingers = strings.TrimSpace(said) == "yes"
	}
	if st.Installed && !st.Lingers {
		st.Hint = "it ends when you log out, and agents with it where logind ends sessions' processes; to keep it: loginctl enable-linger"
	}
}
