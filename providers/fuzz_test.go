package providers

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// FuzzPreset: no file takes the program down; a preset that is taken can be
// used.
func FuzzPreset(f *testing.F) {
	for _, name := range []string{"claude", "codex", "script"} {
		text, err := presetFiles.ReadFile("presets/" + name + ".yaml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, text := range others {
		f.Add([]byte(text))
	}
	f.Add([]byte("extends: claude\nname: x\n"))
	f.Add([]byte("title: a\tb\nstop: &a {signal:!!str INT}\nfork: [*a, *b]\n"))
	f.Add([]byte("fork: [[{a: {b: - - ? @\n---\n\t- %"))
	f.Add([]byte("name: x\nspawn: {args: [[a, '{{model}}']]}\n? - a\n: b"))
	embedded := loadEmbedded()
	f.Fuzz(func(t *testing.T, data []byte) {
		p, problem := decodePreset(data, func(name string) []byte { return embedded[name].text })
		if problem != nil {
			if problem.Message == "" || strings.Contains(problem.Message, "\n") {
				t.Errorf("message %q", problem.Message)
			}
			return
		}
		in := Invocation{Binary: "/b", Script: "/s", SessionID: aSession, Prompt: "p", PromptFile: "/p"}
		if c, err := p.Spawn(in); err == nil && !strings.HasPrefix(c.Argv[0], "/") {
			t.Errorf("argv %q", c.Argv)
		}
		_, _ = p.Resume(in)
		in.Sandbox, in.WritableDirs = true, []string{"/a", "-b"}
		_, _ = p.Spawn(in)
		_, _ = p.CheckVersion("1.2.3")
		_, _, _ = p.JudgeStderr(data, time.Now())
		RunEnv(EnvInput{Preset: p, Caller: []string{"A=b"}})
	})
}

// FuzzTemplate: a value never becomes an option, never brings in another
// variable, and its text is not changed.
func FuzzTemplate(f *testing.F) {
	f.Add("{{model}}", "-x")
	f.Add("--model={{model}}", "{{prompt}}")
	f.Add("{{json model}}", "a\"\x00b")
	f.Add("{{ model }}{{model}}", "")
	f.Add("{{", "}}")
	f.Fuzz(func(t *testing.T, template, value string) {
		if checkTemplate(template) != nil {
			return
		}
		args := Args{{"--fixed", template}}
		got, err := args.expand(map[string]string{"model": value, "prompt": "SECRET"})
		if err != nil {
			return
		}
		if len(got) != 0 && len(got) != 2 {
			t.Fatalf("%d arguments", len(got))
		}
		if len(got) == 0 {
			return
		}
		if strings.HasPrefix(got[1], "-") && strings.HasPrefix(template, "{{") {
			t.Errorf("%q became the option %q", template, got[1])
		}
		if strings.Contains(got[1], "\x00") {
			t.Errorf("%q has a zero byte", got[1])
		}
		plain := templateUses(template, "model") && !strings.Contains(template, "json")
		if plain && !strings.Contains(got[1], value) {
			t.Errorf("%q with %q gave %q", template, value, got[1])
		}
		if !templateUses(template, "prompt") && !strings.Contains(template+value, "SECRET") && strings.Contains(got[1], "SECRET") {
			t.Errorf("%q with %q gave %q", template, value, got[1])
		}
	})
}

// FuzzNearest: the distance is a distance.
func FuzzNearest(f *testing.F) {
	f.Add("claude", "cluade")
	f.Fuzz(func(t *testing.T, a, b string) {
		if !utf8.ValidString(a) || len(a) > 64 || len(b) > 64 {
			return
		}
		if d := distance(a, b); d != distance(b, a) || (d == 0) != (a == b) || d > max(len(a), len(b)) {
			t.Errorf("%q, %q: %d", a, b, d)
		}
	})
}
