package fakecli

import (
	"context"
	"errors"
	"os"
	"time"

	"cw/internal/api"
	"cw/internal/cw"
)

// askPause is between two tries to reach a daemon that is away.
const askPause = 50 * time.Millisecond

// The entries of a call that asks people in a book: the group of questions, and
// what became of each question. Those of a talk with agents are others.
const (
	askedPeople  = "asked-people"
	toldByPeople = "told-by-people"
)

// ask asks people as a tool of the CLI does: it waits for the answers, and asks
// again with the same key while the daemon is away. With leave it does not wait.
func ask(req cw.PeopleRequest, leave bool, book *bookWriter) error {
	client := api.NewClient(api.ClientOptions{Socket: os.Getenv("CW_SOCKET"), Token: os.Getenv("CW_TOKEN")})
	ctx := context.Background() // a process of its own
	asked, err := tried(func() ([]cw.Question, error) { return client.AskPeople(ctx, req) })
	if err != nil {
		return err
	}
	if len(asked) == 0 {
		return errors.New("nothing was asked")
	}
	book.note(Entry{What: askedPeople, Output: string(asked[0].RequestID)})
	if leave {
		return nil
	}
	answered, err := tried(func() ([]cw.Question, error) { return client.AwaitAnswers(ctx, asked[0].RequestID) })
	if err != nil {
		return err
	}
	for _, q := range answered {
		text := q.Answer
		if q.Status != cw.QuestionAnswered {
			text = string(q.Status) + ": " + q.Reason
		}
		book.note(Entry{What: toldByPeople, Output: text})
	}
	return nil
}

// tried does something again while the daemon is away: it may have been done
// before its answer was lost, so it must be repeatable.
func tried[T any](do func() (T, error)) (T, error) {
	for {
		out, err := do()
		if cw.ErrorCode(err) != cw.CodeUnreachable {
			return out, err
		}
		time.Sleep(askPause)
	}
}

// Asked gives the groups of questions that calls of the run asked.
func (b Book) Asked() []string { return b.outputs(askedPeople) }

// Told gives what people said to the run's calls, in order: the answers, and of
// questions without one why.
func (b Book) Told() []string { return b.outputs(toldByPeople) }

func (b Book) outputs(what string) []string {
	var out []string
	for _, e := range b.Entries {
		if e.What == what {
			out = append(out, e.Output)
		}
	}
	return out
}
