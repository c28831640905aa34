package fakecli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"cw/internal/cw"
)

// marker begins the part of a prompt that is a script.
const marker = "FAKECLI "

// Script says what the CLI does in one run, in the order of the fields.
type Script struct {
	Book   string   `json:"book"`             // folder of the books, absolute
	Expect []string `json:"expect,omitempty"` // texts that must be in the prompt; else it ends with ExitUnexpected and does nothing
	Seed   uint64   `json:"seed"`             // of the output
	Stderr string   `json:"stderr,omitempty"` // written first
	Pieces int      `json:"pieces,omitempty"` // of output
	PaceMS int      `json:"paceMs,omitempty"` // between pieces
	Tame   bool     `json:"tame,omitempty"`   // only plain short lines
	Raw    string   `json:"raw,omitempty"`    // written to stdout after the pieces, as it is
	Big    int      `json:"big,omitempty"`    // one line of that many bytes
	// Limited says for how many seconds accounts are at their limit, by the digest
	// of the key or AnyAccount; Refused whose keys are refused. Either ends the run
	// here, with exit code 1, after Wait; with Hang it hangs here.
	Limited map[string]int `json:"limited,omitempty"`
	Refused []string       `json:"refused,omitempty"`
	Child   bool           `json:"child,omitempty"`  // leave a child in a session of its own that ignores SIGTERM
	Call    []string       `json:"call,omitempty"`   // a command to run; its output goes to the book
	Routes  []string       `json:"routes,omitempty"` // "GET /v1/status": called on the socket, with the run's token; the answers go to the book
	// Ask asks people by a call, and waits for the answers, which go to the book;
	// with Leave the run goes on without them.
	Ask   *cw.PeopleRequest `json:"ask,omitempty"`
	Leave bool              `json:"leave,omitempty"`
	// Message is sent to another agent; the response, if it is waited for, goes to
	// the book.
	Message *cw.AgentMessageRequest `json:"message,omitempty"`
	Door    string                  `json:"door,omitempty"` // a unix socket at which tests call the daemon as this run
	Talk                            // with other agents
	Wait    string                  `json:"wait,omitempty"`    // wait until this file exists
	Hang    bool                    `json:"hang,omitempty"`    // until it is killed
	Deaf    bool                    `json:"deaf,omitempty"`    // ignore SIGTERM
	File    string                  `json:"file,omitempty"`    // file to write in the worktree
	Content string                  `json:"content,omitempty"` // of it
	Commit  string                  `json:"commit,omitempty"`  // message; nothing is committed without
	Shell   string                  `json:"shell,omitempty"`   // run by sh in the worktree
	Signal  string                  `json:"signal,omitempty"`  // content of signal.json; "" for none
	Linger  string                  `json:"linger,omitempty"`  // note "ready", and wait until this file exists
	Exit    int                     `json:"exit,omitempty"`
	Suicide string                  `json:"suicide,omitempty"` // end by this signal: KILL, SEGV
	Forget  bool                    `json:"forget,omitempty"`  // drop the session at the end: nobody can resume it
	// Next is what the agent's next run does when its prompt holds no script of
	// its own. Without one it ends as this run did, with Shell, Signal, Exit and
	// Suicide again, and does nothing else.
	Next *Script `json:"next,omitempty"`
}

// ExitUnexpected is the exit code of a run whose prompt lacks what its script
// expects.
const ExitUnexpected = 9

// Goal puts a script into a goal.
func (s Script) Goal() string { return "Do what the script says.\n\n" + s.Text() + "\n" }

// Text is the script as a part of any text to an agent: one line.
func (s Script) Text() string {
	data, err := json.Marshal(s)
	if err != nil { // plain fields always encode
		panic(err)
	}
	return marker + string(data)
}

// after is what the next run does when nobody tells it.
func (s Script) after() Script {
	if s.Next != nil {
		next := *s.Next
		if next.Book == "" {
			next.Book = s.Book
		}
		return next
	}
	return Script{Book: s.Book, Shell: s.Shell, Signal: s.Signal, Exit: s.Exit, Suicide: s.Suicide}
}

// errNoScript says that a prompt holds no script.
var errNoScript = errors.New("the prompt holds no script")

// parse finds the last script of a prompt, and what the prompt says beside
// scripts.
func parse(prompt string) (s Script, text, rest string, err error) {
	// Prompts keep tags out of data by writing < as an entity.
	prompt = strings.NewReplacer("&lt;", "<", "&amp;", "&").Replace(prompt)
	before, after, found := strings.Cut(prompt, marker)
	rest, err = before, errNoScript
	for found {
		lines := json.NewDecoder(strings.NewReader(after))
		s = Script{}
		if err = lines.Decode(&s); err != nil {
			return s, "", rest, fmt.Errorf("read the script: %w", err)
		}
		text = after[:lines.InputOffset()]
		before, after, found = strings.Cut(after[lines.InputOffset():], marker)
		rest += before
	}
	return s, text, rest, err
}

// Preset is the YAML of a provider that runs the program binary as this CLI.
// It cannot resume a session.
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

// KeyVariable is the variable of the caller in which a SessionPreset's CLI gets
// its credentials. It does nothing with them.
const KeyVariable = "FAKECLI_KEY"

// HomeVariable is the variable that names the configuration directory of an
// account. Sessions are kept there, when it is set.
const HomeVariable = "FAKECLI_HOME"

// AnyAccount stands in a script for every account, also for none.
const AnyAccount = "*"

// SessionPreset is Preset for a CLI that keeps its sessions in the configuration
// directory of its account, else in the folder of the books, and can resume
// them.
func SessionPreset(name, binary, books string) string {
	return fmt.Sprintf(`name: %s
title: Fake CLI
command:
  paths: [%q]
spawn:
  args: [%q, [%s, "{{sessionId}}"]]
  env: {%s: %q}
resume:
  args: [%q, [%s, "{{sessionId}}"]]
  env: {%s: %q}
promptMode: stdin
resumeStyle: flag
sessionId: {choose: uuid}
parser: lines
account:
  key: %s
  configDir: [%s]
  session: {files: ["sessions/{{sessionId}}.session"]}
patterns:
  limit: [usage limit reached]
  auth: [invalid api key]
  sessionGone: [No conversation found with session ID]
stop:
  grace: 1s
`, name, binary, Command, newSession, booksVariable, books, Command, oldSession, booksVariable, books, KeyVariable, HomeVariable)
}
