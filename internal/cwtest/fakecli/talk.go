package fakecli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Talk is what a run says to other agents, with cw's own commands.
type Talk struct {
	// Asks are the arguments of `cw ask`; what comes of it goes to the book.
	Asks []string `json:"asks,omitempty"`
	// Hears is for how many questions it waits, by `cw listen`; each is answered
	// with Answer, and then with Again, unless that is empty.
	Hears  int    `json:"hears,omitempty"`
	Answer string `json:"answer,omitempty"`
	Again  string `json:"again,omitempty"`
}

// The entries of a talk in a book: a question that it was given, with the
// conversation as Route; an answer that it gave to that, with what came of it; and
// what came of its own question.
const (
	Heard = "heard"
	Told  = "told"
	Asked = "asked"
)

// talk does what a script says of other agents.
func (t Talk) talk(book *bookWriter) error {
	for range t.Hears {
		out, code := callCW("listen")
		var question struct{ ConversationID string }
		if code == 0 && json.Unmarshal([]byte(out), &question) != nil {
			return fmt.Errorf("cw listen printed %q", out)
		}
		book.note(Entry{What: Heard, Route: question.ConversationID, Output: out, Code: code})
		if code != 0 {
			return fmt.Errorf("cw listen: exit code %d: %s", code, out)
		}
		for _, answer := range []string{t.Answer, t.Again} {
			if answer == "" {
				continue
			}
			out, code := callCW("answer", answer, "--conversation-id", question.ConversationID)
			book.note(Entry{What: Told, Route: question.ConversationID, Path: answer, Output: out, Code: code})
		}
	}
	if len(t.Asks) > 0 {
		out, code := callCW(append([]string{"ask"}, t.Asks...)...)
		book.note(Entry{What: Asked, Output: out, Code: code})
	}
	return nil
}

// callCW runs a command of cw, the one on the PATH, and gives what it printed: of
// one that failed what it said of that.
func callCW(args ...string) (out string, code int) {
	cmd := exec.Command("cw", args...)
	var stderr strings.Builder
	cmd.Stdin, cmd.Stderr = nil, &stderr
	cmd.Env = os.Environ()
	data, err := cmd.Output()
	if err == nil {
		return string(data), 0
	}
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return stderr.String(), exit.ExitCode()
	}
	return err.Error(), -1
}
