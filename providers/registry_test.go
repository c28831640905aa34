package providers

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestEmbeddedPresets holds that each file is good and says where it comes from.
func TestEmbeddedPresets(t *testing.T) {
	t.Parallel()
	entries, err := presetFiles.ReadDir("presets")
	if err != nil || len(entries) < 2 {
		t.Fatal(len(entries), err)
	}
	for _, e := range entries {
		text, err := presetFiles.ReadFile("presets/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		p, problem := decodePreset(text, embeddedText)
		if problem != nil {
			t.Errorf("%s: %v", e.Name(), problem)
		}
		if p.Name+".yaml" != e.Name() {
			t.Errorf("%s holds preset %q", e.Name(), p.Name)
		}
		if !strings.HasPrefix(string(text), "# ") {
			t.Errorf("%s does not begin with its source", e.Name())
		}
		if _, err := p.NewReading(time.Time{}); err != nil {
			t.Errorf("%s: %v", e.Name(), err)
		}
	}
}

func TestBadFiles(t *testing.T) {
	t.Parallel()
	const good = "name: x\ncommand:\n  names: [a]\n"
	tests := []struct {
		text         string
		line, column int
		says         string
	}{
		{"name: x\nmodlArgs: [a]\n", 2, 1, `unknown key "modlArgs"; did you mean "modelArgs"?`},
		{good + "patience:\n  silenc: 3m\n", 5, 3, `unknown key "silenc"; did you mean "silence"?`},
		{good + "promptMode: foo\n", 4, 1, `promptMode: "foo" is not known; it is one of native, flag, arg, stdin`},
		{good + "patience:\n  silence: 3x\n", 5, 12, "no duration"},
		{good + "patience:\n  silence: 3\n", 5, 12, "no duration"},
		{good + "spawn:\n  args: [1]\n", 5, 10, "quotes"},
		{good + "spawn:\n  args: ['{{modl}}']\n", 5, 3, "did you mean {{model}}?"},
		{good + "spawn:\n  args: ['{{model']\n", 5, 3, "without a variable"},
		{good + "spawn:\n  args: [[]]\n", 5, 3, "empty"},
		{good + "spawn:\n  env: {A-B: x}\n", 5, 3, "no name of a variable"},
		{good + "spawn:\n  args: ['{{prompt}}']\n", 0, 0, "does not go with"},
		{good + "promptMode: arg\n", 4, 1, "needs {{prompt}}"},
		{good + "sessionId:\n  choose: uuid\n", 5, 3, "needs {{sessionId}}"},
		{good + "resumeStyle: flag\n", 4, 1, "needs resume"},
		{good + "resume:\n  args: [a]\n", 0, 0, "does not go with resume"},
		{good + "modelArgs: ['{{outputArgs}}']\n", 4, 1, "not known"},
		{good + "version:\n  pattern: '('\n", 5, 3, "missing closing"},
		{good + "version:\n  pattern: 'v'\n", 5, 3, "no group"},
		{good + "version:\n  minimum: x\n  args: [-v]\n  pattern: (x)\n", 5, 3, "numbers and dots"},
		{good + "patterns:\n  limit: ['']\n", 5, 3, "matches everything"},
		{good + "account:\n  passEnv: ['*']\n", 5, 3, "no name of a variable"},
		{good + "hooks:\n  file: '{{cwd}}/hooks.json'\n", 5, 3, "not below {{runDir}}/"},
		{good + "hooks:\n  file: '{{runDir}}/../hooks.json'\n", 5, 3, "not below {{runDir}}/"},
		{good + "promptMode: native\n", 0, 0, "needs stdin.file"},
		{good + "promptMode: native\nstdin:\n  file: '{{runDir}}/in'\n  template: x\n", 5, 1, "{{json prompt}}"},
		{good + "stdin:\n  file: '{{runDir}}/in'\n", 4, 1, "promptMode native alone"},
		{good + "promptMode: native\nstdin:\n  file: /tmp/in\n  template: '{{json prompt}}'\n", 6, 3, "not below {{runDir}}/"},
		{good + "stop:\n  signal: KILL\n", 5, 3, "TERM, INT, HUP"},
		{good + "parser: xml\n", 4, 1, "claude, codex, lines"},
		{good + "structuredOutput: maybe\n", 4, 19, "true or false"},
		{"name: x\ncommand: {from: script, names: [a]}\n", 2, 1, "neither names nor paths"},
		{"name: x\n", 0, 0, "neither names nor paths"},
		{"name: x\ncommand: {paths: [bin/a]}\n", 2, 11, "absolute"},
		{"name: X\n", 1, 1, "is no name"},
		{"name: [x]\n", 1, 7, "it takes a string"},
		{"name: x\nname: y\n", 2, 1, "already defined"},
		{"name: &a x\n", 1, 7, "anchors"},
		{good + "---\nname: y\n", 4, 1, "one preset"},
		{"extends: nothing\nname: x\n", 1, 1, "no embedded preset"},
		{"name: x\n  bad: [\n", 2, 3, "mapping values are not allowed"},
		{"", 0, 0, "is no name"},
		{"just text", 1, 1, "mapping"},
		{strings.Repeat("# much\n", 50000), 0, 0, "larger than"},
	}
	dir := t.TempDir()
	for i, tt := range tests {
		path := write(t, dir, string(rune('a'+i/26))+string(rune('a'+i%26))+".yaml", tt.text)
		problems := problemsOf(t, dir, path)
		if len(problems) != 1 {
			t.Errorf("%.60q: %v", tt.text, problems)
			continue
		}
		p := problems[0]
		if !strings.Contains(p.Message, tt.says) || tt.line != 0 && (p.Line != tt.line || p.Column != tt.column) {
			t.Errorf("%.60q:\ngot  %v\nwant %d:%d %s", tt.text, p, tt.line, tt.column, tt.says)
		}
		if strings.Contains(p.Message, "\n") || strings.Contains(p.Message, "Go struct") {
			t.Errorf("%.60q: message %q is not for people", tt.text, p.Message)
		}
	}
	// Whatever lies there: the embedded ones work.
	registry, _ := Load(dir)
	if _, err := registry.Get("claude"); err != nil {
		t.Error(err)
	}
}

func problemsOf(t *testing.T, dir, path string) []Problem {
	t.Helper()
	_, problems := Load(dir)
	var out []Problem
	for _, p := range problems {
		if p.File == path {
			out = append(out, p)
		}
	}
	return out
}

func TestOddFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "dir.yaml"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "link.yaml")); err != nil {
		t.Fatal(err)
	}
	write(t, dir, ".hidden.yaml", "rubbish")
	write(t, dir, "note.txt", "rubbish")
	_, problems := Load(dir)
	var got []string
	for _, p := range problems {
		got = append(got, filepath.Base(p.File))
	}
	if diff := cmp.Diff([]string{"dir.yaml", "link.yaml", "pipe.yaml"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, problems := Load(filepath.Join(dir, "missing")); len(problems) > 0 {
		t.Errorf("a directory that is not there: %v", problems)
	}
	if _, problems := Load(filepath.Join(dir, "note.txt")); len(problems) != 1 {
		t.Errorf("a file in place of the directory: %v", problems)
	}
}

func TestReload(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	registry, problems := Load(dir)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	title := func(name string) string {
		p, err := registry.Get(name)
		if err != nil {
			return string(cw.ErrorCode(err))
		}
		return p.Title
	}
	check := func(step, name, want string, problems int) {
		t.Helper()
		if got := title(name); got != want {
			t.Errorf("%s: %s is %q, want %q", step, name, got, want)
		}
		if got := registry.Problems(); len(got) != problems {
			t.Errorf("%s: problems %v, want %d", step, got, problems)
		}
	}
	check("at first", "mine", "not_found", 0)

	path := write(t, dir, "mine.yaml", "name: mine\ntitle: One\ncommand: {names: [m]}\n")
	check("added", "mine", "One", 0)
	if p, _ := registry.Get("mine"); p.Origin() != path {
		t.Errorf("origin %q", p.Origin())
	}
	write(t, dir, "mine.yaml", "name: mine\ntitle: Two!\ncommand: {names: [m]}\n")
	check("changed", "mine", "Two!", 0)
	write(t, dir, "mine.yaml", "name: mine\ntitle: [\n")
	check("broken: the last good one stays", "mine", "Two!", 1)
	write(t, dir, "mine.yaml", "name: mine\ntitle: Three\ncommand: {names: [m]}\n")
	check("mended", "mine", "Three", 0)

	write(t, dir, "claude.yaml", "extends: claude\nname: claude\ntitle: My Claude\n")
	check("overridden", "claude", "My Claude", 0)
	write(t, dir, "cn.yaml", "extends: continue\nname: continue\ntitle: My Continue\n")
	check("overridden, by alias", "cn", "My Continue", 0)
	check("what extends it is not touched", "claude-code", "Claude Code (stream-json)", 0)
	write(t, dir, "other.yaml", "extends: claude\nname: claude\ntitle: Late\n")
	check("taken twice: the first stays", "claude", "My Claude", 1)
	for _, name := range []string{"other.yaml", "claude.yaml", "cn.yaml", "mine.yaml"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	check("removed: the embedded one is back", "claude", "Claude Code", 0)
	check("removed", "mine", "not_found", 0)

	write(t, dir, "claude.yaml", "name: claude\ntitle: [\n")
	check("never good: the embedded one stays", "claude", "Claude Code", 1)
}

func TestExtends(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "strict.yaml", "extends: claude\nname: strict\nversion:\n  minimum: 9.0.0\nautoApproveArgs: [[--permission-mode, dontAsk]]\naccount:\n  passEnvWhen: {X: [Y]}\n")
	registry, problems := Load(dir)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	base, _ := registry.Get("claude")
	got, err := registry.Get("strict")
	if err != nil {
		t.Fatal(err)
	}
	if got.Version.Minimum != "9.0.0" || got.Version.Pattern != base.Version.Pattern || len(got.Aliases) != 0 || got.Parser != "claude" {
		t.Errorf("got %+v", got)
	}
	cmd, err := got.Spawn(Invocation{Binary: "/c", SessionID: aSession})
	if err != nil || !strings.Contains(strings.Join(cmd.Argv, " "), "--permission-mode dontAsk") {
		t.Error(cmd, err)
	}
	if base.Version.Minimum != "2.0.0" || len(base.Account.PassEnvWhen) != 3 {
		t.Errorf("the embedded preset was changed: %+v", base.Account)
	}
}

// embeddedNames are the providers that come with cw.
var embeddedNames = []string{
	"aider", "amp", "claude", "claude-code", "cline", "codex", "continue", "copilot",
	"cursor-agent", "gemini", "opencode", "pi", "qwen", "script",
}

func TestUnknownProvider(t *testing.T) {
	t.Parallel()
	registry, _ := Load("")
	_, err := registry.Get("cluade")
	if cw.ErrorCode(err) != cw.CodeNotFound {
		t.Fatal(err)
	}
	if hint := cw.ErrorHint(err); hint != "did you mean claude? There are: "+strings.Join(embeddedNames, ", ") {
		t.Errorf("hint %q", hint)
	}
	_, err = registry.Get("nope") // like none of them
	if hint := cw.ErrorHint(err); hint != "There are: "+strings.Join(embeddedNames, ", ") {
		t.Errorf("hint %q", hint)
	}
	if diff := cmp.Diff(embeddedNames, registry.Names()); diff != "" {
		t.Error(diff)
	}
}

// TestPatternsReachTheParser: what a preset says about errors without a code
// decides what a run's error is taken for.
func TestPatternsReachTheParser(t *testing.T) {
	t.Parallel()
	claude := claudePreset(t)
	tests := []struct{ text, bucket string }{
		{"API Error: Unable to connect to API (ConnectionRefused)", cw.BucketTransient},
		{"OAuth token revoked · Please run /login", cw.BucketAuth},
		{"You've hit your Opus limit", cw.BucketLimit},
		{"No conversation found with session ID: x", ""},
	}
	for _, tt := range tests {
		reading, err := claude.NewReading(time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		events := reading.Feed([]byte(`{"type":"result","is_error":true,"result":"` + tt.text + `"}` + "\n"))
		if last := events[len(events)-1]; last.Kind != cw.StreamResult || last.Bucket != tt.bucket {
			t.Errorf("%q: %+v, want bucket %q", tt.text, last, tt.bucket)
		}
		if gone := claude.SessionGone(tt.text); gone != strings.HasPrefix(tt.text, "No conversation") {
			t.Errorf("%q: gone %v", tt.text, gone)
		}
	}
}

// TestManyAtOnce: many spawns read the registry while a person edits a file,
// and each sees either the old preset or the new one, never less.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	preset := func(n int) string {
		return "extends: claude\nname: mine\ntitle: T" + strings.Repeat("x", n) + "\n"
	}
	write(t, dir, "mine.yaml", preset(0))
	registry, problems := Load(dir)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 30 {
				p, err := registry.Get("mine")
				if err != nil || !strings.HasPrefix(p.Title, "T") || len(p.SpawnForm.Args) == 0 {
					t.Errorf("%+v, %v", p, err)
					return
				}
			}
		})
	}
	for n := range 30 { // an editor that truncates and writes: half a file is a bad one
		write(t, dir, "mine.yaml", preset(n+1))
	}
	wg.Wait()
	if p, err := registry.Get("mine"); err != nil || p.Title != "T"+strings.Repeat("x", 30) {
		t.Errorf("at the end %q, %v", p.Title, err)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	executable := func(path string) string {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	p := mustDecode(t, "name: tool\ncommand:\n  names: [tool]\n  paths: ['~/.local/bin/tool']\n  native: [tool-linux/bin/tool]\n  install: get tool\n")

	_, err := p.Find(dir+"/a::relative:.", dir+"/home")
	if cw.ErrorCode(err) != cw.CodeNotFound || cw.ErrorHint(err) != "install it with: get tool" {
		t.Errorf("nothing there: %v, %q", err, cw.ErrorHint(err))
	}
	want := func(step, path string) {
		t.Helper()
		got, err := p.Find(dir+"/a:"+dir+"/b", dir+"/home")
		if err != nil || got != path {
			t.Errorf("%s: %q, %v; want %q", step, got, err, path)
		}
	}
	want("in the home", executable("home/.local/bin/tool"))
	onPath := executable("b/tool")
	want("on the PATH", onPath)
	if err := os.MkdirAll(filepath.Join(dir, "a/tool"), 0o700); err != nil {
		t.Fatal(err)
	}
	want("a directory of that name is passed over", onPath)
	if err := os.Remove(onPath); err != nil {
		t.Fatal(err)
	}
	wrapper := executable("lib/node_modules/tool/bin/tool.js")
	if err := os.Symlink(wrapper, onPath); err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	relative, err := filepath.Rel(here, filepath.Dir(executable("relative/tool")))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := p.Find(relative, ""); err == nil {
		t.Errorf("on a relative entry of the PATH: %q", got)
	}
	want("an npm wrapper without the native package", onPath)
	want("an npm wrapper", executable("lib/node_modules/tool-linux/bin/tool"))
	want("the native package inside the wrapper's", executable("lib/node_modules/tool/node_modules/tool-linux/bin/tool"))
}

// TestKeysAreDocumented holds docs/providers.md to the struct.
func TestKeysAreDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "docs", "providers.md"))
	if err != nil {
		t.Fatal(err)
	}
	doc := string(text)
	for _, key := range Keys() {
		if !strings.Contains(doc, "`"+key+"`") {
			t.Errorf("`%s` is not explained", key)
		}
	}
	for _, name := range append(variables(), includes()...) {
		if !strings.Contains(doc, "`{{"+name+"}}`") {
			t.Errorf("`{{%s}}` is not explained", name)
		}
	}
	for _, name := range append(callerNames(), strippedNames()...) {
		if !strings.Contains(doc, "`"+name+"`") {
			t.Errorf("`%s` is not named", name)
		}
	}
}

// TestEveryKeyIsTagged: a field without a tag would be a key that nobody knows.
func TestEveryKeyIsTagged(t *testing.T) {
	t.Parallel()
	typ := reflect.TypeFor[Preset]()
	for i := range typ.NumField() {
		f := typ.Field(i)
		if f.IsExported() && f.Tag.Get("yaml") == "" {
			t.Errorf("%s has no key", f.Name)
		}
	}
}

// TestTroubles: one bad file is told of, by file, and keeps nobody from the rest.
func TestTroubles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good := write(t, dir, "good.yaml", "extends: gemini\nname: good\n")
	bad := write(t, dir, "bad.yaml", "name: bad\ncomand: {names: [b]}\n")
	registry, _ := Load(dir)
	troubles := registry.Troubles()
	if len(troubles) != 1 || troubles[bad] == nil || !strings.Contains(troubles[bad].Error(), bad+":2:1: unknown key") {
		t.Errorf("troubles %v", troubles)
	}
	var names []string
	for _, p := range registry.All() {
		names = append(names, p.Name)
		if p.Name == "good" && p.Origin() != good {
			t.Errorf("origin %q", p.Origin())
		}
	}
	want := slices.Sorted(slices.Values(append([]string{"good"}, embeddedNames...)))
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	write(t, dir, "bad.yaml", "name: bad\ncommand: {names: [b]}\n")
	if troubles := registry.Troubles(); len(troubles) != 0 || len(registry.All()) != len(names)+1 {
		t.Errorf("mended: %v", troubles)
	}
}

// TestExtendsWhatExtends: claude-code is claude with a little else, and a file
// of the user's on top of it has all of both, and the accounts of claude.
func TestExtendsWhatExtends(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "mine.yaml", "extends: claude-code\nname: mine\n")
	write(t, dir, "own.yaml", "extends: claude\nname: own\naccount:\n  of: own\n")
	registry, problems := Load(dir)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	mine, _ := registry.Get("mine")
	if mine.Parser != "claude" || mine.PromptMode != PromptNative || mine.AccountsOf() != "claude" || mine.Account.Key != "ANTHROPIC_API_KEY" {
		t.Errorf("mine: %+v", mine)
	}
	if own, _ := registry.Get("own"); own.AccountsOf() != "own" {
		t.Errorf("own has the accounts of %q", own.AccountsOf())
	}
}
