package model

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// gemini speaks generateContent and streamGenerateContent of the Gemini API, as
// gemini does.
type gemini struct{}

// geminiRequest is what is read of a request body. The model and whether a
// stream is wanted are in the address.
type geminiRequest struct {
	System   geminiContent   `json:"systemInstruction"`
	Contents []geminiContent `json:"contents"`
	Tools    []struct {
		Functions []struct {
			Name string `json:"name"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
}

type geminiContent struct {
	Role  string       `json:"role"` // user, model
	Parts []geminiPart `json:"parts"`
}

// geminiPart is one of a text, a call or what a call gave.
type geminiPart struct {
	Text    string `json:"text"`
	Thought bool   `json:"thought"` // the text is thinking
	Call    *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	Response *struct {
		ID       string `json:"id"`
		Response struct {
			Output string `json:"output"`
			Error  string `json:"error"`
		} `json:"response"`
	} `json:"functionResponse"`
}

func (gemini) read(r *http.Request, body []byte) (*Request, error) {
	model, method, _ := strings.Cut(r.PathValue("call"), ":")
	if method != "generateContent" && method != "streamGenerateContent" {
		return nil, fmt.Errorf("the method %q is not spoken here", method)
	}
	var in geminiRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	req := &Request{
		Protocol: "gemini",
		Model:    model,
		Stream:   method == "streamGenerateContent",
		Raw:      body,
	}
	if key := r.Header.Get("X-Goog-Api-Key"); key != "" {
		req.Credential = Credential{Header: "x-goog-api-key", Value: key}
	}
	for _, part := range in.System.Parts {
		req.addSystem(part.Text)
	}
	for _, t := range in.Tools {
		for _, f := range t.Functions {
			req.Tools = append(req.Tools, f.Name)
		}
	}
	for _, c := range in.Contents {
		c.addTo(req)
	}
	return req, req.judge()
}

// addTo adds what the content says to the request.
func (c geminiContent) addTo(r *Request) {
	for _, part := range c.Parts {
		switch {
		case part.Call != nil:
			call := CallMade{ID: part.Call.ID, Name: part.Call.Name, Input: part.Call.Args}
			r.answer().Calls = append(r.answer().Calls, call)
		case part.Response != nil:
			results := r.results()
			results.Results = append(results.Results, part.result())
		case part.Thought:
		case c.Role == "model":
			m := r.answer()
			m.Text += part.Text
		default:
			r.addSaid(part.Text)
		}
	}
}

func (p geminiPart) result() ToolResult {
	told := p.Response.Response
	if told.Error != "" {
		return ToolResult{ID: p.Response.ID, Text: told.Error, Failed: true}
	}
	return commandResult(p.Response.ID, told.Output)
}
