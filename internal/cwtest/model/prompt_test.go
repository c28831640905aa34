package model

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPromptBlocks(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		prompt Prompt
		tags   []string
		bodies map[string]string
	}{
		{"none", "Say hello.", nil, nil},
		{"in order", "<role>\nA worker.\n</role>\n\n<task>\nDo it.\n</task>\n", []string{"role", "task"},
			map[string]string{"role": "A worker.", "task": "Do it."}},
		{"text around blocks", "Hello.\n<task>\nDo it.\n</task>\nBye.", []string{"task"}, map[string]string{"task": "Do it."}},
		{"on one line", "<task>Do it.</task>\n<role>A worker.</role>", []string{"task", "role"}, map[string]string{"task": "Do it."}},
		{"two on one line are one", "<a>1</a><b>2</b>\n<c>\n</c>", []string{"c"}, nil},
		{"inner tags", "<task>\n<file>\na.go\n</file>\n</task>", []string{"task"}, map[string]string{"task": "<file>\na.go\n</file>"}},
		{"attributes", "<task id=\"7\">\nDo it.\n</task>", []string{"task"}, map[string]string{"task": "Do it."}},
		{"named in a sentence", "Read the <task> block.\n<task>\nDo it.\n</task>", []string{"task"}, map[string]string{"task": "Do it."}},
		{"closing named inside", "<role>\nThe </task> tag ends it.\nOr </role> does, \n</role>", []string{"role"},
			map[string]string{"role": "The </task> tag ends it.\nOr </role> does,"}},
		{"never closed", "<role>\n<task>\nDo it.\n</task>", []string{"task"}, map[string]string{"task": "Do it."}},
		{"empty", "<task>\n\n</task>", []string{"task"}, map[string]string{"task": ""}},
		{"twice: the first counts", "<a>\n1\n</a>\n<a>\n2\n</a>", []string{"a", "a"}, map[string]string{"a": "1"}},
		{"Windows line ends", "<task>\r\nDo it.\r\n</task>\r\n<role>\r\nA worker.\r\n</role>", []string{"task", "role"}, map[string]string{"task": "Do it."}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.tags, tt.prompt.Tags()); diff != "" {
				t.Errorf("tags (-want +got):\n%s", diff)
			}
			for tag, want := range tt.bodies {
				if got, ok := tt.prompt.Block(tag); !ok || got != want {
					t.Errorf("Block(%q) = %q, %v, want %q", tag, got, ok, want)
				}
			}
			if _, ok := tt.prompt.Block("missing"); ok {
				t.Error("found a block that is not there")
			}
		})
	}
}

func FuzzPromptBlocks(f *testing.F) {
	f.Add("<role>\nA worker.\n</role>\n<task>Do it.</task>", "task", "Do it.")
	f.Add("<a>\n<b>\n</a>\n</b>", "b", "</a>")
	f.Fuzz(func(t *testing.T, before, tag, body string) {
		p := Prompt(before)
		for _, tag := range p.Tags() {
			if _, ok := p.Block(tag); !ok {
				t.Errorf("%q is among the tags but has no block", tag)
			}
		}
		// A well-formed block is found, whatever stands inside, as long as that
		// does not close it.
		if !openTag.MatchString("<"+tag+">") || strings.ContainsAny(tag, " \t<>") || strings.Contains(body, "</"+tag+">") {
			return
		}
		whole := Prompt("<" + tag + ">\n" + body + "\n</" + tag + ">\n" + before)
		if got, ok := whole.Block(tag); !ok || got != strings.TrimSpace(body) {
			t.Errorf("Block(%q) = %q, %v, want %q", tag, got, ok, body)
		}
		if want := slices.Concat([]string{tag}, p.Tags()); !slices.Equal(whole.Tags(), want) {
			t.Errorf("tags = %q, want %q", whole.Tags(), want)
		}
	})
}
