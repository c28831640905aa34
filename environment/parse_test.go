package environment

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

// TestParse: everything a file may say.
func TestParse(t *testing.T) {
	t.Parallel()
	got, err := Parse([]byte(`# a comment
setup:
  - npm ci
  - {name: database, run: "make db", timeout: 90s}
  - run: |
      echo one
      echo two
teardown: [make down]
env: {PORT: 8080, VERSION: 2.10, EMPTY: , NAME: "a b"}
ports: 2
caches: [node_modules/.cache, .gradle/]
include: [".env", "config/*.local", "!config/x.local"]
checks:
  lint: golangci-lint run
  test: {run: "go test ./...", timeout: 1h30m}
  last: true
merge: squash
hooks: run
run: |
  npm start
  open http://localhost:$CW_PORT_0
`))
	if err != nil {
		t.Fatal(err)
	}
	const usual = 10 * time.Minute
	want := cw.ProjectFile{
		Setup: []cw.ProjectCommand{
			{Name: "npm ci", Run: "npm ci", Timeout: usual},
			{Name: "database", Run: "make db", Timeout: 90 * time.Second},
			{Name: "echo one …", Run: "echo one\necho two", Timeout: usual},
		},
		Teardown: []cw.ProjectCommand{{Name: "make down", Run: "make down", Timeout: usual}},
		Env:      map[string]string{"PORT": "8080", "VERSION": "2.10", "EMPTY": "", "NAME": "a b"},
		Ports:    2,
		Caches:   []string{"node_modules/.cache", ".gradle"},
		Include:  []string{".env", "config/*.local", "!config/x.local"},
		Checks: []cw.ProjectCommand{
			{Name: "lint", Run: "golangci-lint run", Timeout: usual},
			{Name: "test", Run: "go test ./...", Timeout: 90 * time.Minute},
			{Name: "last", Run: "true", Timeout: usual},
		},
		Merge: cw.MergeSquash,
		Hooks: cw.HooksRun,
		Run:   "npm start\nopen http://localhost:$CW_PORT_0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestParseNothing: a file that says nothing is one, and so is each key
// without a value.
func TestParseNothing(t *testing.T) {
	t.Parallel()
	want := cw.ProjectFile{
		Setup: []cw.ProjectCommand{}, Teardown: []cw.ProjectCommand{}, Checks: []cw.ProjectCommand{},
		Env: map[string]string{}, Caches: []string{}, Include: []string{}, Merge: cw.MergeCommit,
	}
	for _, text := range []string{"", "\n", "# nothing\n", "---\n", "null\n", strings.Join(topKeys(), ":\n") + ":\n", "ports: 0\n", "setup: []\r\nchecks: {}\r\n"} {
		got, err := Parse([]byte(text))
		if diff := cmp.Diff(want, got); err != nil || diff != "" || got.Commands() {
			t.Errorf("%q: %v %s", text, err, diff)
		}
	}
}

// TestParseRefuses: what is wrong is refused with its line, and says what to do.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, says, hint string }{
		{"setup: []\nchecs: []\n", "cw.yaml:2: unknown key \"checs\"", "checks"},
		{"whatever: 1\n", "unknown key", "keys: setup, teardown"},
		{"- setup\n", "keys with values", "keys:"},
		{"just text", "keys with values", "keys:"},
		{"setup: npm ci", "cw.yaml:1: setup takes a list", "- make setup"},
		{"checks:\n  test: {run: a, timeot: 1s}\n", "cw.yaml:2: unknown key \"timeot\"", "timeout"},
		{"checks: {test: {name: a, run: a}}", "unknown key \"name\"", "run, timeout"},
		{"checks: {test: }", "nothing to run", "run:"},
		{"checks: [{name: a}]", "nothing to run", "run:"},
		{"checks: ['  ']", "nothing to run", "run:"},
		{"checks: [[a]]", "keys with values", ""},
		{"checks: [{run: [a]}]", "run takes a text", ""},
		{"checks: [{run: a, timeout: 10}]", "the timeout \"10\" is none", "90s"},
		{"checks: [{run: a, timeout: 0s}]", "is none", "1s to 6h"},
		{"checks: [{run: a, timeout: 7h}]", "is none", "1s to 6h"},
		{"checks: [{run: a, timeout: -1m}]", "is none", "1s to 6h"},
		{"setup:\n- a\n- b\n- a\n", "cw.yaml:4: \"a\" is in setup twice", "line 2"},
		{"setup: [{name: x, run: a}, {name: x, run: b}]", "\"x\" is in setup twice", "another name"},
		{"checks:\n  a: b\n  a: c\n", "cw.yaml:3: \"a\" is there twice", "line 2"},
		{"setup: []\nsetup: []\n", "cw.yaml:2: \"setup\" is there twice", "line 1"},
		{"setup: [" + strings.Repeat("{run: a},", 60) + "]", "twice", ""},
		{"setup: [{name: '" + strings.Repeat("x", 61) + "', run: a}]", "longer than 60", ""},
		{"setup: [{name: \"a\\nb\", run: a}]", "one line", ""},
		{"setup: [\"a\\u202eb\"]", "cannot be seen", ""},
		{"setup: [\"a\\0b\"]", "cannot be seen", ""},
		{"setup: ['" + strings.Repeat("x", 17<<10) + "']", "longer than 16 KiB", "script"},
		{"env: [A]", "names with values", "NAME: value"},
		{"env: {A: [b]}", "the value of A is no text", "quotes"},
		{"env: {A: \"\\0\"}", "cannot be seen", ""},
		{"env: {1A: b}", "cannot be set here", "digit"},
		{"env: {A B: b}", "cannot be set here", "digit"},
		{"env:\n  A: b\n  CW_TOKEN: b\n", "cw.yaml:3: the variable \"CW_TOKEN\"", "cw's own"},
		{"env: {cw_home: b}", "cannot be set here", "cw's own"},
		{"env: {PATH: b}", "cannot be set here", "other programs"},
		{"env: {HOME: b}", "cannot be set here", "logins"},
		{"env: {LD_PRELOAD: b}", "cannot be set here", "loads code"},
		{"env: {DYLD_INSERT_LIBRARIES: b}", "cannot be set here", "loads code"},
		{"env: {GIT_DIR: b}", "cannot be set here", "another repository"},
		{"run: [npm start]", "run is a text", "never run by cw"},
		{"run: '  '", "run is a text", ""},
		{"run: " + strings.Repeat("x", 5<<10), "run is a text of at most 4 KiB", ""},
		{"run: \"a\\u202eb\"", "cannot be seen", ""},
		{"ports: many", "ports is a number from 0 to 20", "free ports"},
		{"ports: 21", "ports is a number", ""},
		{"ports: -1", "ports is a number", ""},
		{"ports: [1]", "ports is a number", ""},
		{"ports: 2.5", "ports is a number", ""},
		{"caches: node_modules", "caches takes a list", ""},
		{"caches: [/tmp]", "cannot be used", "relative"},
		{"caches: [~/x]", "cannot be used", "relative"},
		{"caches: [..]", "cannot be used", "stays"},
		{"caches: [a/../../b]", "cannot be used", "stays"},
		{"caches: [.]", "cannot be used", "stays"},
		{"caches: [a//b]", "cannot be used", "stays"},
		{"caches: ['']", "cannot be used", "a path"},
		{"caches: [.git]", "cannot be used", "git's"},
		{"caches: [a/.GIT/hooks]", "cannot be used", "git's"},
		{"caches: [.cw/output]", "cannot be used", "cw's"},
		{"caches: ['a\\b']", "cannot be used", "parted"},
		{"caches: ['*.o']", "is a pattern", ""},
		{"caches: [a, a/]", "lie in each other", ""},
		{"caches: [a, a/b]", "lie in each other", ""},
		{"caches: [a/b, a]", "lie in each other", ""},
		{"caches: [[a]]", "an entry of caches is a text", ""},
		{"include: [/etc/passwd]", "cannot be used", "relative"},
		{"include: ['!../x']", "cannot be used", "stays"},
		{"include: [\"a\\nb\"]", "cannot be used", "control"},
		{"include: [.git/config]", "cannot be used", "git's"},
		{"merge: rebase", "merge is \"rebase\"", "squash"},
		{"merge: [squash]", "merge is", "squash"},
		{"outsidePaths: yes", "outsidePaths is \"yes\"", "refuse"},
		{"outsidePaths: [refuse]", "outsidePaths is", "warn"},
		{"hooks: yes", "hooks is \"yes\"", "off"},
		{"hooks: {run: x}", "hooks is", "run"},
		{"setup: &a [b]\n", "anchors", "write it out"},
		{"setup: *a\n", "anchors", ""},
		{"env: {<<: {A: b}}", "a key is a word", ""},
		{"setup: !!seq [a]", "tags", ""},
		{"? [a]\n: b\n", "a key is a word", ""},
		{"setup: []\n---\nsetup: []\n", "second document", ""},
		{"setup: [\n", "cw.yaml:", "quotes"},
		{"a: b: c\n", "cw.yaml:1", "quotes"},
		{"setup:\n\t- a\n", "cw.yaml:2", "spaces"},
		{"setup: [a]\x00", "cannot be seen", ""},
		{"setup: [a] # \u202e\n", "cannot be seen", "what people see"},
		{"setup: [a] # \x1b[2K\n", "cannot be seen", "what people see"},
		{"setup: [a] # \u0085\n", "cannot be seen", "what people see"},
		{"setup: [a]\rchecks: []", "cannot be seen", ""},
		{"setup: [\xff]", "no UTF-8", ""},
		{strings.Repeat("#", cw.ProjectFileMax+1), "larger than 64 KiB", "scripts"},
	}
	for _, tt := range tests {
		got, err := Parse([]byte(tt.text))
		if cw.ErrorCode(err) != cw.CodeInvalid || !strings.Contains(err.Error(), tt.says) || !strings.Contains(cw.ErrorHint(err), tt.hint) {
			t.Errorf("%.60q: %v (%s), want %q (%s)", tt.text, err, cw.ErrorHint(err), tt.says, tt.hint)
		}
		if !cmp.Equal(got, cw.ProjectFile{}) {
			t.Errorf("%.60q: half of a file was given", tt.text)
		}
	}
}

// TestParseBounded: files of the greatest size are read or refused, whatever
// they are made of.
func TestParseBounded(t *testing.T) {
	t.Parallel()
	full := func(text string) string { return strings.Repeat(text, cw.ProjectFileMax/len(text)) }
	for _, text := range []string{full("["), full("{a: "), full("- "), full("? "), full("&a ["), full("a: b\n"), full("---\n"), full("'"), full("*a "), full("- #\n")} {
		if _, err := Parse([]byte(text)); cw.ErrorCode(err) != cw.CodeInvalid {
			t.Errorf("%.10q: %v", text, err)
		}
	}
	var keys strings.Builder
	keys.WriteString("env:\n")
	for i := range 101 {
		keys.WriteString("  A" + strings.Repeat("x", i) + ": b\n")
	}
	if _, err := Parse([]byte(keys.String())); err == nil {
		t.Error("more variables than there may be")
	}
}

// TestDigest: it is that of the bytes.
func TestDigest(t *testing.T) {
	t.Parallel()
	if got := Digest([]byte("abc")); got != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Error(got)
	}
}

// FuzzParse: whatever a repository holds is read, or refused as CodeInvalid, and
// what was read keeps its bounds.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"setup: [npm ci]\nchecks: {test: {run: a, timeout: 1m}}\nenv: {A: b}\nports: 2\ncaches: [a]\ninclude: [.env]\nmerge: squash\n",
		"a: &a [*a]", "? a\n: b", "--- x\n...\n", "env: {A: !!str 1}", "\ufeffsetup: []",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse(data)
		if err != nil {
			if cw.ErrorCode(err) != cw.CodeInvalid {
				t.Fatalf("%v", err)
			}
			return
		}
		for _, list := range [][]cw.ProjectCommand{file.Setup, file.Teardown, file.Checks} {
			for _, c := range list {
				if c.Run == "" || c.Name == "" || c.Timeout < timeoutMin || c.Timeout > cw.CheckTimeoutMax || strings.ContainsAny(c.Name+c.Run, "\x00\x1b") {
					t.Fatalf("%+v", c)
				}
			}
		}
		for name, value := range file.Env {
			if checkVariable(name) != nil || strings.Contains(value, "\x00") {
				t.Fatalf("%q=%q", name, value)
			}
		}
		for _, c := range file.Caches {
			if err := checkPath(c); err != nil {
				t.Fatal(err)
			}
		}
		if file.Ports < 0 || file.Ports > cw.PortSlotsMax {
			t.Fatal(file.Ports)
		}
	})
}
