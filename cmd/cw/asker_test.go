package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

// asked are questions of three kinds: with options, with several to choose,
// and free.
func asked() []cw.Question {
	return []cw.Question{
		{
			ID: "qqqqqqqqqqqq", AgentID: "aaaaaaaaaaaa", RequestID: "gggggggggggg", Seq: 1, Key: "1", Source: "signal", Header: "Scope",
			Text: "Which parser\x1b[2J do you mean?", Status: cw.QuestionOpen, CreatedAt: epoch.Add(-100e9),
			Options: []cw.QuestionOption{{Label: "The old one", Description: "parser/"}, {Label: "The new one"}},
		},
		{
			ID: "rrrrrrrrrrrr", AgentID: "aaaaaaaaaaaa", RequestID: "gggggggggggg", Seq: 2, Key: "targets", Source: "signal",
			Text: "For which systems?\nSeveral are possible.", Status: cw.QuestionOpen, CreatedAt: epoch.Add(-100e9), MultiSelect: true,
			Options: []cw.QuestionOption{{Label: "Linux"}, {Label: "macOS"}, {Label: "Plan 9"}},
		},
		{
			ID: "ssssssssssss", AgentID: "aaaaaaaaaaaa", RequestID: "gggggggggggg", Seq: 3, Key: "2", Source: "signal",
			Text: "What shall the flag be called?", Status: cw.QuestionOpen, CreatedAt: epoch.Add(-100e9), Options: []cw.QuestionOption{},
		},
	}
}

// waits is an agent that waits for answers to the first n of them.
func waits(n int) cw.AgentView {
	return *with(running("brave-otter"), func(v *cw.AgentView) {
		v.Status, v.PendingQuestions = cw.StatusWaitingForInput, asked()[:n]
	})
}

// terminal puts a person at a terminal, who types these lines.
func terminal(b *bench, typed string) {
	b.inTTY, b.outTTY, b.errTTY = true, true, true
	b.env["TERM"] = "dumb" // no colours and nothing that moves
	b.in = strings.NewReader(typed)
}

func TestReadAnswer(t *testing.T) {
	t.Parallel()
	one, several, free := asked()[0], asked()[1], asked()[2]
	numbers := cw.Question{ID: "q", Options: []cw.QuestionOption{{Label: "2"}, {Label: "4"}}}
	for _, tc := range []struct {
		q    cw.Question
		line string
		want string // "": asked again
	}{
		{one, "1\n", "The old one"},
		{one, " 2 ", "The new one"},
		{one, "The new one", "The new one"},
		{one, "Neither: a third one", "Neither: a third one"},
		{one, "", ""},
		{one, "   \n", ""},
		{one, "3", ""},
		{one, "0", ""},
		{one, "-1", ""},
		{one, "=3", "3"},
		{one, "=", ""},
		{one, "1,2", ""},
		{one, "1 of them", "1 of them"},
		{one, "bad\xff", ""},
		{several, "1", `["Linux"]`},
		{several, "1,3", `["Linux","Plan 9"]`},
		{several, "3 1", `["Plan 9","Linux"]`},
		{several, "1,1", ""},
		{several, "1,7", ""},
		{several, "Plan 9", `["Plan 9"]`},
		{several, "all of them", "all of them"},
		{free, "--quick", "--quick"},
		{free, "7", "7"},
		{free, "\t", ""},
		{numbers, "2", "2"},
		{numbers, "a", "2"},
		{numbers, "B", "4"},
		{numbers, "1", "1"}, // no mark: the marks are letters
	} {
		got, err := readAnswer(tc.q, tc.line)
		if got != tc.want || (err == nil) != (tc.want != "") {
			t.Errorf("%q to %v: got %q, %v; want %q", tc.line, tc.q.Labels(), got, err, tc.want)
		}
	}
}

// FuzzReadAnswer: whatever is typed, what comes out is stored as it is.
func FuzzReadAnswer(f *testing.F) {
	for _, line := range []string{"1", "1,2", "=1", "The old one", `["Linux"]`, "\x00", ",", " , "} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		for _, q := range asked() {
			answer, err := readAnswer(q, line)
			if err != nil {
				continue
			}
			if stored, err := q.CheckAnswer(answer); err != nil || stored != answer {
				t.Errorf("%q became %q, which is stored as %q, %v", line, answer, stored, err)
			}
		}
	})
}

func TestReadAnswers(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, data string
		want       []namedAnswer
		says       string
	}{
		{"two", `{"a": "x", "b": ["y", "z"]}`, []namedAnswer{{name: "a", value: "x"}, {name: "b", labels: []string{"y", "z"}, isList: true}}, ""},
		{"no labels", `{"b": []}`, []namedAnswer{{name: "b", isList: true}}, ""},
		{"nothing", ``, nil, "no JSON object: unexpected EOF"},
		{"empty", `{}`, nil, "there is no answer"},
		{"list", `["a"]`, nil, "no JSON object"},
		{"text", `a: b`, nil, "no JSON object: invalid character"},
		{"cut off", `{"a": "x"`, nil, "no JSON object: unexpected EOF"},
		{"cut off inside", `{"a": "x`, nil, "no JSON object: unexpected EOF"},
		{"twice", `{"a": "x", "a": "y"}`, nil, `name "a" twice`},
		{"number", `{"a": 1}`, nil, "neither a text nor a list"},
		{"null", `{"a": null}`, nil, "neither a text nor a list"},
		{"null within", `{"a": ["x", null]}`, nil, "neither a text nor a list"},
		{"object", `{"a": {"answer": "x"}}`, nil, "neither a text nor a list"},
		{"more", `{"a": "x"} {"b": "y"}`, nil, "something follows"},
		{"garbage behind", `{"a": "x"} ]`, nil, "something follows"},
		{"not UTF-8", "{\"a\": \"\xff\"}", nil, "not UTF-8"},
	} {
		got, err := readAnswers([]byte(tc.data))
		if tc.says == "" && err != nil || tc.says != "" && (err == nil || !strings.Contains(err.Error(), tc.says)) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.says)
			continue
		}
		if err != nil && (cw.ErrorCode(err) != cw.CodeInvalid || cw.ErrorHint(err) == "") {
			t.Errorf("%s: code %s, hint %q", tc.name, cw.ErrorCode(err), cw.ErrorHint(err))
		}
		if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(namedAnswer{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

// FuzzReadAnswers: what is taken is one JSON object with as many keys.
func FuzzReadAnswers(f *testing.F) {
	for _, data := range []string{`{"a": "x", "b": ["y"]}`, `{}`, `{"a": "x"} 1`, `{"a":1}`, `{"a":"x","a":"y"}`, "{\"\xff\":\"\"}"} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := readAnswers(data)
		if err != nil {
			return
		}
		var object map[string]any
		if err := json.Unmarshal(data, &object); err != nil || len(object) != len(got) || len(got) == 0 {
			t.Fatalf("%q was taken as %d answers: %v", data, len(got), err)
		}
		for _, g := range got {
			switch value := object[g.name].(type) {
			case string:
				if g.isList || g.value != value {
					t.Errorf("%q: %+v", data, g)
				}
			case []any:
				if !g.isList || len(g.labels) != len(value) {
					t.Errorf("%q: %+v", data, g)
				}
			default:
				t.Errorf("%q: %T was taken", data, value)
			}
		}
	})
}

func TestMatchAnswers(t *testing.T) {
	t.Parallel()
	open := viewsOf(waits(3))
	again := slices.Clone(open)
	again[2].Key = "1" // as the first: no longer unambiguous
	for _, tc := range []struct {
		name, data string
		open       []cw.QuestionView
		want       map[cw.QuestionID]string
		unknown    []string
		says       string
	}{
		{"by id", `{"qqqqqqqqqqqq": "The new one", "ssssssssssss": "--quick"}`, open, map[cw.QuestionID]string{"qqqqqqqqqqqq": "The new one", "ssssssssssss": "--quick"}, nil, ""},
		{"by its own names", `{"1": "neither", "targets": ["macOS"]}`, open, map[cw.QuestionID]string{"qqqqqqqqqqqq": "neither", "rrrrrrrrrrrr": `["macOS"]`}, nil, ""},
		{"a label where several may be chosen", `{"targets": "Linux"}`, open, map[cw.QuestionID]string{"rrrrrrrrrrrr": `["Linux"]`}, nil, ""},
		{"words where several may be chosen", `{"targets": "all"}`, open, map[cw.QuestionID]string{"rrrrrrrrrrrr": "all"}, nil, ""},
		{"ambiguous", `{"1": "x"}`, again, map[cw.QuestionID]string{}, []string{"1"}, ""},
		{"unknown", `{"1": "x", "3": "y", "z": "z"}`, open, map[cw.QuestionID]string{"qqqqqqqqqqqq": "x"}, []string{"3", "z"}, ""},
		{"twice", `{"qqqqqqqqqqqq": "x", "1": "y"}`, open, nil, nil, "answered twice"},
		{"empty", `{"1": " "}`, open, nil, nil, "the answer is empty"},
		{"a wrong label", `{"targets": ["Linus"]}`, open, nil, nil, `no option "Linus"`},
		{"no label", `{"targets": []}`, open, nil, nil, "no option is named"},
		{"two where one", `{"1": ["The old one", "The new one"]}`, open, nil, nil, "only one may be chosen"},
		{"a list where none are offered", `{"2": ["x"]}`, open, nil, nil, "offers no options"},
	} {
		given, err := readAnswers([]byte(tc.data))
		if err != nil {
			t.Fatal(err)
		}
		got, unknown, err := matchAnswers(given, tc.open)
		if tc.says == "" && err != nil || tc.says != "" && (err == nil || !strings.Contains(err.Error(), tc.says)) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.says)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
		if diff := cmp.Diff(tc.unknown, unknown); diff != "" {
			t.Errorf("%s: unknown (-want +got):\n%s", tc.name, diff)
		}
	}
}

// TestAnswerOnTerminal: one question after the other, a slip is asked again,
// and what was typed before anybody asked is no answer.
func TestAnswerOnTerminal(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"agent", "answer", "brave-otter"}, {"question", "answer"}, {"question", "answer", "qqqqqqqqqqqq", "rrrrrrrrrrrr", "ssssssssssss"}} {
		t.Run(strings.Join(args[:2], " "), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.fake.add(waits(3), nil)
			terminal(b, "\n7\n2\n1,3\n--quick\n")
			forgotten := 0
			b.forget = func() { forgotten++ }
			text, code := b.session(t.Context(), args...)
			if len(args) == 2 || args[0] == "agent" {
				golden(t, "question/terminal "+strings.Join(args[:2], " "), text)
			}
			want := []cw.AnswersRequest{{Answers: map[cw.QuestionID]string{
				"qqqqqqqqqqqq": "The new one", "rrrrrrrrrrrr": `["Linux","Plan 9"]`, "ssssssssssss": "--quick",
			}}}
			if diff := cmp.Diff(want, b.fake.answers); diff != "" || code != 0 {
				t.Errorf("exit code %d, answers (-want +got):\n%s\n%s", code, diff, text)
			}
			if forgotten != 1 {
				t.Errorf("what was typed before was dropped %d times, want once", forgotten)
			}
		})
	}
}

// TestLeaveWhileAsked: who leaves in the middle has answered nothing.
func TestLeaveWhileAsked(t *testing.T) {
	t.Parallel()
	t.Run("Ctrl-D", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.fake.add(waits(2), nil)
		terminal(b, "1\n")
		text, code := b.session(t.Context(), "agent", "answer", "brave-otter")
		if code != 7 || len(b.fake.answers) > 0 || !strings.Contains(text, "nothing was answered") {
			t.Error(text)
		}
	})
	t.Run("Ctrl-C", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			b.fake.add(waits(2), nil)
			terminal(b, "")
			in, keys := io.Pipe()
			b.in = in
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				_, _ = io.WriteString(keys, "1\n")
				synctest.Wait() // the second question waits for its answer
				cancel()
				synctest.Wait()
				_ = keys.Close()
			}()
			text, code := b.session(ctx, "agent", "answer", "brave-otter")
			if code != 130 || len(b.fake.answers) > 0 || !strings.Contains(text, "nothing was answered") {
				t.Error(text)
			}
		})
	})
}

// TestAnswerIsCleaned: nothing of an agent's words moves the cursor.
func TestAnswerIsCleaned(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	evil := "\x1b[2J\x1b]0;x\x07\u202e\r\x00"
	printQuestion(&out, paint{}, "question", cw.Question{
		Header: evil + "head", Text: evil + "text", MultiSelect: true, Options: []cw.QuestionOption{{Label: evil + "label", Description: evil + "what"}},
	})
	if strings.ContainsFunc(out.String(), unsafeRune) {
		t.Errorf("%q", out.String())
	}
	for _, word := range []string{"head", "text", "label", "what"} {
		if !strings.Contains(out.String(), word) {
			t.Errorf("%q is missing in %q", word, out.String())
		}
	}
}

// TestRunAsksInPlace: on a terminal the run goes on with the answers, and ends
// where its work is done.
func TestRunAsksInPlace(t *testing.T) {
	t.Parallel()
	first, second := waits(2), ended("brave-otter")
	for _, args := range [][]string{{"run", "fix it"}, {"agent", "attach", "brave-otter"}} {
		t.Run(args[0], func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.fake.add(running("brave-otter"), &first, words()[:2]...)
				b.fake.after[first.ID] = second
				b.fake.events = []cw.Event{cw.NewEvent(cw.EventAgentResumed, cw.Actor{}, cw.AgentResumed{SessionNumber: 2, Reason: cw.RunAnswers})}
				keys := typist(b)
				defer keys.Close()
				b.forget = func() { go func() { synctest.Wait(); _, _ = io.WriteString(keys, "The old one\n2\n") }() }
				text, code := b.session(t.Context(), args...)
				want := []cw.AnswersRequest{{Answers: map[cw.QuestionID]string{"qqqqqqqqqqqq": "The old one", "rrrrrrrrrrrr": `["macOS"]`}}}
				if diff := cmp.Diff(want, b.fake.answers); diff != "" || code != 0 || !strings.Contains(text, "git merge agent/brave-otter") {
					t.Errorf("exit code %d (-want +got):\n%s\n%s", code, diff, text)
				}
				if len(b.fake.sends) > 0 {
					t.Errorf("sent: %+v", b.fake.sends)
				}
			})
		})
	}
}

// TestRunAnsweredElsewhere: somebody else was faster, which the run says, and
// goes on.
func TestRunAnsweredElsewhere(t *testing.T) {
	t.Parallel()
	first, second := waits(1), ended("brave-otter")
	b := newBench(t)
	b.fake.add(running("brave-otter"), &first)
	b.fake.after[first.ID] = second
	terminal(b, "1\n")
	b.forget = func() { // as late as it can be
		_, err := b.fake.Answer(t.Context(), cw.AnswersRequest{Answers: map[cw.QuestionID]string{"qqqqqqqqqqqq": "x"}})
		if err != nil {
			t.Error(err)
		}
	}
	text, code := b.session(t.Context(), "run", "fix it")
	if code != 0 || !strings.Contains(text, "answered already") || !strings.Contains(text, "git merge") {
		t.Error(text)
	}
}

// TestRunLeftWhileAsked: Ctrl-C and Ctrl-D at a question of a run.
func TestRunLeftWhileAsked(t *testing.T) {
	t.Parallel()
	first := waits(1)
	b := newBench(t)
	b.fake.add(running("brave-otter"), &first)
	terminal(b, "")
	if text, code := b.session(t.Context(), "run", "fix it"); code != 7 || !strings.Contains(text, "cw agent answer brave-otter") {
		t.Error(text)
	}
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.fake.add(running("brave-otter"), &first)
		terminal(b, "")
		in, keys := io.Pipe()
		b.in = in
		ctx, cancel := context.WithCancel(t.Context())
		b.forget = func() {
			go func() {
				synctest.Wait()
				cancel()
				synctest.Wait()
				_ = keys.Close()
			}()
		}
		text, code := b.session(ctx, "run", "fix it")
		if code != 130 || !strings.Contains(text, "nothing was answered") || strings.Contains(text, "goes on") {
			t.Error(text)
		}
	})
}

// TestAnswerLost: the daemon goes away while it is answered; whether it has the
// answer is not known, and is not guessed.
func TestAnswerLost(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fake.add(waits(1), nil)
	b.fake.errs["Answer"] = gone()
	text, code := b.session(t.Context(), "question", "answer", "qqqqqqqqqqqq", "x")
	if code != 5 || !strings.Contains(text, "cw question show qqqqqqqqqqqq") {
		t.Error(text)
	}
}

// TestAnswerStartsTheDaemon: nobody need start it before.
func TestAnswerStartsTheDaemon(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fake.add(waits(1), nil)
	b.up = false
	if text, code := b.session(t.Context(), "question", "answer", "qqqqqqqqqqqq", "x"); code != 0 || b.started != 1 || len(b.fake.answers) != 1 {
		t.Errorf("%d started\n%s", b.started, text)
	}
}

// TestAskReadError is told as what it is.
func TestAskReadError(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fake.add(waits(1), nil)
	terminal(b, "")
	b.in = io.MultiReader(strings.NewReader("wrong\xff\n"), errReader{})
	if text, code := b.session(t.Context(), "agent", "answer", "brave-otter"); code != 1 || !strings.Contains(text, "the terminal broke") {
		t.Error(text)
	}
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errors.New("the terminal broke") }
