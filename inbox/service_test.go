package inbox

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cw/internal/cw"
)

// slow is a source that takes a second to tell its one question.
type slow struct {
	mu       sync.Mutex
	question string
	looks    int
	only     []string // what was asked for
	panics   bool
	ended    int // looks that were not read to their end
}

func (s *slow) answered(next string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.question = next
}

func (s *slow) Dispatch(ctx context.Context, initiative string) (cw.DispatchStatus, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks++
	s.only = append(s.only, initiative)
	if s.panics {
		panic("broken")
	}
	return cw.DispatchStatus{}, ctx.Err()
}

// Questions tells the question as it was when the look began.
func (s *slow) Questions(ctx context.Context, _ cw.QuestionFilter) (cw.Page[cw.QuestionView], error) {
	s.mu.Lock()
	text := s.question
	s.mu.Unlock()
	select {
	case <-time.After(time.Second):
		return cw.Page[cw.QuestionView]{Items: []cw.QuestionView{{Question: cw.Question{ID: "q", Text: text, Status: cw.QuestionOpen}}}}, nil
	case <-ctx.Done():
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ended++
		return cw.Page[cw.QuestionView]{}, ctx.Err()
	}
}

func (*slow) Proposals(context.Context, cw.ProposalFilter) (cw.Page[cw.Proposal], error) {
	return cw.Page[cw.Proposal]{}, nil
}

func (*slow) Agents(context.Context, cw.AgentFilter) (cw.Page[cw.AgentView], error) {
	return cw.Page[cw.AgentView]{}, nil
}

func (*slow) Agent(context.Context, string) (cw.AgentView, error) {
	return cw.AgentView{}, cw.Errorf(cw.CodeNotFound, "none")
}

func (*slow) Initiatives(context.Context, cw.InitiativeFilter) (cw.Page[cw.Initiative], error) {
	return cw.Page[cw.Initiative]{}, nil
}

// asked is what one caller got.
type asked struct {
	text string
	err  error
	took time.Duration
}

// ask asks beside the test, which goes on once the call stands.
func ask(ctx context.Context, s Service, initiative string) *asked {
	got, began := &asked{}, time.Now()
	go func() {
		in, err := s.Inbox(ctx, initiative)
		got.err, got.took = err, time.Since(began)
		if len(in.Items) > 0 {
			got.text = in.Items[0].Text
		}
	}()
	synctest.Wait()
	return got
}

// settle lets all looks end.
func settle() {
	time.Sleep(time.Minute)
	synctest.Wait()
}

// Who comes while a look is under way gets the next one, with all who do; who
// comes to none gets one of its own.
func TestLooksAreShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := &slow{question: "old"}
		s := New(source)
		first := ask(t.Context(), s, "")
		source.answered("new")
		var later []*asked
		for range 50 {
			later = append(later, ask(t.Context(), s, ""))
		}
		settle()
		if first.text != "old" || first.took != time.Second {
			t.Errorf("the first got %+v", first)
		}
		for _, one := range later {
			if one.text != "new" || one.err != nil || one.took != 2*time.Second {
				t.Errorf("one that came after the change got %+v", one)
			}
		}
		if source.looks != 2 {
			t.Errorf("51 callers made %d looks, want 2", source.looks)
		}
		ask(t.Context(), s, "")
		settle()
		if source.looks != 3 {
			t.Error("a look that was over was given again")
		}
	})
}

// A look at one initiative is none at another, and does not wait for it.
func TestLooksAtOneInitiative(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := &slow{question: "one"}
		s := New(source)
		all, sale := ask(t.Context(), s, ""), ask(t.Context(), s, "sale")
		settle()
		if all.took != time.Second || sale.took != time.Second || strings.Join(source.only, ",") != ",sale" {
			t.Errorf("took %s and %s, of %q", all.took, sale.took, source.only)
		}
	})
}

// A caller that lets go takes nothing from the others; when the last one does,
// the look ends, and the next caller has one that begins anew.
func TestCallersLetGo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := &slow{question: "still open"}
		s := New(source)
		running, endRunning := context.WithCancel(t.Context())
		waiting, endWaiting := context.WithCancel(t.Context())
		gone, next := ask(running, s, ""), ask(waiting, s, "")
		stays := ask(t.Context(), s, "")
		endRunning()
		endWaiting()
		synctest.Wait()
		for _, one := range []*asked{gone, next} {
			if !errors.Is(one.err, context.Canceled) || one.took != 0 {
				t.Errorf("who let go got %+v", one)
			}
		}
		if source.ended != 1 {
			t.Error("a look went on though nobody waited for it")
		}
		settle()
		if stays.err != nil || stays.text != "still open" {
			t.Errorf("who stayed got %+v", stays)
		}
		if source.looks != 2 {
			t.Errorf("%d looks, want that of those who went and that of who stayed", source.looks)
		}
	})
}

// A look that nobody waits for any more does not begin.
func TestNobodyWaitsForTheNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := &slow{question: "q"}
		s := New(source)
		ask(t.Context(), s, "")
		ctx, end := context.WithCancel(t.Context())
		ask(ctx, s, "")
		end()
		settle()
		if source.looks != 1 {
			t.Errorf("%d looks, want 1", source.looks)
		}
		if after := ask(t.Context(), s, ""); source.looks != 2 {
			t.Errorf("the next caller got %+v without a look", after)
		}
		settle()
	})
}

// Who joins one that nobody waited for any more, before it began, has a look all
// the same.
func TestJoinsWhatWasLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := &slow{question: "q"}
		s := New(source)
		ask(t.Context(), s, "")
		ctx, end := context.WithCancel(t.Context())
		ask(ctx, s, "")
		end()
		synctest.Wait()
		joined := ask(t.Context(), s, "")
		settle()
		if joined.err != nil || joined.text != "q" {
			t.Errorf("got %+v", joined)
		}
	})
}

// A panic is an error of those who waited for the look, and of nobody else.
func TestLookPanics(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := &slow{question: "q", panics: true}
		s := New(source)
		broken := ask(t.Context(), s, "")
		settle()
		if broken.err == nil || !strings.Contains(broken.err.Error(), "panic: broken") {
			t.Errorf("got %+v", broken)
		}
		source.panics = false
		whole := ask(t.Context(), s, "")
		settle()
		if whole.err != nil {
			t.Errorf("after it: %v", whole.err)
		}
	})
}
