package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/providers/parsers"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	say := func(match []string, words ...string) script {
		s := script{Match: match}
		for _, w := range words {
			s.Runs = append(s.Runs, []step{{Say: w}})
		}
		return s
	}
	scripts := map[string]script{
		"1": say([]string{"done before"}, "before"),
		"2": say([]string{"plan mode", "Spring"}, "plan"),
		"3": say([]string{"Add <b> & more"}, "first", "second"),
		"4": {Match: []string{"nothing"}},
	}
	for _, c := range []struct {
		memory memory
		prompt string
		want   string
	}{
		{memory{}, "in plan mode for Spring sale", "plan"},
		{memory{}, "in plan mode", ""},
		{memory{}, "Add &lt;b> &amp; more; done before", "first"},
		{memory{"3", 1}, "Add &lt;b> &amp; more", "second"},
		{memory{"3", 1}, "go on", "second"},
		{memory{"3", 8}, "go on", "second"},
		{memory{"3", 2}, "plan mode, Spring", "plan"},
		{memory{}, "nothing", ""},
	} {
		next, err := c.memory.next(scripts, c.prompt)
		got := ""
		if err == nil {
			got = next.steps(scripts)[0].Say
		}
		if got != c.want {
			t.Errorf("%+v, %q: %q, want %q", c.memory, c.prompt, got, c.want)
		}
	}
}

// TestTeller holds that what an actor tells is understood whole, and how.
func TestTeller(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	tell := newTeller(&out, "s", "r1")
	tell.init()
	tell.say("words")
	tell.think("thoughts")
	tell.tool(toolCall{Name: "TodoWrite", Input: object{"todos": []planItem{{"one", "in_progress"}}}})
	tell.wrote(file{Path: "a.go", Text: "package a\n"}, true)
	tell.limit(limit{Status: "allowed_warning", Kind: "five_hour", Used: 0.8, Minutes: 30})
	tell.spend(cost{USD: 1, Input: 10, Output: 5, Context: 100})
	tell.result()
	parser, err := parsers.New("claude", parsers.Options{Since: time.Unix(0, 0)})
	if err != nil {
		t.Fatal(err)
	}
	kinds := ""
	for line := range bytes.Lines(out.Bytes()) {
		if !json.Valid(line) {
			t.Errorf("no JSON: %s", line)
		}
		for _, e := range parser.Line(line) {
			kinds += fmt.Sprint(e.Kind, " ")
		}
	}
	want := fmt.Sprint(cw.StreamInit, " ", cw.StreamText, " ", cw.StreamThinking, " ", cw.StreamToolCall, " ", cw.StreamPlan, " ", cw.StreamToolResult, " ",
		cw.StreamToolCall, " ", cw.StreamToolResult, " ", cw.StreamFileChange, " ", cw.StreamLimit, " ", cw.StreamUsage, " ", cw.StreamResult, " ")
	if kinds != want || parser.Unknown() != 0 {
		t.Errorf("%d lines unknown, events\n%s, want\n%s", parser.Unknown(), kinds, want)
	}
}
