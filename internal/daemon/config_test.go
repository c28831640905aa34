package daemon_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
	"cw/internal/daemon"
)

// homeWith makes a home whose config.yaml holds text; "-" for no file.
func homeWith(t testing.TB, text string) cw.Home {
	t.Helper()
	home := cw.Home(t.TempDir())
	must(t, os.Chmod(string(home), 0o700))
	if text != "-" {
		must(t, os.WriteFile(home.Config(), []byte(text), 0o600))
	}
	return home
}

// TestSettingsLayers: each source is stronger than the one before it.
func TestSettingsLayers(t *testing.T) {
	t.Parallel()
	from := daemon.ConfigSources{Home: homeWith(t, "-")}
	got, err := daemon.LoadSettings(from)
	must(t, err)
	if diff := cmp.Diff(daemon.DefaultSettings(), got); diff != "" {
		t.Errorf("nobody said anything (-default +got):\n%s", diff)
	}
	from.Home = homeWith(t, `# the shop's
http:
  address: 127.0.0.1:1   # dashboards
  allowedOrigins: [http://localhost:3000, "https://a.test"]
log: {level: warn, maxSize: 5}
metrics:
  enabled: true
events:
  retention: 90d
run:
  model: 4.5
  sandbox: workspace
chunks:
  maxSize: 20480MiB
`)
	from.Environ = []string{"CW_CONFIG_HTTP_ADDRESS=[::1]:2", "CW_CONFIG_HTTP_ALLOWEDORIGINS=", "CW_CONFIG_HTTP_ALLOWEDHOSTS=a.test, b.test",
		"CW_CONFIG_LOG_LEVEL=error", "CW_CONFIG_EVENTS_RETENTION=720h", "CW_HOME=/x", "CW_TOKEN=t", "LOG_LEVEL=no"}
	from.Flags = map[string]string{"http.address": "localhost:0"}
	want := daemon.DefaultSettings()
	want.HTTP = daemon.HTTPSettings{Address: "localhost:0", AllowedHosts: []string{"a.test", "b.test"}}
	want.Log.Level, want.Log.MaxSize = "error", 5
	want.Metrics.Enabled = true
	want.Run.Model, want.Run.Sandbox = "4.5", cw.SandboxWorkspace
	want.Events.Retention = 720 * time.Hour
	want.Chunks.MaxSize = 20 << 30
	got, err = daemon.LoadSettings(from)
	must(t, err)
	if len(got.HTTP.AllowedOrigins) == 0 {
		got.HTTP.AllowedOrigins = nil
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("settings differ (-want +got):\n%s", diff)
	}
	shown, err := daemon.ShowSettings(from)
	must(t, err)
	var lines []string
	for _, v := range shown {
		lines = append(lines, fmt.Sprintf("%s=%s %s %s", v.Key, v, v.Source, strings.TrimPrefix(v.Where, from.Home.Config())))
	}
	wantLines := []string{
		"http.address=localhost:0 flag the command line", "http.allowedOrigins= environment CW_CONFIG_HTTP_ALLOWEDORIGINS",
		"http.allowedHosts=a.test,b.test environment CW_CONFIG_HTTP_ALLOWEDHOSTS", "log.level=error environment CW_CONFIG_LOG_LEVEL",
		"log.format=text default ", "log.maxSize=5 file :5", "log.backups=3 default ", "metrics.enabled=true file :7",
		"events.retention=30d environment CW_CONFIG_EVENTS_RETENTION", "run.provider= default ", "run.model=4.5 file :11", "run.sandbox=workspace file :12",
		"disk.minFree=1GiB default ", "disk.minFreePercent=2 default ", "runs.maxOutput=1GiB default ", "runs.rawRetention=14d default ",
		"chunks.maxSize=20GiB file :14", "chunks.minAge=7d default ", "chunks.maxAge=180d default ", "budgets.unpriced=warn default ", "questions.remindAfter=15m default ", "questions.expireAfter=0s default ",
		"dispatch.machine=0 default ", "dispatch.provider=0 default ", "dispatch.account=0 default ", "dispatch.project=0 default ",
		"dispatch.initiative=0 default ", "dispatch.keepFree=512MiB default ", "dispatch.retries=1 default ", "dispatch.handBacks=2 default ", "dispatch.checks=1 default ",
		"notify.webhook= default ", "notify.secretFile= default ", "notify.command= default ",
		"notify.events=question:requested,question:reminded,agent:crashed,agent:stalled,agent:parked,task:checkpoint,task:blocked,budget:spent,disk:low default ",
	}
	if diff := cmp.Diff(wantLines, lines); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}
}

// TestEveryFieldIsASetting: the table and the struct have the same names, and
// every default and example is a value that the setting takes.
func TestEveryFieldIsASetting(t *testing.T) {
	t.Parallel()
	shown, err := daemon.ShowSettings(daemon.ConfigSources{Home: homeWith(t, "-")})
	must(t, err)
	fields := daemon.SettingNames()
	for i, key := range daemon.Keys() {
		if shown[i].Source != daemon.SourceDefault || shown[i].Value == nil {
			t.Errorf("%s is no field of Settings", key.Name)
		}
		if !fields[key.Name] {
			t.Errorf("%s is no field of Settings", key.Name)
		}
		delete(fields, key.Name)
		for _, value := range []string{shown[i].String(), key.Example} {
			if _, err := daemon.LoadSettings(daemon.ConfigSources{Home: homeWith(t, "-"), Environ: []string{key.Variable() + "=" + value}}); err != nil {
				t.Errorf("%s does not take %q: %v", key.Name, value, err)
			}
		}
		if key.Text == "" || key.Since == "" || key.Form.Allowed == "" || key.Example == "" || key.Example == shown[i].String() {
			t.Errorf("%s is not described, or its example is the default", key.Name)
		}
	}
	for name := range fields {
		t.Errorf("Settings has %s, and the table has no row for it", name)
	}
}

// TestBadConfigurations: everything wrong is told at once, with its place and
// what is allowed instead.
func TestBadConfigurations(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       []string // "" in front of a text: must not be there
	}{
		{"unknown key", "http:\n  adress: 127.0.0.1:1\n", []string{":2: http.adress is not a setting; did you mean http.address?"}},
		{"unknown section", "htpt:\n  address: x\n", []string{":1: htpt is not a setting"}},
		{"other case", "Http:\n  address: 127.0.0.1:1\n", []string{":1: Http is not a setting"}},
		{"dotted", "http.address: 127.0.0.1:1\n", []string{":1: write http: on a line, and address: set in below it"}},
		{"wrong words", "log:\n  level: loud\n  format: xml\n", []string{"2 faults", ":2: log.level \"loud\" is not debug, info, warn or error", ":3: log.format \"xml\" is not text or json"}},
		{"wrong type", "metrics:\n  enabled: yes\n", []string{`metrics.enabled "yes" is not true or false`}},
		{"number out of bounds", "log:\n  maxSize: 0\n  backups: 1e2\n", []string{"maxSize \"0\" is not a whole number from 1 to 1024", "backups \"1e2\""}},
		{"time without a unit", "events:\n  retention: 30\n", []string{`retention "30" is not a time like 720h`}},
		{"time out of bounds", "events:\n  retention: 99999d\n", []string{"from 1h to 3650d"}},
		{"size without a unit", "disk:\n  minFree: 1000000000\n", []string{`minFree "1000000000" is not a size like 512MiB or 10GiB, from 16MiB to 1TiB`}},
		{"size too small", "disk:\n  minFree: 1KiB\n", []string{"from 16MiB"}},
		{"size beyond all bounds", "chunks:\n  maxSize: 99999999999999999TiB\n", []string{"is not a size"}},
		{"time below zero", "events:\n  retention: -1h\n", []string{"is not a time"}},
		{"list that is none", "http:\n  allowedOrigins: http://a.test\n", []string{"allowedOrigins is a list"}},
		{"list with a map", "http:\n  allowedOrigins: [{a: b}]\n", []string{"holds something that is no text"}},
		{"no value", "http:\n  address:\n", []string{"has no single value"}},
		{"a list for a word", "log:\n  level: [info]\n", []string{"has no single value"}},
		{"section with a value", "log: info\n", []string{"log holds settings, one a line"}},
		{"twice", "log:\n  level: info\n  level: warn\n", []string{":3: log.level is there twice"}},
		{"section twice", "log:\n  level: info\nlog:\n  format: json\n", []string{":3: log is there twice"}},
		{"a list", "- a\n", []string{":1: the file holds settings"}},
		{"a word", "hello\n", []string{":1: the file holds settings"}},
		{"tabs", "log:\n\tlevel: info\n", []string{"line 2", "never with tabs"}},
		{"no YAML", "log: [\n", []string{"line "}},
		{"two documents", "log:\n  level: info\n---\nlog:\n  level: warn\n", []string{"after the end of the document"}},
		{"alias", "log: &l\n  level: info\nhttp: *l\n", []string{"http holds settings"}},
		{"alias as value", "log:\n  level: &l info\n  format: *l\n", []string{"log.format has no single value"}},
		{"merge", "log:\n  <<: {level: info}\n", []string{"log.<< is not a setting"}},
		{"own tag", "log:\n  level: !secret info\n", []string{"no single value"}},
		{"key that is a list", "? [a]\n: b\n", []string{"no name"}},
		{"not UTF-8", "log:\n  level: \xff\xfe\n", []string{"config.yaml"}},
		{"a zero byte", "log:\n  level: \x00\n", []string{"config.yaml"}},
		{"too large", "# " + strings.Repeat("x", 10<<20), []string{"larger than 1024 KiB"}},
		{"bomb", bomb(), []string{"is not a setting"}},
		{"deep", strings.Repeat("[", 20000), []string{"config.yaml"}},
		{"event that is none", "notify:\n  events: [question:requestd]\n", []string{`:2: notify.events holds "question:requestd", which is no type of event; did you mean question:requested?`}},
		{"event that is not stored", "notify:\n  events: [agent:output]\n", []string{`"agent:output", which is not stored`}},
		{"webhook that others could read", "notify:\n  webhook: http://example.com/x\n", []string{"take https"}},
		{"secret without a path", "notify:\n  secretFile: key\n", []string{"is no absolute path"}},
		{"command that is a text", "notify:\n  command: rm -rf x\n", []string{"notify.command is a list"}},
		{"many faults", "log:\n" + manyKeys(500), []string{"there are 500 faults"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			home := homeWith(t, tt.text)
			_, err := daemon.LoadSettings(daemon.ConfigSources{Home: home})
			if cw.ExitCode(err) != 2 || !strings.Contains(err.Error(), home.Config()) || cw.ErrorHint(err) == "" {
				t.Fatalf("exit %d, hint %q: %v", cw.ExitCode(err), cw.ErrorHint(err), err)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v\ndoes not say %s", err, want)
				}
			}
			if len(err.Error()) > 8<<10 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

// bomb is YAML that would be huge if its aliases were followed.
func bomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 10), ","))
	}
	return b.String()
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "  key%d: 1\n", i)
	}
	return b.String()
}

// TestHarmlessConfigurations: nothing said is nothing wrong.
func TestHarmlessConfigurations(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "\n\n", "# nothing\n", "---\n", "{}\n", "null\n", "http:\nlog:\n", "\ufeff# with a mark\n", "log:\r\n  level: info\r\n"} {
		if got, err := daemon.LoadSettings(daemon.ConfigSources{Home: homeWith(t, text)}); err != nil {
			t.Errorf("%q: %v", text, err)
		} else if diff := cmp.Diff(daemon.DefaultSettings(), got); diff != "" {
			t.Errorf("%q (-default +got):\n%s", text, diff)
		}
	}
}

// TestConfigThatIsNoFile: a folder, a pipe and a file that cannot be read.
func TestConfigThatIsNoFile(t *testing.T) {
	t.Parallel()
	folder := homeWith(t, "-")
	must(t, os.Mkdir(folder.Config(), 0o700))
	loop := homeWith(t, "-")
	must(t, os.Symlink(loop.Config(), loop.Config()))
	pipe := homeWith(t, "-")
	must(t, daemon.Mkfifo(pipe.Config()))
	homes := []cw.Home{folder, loop, pipe}
	if os.Geteuid() != 0 { // root reads everything
		closed := homeWith(t, "log:\n  level: info\n")
		must(t, os.Chmod(closed.Config(), 0))
		homes = append(homes, closed)
	}
	for _, home := range homes {
		_, err := daemon.LoadSettings(daemon.ConfigSources{Home: home})
		if cw.ExitCode(err) != 2 || !strings.Contains(err.Error(), home.Config()) || cw.ErrorHint(err) == "" {
			t.Errorf("%v", err)
		}
	}
}

// TestBadVariables: a variable that is no setting, or has no good value.
func TestBadVariables(t *testing.T) {
	t.Parallel()
	for entry, want := range map[string]string{
		"CW_CONFIG_HTTP_ADRESS=127.0.0.1:1":    "CW_CONFIG_HTTP_ADRESS is not a setting; did you mean CW_CONFIG_HTTP_ADDRESS?",
		"CW_CONFIG_http_address=127.0.0.1:1":   "CW_CONFIG_http_address is not a setting; did you mean CW_CONFIG_HTTP_ADDRESS?",
		"CW_CONFIG_=1":                         "is not a setting",
		"CW_CONFIG_LOG_LEVEL=":                 `CW_CONFIG_LOG_LEVEL: log.level "" is not`,
		"CW_CONFIG_HTTP_ALLOWEDORIGINS=*":      `holds "*"`,
		"CW_CONFIG_METRICS_ENABLED=1":          "true or false",
		"CW_CONFIG_RUN_PROVIDER=../x":          "provider's name",
		"CW_CONFIG_RUN_MODEL=--dangerous":      "model's name",
		"CW_CONFIG_RUN_SANDBOX=on":             "off or workspace",
		"CW_CONFIG_HTTP_ALLOWEDHOSTS=a.test:1": "without a port",
	} {
		_, err := daemon.LoadSettings(daemon.ConfigSources{Home: homeWith(t, "-"), Environ: []string{entry}})
		if cw.ExitCode(err) != 2 || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", entry, err)
		}
	}
}

// TestAddresses: loopback, said literally, is all that is taken.
func TestAddresses(t *testing.T) {
	t.Parallel()
	tests := map[bool][]string{
		true: {"", "127.0.0.1:0", "127.0.0.1:65535", "127.9.8.7:1", "[::1]:80", "localhost:8080"},
		false: {"0.0.0.0:80", "[::]:80", ":8080", "8080", "192.168.1.2:80", "10.0.0.1:1", "169.254.1.1:1", "[fe80::1]:1", "[fe80::1%lo]:1", "[::ffff:127.0.0.1]:1",
			"[::1%lo]:1", "example.com:80", "LOCALHOST:1", "localhost.:1", "127.1:80", "0x7f.0.0.1:80", "2130706433:80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:http", "127.0.0.1:65536",
			"127.0.0.1:-1", "127.0.0.1:+1", "127.0.0.1:080", "::1:80", "[::1]", "unix:/x", "http://127.0.0.1:1", "127.0.0.1:1/", " 127.0.0.1:1", "user@127.0.0.1:1"},
	}
	for good, words := range tests {
		for _, word := range words {
			_, err := daemon.LoadSettings(daemon.ConfigSources{Home: homeWith(t, "-"), Flags: map[string]string{"http.address": word}})
			if (err == nil) != good {
				t.Errorf("%q: %v", word, err)
			}
		}
	}
}

// TestOrigins: what a browser would send, byte for byte, is all that is taken.
func TestOrigins(t *testing.T) {
	t.Parallel()
	tests := map[bool][]string{
		true: {"http://127.0.0.1:5173", "https://dash.example.com", "http://localhost", "http://[::1]:3000", "https://a.test:8443"},
		false: {"*", "null", "http://*", "http://a.test/", "http://a.test/x", "HTTP://a.test", "http://A.test", "ftp://a.test", "file://", "a.test", "http://", "http://a.test:80",
			"https://a.test:443", "http://a.test:", "http://a.test:0", "http://a.test:99999", "http://a.test:08", "http://u@a.test", "http://u:p@a.test", "http://a.test?x", "http://a.test#x",
			"http://a..test", "http://-a.test", "http://a_b.test", "http://ä.test", "http://[::1%25lo]", "http://[0:0::1]:1", "http://a.test\n", "http://a.test http://b.test", "//a.test"},
	}
	for good, words := range tests {
		for _, word := range words {
			home := homeWith(t, fmt.Sprintf("http:\n  allowedOrigins: [%q]\n", word))
			if _, err := daemon.LoadSettings(daemon.ConfigSources{Home: home}); (err == nil) != good {
				t.Errorf("%q: %v", word, err)
			}
		}
	}
}

// TestSetConfig: one line changes and all others stay, byte for byte.
func TestSetConfig(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, before, key, value, after string
	}{
		{"new file", "-", "log.level", "debug", "log:\n  level: debug\n"},
		{"empty file", "", "http.allowedOrigins", "http://a.test,http://b.test", "http:\n  allowedOrigins: ['http://a.test', 'http://b.test']\n"},
		{"new section", "# mine\nlog:\n  level: info", "metrics.enabled", "true", "# mine\nlog:\n  level: info\nmetrics:\n  enabled: true\n"},
		{"in a section", "log:   # the log\n    # how\n    format: json\n\nrun:\n  model: a\n", "log.level", "warn",
			"log:   # the log\n    level: warn\n    # how\n    format: json\n\nrun:\n  model: a\n"},
		{"replaced", "log:\n  # loud\n  level: debug   # for now\n  format: json\n", "log.level", "warn", "log:\n  # loud\n  level: warn   # for now\n  format: json\n"},
		{"list replaced", "http:\n  allowedOrigins: # pages\n    - http://a.test # a\n    # b was here\n    - http://c.test\n\n  # where\n  address: 127.0.0.1:1\n", "http.allowedOrigins", "",
			"http:\n  allowedOrigins: [] # pages\n\n  # where\n  address: 127.0.0.1:1\n"},
		{"list over lines", "http:\n  allowedOrigins: [http://a.test,\n    http://b.test\n    ]\n  address: 127.0.0.1:1\n", "http.allowedOrigins", "http://c.test",
			"http:\n  allowedOrigins: ['http://c.test']\n  address: 127.0.0.1:1\n"},
		{"empty section", "http:\nlog:\n", "http.address", "127.0.0.1:1", "http:\n  address: 127.0.0.1:1\nlog:\n"},
		{"text that looks like a number", "run:\n  model: a\n", "run.model", "4.5", "run:\n  model: \"4.5\"\n"},
		{"time", "-", "events.retention", "48h", "events:\n  retention: 2d\n"},
		{"repaired", "log:\n  level: loud\n  format: json\n", "log.level", "warn", "log:\n  level: warn\n  format: json\n"},
		{"windows", "log:\r\n  level: info\r\n  format: json\r\n", "log.level", "warn", "log:\r\n  level: warn\n  format: json\r\n"},
		{"comma in an item", "-", "notify.command", `["sh", "-c", "beep 1,2 <x", " a"]`, "notify:\n  command: [sh, -c, 'beep 1,2 <x', ' a']\n"},
		{"comment with a hash inside", "run:\n  model: 'a#b' # keep\n", "run.model", "c", "run:\n  model: c # keep\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			home := homeWith(t, tt.before)
			must(t, daemon.SetConfig(home, tt.key, tt.value))
			got, err := os.ReadFile(home.Config())
			must(t, err)
			if diff := cmp.Diff(tt.after, string(got)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if info, _ := os.Stat(home.Config()); info.Mode().Perm() != 0o600 {
				t.Errorf("mode %v", info.Mode())
			}
			shown, err := daemon.GetConfig(daemon.ConfigSources{Home: home}, tt.key)
			must(t, err)
			must(t, daemon.SetConfig(home, tt.key, shown.String())) // what is shown is what is taken
			if again, _ := os.ReadFile(home.Config()); string(again) != tt.after {
				t.Errorf("%q as it was shown, set again: %q", shown.String(), again)
			}
			if left, _ := filepath.Glob(filepath.Join(string(home), ".*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestSetConfigRefuses: and then the file is as it was.
func TestSetConfigRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, before, key, value string
		code                     cw.Code
	}{
		{"unknown", "log:\n  level: info\n", "log.levle", "info", cw.CodeNotFound},
		{"section", "log:\n  level: info\n", "log", "info", cw.CodeNotFound},
		{"wrong value", "log:\n  level: info\n", "log.level", "loud", cw.CodeInvalid},
		{"half a list", "log:\n  level: info\n", "notify.command", `["sh", 1]`, cw.CodeInvalid},
		{"wrong elsewhere", "log:\n  level: loud\n", "log.format", "json", cw.CodeInvalid},
		{"flow", "log: {level: info, format: text}\n", "log.format", "json", cw.CodeRefused},
		{"flow over lines", "log: {format: json,\n  level: info, maxSize: 5\n}\n", "log.level", "warn", cw.CodeRefused},
		{"flow whole", "{log: {level: info}}\n", "http.address", "127.0.0.1:1", cw.CodeRefused},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			home := homeWith(t, tt.before)
			err := daemon.SetConfig(home, tt.key, tt.value)
			if cw.ErrorCode(err) != tt.code || cw.ErrorHint(err) == "" {
				t.Errorf("%s, hint %q: %v", cw.ErrorCode(err), cw.ErrorHint(err), err)
			}
			if got, _ := os.ReadFile(home.Config()); string(got) != tt.before {
				t.Errorf("the file is now\n%s", got)
			}
		})
	}
}

// TestUnsetConfig: the lines of the setting go, and nothing else.
func TestUnsetConfig(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, before, key, after string }{
		{"one of two", "log:\n  level: info # x\n  # y\n  format: json\n", "log.level", "log:\n  # y\n  format: json\n"},
		{"the last one", "# a\nlog:\n  level: info\nrun:\n  model: m\n", "log.level", "# a\nlog:\nrun:\n  model: m\n"},
		{"a list", "http:\n  allowedHosts:\n  - a.test\n  - b.test\n  address: 127.0.0.1:1\n", "http.allowedHosts", "http:\n  address: 127.0.0.1:1\n"},
		{"a wrong one", "log:\n  level: loud\n  format: json\n", "log.level", "log:\n  format: json\n"},
		{"no file", "-", "log.level", ""},
		{"not there", "log:\n  level: info\n", "log.format", "log:\n  level: info\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			home := homeWith(t, tt.before)
			must(t, daemon.UnsetConfig(home, tt.key))
			if got, _ := os.ReadFile(home.Config()); string(got) != tt.after {
				t.Errorf("-want +got:\n%s", cmp.Diff(tt.after, string(got)))
			}
		})
	}
}

// TestDefaultsOfNewAgents: who names no provider gets the configured one.
func TestDefaultsOfNewAgents(t *testing.T) {
	t.Parallel()
	l := lab.New(t, binary)
	must(t, os.WriteFile(l.Home.Config(), []byte("run:\n  provider: fake\n  model: small\n"), 0o600))
	l.Start()
	script := fakecli.Script{Book: l.Books, Pieces: 2, Signal: `{"status":"done","noChanges":"only looked"}`}
	v, err := l.Client().Spawn(t.Context(), cw.SpawnRequest{Goal: script.Goal(), Projects: []string{l.Repo}, Env: map[string]string{"PATH": os.Getenv("PATH")}})
	must(t, err)
	if v = l.Rest(v.Alias); v.Provider != "fake" || v.Model != "small" || v.Status != cw.StatusIdle {
		t.Errorf("provider %q, model %q, %s %s", v.Provider, v.Model, v.Status, v.Error)
	}
}

// FuzzConfig: no file breaks the reading, and an edit changes what it should and
// nothing else.
func FuzzConfig(f *testing.F) {
	for _, seed := range []string{"", "log:\n  level: info\n", "http:\n  allowedOrigins: [a, b]\n", "a: &a [*a]\n", "{", "\t", "log: {level: info}\n", "? x\n", "--- \n...\n", bomb()} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		before, _ := daemon.ReadText(text) // a wrong level is mended by the edit
		after, err := daemon.EditText(text, "log.level", "warn")
		if err != nil {
			return
		}
		got, faults := daemon.ReadText(after)
		before["log.level"] = "warn"
		if diff := cmp.Diff(before, got); diff != "" || len(faults) > 0 {
			t.Fatalf("%q became %q: %v (-want +got):\n%s", text, after, faults, diff)
		}
	})
}
