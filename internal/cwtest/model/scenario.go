package model

import (
	"fmt"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
)

// Scenario decides what the model answers to one request. It is called once
// per try, by several goroutines when several CLIs run at once, and takes all
// it needs out of the turn.
type Scenario func(t *Turn) Reply

// KeyPrefix stands before the scenario's name in the keys that ByKey reads.
const KeyPrefix = "key-"

// ByKey chooses the scenario by the caller's credential: "key-done" gets
// scenarios["done"]. Any other credential ends the turn.
func ByKey(scenarios map[string]Scenario) Scenario {
	return Route(func(r *Request) Scenario {
		name, _ := strings.CutPrefix(r.Credential.Value, KeyPrefix)
		return scenarios[name]
	})
}

// Route chooses the scenario by the request. Choosing none (nil) ends the turn.
func Route(choose func(*Request) Scenario) Scenario {
	return func(t *Turn) Reply {
		chosen := choose(t.Request)
		t.Require(chosen != nil, "no scenario for credential %q", t.Credential.Value)
		return chosen(t)
	}
}

// Turn is one request as a scenario sees it. Methods that return only a value
// end the turn with a recorded error when the value is not there.
type Turn struct {
	*Request
	try int
}

// Try returns how often this very turn has been asked for, counted from 1. It
// is above 1 when the CLI tries again after a failure.
func (t *Turn) Try() int { return t.try }

// Block returns the text of a top-level block of the latest prompt.
func (t *Turn) Block(tag string) string {
	body, ok := t.Prompt().Block(tag)
	t.Require(ok, "the prompt has no block <%s>, only %v", tag, t.Prompt().Tags())
	t.Require(body != "", "the block <%s> is empty", tag)
	return body
}

// Told returns the text of a block of the latest prompt that has it: what a
// session was told once holds in its later runs.
func (t *Turn) Told(tag string) string {
	for _, p := range slices.Backward(t.Conversation.Prompts()) {
		if body, ok := p.Block(tag); ok && body != "" {
			return body
		}
	}
	t.Fatalf("no prompt has a block <%s>, the latest only %v", tag, t.Prompt().Tags())
	return ""
}

// Find returns what pattern matches in text: its first group, or all of the
// match when it has none.
func (t *Turn) Find(text, pattern string) string {
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	t.Require(m != nil, "nothing matches %s in %s", pattern, shorten(text))
	return m[min(1, len(m)-1)]
}

// Output returns the text of the latest tool result. The tool must have
// succeeded.
func (t *Turn) Output() string {
	results := t.Current().Results()
	t.Require(len(results) > 0, "no tool has been called since the prompt")
	last := results[len(results)-1]
	t.Require(!last.Failed, "the tool failed: %s", shorten(last.Text))
	return last.Text
}

// RequireTags demands that the latest prompt has exactly these top-level
// blocks, in this order.
func (t *Turn) RequireTags(tags ...string) {
	got := t.Prompt().Tags()
	t.Require(slices.Equal(got, tags), "the prompt has the blocks %v, want %v", got, tags)
}

// Require ends the turn with an error unless ok.
func (t *Turn) Require(ok bool, format string, args ...any) {
	if !ok {
		t.Fatalf(format, args...)
	}
}

// Fatalf ends the turn: the error is recorded, and the CLI gets an API error
// that it does not try again.
func (t *Turn) Fatalf(format string, args ...any) {
	panic(gaveUp{fmt.Errorf(format, args...)})
}

// gaveUp is thrown by Fatalf and caught by play; it never leaves the package.
type gaveUp struct{ err error }

// play runs the scenario. A panic, wanted or not, comes back as an error.
func play(s Scenario, t *Turn) (reply Reply, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case gaveUp:
			err = p.err
		default:
			err = fmt.Errorf("scenario panicked: %v\n%s", p, debug.Stack())
		}
		if err != nil {
			err = fmt.Errorf("session %q, turn %d: %w", t.Session, t.Number(), err)
		}
	}()
	return s(t), nil
}

// shorten keeps messages readable: a prompt may be a megabyte.
func shorten(text string) string {
	const limit = 300
	if len(text) <= limit {
		return fmt.Sprintf("%q", text)
	}
	return fmt.Sprintf("%q … (%d bytes)", text[:limit], len(text))
}
