package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"
)

const (
	actorModel   = "claude-sonnet-4-5"
	actorContext = 200_000 // tokens that fit
)

// teller writes what an actor does as Claude Code does with --output-format
// stream-json: a line for each block, and one with the result at the end.
type teller struct {
	out     io.Writer
	session string
	prefix  string // of ids: no two runs of an agent share any
	n       int
	spent   cost
	told    bool // what was spent is told
}

func newTeller(out io.Writer, session, prefix string) *teller {
	return &teller{out: out, session: session, prefix: prefix}
}

type object = map[string]any

// line writes one line, in one write.
func (t *teller) line(o object) {
	o["session_id"] = t.session
	data, err := json.Marshal(o)
	if err != nil { // plain values always encode
		panic(err)
	}
	t.raw(string(data) + "\n")
}

func (t *teller) raw(text string) {
	if _, err := io.WriteString(t.out, text); err != nil {
		panic(err) // nobody takes the output any more
	}
}

func (t *teller) id(kind string) string {
	t.n++
	return fmt.Sprintf("%s_%s_%d", kind, t.prefix, t.n)
}

func (t *teller) init() {
	t.line(object{"type": "system", "subtype": "init", "model": actorModel, "cwd": "."})
}

func (t *teller) assistant(block object) {
	message := object{"id": t.id("msg"), "model": actorModel, "content": []any{block}}
	if !t.told && t.spent != (cost{}) {
		t.told = true
		message["usage"] = object{"input_tokens": t.spent.Input, "output_tokens": t.spent.Output, "cache_read_input_tokens": t.spent.Context}
	}
	t.line(object{"type": "assistant", "message": message})
}

func (t *teller) say(text string)   { t.assistant(object{"type": "text", "text": text}) }
func (t *teller) think(text string) { t.assistant(object{"type": "thinking", "thinking": text}) }

// call tells of a call, and done of its result.
func (t *teller) call(tool string, input any) (done func(output string, failed bool)) {
	id := t.id("toolu")
	t.assistant(object{"type": "tool_use", "id": id, "name": tool, "input": input})
	return func(output string, failed bool) { t.toolResult(id, output, failed, nil) }
}

func (t *teller) toolResult(id, output string, failed bool, more any) {
	block := object{"type": "tool_result", "tool_use_id": id, "content": output, "is_error": failed}
	t.line(object{"type": "user", "message": object{"content": []any{block}}, "tool_use_result": more})
}

func (t *teller) tool(c toolCall) {
	done := t.call(c.Name, c.Input)
	time.Sleep(time.Duration(c.Takes) * time.Millisecond) // as long as the tool is said to take
	done(c.Output, c.Failed)
}

// wrote tells of a file that was written.
func (t *teller) wrote(f file, created bool) {
	id, kind := t.id("toolu"), "update"
	if created {
		kind = "create"
	}
	t.assistant(object{"type": "tool_use", "id": id, "name": "Write", "input": object{"file_path": f.Path, "content": f.Text}})
	t.toolResult(id, "File "+kind+"d successfully at: "+f.Path, false, object{"type": kind})
}

// nth is the event number n of a flood: mostly words, now and then a tool.
func (t *teller) nth(n int) {
	switch n % 10 {
	case 3:
		t.think(fmt.Sprintf("Step %d: the cart holds prices in cents, so nothing is rounded here.", n))
	case 6: // two events
		t.call("Bash", object{"command": fmt.Sprintf("go test ./cart -run Case%d", n)})("ok  \tshop/cart\t0.012s\n", false)
	default:
		t.say(fmt.Sprintf("Event %d: the next case of the cart is looked at.", n))
	}
}

func (t *teller) limit(l limit) {
	t.line(object{"type": "rate_limit_event", "rate_limit_info": object{
		"status": l.Status, "rateLimitType": l.Kind, "utilization": l.Used,
		"resetsAt": time.Now().Add(time.Duration(l.Minutes) * time.Minute).Unix(),
	}})
}

// spend is counted from now on, and told with the next words and the result.
func (t *teller) spend(c cost) {
	t.spent, t.told = c, false
	t.say("")
}

func (t *teller) result() {
	t.line(object{
		"type": "result", "subtype": "success", "is_error": false, "num_turns": t.n, "result": "Done.", "total_cost_usd": t.spent.USD,
		"usage": object{"input_tokens": t.spent.Input, "output_tokens": t.spent.Output},
		"modelUsage": object{actorModel: object{
			"inputTokens": t.spent.Input, "outputTokens": t.spent.Output, "cacheReadInputTokens": t.spent.Context, "contextWindow": actorContext,
		}},
	})
}
