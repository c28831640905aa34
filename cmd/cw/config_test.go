package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
	"cw/internal/daemon"
	"cw/internal/proc"
)

const configurationPath = "../../docs/configuration.md"

// configBench is a bench with a home on the disk whose config.yaml holds text;
// "-" for no file. No daemon runs.
func configBench(t *testing.T, text string) (*bench, cw.Home) {
	t.Helper()
	b := newBench(t)
	home := cw.Home(filepath.Join(t.TempDir(), "home"))
	if err := os.Mkdir(string(home), 0o700); err != nil {
		t.Fatal(err)
	}
	if text != "-" {
		if err := os.WriteFile(home.Config(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.up = false
	b.home = func() (cw.Home, error) { return home, nil }
	return b, home
}

// TestConfigSessions: what each command says and leaves in the file.
func TestConfigSessions(t *testing.T) {
	t.Parallel()
	const some = "# mine\nlog:\n  level: debug # loud\n"
	tests := []struct {
		name, file string
		args       []string
		setup      func(*bench)
		code       int
		after      string // of the file; "" for as before
	}{
		{"show", some, []string{"show"}, func(b *bench) { b.env["CW_CONFIG_HTTP_ALLOWEDORIGINS"] = "http://a.test,http://b.test" }, 0, ""},
		{"show json", some, []string{"show", "--json"}, nil, 0, ""},
		{"show faults", "lgo:\n  level: x\nlog:\n  level: loud\n", []string{"show"}, nil, 2, ""},
		{"get", some, []string{"get", "log.level"}, nil, 0, ""},
		{"get json", some, []string{"get", "log.level", "--json"}, nil, 0, ""},
		{"get unknown", some, []string{"get", "log.levle"}, nil, 3, ""},
		{"set", some, []string{"set", "log.level", "warn"}, nil, 0, "# mine\nlog:\n  level: warn # loud\n"},
		{"set json", "-", []string{"set", "http.allowedOrigins", "http://a.test", "--json"}, nil, 0, "http:\n  allowedOrigins: ['http://a.test']\n"},
		{"set while one runs", some, []string{"set", "metrics.enabled", "true"}, func(b *bench) { b.up = true }, 0, some + "metrics:\n  enabled: true\n"},
		{"set while one hangs", some, []string{"set", "metrics.enabled", "true"}, func(b *bench) { b.sigterm = 7 }, 0, some + "metrics:\n  enabled: true\n"},
		{"set overridden", some, []string{"set", "log.level", "warn"}, func(b *bench) { b.env["CW_CONFIG_LOG_LEVEL"] = "error" }, 0, "# mine\nlog:\n  level: warn # loud\n"},
		{"set wrong", some, []string{"set", "log.level", "loud"}, nil, 2, ""},
		{"set unknown", some, []string{"set", "log", "loud"}, nil, 3, ""},
		{"set without value", some, []string{"set", "log.level"}, nil, 2, ""},
		{"set inside", some, []string{"set", "log.level", "warn"}, func(b *bench) { b.env[proc.RunVariable] = "r" }, 4, ""},
		{"unset", some, []string{"unset", "log.level"}, nil, 0, "# mine\nlog:\n"},
		{"unset to nothing", "http:\n  address: 127.0.0.1:1\n", []string{"unset", "http.address"}, nil, 0, "http:\n"},
		{"unset inside", some, []string{"unset", "log.level"}, func(b *bench) { b.env[proc.RunVariable] = "r" }, 4, ""},
		{"restart with faults", "log:\n  level: loud\n", []string{"/restart"}, func(b *bench) { b.up = true }, 2, ""},
		{"path", "-", []string{"path"}, nil, 0, "-"},
		{"path json", "-", []string{"path", "--json"}, nil, 0, "-"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b, home := configBench(t, tt.file)
			if tt.setup != nil {
				tt.setup(b)
			}
			args := append([]string{"config"}, tt.args...)
			if other, ok := strings.CutPrefix(tt.args[0], "/"); ok { // a command beside config
				args = []string{other}
			}
			text, code := b.session(t.Context(), args...)
			if code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			if len(b.gonePIDs) > 0 {
				t.Error("the daemon was ended")
			}
			golden(t, "config/"+tt.name, strings.ReplaceAll(text, string(home), "/home/lead/.cw"))
			if tt.after == "" {
				tt.after = tt.file
			}
			left, err := os.ReadFile(home.Config())
			if errors.Is(err, os.ErrNotExist) {
				left = []byte("-")
			}
			if diff := cmp.Diff(tt.after, string(left)); diff != "" {
				t.Errorf("config.yaml (-want +got):\n%s", diff)
			}
		})
	}
}

// TestServeFlag: --http is stronger than all else, also with nothing, and only
// when it is given.
func TestServeFlag(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args []string
		want map[string]string
	}{
		{nil, nil},
		{[]string{"--http", "127.0.0.1:0"}, map[string]string{"http.address": "127.0.0.1:0"}},
		{[]string{"--http="}, map[string]string{"http.address": ""}},
	} {
		got, err := parsed(t, tt.args, func(a *app, runF func(context.Context, *serveOptions) error) runner { return newServeCmd(a, runF) })
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, got.flags); diff != "" {
			t.Errorf("%v (-want +got):\n%s", tt.args, diff)
		}
	}
}

// TestConfigurationDocument: docs/configuration.md is what the table says.
func TestConfigurationDocument(t *testing.T) {
	t.Parallel()
	got := configuration(t)
	if *update {
		if err := os.WriteFile(configurationPath, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(configurationPath)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("docs/configuration.md is old; make docs writes it anew (-want +got):\n%s", diff)
	}
}

func configuration(t *testing.T) string {
	t.Helper()
	_, home := configBench(t, "-")
	defaults, err := daemon.ShowSettings(daemon.ConfigSources{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("# Configuration\n\nGenerated from the table in `internal/daemon/config_keys.go`; do not edit.\n\n" +
		"Settings are in `$CW_HOME/config.yaml`, a mapping of sections. Everything has a default, so no file is needed.\n\n" +
		"```yaml\n# ~/.cw/config.yaml\nhttp:\n  address: 127.0.0.1:7420\n  allowedOrigins:\n    - http://127.0.0.1:5173\nlog:\n  level: debug\n```\n\n" +
		"`cw config show` tells what holds and where each value comes from; `cw config set KEY VALUE` and `cw config unset KEY` change one line of the file and leave the others as they are. " +
		"A daemon has the settings of its start: `cw restart` makes it read them again, and agents run on meanwhile.\n\n" +
		"An environment variable is stronger than the file: `" + daemon.VariablePrefix + "` with the key in capitals and `_` for dots. The items of a list have commas between them. " +
		"No other `CW_*` variable is configuration. `cw serve --http` is stronger than both.\n\n" +
		"A key that is not known, or a value that is not allowed, keeps the daemon from starting, with the exit code 2 and all faults at once; agents that run are not touched. " +
		"Commands that need no daemon go on working, and `cw doctor` shows the faults. The file has at most 1 MiB, and neither aliases nor tags. Agents cannot change it with `cw config`.\n\n" +
		"| key | takes | default | what it does | since |\n|---|---|---|---|---|\n")
	for i, key := range daemon.Keys() {
		value := defaults[i].String()
		if value == "" {
			value = "nothing"
		}
		fmt.Fprintf(&b, "| `%s` | %s; %s | `%s` | %s Example: `%s`. | %s |\n", key.Name, key.Form.Kind, key.Form.Allowed, value, key.Text, key.Example, key.Since)
	}
	b.WriteString("\n## The door for dashboards\n\n" +
		"`http.address` opens a TCP port beside the socket, on addresses of this machine alone: whoever can reach a port could try tokens, and without TLS could read them. " +
		"Port 0 takes any free port, and `cw status` tells which. Without an address the door is closed until [`cw open`](dashboard.md) opens it, from then on at the same port after restarts, too. A request needs a token (`cw token create`), a `Host` that is this machine or in `http.allowedHosts`, " +
		"and from a page of another origin that origin in `http.allowedOrigins`. `null` and `*` are no origins.\n\n" +
		"## The log\n\n" +
		"`daemon.log` holds what the daemon did, and `cw logs` shows it. With `log.level: debug` every request is a line with its method, the pattern of its route, its status, its time and what kind of caller it had; " +
		"queries, headers and bodies are never written, and a path only of a request that was refused. Slow requests and refusals are warnings.\n")
	return b.String()
}

// TestExampleInTheDocument: the file that the document shows is a good one.
func TestExampleInTheDocument(t *testing.T) {
	t.Parallel()
	_, rest, _ := strings.Cut(configuration(t), "```yaml\n")
	text, _, found := strings.Cut(rest, "```")
	_, home := configBench(t, text)
	got, err := daemon.LoadSettings(daemon.ConfigSources{Home: home})
	if err != nil || !found || got.HTTP.Address != "127.0.0.1:7420" || got.Log.Level != "debug" {
		t.Errorf("%+v: %v", got, err)
	}
}

// TestConfigShowIsJSON: what show prints has every key once.
func TestConfigShowIsJSON(t *testing.T) {
	t.Parallel()
	b, _ := configBench(t, "-")
	if _, code := b.session(t.Context(), "config", "show", "--json"); code != 0 {
		t.Fatalf("exit %d", code)
	}
	var values []daemon.ConfigValue
	if err := json.Unmarshal(b.stdout.Bytes(), &values); err != nil || len(values) != len(daemon.Keys()) {
		t.Errorf("%d values: %v", len(values), err)
	}
}
