package providers

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// aTool is the least that a preset says.
const aTool = "name: x\ncommand: {names: [a]}\n"

// memoryMax is what reading the worst preset file may allocate in all. 80 MB
// were measured, with a comment on each line of a list.
const memoryMax = 160 << 20

// TestHostileFiles: whatever a file of the greatest size is made of, it is read
// or refused with little memory, and the other presets go on. It does not run
// beside other tests: it measures what the process allocates.
func TestHostileFiles(t *testing.T) {
	full := func(text string) string { return strings.Repeat(text, presetMax/len(text)) }
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for name := 'b'; name <= 'i'; name++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", name, name, strings.Repeat(fmt.Sprintf("*%c,", name-1), 9))
	}
	var keys strings.Builder
	for i := 0; keys.Len() < presetMax-100; i++ {
		fmt.Fprintf(&keys, "K%d: b\n", i)
	}
	tests := []struct{ name, text, says string }{
		{"lists in lists", full("["), "max depth"},
		{"mappings in mappings", full("{a: "), "max depth"},
		{"lists on one line", full("- "), "max depth"},
		{"keys of keys", full("? "), "max depth"},
		{"anchors of lists", full("&a ["), "max depth"},
		{"closed lists in lists", aTool + "fork: " + strings.Repeat("[", 9000) + strings.Repeat("]", 9000), ""},
		{"one key for ever", full("a: b\n"), "already defined"},
		{"many keys", aTool + "fork: {" + strings.ReplaceAll(keys.String(), "\n", ",") + "}", ""},
		{"many unknown keys", keys.String(), "unknown key"},
		{"many items", aTool + "fork: [" + full("a,")[:presetMax-100] + "]", ""},
		{"a comment on each item", full("- #\n"), "mapping"},
		{"a comment after each item", aTool + "fork:\n" + full("- a\n#\n")[:presetMax-100], ""},
		{"comments alone", full("#\n"), "is no name"},
		{"lines set in deeper and deeper", deeper(), "unknown key"},
		{"a bomb of aliases", bomb, "anchors and aliases"},
		{"a bomb below a known key", "fork:\n  " + strings.ReplaceAll(bomb, "\n", "\n  ") + "\n" + aTool, "anchors and aliases"},
		{"aliases of nothing", full("*a "), "anchors and aliases"},
		{"documents", full("---\n"), "one preset"},
		{"tabs", full("\t"), "never with tabs"},
		{"tabs in a word", aTool + "title: " + full("a\t")[:presetMax-100], ""},
		{"quotes", full("'"), "mapping"},
		{"zeros", full("\x00"), "control characters"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "good.yaml", strings.Replace(aTool, "name: x", "name: good", 1))
			path := write(t, dir, "hostile.yaml", tt.text)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			registry, problems := Load(dir)
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > memoryMax {
				t.Errorf("%d MB were allocated", used>>20)
			}
			refused := len(problems) == 1 && problems[0].File == path && strings.Contains(problems[0].Message, tt.says)
			if refused != (tt.says != "") || !refused && len(problems) > 0 {
				t.Errorf("%.200v, want %q", problems, tt.says)
			}
			for _, name := range []string{"good", "claude", "codex"} {
				if _, err := registry.Get(name); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// deeper is a mapping in a mapping in a mapping, each on a line of its own.
func deeper() string {
	var b strings.Builder
	for i := 0; b.Len() < presetMax-1000; i++ {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

// TestReadAsWritten: what a file says arrives as it stands there.
func TestReadAsWritten(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"title: a\tb", "a\tb"},
		{"title: 'a\tb'", "a\tb"},
		{"title: a\t# comment", "a"},
		{"title: a#b # comment", "a#b"},
		{"title: a\n  b", "a b"},
		{"title: |\n  a\tb\n  c", "a\tb\nc"},
		{"title: >-\n  a\n  b", "a b"},
		{`title: "a\tb\u00e4"`, "a\tbä"},
		{"title: 'it''s'", "it's"},
		{"title: 2.10", "2.10"},
		{"title: 0x10", "0x10"},
		{"title: 2026-01-02", "2026-01-02"},
		{"title: yes", "yes"},
		{"title: <<", "<<"},
		{"? title\n: a", "a"},
		{"'title': a", "a"},
		{"title:", "x"},
		{"title: ~", "x"},
		{"title: ümlaut 日本", "ümlaut 日本"},
	}
	for _, tt := range tests {
		for name, form := range map[string]string{"plain": "%s", "beyond a mark": "\ufeff%s", "a document": "# c\n---\n%s...\n"} {
			text := fmt.Sprintf(form, aTool+tt.text+"\n")
			p, problem := decodePreset([]byte(text), nil)
			if problem != nil || p.Title != tt.want && p.Title != tt.want+"\n" {
				t.Errorf("%s: %q: %q, %v", name, tt.text, p.Title, problem)
			}
		}
		text := strings.ReplaceAll(aTool+tt.text+"\n", "\n", "\r\n")
		if p, problem := decodePreset([]byte(text), nil); problem != nil || strings.TrimSpace(p.Title) != tt.want {
			t.Errorf("of Windows: %q: %q, %v", tt.text, p.Title, problem)
		}
	}
	args := mustDecode(t, aTool+"modelArgs: [a\tb, [yes, '1', 0.1.2, 2026-01-02], \"\"]\n").ModelArgs
	if diff := cmp.Diff(Args{{"a\tb"}, {"yes", "1", "0.1.2", "2026-01-02"}, {""}}, args); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestLaidOver: what a file says takes the place of what the preset below says,
// and a key without a value says nothing.
func TestLaidOver(t *testing.T) {
	t.Parallel()
	base := aTool + "title: T\nstructuredOutput: true\nasRootEnv: {A: b}\nenvStrip: [B, C]\nstop: {signal: INT, grace: 3s}\n"
	over := func(text string) Preset {
		p, problem := decodePreset([]byte("extends: x\nname: y\n"+text), func(string) []byte { return []byte(base) })
		if problem != nil {
			t.Fatalf("%q: %v", text, problem)
		}
		return p
	}
	same := over("")
	if same.Title != "T" || !same.StructuredOutput || len(same.EnvStrip) != 2 {
		t.Fatalf("%+v", same)
	}
	nothing := over("title:\nstructuredOutput: ~\nasRootEnv: null\nenvStrip:\nstop:\n  signal:\n  grace:\n")
	if diff := cmp.Diff(shown(same), shown(nothing)); diff != "" {
		t.Errorf("keys without values change\n%s", diff)
	}
	got := over("structuredOutput: FALSE\nasRootEnv: {C: }\nenvStrip: []\nstop:\n  grace: >-\n    4s\n")
	if got.StructuredOutput || len(got.EnvStrip) != 0 || got.Stop.Signal != "INT" || got.Stop.Grace.Seconds() != 4 {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff(map[string]string{"C": ""}, got.AsRootEnv); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func shown(p Preset) string { return fmt.Sprintf("%+v", p) }

// TestRefusedForms: forms of YAML that a preset does not need, and what is no
// YAML, with their places.
func TestRefusedForms(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{ // after aTool, of two lines
		{"title: *a", "3:8: anchors and aliases are not taken"},
		{"aliases: [b, *c, *c]", "3:14: anchors and aliases are not taken"},
		{"envStrip:\n  - A*\n  - *", "5:5: text that begins with * belongs into quotes"},
		{"aliases: [b, &, c]", "3:14: text that begins with & belongs into quotes"},
		{"fork: {b: &a x}", "3:11: anchors and aliases are not taken"},
		{"fork: &a [x]", "3:7: anchors and aliases are not taken"},
		{"<<: {title: x}", "3:1: anchors and aliases are not taken"},
		{"stop: {<<: {signal: INT}}", "3:8: anchors and aliases are not taken"},
		{"\"<<\": x", `3:1: unknown key "<<"`},
		{"title: !!str 5", "3:8: tags (!!str) are not taken"},
		{"title: !!binary aGVsbG8=", "3:8: tags (!!binary) are not taken"},
		{"fork: [!own x]", "3:8: tags (!own) are not taken"},
		{"stop: {signal:!!str INT}", `3:8: unknown key "signal:!!str INT"; did you mean "signal"?`},
		{"fork: {a: 1, 'a': 2}", `3:14: mapping key "a" already defined at [3:8]`},
		{"fork: [{a: 1, a: 2}]", `3:15: mapping key "a" already defined at [3:9]`},
		{"asRootEnv:\n  A: x\n  A: y", `5:3: mapping key "A" already defined at [4:3]`},
		{"unknown: 1\nunknown: 2", `4:1: mapping key "unknown" already defined at [3:1]`},
		{"? - a\n: b", "3:3: a key is a word"},
		{"fork: {[a]: b}", "3:8: a key is a word"},
		{"1: b", `3:1: unknown key "1"`},
		{"stop: x", "3:7: it takes a mapping"},
		{"stop: [x]", "3:7: it takes a mapping"},
		{"asRootEnv: x", "3:12: it takes a mapping"},
		{"asRootEnv: {A: [1]}", "3:16: it takes a string"},
		{"aliases: a", "3:10: it takes a list"},
		{"aliases: [[a]]", "3:11: it takes a string"},
		{"modelArgs: a", "3:12: it takes a list"},
		{"modelArgs: [a, 1]", "3:16: an argument is a string; put it into quotes"},
		{"modelArgs: [[a, ~]]", "3:17: an argument is a string; put it into quotes"},
		{"structuredOutput: yes", "3:19: it takes true or false"},
		{"structuredOutput: 'true'", "3:19: it takes true or false"},
		{"...\nmore", "4:1: did not find expected <document start>"},
		{"--- # more", "3:1: a file holds one preset"},
		{"title: a: b", "3:1: mapping values are not allowed"},
		{"title: x\r\rfork: a: b", "5:1: mapping values are not allowed"}, // breaks of an old Mac
		{"title: 'a\nfork: b", "3:1: found unexpected end of stream"},
		{"title: [\n", "3:1: did not find expected node content"},
		{"envStrip:\n  - A\n - B\n", "5:2: did not find expected key"},
		{" paths: [/b]\ntitle: x", "3:2: did not find expected key"},
		{"\ttitle: a", "3:1: lines are set in with spaces, never with tabs"},
		{"envStrip:\n  -\tA", "4:4: lines are set in with spaces, never with tabs"},
		{"aliases: [ä, @b/c]", "3:14: text that begins with @ belongs into quotes"},
		{"title: `x`", "3:8: text that begins with ` belongs into quotes"},
		{"title: \xff", "3:1: invalid leading UTF-8 octet"},
		{"title: \"\x01\"", "3:1: control characters are not allowed"},
	}
	for _, tt := range tests {
		_, problem := decodePreset([]byte(aTool+tt.text+"\n"), nil)
		if problem == nil {
			t.Errorf("%q is taken", tt.text)
			continue
		}
		problem.File = "x.yaml"
		if got := problem.String(); !strings.HasPrefix(got, "x.yaml:"+tt.want) {
			t.Errorf("%q:\ngot  %s\nwant %s", tt.text, got, tt.want)
		}
	}
}

// TestStoppedAnywhere: a preset that is cut off, as one is while an editor
// writes it, is a preset or a problem with a place in the file.
func TestStoppedAnywhere(t *testing.T) {
	t.Parallel()
	text, err := presetFiles.ReadFile("presets/codex.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(text); n += 11 {
		_, problem := decodePreset(text[:n], nil)
		if problem == nil {
			continue
		}
		lines := strings.Split(string(text[:n]), "\n")
		if problem.Line < 1 || problem.Line > len(lines) || problem.Column < 1 || problem.Column > len(lines[problem.Line-1])+1 {
			t.Fatalf("cut after %d bytes: %v", n, problem)
		}
	}
}
