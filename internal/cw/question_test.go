package cw

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// asked makes a question that offers labels.
func asked(multi bool, labels ...string) Question {
	q := Question{ID: "qqqqqqqqqqqq", Text: "Which?", MultiSelect: multi}
	for _, l := range labels {
		q.Options = append(q.Options, QuestionOption{Label: l})
	}
	return q
}

// told checks an error's code, and that it or its hint says something.
func told(t *testing.T, err error, code Code, text string) {
	t.Helper()
	if ErrorCode(err) != code || !strings.Contains(err.Error()+" | "+ErrorHint(err), text) {
		t.Fatalf("got %v with code %q and hint %q; want code %q and the text %q", err, ErrorCode(err), ErrorHint(err), code, text)
	}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	one, many, free := asked(false, "SQLite", "Files"), asked(true, "red", "green", `a "b" & c`), asked(false)
	for _, c := range []struct {
		name    string
		q       Question
		labels  []string
		want    string
		trouble string
	}{
		{"one of one", one, []string{"Files"}, "Files", ""},
		{"several of several", many, []string{"green", "red"}, `["green","red"]`, ""},
		{"one of several", many, []string{"red"}, `["red"]`, ""},
		{"none", one, nil, "", "no option is named"},
		{"none of several", many, nil, "", "options: red, green"},
		{"two of one", one, []string{"SQLite", "Files"}, "", "2 options are named, and only one"},
		{"unknown", one, []string{"Postgres"}, "", `it has no option "Postgres" | options: SQLite, Files`},
		{"mistyped", one, []string{"SQLit"}, "", `did you mean "SQLite"? Options: SQLite, Files`},
		{"another case", one, []string{"sqlite"}, "", `did you mean "SQLite"?`},
		{"one unknown among known", many, []string{"red", "blue"}, "", `no option "blue"`},
		{"twice", many, []string{"red", "green", "red"}, "", `"red" is named twice`},
		{"empty label", one, []string{""}, "", `no option ""`},
		{"no options at all", free, []string{"x"}, "", "answer in words: --text"},
		{"a long label", one, []string{strings.Repeat("x", 5000)}, "", "options: SQLite, Files"},
	} {
		got, err := c.q.Choose(c.labels...)
		if c.trouble != "" {
			told(t, err, CodeInvalid, c.trouble)
			if len(err.Error()) > 200 {
				t.Errorf("%s: an error of %d bytes", c.name, len(err.Error()))
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
	}
	got, err := many.Choose(`a "b" & c`)
	var back []string
	if err != nil || json.Unmarshal([]byte(got), &back) != nil || len(back) != 1 || back[0] != `a "b" & c` {
		t.Errorf("an odd label: %q, %v", got, err)
	}
}

func TestCheckAnswer(t *testing.T) {
	t.Parallel()
	one, many := asked(false, "SQLite", "Files"), asked(true, "red", "green")
	long := strings.Repeat("x", AnswerMax)
	for _, c := range []struct {
		name, answer string
		q            Question
		want         string
		trouble      string
	}{
		{"a label", "Files", one, "Files", ""},
		{"free text", "  neither:\nuse both \n", one, "neither:\nuse both", ""},
		{"an array where one is asked for is text", `["Files"]`, one, `["Files"]`, ""},
		{"an array", ` ["red", "green"] `, many, `["red","green"]`, ""},
		{"free text where several may be chosen", "all of them", many, "all of them", ""},
		{"text that begins like an array", "[red] but dark", many, "[red] but dark", ""},
		{"an array of numbers is text", "[1]", many, "[1]", ""},
		{"as long as can be", long, one, long, ""},
		{"an unknown label", `["red","blue"]`, many, "", `no option "blue"`},
		{"an empty array", "[]", many, "", "no option is named"},
		{"a null in it", "[null]", many, "", `no option ""`},
		{"empty", "", one, "", "the answer is empty"},
		{"blank", " \n\t", one, "", "the answer is empty"},
		{"too long", long + "x", one, "", "at most 65536 are taken"},
		{"not UTF-8", "a\xff", one, "", "not plain UTF-8"},
		{"a zero byte", "a\x00b", one, "", "not plain UTF-8"},
	} {
		got, err := c.q.CheckAnswer(c.answer)
		if c.trouble != "" {
			told(t, err, CodeInvalid, c.trouble)
		} else if err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
	}
}

// FuzzCheckAnswer: what is taken is plain text that is taken again as it is, and
// an array that is taken names only labels that were offered, each once.
func FuzzCheckAnswer(f *testing.F) {
	for _, answer := range []string{"red", `["red","green"]`, `["red","red"]`, "[", "[]", `["\u0000"]`, `["\ud800"]`, " x ", "a\x00", "\xff", "[null]"} {
		f.Add(answer, "red", "green", true)
		f.Add(answer, "red", "\x00", false)
	}
	f.Fuzz(func(t *testing.T, answer, a, b string, multi bool) {
		if len(a)+len(b) > 1000 {
			return
		}
		q := asked(multi, a, b)
		got, err := q.CheckAnswer(answer)
		if err != nil {
			if ErrorCode(err) != CodeInvalid || got != "" {
				t.Fatalf("%q with %v, code %q", got, err, ErrorCode(err))
			}
			return
		}
		if strings.TrimSpace(got) != got || got == "" || !utf8.ValidString(got) || strings.ContainsRune(got, 0) || len(got) > max(AnswerMax, 6*len(a+b)+20) {
			t.Fatalf("stored: %q", got)
		}
		if again, err := q.CheckAnswer(got); err != nil || again != got {
			t.Fatalf("%q is taken as %q, %v", got, again, err)
		}
		var labels []string
		if !multi || json.Unmarshal([]byte(got), &labels) != nil {
			return
		}
		seen := map[string]bool{}
		for _, l := range labels {
			if l != a && l != b || seen[l] {
				t.Fatalf("%q of %q and %q is taken", got, a, b)
			}
			seen[l] = true
		}
	})
}

func TestQuestionFilter(t *testing.T) {
	t.Parallel()
	start, err := QuestionFilter{}.Start()
	if err != nil || start.Field != "createdAt" || start.Descending || start.Limit != PageDefault {
		t.Errorf("the own order: %+v, %v", start, err)
	}
	next := func(f QuestionFilter) string {
		t.Helper()
		f.Limit = 1
		start, err := f.Start()
		if err != nil {
			t.Fatal(err)
		}
		page := CutPage(start, []Question{{ID: QuestionID(NewID())}, {ID: QuestionID(NewID())}})
		return page.Next
	}
	both := next(QuestionFilter{Statuses: []QuestionStatus{QuestionOpen, QuestionAnswered}, Agent: "a"})
	for name, c := range map[string]struct {
		filter  QuestionFilter
		trouble string
	}{
		"the same":              {QuestionFilter{Statuses: []QuestionStatus{QuestionOpen, QuestionAnswered}, Agent: "a"}, ""},
		"in another order":      {QuestionFilter{Statuses: []QuestionStatus{QuestionAnswered, QuestionOpen, QuestionOpen}, Agent: "a"}, ""},
		"another agent":         {QuestionFilter{Statuses: []QuestionStatus{QuestionOpen, QuestionAnswered}, Agent: "b"}, "another filter"},
		"other statuses":        {QuestionFilter{Statuses: []QuestionStatus{QuestionOpen}, Agent: "a"}, "another filter"},
		"a status that is none": {QuestionFilter{Statuses: []QuestionStatus{"opn"}, Agent: "a"}, "did you mean open?"},
	} {
		c.filter.Cursor = both
		start, err := c.filter.Start()
		if c.trouble != "" {
			told(t, err, CodeInvalid, c.trouble)
		} else if err != nil || !start.After {
			t.Errorf("%s: %+v, %v", name, start, err)
		}
	}
	if got := QuestionStatuses(); len(got) != 3 || got[0] != QuestionOpen {
		t.Errorf("statuses: %v", got)
	}
}
