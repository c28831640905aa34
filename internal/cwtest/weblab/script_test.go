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

func TestStepsFor(t *testing.T) {
	t.Parallel()
	say := func(words ...string) [][]step {
		var runs [][]step
		for _, w := range words {
			runs = append(runs, []step{{Say: w}})
		}
		return runs
	}
	scripts := []script{
		{Match: []string{"plan mode", "Spring"}, Runs: say("plan")},
		{Match: []string{"Add <b> & more"}, Runs: say("first", "second")},
		{Match: []string{"nothing"}},
	}
	for _, c := range []struct {
		prompt string
		run    int
		want   string
	}{
		{"in plan mode for Spring sale", 1, "plan"},
		{"in plan mode", 1, ""},
		{"Add &lt;b> &amp; more", 1, "first"},
		{"Add &lt;b> &amp; more", 2, "second"},
		{"Add &lt;b> &amp; more", 9, "second"},
		{"nothing", 1, ""},
	} {
		steps, err := stepsFor(scripts, c.prompt, c.run)
		got := ""
		if err == nil {
			got = steps[0].Say
		}
		if got != c.want {
			t.Errorf("%q, run %d: %q, want %q", c.prompt, c.run, got, c.want)
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
