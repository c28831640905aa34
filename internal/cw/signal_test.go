package cw_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

func TestParseSignal(t *testing.T) {
	t.Parallel()
	option := cw.QuestionOption{Label: "SQLite", Description: "there already"}
	tests := []struct {
		name, data string
		want       cw.Signal
		trouble    string // part of the error
	}{
		{"done", `{"status":"done","result":"ok"}`, cw.Signal{Status: "done", Result: "ok"}, ""},
		{"no changes", `{"status":"done","noChanges":"it was fixed already"}`, cw.Signal{Status: "done", NoChanges: "it was fixed already"}, ""},
		{"no changes, bare", `{"status":"done","noChanges":true}`, cw.Signal{Status: "done", NoChanges: "no reason given"}, ""},
		{"result as object", `{"status":"done","result":{"files": 2}}`, cw.Signal{Status: "done", Result: `{"files":2}`}, ""},
		{"unknown fields", `{"status":"done","summary":"x","agent":1}`, cw.Signal{Status: "done", Unknown: []string{"agent", "summary"}}, ""},
		{"byte order mark", "\xef\xbb\xbf{\"status\":\"done\"}", cw.Signal{Status: "done"}, ""},
		{"error", `{"status":"error","error":"no compiler"}`, cw.Signal{Status: "error", Error: "no compiler"}, ""},
		{"error without words", `{"status":"error"}`, cw.Signal{Status: "error", Error: "the agent reported an error without saying which"}, ""},
		{
			"questions", `{"status":"questions","questions":[{"id":"q1","question":"Where?","header":"Sessions here","options":[{"label":"SQLite","description":"there already"},"Files"],"multiSelect":true},"When?"]}`,
			cw.Signal{Status: "questions", Questions: []cw.SignalQuestion{
				{ID: "q1", Text: "Where?", Header: "Sessions her", Options: []cw.QuestionOption{option, {Label: "Files"}}, MultiSelect: true},
				{Text: "When?"},
			}}, "",
		},
		{"one plain question", `{"status":"questions","questions":"Where?"}`, cw.Signal{Status: "questions", Questions: []cw.SignalQuestion{{Text: "Where?"}}}, ""},
		{
			"loose shapes", `{"status":"questions","questions":[{"id":1,"text":"Which?","multiSelect":"true","header":7,"options":[{"value":"y","text":"Yes"},{"name":"No","description":"not now"},3,{"value":"z"}]},{"prompt":"One?","multi_select":1,"choices":{"a":"Ay"}},{"question":"Free?","options":"yes","multiSelect":"false"}]}`,
			cw.Signal{Status: "questions", Questions: []cw.SignalQuestion{
				{ID: "1", Text: "Which?", Header: "7", MultiSelect: true, Options: []cw.QuestionOption{{Label: "Yes"}, {Label: "No", Description: "not now"}, {Label: "3"}, {Label: "z"}}},
				{Text: "One?", MultiSelect: true, Options: []cw.QuestionOption{{Label: "Ay"}}},
				{Text: "Free?", Options: []cw.QuestionOption{{Label: "yes"}}},
			}}, "",
		},
		{
			"equal ids", `{"status":"questions","questions":[{"id":"q1","question":"A?"},{"id":"q1","question":"B?"},{"id":"q1-2","question":"C?"},{"id":"q1","question":"D?"}]}`,
			cw.Signal{Status: "questions", Questions: []cw.SignalQuestion{{ID: "q1", Text: "A?"}, {ID: "q1-3", Text: "B?"}, {ID: "q1-2", Text: "C?"}, {ID: "q1-4", Text: "D?"}}}, "",
		},
		{"an empty option", `{"status":"questions","questions":[{"question":"A?","options":[{"description":"x"}]}]}`, cw.Signal{}, "an object with a label"},
		{"no questions", `{"status":"questions"}`, cw.Signal{}, "missing or empty"},
		{"empty questions", `{"status":"questions","questions":[]}`, cw.Signal{}, "missing or empty"},
		{"question without text", `{"status":"questions","questions":[{"id":"a"}]}`, cw.Signal{}, "question 1: it has no text"},
		{"question is a number", `{"status":"questions","questions":[7]}`, cw.Signal{}, "neither a string nor"},
		{"array", `[{"status":"done"}]`, cw.Signal{}, "it is an array"},
		{"string", `"done"`, cw.Signal{}, "it is a string"},
		{"null", `null`, cw.Signal{}, "it is null"},
		{"half written", `{"status":"do`, cw.Signal{}, "not one JSON object"},
		{"two objects", `{"status":"done"}{"status":"error"}`, cw.Signal{}, "not one JSON object"},
		{"empty", "  \n", cw.Signal{}, "it is empty"},
		{"status missing", `{"result":"x"}`, cw.Signal{}, `"status" is missing`},
		{"status a number", `{"status":1}`, cw.Signal{}, `"status" is missing or no string`},
		{"status unknown", `{"status":"finished"}`, cw.Signal{}, `"status" is "finished"`},
		{"not UTF-8", "{\"status\":\"\xff\"}", cw.Signal{}, "not UTF-8"},
		{"deep", strings.Repeat("[", 200_000), cw.Signal{}, "not one JSON object"},
		{"too large", `{"status":"` + strings.Repeat("x", cw.SignalMax) + `"}`, cw.Signal{}, "larger than"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := cw.ParseSignal([]byte(tt.data))
			if tt.trouble == "" {
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Error(diff)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.trouble) {
				t.Errorf("error %v, want one with %q", err, tt.trouble)
			}
		})
	}
}

func FuzzParseSignal(f *testing.F) {
	f.Add([]byte(`{"status":"done","result":"ok"}`))
	f.Add([]byte(`{"status":"questions","questions":["a",{"question":"b","options":["c"]}]}`))
	f.Add([]byte(`{"status":"error","error":{"a":[1]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		sig, err := cw.ParseSignal(data)
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without words")
			}
			return
		}
		switch sig.Status {
		case cw.SignalDone:
		case cw.SignalError:
			if sig.Error == "" {
				t.Error("an error without a reason")
			}
		case cw.SignalQuestions:
			if len(sig.Questions) == 0 {
				t.Error("questions without any")
			}
			for _, q := range sig.Questions {
				if q.Text == "" || len([]rune(q.Header)) > cw.QuestionHeaderMax || !utf8.ValidString(q.Text) {
					t.Errorf("question %+v", q)
				}
			}
		default:
			t.Errorf("status %q", sig.Status)
		}
	})
}
