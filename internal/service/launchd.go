package service

import (
	"context"
	"encoding/xml"
	"path/filepath"
	"strconv"
	"strings"
)

// launchd is the service manager of macOS.
type launchd struct{ Options }

func (l launchd) file() (name, path string) {
	name = "dev.cw.daemon" + l.suffix()
	return name, filepath.Join(l.UserHome, "Library", "LaunchAgents", name+".plist")
}

// definition is the job. AbandonProcessGroup: else agents end with the daemon.
func (l launchd) definition() string {
	name, _ := l.file()
	return `<?xml version="1.0" encoding="UTF-8"?>
<!-- ` + mark + `; the next one replaces it. -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>` + escaped(name) + `</string>
	<key>ProgramArguments</key>
	<array>
		<string>` + escaped(l.Binary) + `</string>
		<string>serve</string>
	</array>
	<key>EnvironmentVariables</key>
	<dict>
		<key>CW_HOME</key>
		<string>` + escaped(string(l.Home)) + `</string>
		<key>PATH</key>
		<string>` + escaped(l.Path) + `</string>
	</dict>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>ThrottleInterval</key>
	<integer>10</integer>
	<key>AbandonProcessGroup</key>
	<true/>
</dict>
</plist>
`
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a builder takes everything
	return b.String()
}

func (l launchd) domain() string { return "gui/" + strconv.Itoa(l.UID) }

func (l launchd) reachable(ctx context.Context) error {
	argv := []string{"launchctl", "print", l.domain()}
	if said, err := l.Run(ctx, argv...); err != nil {
		return failed(err, said, argv...)
	}
	return nil
}

func (l launchd) start(ctx context.Context) error {
	name, path := l.file()
	// One that is loaded keeps its old definition; that there is none is usual.
	_, _ = l.Run(ctx, "launchctl", "bootout", l.domain()+"/"+name)
	argv := []string{"launchctl", "bootstrap", l.domain(), path}
	if said, err := l.Run(ctx, argv...); err != nil {
		return failed(err, said, argv...)
	}
	return nil
}

func (l launchd) stop(ctx context.Context) error {
	name, _ := l.file()
	if _, err := l.Run(ctx, "launchctl", "print", l.domain()+"/"+name); err != nil {
		return nil // it is not loaded
	}
	argv := []string{"launchctl", "bootout", l.domain() + "/" + name}
	if said, err := l.Run(ctx, argv...); err != nil {
		return failed(err, said, argv...)
	}
	return nil
}

func (l launchd) look(ctx context.Context, st *State) {
	st.Manager = "launchd"
	said, err := l.Run(ctx, "launchctl", "print", l.domain()+"/"+st.Name)
	st.Running = err == nil && strings.Contains(said, "state = running")
	if st.Installed {
		st.Hint = "it ends when you log out, as every job of a user does"
	}
}
