package providers_test

import (
	"fmt"
	"strings"
	"time"

	"cw/providers"
	"cw/providers/parsers"
)

// A run is started from a preset: no shell, and no flag that nobody asked for.
func ExamplePreset_Spawn() {
	registry, _ := providers.Load("")
	claude, err := registry.Get("claude")
	if err != nil {
		fmt.Println(err)
		return
	}
	command, err := claude.Spawn(providers.Invocation{
		Binary:    "/usr/bin/claude",
		SessionID: "6f1c0a52-3c1b-4a53-9a52-0b3d2c5d8e10",
		Model:     "sonnet",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.Join(command.Argv, " "))
	fmt.Println("prompt on stdin:", command.PromptOnStdin)

	_, err = claude.Spawn(providers.Invocation{Binary: "/usr/bin/claude", SessionID: "x", Model: "--help"})
	fmt.Println(err)
	// Output:
	// /usr/bin/claude -p --output-format stream-json --verbose --dangerously-skip-permissions --session-id 6f1c0a52-3c1b-4a53-9a52-0b3d2c5d8e10 --model sonnet
	// prompt on stdin: true
	// Claude Code cannot be started so: {{model}} is "--help", which would be taken for an option
}

// The output of a run is read as it comes, in whatever pieces.
func ExamplePreset_NewReading() {
	registry, _ := providers.Load("")
	claude, err := registry.Get("claude")
	if err != nil {
		fmt.Println(err)
		return
	}
	reading, err := claude.NewReading(time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC))
	if err != nil {
		fmt.Println(err)
		return
	}
	var summary parsers.Summary
	for _, piece := range []string{
		`{"type":"system","subtype":"init","session_id":"s1","mod`, `el":"claude-sonnet-5"}` + "\n",
		`{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"You've hit your session limit · resets 5:13am (UTC)"}`,
	} {
		for _, event := range reading.Feed([]byte(piece)) {
			summary.Add(event)
		}
	}
	for _, event := range reading.Flush() { // the last line has no end
		summary.Add(event)
	}
	fmt.Println(summary.SessionID, summary.Limit.Kind, summary.Limit.Until.Format(time.RFC3339))
	// Output:
	// s1 five_hour 2026-11-21T05:13:00Z
}
