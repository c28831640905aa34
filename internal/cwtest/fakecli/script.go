package fakecli

import (
	"encoding/json"
	"fmt"
	"strings"
)

// marker begins the line of the prompt that holds the script.
const marker = "FAKECLI "

// Script says what the CLI does, in the order of the fields.
type Script struct {
	Book    string   `json:"book"`              // folder of the books, absolute
	Seed    uint64   `json:"seed"`              // of the output
	Stderr  string   `json:"stderr,omitempty"`  // written first
	Pieces  int      `json:"pieces,omitempty"`  // of output
	PaceMS  int      `json:"paceMs,omitempty"`  // between pieces
	Tame    bool     `json:"tame,omitempty"`    // only plain short lines
	Raw     string   `json:"raw,omitempty"`     // written to stdout after the pieces, as it is
	Big     int      `json:"big,omitempty"`     // one line of that many bytes
	Child   bool     `json:"child,omitempty"`   // leave a child in a session of its own that ignores SIGTERM
	Call    []string `json:"call,omitempty"`    // a command to run; its output goes to the book
	Routes  []string `json:"routes,omitempty"`  // "GET /v1/status": called on the socket, with the run's token; the answers go to the book
	Wait    string   `json:"wait,omitempty"`    // wait until this file exists
	Hang    bool     `json:"hang,omitempty"`    // until it is killed
	Deaf    bool     `json:"deaf,omitempty"`    // ignore SIGTERM
	File    string   `json:"file,omitempty"`    // file to write in the worktree
	Content string   `json:"content,omitempty"` // of it
	Commit  string   `json:"commit,omitempty"`  // message; nothing is committed without
	Shell   string   `json:"shell,omitempty"`   // run by sh in the worktree
	Signal  string   `json:"signal,omitempty"`  // content of signal.json; "" for none
	Exit    int      `json:"exit,omitempty"`
	Suicide string   `json:"suicide,omitempty"` // end by this signal: KILL, SEGV
}

// Goal puts a script into a goal.
func (s Script) Goal() string {
	data, err := json.Marshal(s)
	if err != nil { // plain fields always encode
		panic(err)
	}
	return "Do what the script says.\n\n" + marker + string(data) + "\n"
}

// parse finds the script in a prompt.
func parse(prompt string) (Script, error) {
	var s Script
	_, rest, found := strings.Cut(prompt, marker)
	if !found {
		return s, fmt.Errorf("the prompt holds no script")
	}
	line, _, _ := strings.Cut(rest, "\n")
	// Prompts keep tags out of data by writing < as an entity.
	line = strings.NewReplacer("&lt;", "<", "&amp;", "&").Replace(line)
	return s, json.Unmarshal([]byte(line), &s)
}

// Preset is the YAML of a provider that runs the program binary as this CLI.
func Preset(name, binary string) string {
	return fmt.Sprintf(`name: %s
title: Fake CLI
command:
  paths: [%q]
spawn:
  args: [%q]
promptMode: stdin
parser: lines
stop:
  grace: 1s
`, name, binary, Command)
}
