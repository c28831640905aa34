package model

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"time"
)

func (responses) refusal(message string) Failure {
	return Failure{Status: http.StatusBadRequest, Body: openAIError("invalid_request_error", "", message, nil)}
}

func (p responses) write(w http.ResponseWriter, a answer) {
	w.Header().Set("X-Request-Id", "req_"+rand.Text())
	p.stream(&responsesStream{eventStream: newEventStream(w)}, a)
}

// responsesStream numbers its events.
type responsesStream struct {
	eventStream
	sent int
}

func (s *responsesStream) event(name string, data object) {
	data["type"], data["sequence_number"] = name, s.sent
	s.sent++
	s.send(name, data)
}

// stream sends the events of one response in the order of the API.
func (responses) stream(s *responsesStream, a answer) {
	id := "resp_" + rand.Text()
	s.event("response.created", object{"response": a.response(id, "in_progress", []object{})})
	if a.Failure != nil {
		failed := a.response(id, "failed", []object{})
		failed["error"] = innerError(a.Failure.Body)
		s.event("response.failed", object{"response": failed})
		return
	}
	items := a.items()
	for i, item := range items {
		if item["type"] == "message" {
			streamText(s, a, i, item)
		} else {
			s.event("response.output_item.added", object{"output_index": i, "item": item})
		}
		s.event("response.output_item.done", object{"output_index": i, "item": item})
	}
	if a.Cut {
		a.pause(untilRead)
		abort()
	}
	whole := a.response(id, "completed", items)
	whole["usage"] = a.usage.responses()
	s.event("response.completed", object{"response": whole})
}

// streamText sends the text of a message bit by bit.
func streamText(s *responsesStream, a answer, index int, item object) {
	s.event("response.output_item.added", object{"output_index": index, "item": object{
		"type": "message", "id": item["id"], "role": "assistant", "status": "in_progress", "content": []object{},
	}})
	for _, piece := range chunks(a.Text) {
		if !a.pause(a.ChunkDelay) {
			abort()
		}
		s.event("response.output_text.delta", object{
			"item_id": item["id"], "output_index": index, "content_index": 0, "delta": piece,
		})
	}
	s.event("response.output_text.done", object{
		"item_id": item["id"], "output_index": index, "content_index": 0, "text": a.Text,
	})
}

func (a answer) response(id, status string, output []object) object {
	return object{
		"id": id, "object": "response", "created_at": time.Now().Unix(), "status": status, "model": a.model,
		"output": output, "error": nil, "incomplete_details": nil,
	}
}

// items are the answer as output items: thinking, text, calls.
func (a answer) items() []object {
	items := []object{}
	if a.Thinking != "" {
		items = append(items, object{
			"type": "reasoning", "id": "rs_" + rand.Text(),
			"summary": []object{{"type": "summary_text", "text": a.Thinking}},
		})
	}
	if a.Text != "" {
		items = append(items, object{
			"type": "message", "id": "msg_" + rand.Text(), "role": "assistant", "status": "completed",
			"content": []object{{"type": "output_text", "text": a.Text, "annotations": []object{}}},
		})
	}
	for _, c := range a.calls {
		items = append(items, callItem(c))
	}
	return items
}

func callItem(c toolCall) object {
	item := object{"call_id": "call_" + rand.Text(), "name": c.name, "status": "completed"}
	if c.script != "" {
		item["type"], item["id"], item["input"] = "custom_tool_call", "ctc_"+rand.Text(), c.script
	} else {
		item["type"], item["id"], item["arguments"] = "function_call", "fc_"+rand.Text(), string(c.input)
	}
	return item
}

// responses is the usage as this API counts it: what came out of the cache is
// part of the input.
func (u Usage) responses() object {
	input := u.Input + u.CacheRead + u.CacheWrite
	return object{
		"input_tokens": input, "input_tokens_details": object{"cached_tokens": u.CacheRead},
		"output_tokens": u.Output, "output_tokens_details": object{"reasoning_tokens": 0},
		"total_tokens": input + u.Output,
	}
}

// innerError is the error of a body as it stands inside a failed response.
func innerError(body string) json.RawMessage {
	var outer struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal([]byte(body), &outer) != nil || outer.Error == nil {
		return json.RawMessage("null")
	}
	return outer.Error
}
