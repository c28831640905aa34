package model

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"time"
)

func (chat) refusal(message string) Failure {
	return Failure{Status: http.StatusBadRequest, Body: openAIError("invalid_request_error", "", message, nil)}
}

func (p chat) write(w http.ResponseWriter, a answer) {
	w.Header().Set("X-Request-Id", "req_"+rand.Text())
	head := object{"id": "chatcmpl-" + rand.Text(), "created": time.Now().Unix(), "model": a.model}
	if a.stream {
		p.stream(newEventStream(w), head, a)
		return
	}
	if a.Cut {
		abort()
	}
	if a.Failure != nil { // outside a stream it can only be the whole answer
		writeJSON(w, http.StatusInternalServerError, json.RawMessage(a.Failure.Body))
		return
	}
	message := object{"role": "assistant", "content": a.Text}
	if a.Thinking != "" {
		message["reasoning_content"] = a.Thinking
	}
	if len(a.calls) > 0 {
		message["tool_calls"] = a.chatCalls()
	}
	head["object"], head["usage"] = "chat.completion", a.usage.chat()
	head["choices"] = []object{{"index": 0, "message": message, "finish_reason": a.finishReason()}}
	writeJSON(w, http.StatusOK, head)
}

// stream sends the chunks of one completion in the order of the API: the role,
// thinking, text, calls, why it ended, usage.
func (chat) stream(s eventStream, head object, a answer) {
	head["object"] = "chat.completion.chunk"
	chunk := func(delta object, finish any) {
		head["choices"] = []object{{"index": 0, "delta": delta, "finish_reason": finish}}
		s.send("", head)
	}
	chunk(object{"role": "assistant", "content": ""}, nil)
	if a.Failure != nil {
		s.sendRaw("", a.Failure.Body)
		return
	}
	if a.Thinking != "" {
		chunk(object{"reasoning_content": a.Thinking}, nil)
	}
	for _, piece := range chunks(a.Text) {
		if !a.pause(a.ChunkDelay) {
			abort()
		}
		chunk(object{"content": piece}, nil)
	}
	for i, call := range a.chatCalls() {
		call["index"] = i
		chunk(object{"tool_calls": []object{call}}, nil)
	}
	if a.Cut {
		a.pause(untilRead)
		abort()
	}
	chunk(object{}, a.finishReason())
	head["choices"], head["usage"] = []object{}, a.usage.chat()
	s.send("", head)
	s.sendRaw("", "[DONE]")
}

func (a answer) chatCalls() []object {
	var calls []object
	for _, c := range a.calls {
		calls = append(calls, object{
			"id": "call_" + rand.Text(), "type": "function",
			"function": object{"name": c.name, "arguments": string(c.input)},
		})
	}
	return calls
}

func (a answer) finishReason() string {
	if len(a.calls) > 0 {
		return "tool_calls"
	}
	return "stop"
}

// chat is the usage as this API counts it: what came out of the cache is part of
// the input.
func (u Usage) chat() object {
	input := u.Input + u.CacheRead + u.CacheWrite
	return object{
		"prompt_tokens": input, "prompt_tokens_details": object{"cached_tokens": u.CacheRead},
		"completion_tokens": u.Output, "total_tokens": input + u.Output,
	}
}
