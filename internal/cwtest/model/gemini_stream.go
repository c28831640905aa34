package model

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
)

func (gemini) refusal(message string) Failure {
	return Failure{Status: http.StatusBadRequest, Body: geminiError(http.StatusBadRequest, "INVALID_ARGUMENT", message)}
}

func (p gemini) write(w http.ResponseWriter, a answer) {
	if a.stream {
		p.stream(newEventStream(w), a)
		return
	}
	if a.Cut {
		abort()
	}
	if a.Failure != nil { // outside a stream it can only be the whole answer
		writeJSON(w, http.StatusInternalServerError, json.RawMessage(a.Failure.Body))
		return
	}
	parts := append(a.thoughts(), object{"text": a.Text})
	writeJSON(w, http.StatusOK, a.candidate(append(parts, a.geminiCalls()...), "STOP"))
}

// stream sends one response in pieces; the last one has the calls and tells why
// it ended.
func (gemini) stream(s eventStream, a answer) {
	if a.Failure != nil {
		s.send("", a.candidate([]object{{"text": ""}}, ""))
		s.sendRaw("", a.Failure.Body)
		return
	}
	if a.Thinking != "" {
		s.send("", a.candidate(a.thoughts(), ""))
	}
	for _, piece := range chunks(a.Text) {
		if !a.pause(a.ChunkDelay) {
			abort()
		}
		s.send("", a.candidate([]object{{"text": piece}}, ""))
	}
	if a.Cut {
		a.pause(untilRead)
		abort()
	}
	last := a.geminiCalls()
	if last == nil {
		last = []object{{"text": ""}}
	}
	s.send("", a.candidate(last, "STOP"))
}

// candidate is one piece of a response; finish is "" before the last one.
func (a answer) candidate(parts []object, finish string) object {
	candidate := object{"index": 0, "content": object{"role": "model", "parts": parts}}
	if finish != "" {
		candidate["finishReason"] = finish
	}
	return object{
		"responseId": rand.Text(), "modelVersion": a.model, "usageMetadata": a.usage.gemini(),
		"candidates": []object{candidate},
	}
}

func (a answer) thoughts() []object {
	if a.Thinking == "" {
		return nil
	}
	return []object{{"text": a.Thinking, "thought": true}}
}

func (a answer) geminiCalls() []object {
	var calls []object
	for _, c := range a.calls {
		calls = append(calls, object{"functionCall": object{"name": c.name, "args": c.input}})
	}
	return calls
}

// gemini is the usage as this API counts it: what came out of the cache is part
// of the input.
func (u Usage) gemini() object {
	input := u.Input + u.CacheRead + u.CacheWrite
	return object{
		"promptTokenCount": input, "cachedContentTokenCount": u.CacheRead,
		"candidatesTokenCount": u.Output, "totalTokenCount": input + u.Output,
	}
}
