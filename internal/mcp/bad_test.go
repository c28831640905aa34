package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// good gives arguments that pass, for each tool.
func good() map[string]string {
	q := `[{"question":"Which?","header":"Which","options":[{"label":"a"},{"label":"b"}]}]`
	return map[string]string{
		"ask_user_question": `{"questions":` + q + `}`,
		"plan_create":       `{"title":"t","steps":[{"title":"a","description":"d"}]}`,
		"plan_update":       `{"step_id":"step-0","status":"completed"}`,
		"agents_list":       `{}`,
		"agents_message":    `{"agentId":"execute","content":"c","session":"latest","mode":"async","timeout":1}`,
		"ask_agent":         `{"question":"q","agent_id":"calm-heron","queue":true,"wake":false,"timeout_seconds":1}`,
		"listen":            `{"timeout_seconds":0}`,
		"answer":            `{"conversation_id":"cccccccccccc","answer":"42"}`,
		"new_id":            `{"count":2}`,
		"task_context":      `{"page_id":"gggggggggggg"}`,
		"signal_done":       `{"result":"r","noChanges":"n"}`,
		"signal_questions":  `{"questions":` + q + `}`,
		"signal_error":      `{"error":"e"}`,
	}
}

// TestEveryBadArgument: every tool with every argument, nested ones too, in every
// bad form: an envelope that names it, and nothing is done.
func TestEveryBadArgument(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	s := open(t, f.config())
	cases := 0
	for _, tl := range tools() {
		base := good()[tl.name]
		whole := map[string]string{
			`[]`: "object", `"x"`: "object", `7`: "object", `true`: "object",
			`{"nobody_knows":1}`: "nobody_knows", `{"":1}`: "there is no argument",
		}
		for bad, says := range whole {
			s.wantError(s.call(tl.name, bad), says)
			cases++
		}
		walk(tl.fields, nil, func(path []string, fd field) {
			for name, value := range badValues(fd) {
				bad := put(t, base, path, value)
				r := s.call(tl.name, bad)
				if !r.isErr {
					t.Errorf("%s takes %s for %s", tl.name, name, strings.Join(path, "."))
					continue
				}
				s.wantError(r, path[len(path)-1])
				cases++
			}
		})
	}
	if n := len(f.requests()); n != 0 {
		t.Errorf("%d requests reached the daemon: %v", n, f.requests())
	}
	if cases < 300 {
		t.Errorf("only %d cases", cases)
	}
	s.want(s.call("new_id", `{}`), `"ids"`) // it is still there
}

// walk visits all fields with their paths; entries of lists are the first one.
func walk(fields []field, above []string, visit func(path []string, f field)) {
	for _, f := range fields {
		path := append(append([]string(nil), above...), f.name)
		visit(path, f)
		if f.kind == object {
			walk(f.fields, path, visit)
		}
		if f.kind == list && f.of.kind == object {
			walk(f.of.fields, append(path, "0"), visit)
		}
	}
}

// missing takes the field away.
const missing = "missing"

// badValues are values that the field must refuse, as JSON.
func badValues(f field) map[string]string {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	out := map[string]string{"deep": deep(400), "deeper": deep(2000), "an object": `{"a":1}`}
	for kind, v := range map[kind]string{text: `"x"`, number: `5`, flag: `true`, list: `[1]`} {
		if kind != f.kind {
			out["a "+string(kind)] = v
		}
	}
	if f.needed {
		out[missing], out["null"] = missing, "null"
	}
	switch f.kind {
	case text:
		out["a zero byte"] = `"a\u0000b"`
		if out["2 MB"] = `"` + strings.Repeat("x", 2<<20) + `"`; f.most < 1<<20 {
			delete(out, "2 MB")
			out["1 MB"] = `"` + strings.Repeat("x", 1<<20) + `"`
		}
		if f.needed {
			out["empty"], out["blank"] = `""`, `" \n\t "`
		}
		if len(f.words) > 0 {
			out["another word"] = `"sideways"`
		}
	case number:
		out["a fraction"], out["huge"], out["below"] = `1.5`, `1e300`, fmt.Sprint(f.least-1)
		if f.most > 0 {
			out["above"] = fmt.Sprint(f.most + 1)
		}
	case list:
		out["too few"] = `[]`
		if f.least == 0 {
			delete(out, "too few")
		}
		out["too many"] = "[" + strings.Repeat(`{},`, f.most) + `{}]`
		out["nulls"] = `[null]`
		out["deep"] = deep(400)
	}
	return out
}

// put sets a value, given as JSON, at a path of an object.
func put(t *testing.T, base string, path []string, value string) string {
	t.Helper()
	var at any
	if err := json.Unmarshal([]byte(base), &at); err != nil {
		t.Fatal(err)
	}
	top, mark := at, "\x01here\x01"
	for _, step := range path[:len(path)-1] {
		if items, ok := at.([]any); ok {
			at = items[0]
			continue
		}
		at = at.(map[string]any)[step]
	}
	last := path[len(path)-1]
	if value == missing {
		delete(at.(map[string]any), last)
	} else {
		at.(map[string]any)[last] = mark
	}
	data, err := json.Marshal(top)
	if err != nil {
		t.Fatal(err)
	}
	quoted, err := json.Marshal(mark)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Replace(string(data), string(quoted), value, 1)
}

// FuzzArguments: whatever comes, a decoder says why or gives what the fields
// allow; and what it gave passes once more.
func FuzzArguments(f *testing.F) {
	for _, args := range good() {
		f.Add([]byte(args))
	}
	f.Add([]byte(`{"questions":[[[[]]]]}`))
	f.Add([]byte(`{"count":1e2}`))
	f.Add([]byte("{\"title\":\"\xff\"}"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, tl := range tools() {
			var out map[string]any
			if err := decode(tl.fields, raw, &out); err != nil {
				if said := errorText(err); said.Text == "" || len(said.Text) > 4000 {
					t.Errorf("%s: the error has %d bytes", tl.name, len(said.Text))
				}
				continue
			}
			data, err := json.Marshal(out)
			if err != nil {
				t.Fatal(err)
			}
			if err := decode(tl.fields, data, &out); err != nil {
				t.Errorf("%s: what passed does not pass again: %v", tl.name, err)
			}
		}
	})
}
