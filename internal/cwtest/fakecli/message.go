package fakecli

import (
	"context"
	"os"

	"cw/internal/api"
	"cw/internal/cw"
)

// The entries of a message in a book: its responseId, and the response.
const (
	messaged  = "messaged"
	responded = "responded"
)

// message sends a message to another agent as a tool of the CLI does: again with
// the same key while the daemon is away, and so it waits for the response, unless
// the message is one that nobody waits for.
func message(req cw.AgentMessageRequest, book *bookWriter) error {
	client := api.NewClient(api.ClientOptions{Socket: os.Getenv("CW_SOCKET"), Token: os.Getenv("CW_TOKEN")})
	ctx := context.Background() // a process of its own
	sent, err := tried(func() (cw.AgentMessageResult, error) { return client.MessageAgent(ctx, req) })
	if err != nil {
		return err
	}
	book.note(Entry{What: messaged, Output: string(sent.ResponseID)})
	if req.Mode == cw.MessageAsync {
		return nil
	}
	done, err := tried(func() (cw.AgentMessageResult, error) { return client.AwaitMessage(ctx, string(sent.ResponseID)) })
	if err != nil {
		return err
	}
	book.note(Entry{What: responded, Output: string(done.Status) + ": " + done.Response})
	return nil
}

// Responded gives the responses that the run got to its messages, in order.
func (b Book) Responded() []string { return b.outputs(responded) }
