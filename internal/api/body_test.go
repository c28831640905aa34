package api

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"cw/internal/cw"
)

func TestReadJSON(t *testing.T) {
	t.Parallel()
	deep := func(n int) string { return `{"later":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + `}` }
	for name, c := range map[string]struct {
		text string
		want string // of the error; "": read
	}{
		"good":                   {`{"goal":"x","projects":["a"],"env":{"A":"1"}}`, ""},
		"with space around":      {" \t\r\n{\"goal\":\"x\"}\n ", ""},
		"a field of later":       {`{"goal":"x","priority":{"goal":1,"gaol":2}}`, ""},
		"close in a free object": {`{"goal":"x","env":{"gaol":"1","Goal":"2"}}`, ""},
		"a letter moved":         {`{"gaol":"x"}`, `no field "gaol"; did you mean goal?`},
		"a letter more":          {`{"goal":"x","modell":"y"}`, `no field "modell"; did you mean model?`},
		"a letter less":          {`{"goal":"x","project":["a"]}`, `did you mean projects?`},
		"another case":           {`{"GOAL":"x"}`, `did you mean goal?`},
		"the same in two cases":  {`{"goal":"x","Goal":"y"}`, `did you mean goal?`},
		"not so close":           {`{"goal":"x","mood":"y","nodes":1}`, `no field "mood"; did you mean mode?`},
		"far from all":           {`{"goal":"x","colour":"y"}`, ""},
		"short words":            {`{"goal":"x","x":1,"":2}`, ""},
		"twice":                  {`{"goal":"x","goal":"y"}`, `"goal" stands there twice`},
		"twice, escaped":         {`{"goal":"x","go\u0061l":"y"}`, `"goal" stands there twice`},
		"twice far inside":       {`{"later":[{"a":[{"b":1,"b":2}]}]}`, `"b" stands there twice`},
		"a key after an object":  {`{"later":{"a":1},"gaol":1}`, "did you mean goal?"},
		"a key after a list":     {`{"later":[1,"goal"],"gaol":1}`, "did you mean goal?"},
		"as deep as may be":      {deep(bodyDepth), ""},
		"deeper":                 {deep(bodyDepth + 1), "deeper than 64"},
		"much deeper":            {strings.Repeat(`{"a":`, 1_000_000), "deeper than 64"},
		"nothing":                {"", "one JSON object"},
		"space":                  {" \n", "one JSON object"},
		"no JSON":                {"goal=x", "one JSON object"},
		"null":                   {"null", "one JSON object"},
		"a list":                 {`[{"goal":"x"}]`, "one JSON object"},
		"a text":                 {`"goal"`, "one JSON object"},
		"half":                   {`{"goal":"x`, "no JSON"},
		"half an object":         {`{"goal":"x"`, "no JSON"},
		"two":                    {`{"goal":"x"}{"goal":"y"}`, "invalid character"},
		"garbage behind":         {`{"goal":"x"}]`, "no JSON"},
		"a comma too many":       {`{"goal":"x",}`, "no JSON"},
		"a comment":              {`{"goal":"x"} // really`, "no JSON"},
		"no number":              {`{"goal":NaN}`, "no JSON"},
		"single quotes":          {`{'goal':'x'}`, "no JSON"},
		"no UTF-8":               {"{\"goal\":\"\xff\"}", "no UTF-8"},
		"half a character":       {"{\"goal\":\"\xc3\"}", "no UTF-8"},
		"a byte order mark":      {"\ufeff{\"goal\":\"x\"}", "one JSON object"},
		"a raw control":          {"{\"goal\":\"a\nb\"}", "no JSON"},
		"a number":               {`{"goal":7}`, "goal must be a string, not number"},
		"a text for a list":      {`{"goal":"x","projects":"a"}`, "projects must be a list, not string"},
		"a list for an object":   {`{"goal":"x","env":[]}`, "env must be an object, not array"},
		"a number inside":        {`{"goal":"x","env":{"A":1}}`, "env"},
	} {
		var req cw.SpawnRequest
		err := readJSON([]byte(c.text), &req)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if err != nil && len(err.Error()) > 300 {
			t.Errorf("%s: %d bytes of error", name, len(err.Error()))
		}
	}
	var stop *cw.StopRequest
	if err := readJSON([]byte(`{"now":true}`), &stop); err != nil || !stop.Now {
		t.Errorf("into a pointer: %+v %v", stop, err)
	}
	if err := readJSON([]byte(`{"nov":true}`), &stop); err == nil || !strings.Contains(err.Error(), "did you mean now?") {
		t.Errorf("into a pointer: %v", err)
	}
	if err := readJSON([]byte(`{"now":1}`), &stop); err == nil || !strings.Contains(err.Error(), "now must be true or false, not number") {
		t.Errorf("into a pointer: %v", err)
	}
}

func TestCheckQuery(t *testing.T) {
	t.Parallel()
	names := []string{"since", "type", "agent", "follow", "path"}
	for raw, want := range map[string]string{
		"":                      "",
		"since=5&type=a,b":      "",
		"colour=red&x=1&ticket": "",
		"sinse=5":               "did you mean since?",
		"Since=5":               "did you mean since?",
		"types=a":               "did you mean type?",
		"folow":                 "did you mean follow?",
		"since=5&since=6":       "stands there 2 times",
		"type=a&type=b":         "separated by commas",
		"other=1&other=2":       "",
		"since=%zz":             "cannot be read",
		"since=5;type=a":        "cannot be read",
		"%73ince=5&since=6":     "stands there 2 times",
		"path=a,b&path=%FF":     "",
		"path=a&paht=b":         "did you mean path?",
	} {
		err := checkQuery(raw, names, []string{"path"})
		text := ""
		if err != nil {
			text = err.Error() + " " + cw.ErrorHint(err)
		}
		if (err == nil) != (want == "") || !strings.Contains(text, want) || err != nil && (cw.ErrorCode(err) != cw.CodeInvalid || cw.ErrorHint(err) == "") {
			t.Errorf("%q: %q, want %q", raw, text, want)
		}
	}
}

// What readJSON reads, encoding/json reads to the same end, and there is one
// way to read it.
func FuzzReadJSON(f *testing.F) {
	f.Add(`{"goal":"x","env":{"A":"1"}}`)
	f.Add(`{"goal":"x","goal":"y"}`)
	f.Add(`{"later":[{"a":[1,null,true]}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		var got, want cw.SpawnRequest
		if readJSON([]byte(text), &got) != nil {
			return
		}
		if !json.Valid([]byte(text)) || !utf8.ValidString(text) {
			t.Fatalf("%q was read", text)
		}
		if err := json.Unmarshal([]byte(text), &want); err != nil || got.Goal != want.Goal {
			t.Errorf("%q: %+v, want %+v %v", text, got, want, err)
		}
		for key := range jsonKeys(t, text) {
			if strings.EqualFold(key, "goal") && key != "goal" {
				t.Errorf("%q was read as a goal", key)
			}
		}
	})
}

func jsonKeys(t *testing.T, text string) map[string]any {
	t.Helper()
	var keys map[string]any
	if err := json.Unmarshal([]byte(text), &keys); err != nil {
		t.Fatal(err)
	}
	return keys
}

// An agent that is nobody sees nobody: an empty filter would be everybody.
func TestNobodySeesNobody(t *testing.T) {
	t.Parallel()
	ctx := cw.WithActor(t.Context(), cw.Actor{Kind: cw.ActorAgent})
	page, err := visibleAgents(ctx, noServices{}, cw.AgentFilter{}) // noServices panics when it is asked
	if err != nil || len(page.Items) != 0 {
		t.Errorf("%+v %v", page, err)
	}
}
