package model

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// recorder is a test that only notes that it failed.
type recorder struct {
	testing.TB
	failed   []string
	cleanups []func()
}

func (r *recorder) Helper()          {}
func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Errorf(f string, args ...any) {
	r.failed = append(r.failed, fmt.Sprintf(f, args...))
}

func TestScenarioThatGivesUp(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		scenario Scenario
		prompt   string
		want     string
	}{
		{"block is missing", func(t *Turn) Reply { return Say(t.Block("task")) }, "<role>\nA\n</role>", "no block <task>, only [role]"},
		{"block is empty", func(t *Turn) Reply { return Say(t.Block("task")) }, "<task>\n</task>", "<task> is empty"},
		{"nothing found", func(t *Turn) Reply { return Say(t.Find("a b", `c(.)`)) }, "Go.", "nothing matches"},
		{"no tool called", func(t *Turn) Reply { return Say(t.Output()) }, "Go.", "no tool has been called"},
		{"wrong tags", func(t *Turn) Reply { t.RequireTags("role", "task"); return Say("") }, "<task>\nA\n</task>", "blocks [task], want [role task]"},
		{"input that is not JSON", func(*Turn) Reply { return Reply{}.Call("Bash", map[string]any{"f": func() {}}) }, "Go.", "input of tool Bash"},
		{"tool is not offered", func(*Turn) Reply { return Reply{}.Call("Teleport", nil) }, "Go.", "no tool for Teleport"},
		{"bug in the scenario", func(t *Turn) Reply { return Say(t.Earlier()[0].Text) }, "Go.", "index out of range"},
		{"no scenario for the key", ByKey(map[string]Scenario{"other": nil}), "Go.", `no scenario for credential "key-done"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := New(t, tt.scenario)
			resp, body := post(t, s, "key-done", ask(true, tt.prompt))
			if resp.StatusCode != 400 || resp.Header.Get("X-Should-Retry") != "false" || !strings.Contains(string(body), "invalid_request_error") {
				t.Errorf("status %d, %s", resp.StatusCode, body)
			}
			if errs := s.TakeErrors(); len(errs) != 1 || !strings.Contains(errs[0].Error(), tt.want) {
				t.Errorf("errors %v, want one with %q", errs, tt.want)
			}
		})
	}
}

func TestUntakenErrorsFailTheTest(t *testing.T) {
	t.Parallel()
	for _, take := range []bool{false, true} {
		tb := &recorder{TB: t}
		s := New(tb, func(t *Turn) Reply { return Say(t.Block("task")) })
		post(t, s, "k", ask(true, "Go."))
		if take {
			s.TakeErrors()
		}
		for _, f := range tb.cleanups {
			f()
		}
		if failed := len(tb.failed) > 0; failed == take {
			t.Errorf("errors taken: %v; test failed: %v", take, tb.failed)
		}
	}
}

func TestUnreadableRequest(t *testing.T) {
	t.Parallel()
	s := New(t, func(*Turn) Reply { return Say("Hello.") })
	resp, _ := post(t, s, "k", `{"messages": 7}`)
	if errs := s.TakeErrors(); resp.StatusCode != 400 || len(errs) != 1 {
		t.Errorf("status %d, errors %v", resp.StatusCode, errs)
	}
}

func TestByKeyWithSeveralCallers(t *testing.T) {
	t.Parallel()
	echo := func(name string) Scenario {
		return func(t *Turn) Reply { return Say(name + " heard " + string(t.Prompt())) }
	}
	s := New(t, ByKey(map[string]Scenario{"a": echo("a"), "b": echo("b")}))
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			name := []string{"a", "b"}[i%2]
			_, body, err := tryPost(t, s, KeyPrefix+name, ask(false, fmt.Sprint("number ", i)))
			if want := fmt.Sprintf("%s heard number %d", name, i); err != nil || !strings.Contains(string(body), want) {
				t.Errorf("got %s (%v), want %q", body, err, want)
			}
		})
	}
	all.Wait()
	if n := len(s.Requests()); n != 20 {
		t.Errorf("%d requests are noted, want 20", n)
	}
}

func TestTries(t *testing.T) {
	t.Parallel()
	s := New(t, func(t *Turn) Reply {
		return Say(fmt.Sprintf("turn %d try %d", t.Number(), t.Try())).FailFirst(2, Overloaded529())
	})
	var got []string
	for _, body := range []string{ask(false, "Go."), ask(false, "Go."), ask(false, "Go."), ask(false, "Go.", "Yes.")} {
		resp, b := post(t, s, "k", body)
		_, said, _ := strings.Cut(string(b), `"text":"`)
		said, _, _ = strings.Cut(said, `"`)
		got = append(got, fmt.Sprint(resp.StatusCode, " ", said))
	}
	if diff := cmp.Diff([]string{"529 ", "529 ", "200 turn 1 try 3", "529 "}, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}

func TestSideRequests(t *testing.T) {
	t.Parallel()
	s := New(t, func(t *Turn) Reply { t.Fatalf("asked for a side request"); return Reply{} })
	for _, body := range []string{
		`{"model":"m","messages":[{"role":"user","content":"title?"}]}`,
		`{"model":"m","max_tokens":1,"tools":[{"name":"Bash"}],"messages":[{"role":"user","content":"quota"}]}`,
	} {
		if resp, b := post(t, s, "k", body); resp.StatusCode != 200 {
			t.Errorf("status %d: %s", resp.StatusCode, b)
		}
	}
	var why []string
	for _, r := range s.SideRequests() {
		why = append(why, r.Side)
	}
	if diff := cmp.Diff([]string{"no tools", "warm-up"}, why); diff != "" || len(s.Requests()) != 0 {
		t.Errorf("side requests (-want +got):\n%s, and %d others", diff, len(s.Requests()))
	}
}

func TestOtherEndpoints(t *testing.T) {
	t.Parallel()
	s := New(t, func(*Turn) Reply { return Say("Hello.") })
	for _, tt := range []struct {
		method, path string
		status       int
	}{
		{"HEAD", "/", 200}, {"POST", "/v1/messages/count_tokens", 200}, {"GET", "/v1/models", 200}, {"GET", "/nowhere", 404},
	} {
		req, err := http.NewRequestWithContext(t.Context(), tt.method, s.URL+tt.path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Close = true
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != tt.status {
			t.Errorf("%s %s: status %d, want %d", tt.method, tt.path, resp.StatusCode, tt.status)
		}
	}
	want := []Exchange{
		{Method: "HEAD", Path: "/", Status: 200},
		{Method: "POST", Path: "/v1/messages/count_tokens", Status: 200},
		{Method: "GET", Path: "/v1/models", Status: 200},
		{Method: "GET", Path: "/nowhere", Status: 404},
	}
	if diff := cmp.Diff(want, s.Exchanges()); diff != "" {
		t.Errorf("exchanges (-want +got):\n%s", diff)
	}
	if errs := s.TakeErrors(); len(errs) != 1 || !strings.Contains(errs[0].Error(), "GET /nowhere") {
		t.Errorf("errors %v, want one of the address that nobody knows", errs)
	}
}

func TestProxyIsRefusedAndNoted(t *testing.T) {
	t.Parallel()
	s := New(t, func(*Turn) Reply { return Say("Hello.") })
	proxy, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy), DisableKeepAlives: true}}
	if resp, err := client.Get("https://example.invalid/"); err == nil {
		resp.Body.Close()
		t.Error("reached the outside")
	}
	if diff := cmp.Diff([]string{"example.invalid:443"}, s.Outbound()); diff != "" {
		t.Errorf("outbound (-want +got):\n%s", diff)
	}
}

func TestHeldAnswer(t *testing.T) {
	t.Parallel()
	released := make(chan struct{})
	s := New(t, func(*Turn) Reply { return Say("Hello.").Until(released) })
	answered := make(chan string, 1)
	go func() {
		_, body, err := tryPost(t, s, "k", ask(false, "Go."))
		answered <- fmt.Sprint(string(body), err)
	}()
	req, err := s.Wait(t.Context(), func(r *Request) bool { return r.Prompt() == "Go." })
	if err != nil || req.Prompt() != "Go." {
		t.Fatalf("Wait = %v, %v", req, err)
	}
	select {
	case body := <-answered:
		t.Fatalf("answered too early: %s", body)
	default:
	}
	close(released)
	if body := <-answered; !strings.Contains(body, "Hello.") {
		t.Errorf("answer %s", body)
	}
}

func TestWaitGivesUp(t *testing.T) {
	t.Parallel()
	s := New(t, func(*Turn) Reply { return Say("Hello.") })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Wait(ctx, func(*Request) bool { return true }); err == nil {
		t.Error("Wait found a request that never came")
	}
}

// TestCloseLetsGo: answers that are held, delayed or streamed slowly keep no
// server open.
func TestCloseLetsGo(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]Reply{
		"held":    Say("Hello.").Until(make(chan struct{})),
		"delayed": Say("Hello.").After(time.Hour),
		"slow":    Say("one two three four five six").Slowly(time.Hour),
	} {
		s, err := Start(func(*Turn) Reply { return reply })
		if err != nil {
			t.Fatal(err)
		}
		failed := make(chan error, 1)
		go func() {
			_, _, err := tryPost(t, s, "k", ask(true, "Go."))
			failed <- err
		}()
		if _, err := s.Wait(t.Context(), func(*Request) bool { return true }); err != nil {
			t.Fatal(err)
		}
		s.Close()
		s.Close()
		if err := <-failed; err == nil {
			t.Errorf("%s: an answer came", name)
		}
	}
}

func TestWriteWithoutAWriteTool(t *testing.T) {
	t.Parallel()
	r := &Request{Tools: []string{"Bash"}, Dir: "/wt"}
	got, err := mapCall(anthropic{}, r, Reply{}.Write("a/it's.txt", "A'B").Calls[0])
	if err != nil {
		t.Fatal(err)
	}
	var input struct{ Command string }
	if err := json.Unmarshal(got.input, &input); err != nil {
		t.Fatal(err)
	}
	want := `mkdir -p '/wt/a' && printf %s 'A'\''B' > '/wt/a/it'\''s.txt'`
	if got.name != "Bash" || input.Command != want {
		t.Errorf("call %s %s, want %s", got.name, input.Command, want)
	}
	if _, err := mapCall(anthropic{}, &Request{Tools: []string{"Write"}}, Reply{}.Write("a.txt", "").Calls[0]); err == nil {
		t.Error("a relative path was written although nobody knows the directory")
	}
}

func TestReplyMethodsCopy(t *testing.T) {
	t.Parallel()
	base := Say("x").Shell("1").Shell("2").Shell("3")
	a, b := base.Shell("a"), base.Shell("b")
	if a.Calls[3].Input["command"] != "a" || b.Calls[3].Input["command"] != "b" || len(base.Calls) != 3 {
		t.Errorf("copies share their calls: %v %v", a.Calls, b.Calls)
	}
}
