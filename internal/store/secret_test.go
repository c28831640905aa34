package store

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm/logger"

	"cw/internal/cw"
)

// countingLog counts statements.
type countingLog struct {
	slowLog
	statements int
}

func (c *countingLog) LogMode(logger.LogLevel) logger.Interface { return c }

func (c *countingLog) Trace(context.Context, time.Time, func() (string, int64), error) {
	c.statements++
}

// lifeWith lets an agent that ended go on, ask and be answered, each with the
// secret in its texts, and gives what is said of a change that fails.
func (b *bench) lifeWith(secret string, in cw.SpawnIntent) (errs string) {
	b.t.Helper()
	ctx := b.t.Context()
	m := b.queue(in.Agent.ID, secret)
	_, err := b.QueueMessage(ctx, cw.Message{ID: m.ID, AgentID: in.Agent.ID, Body: secret}, event(cw.EventMessageQueued, secret))
	refuses(b.t, err, cw.CodeRefused, "") // the id is taken
	errs = err.Error()
	next := nextRun(in.Agent.ID, 2, secret)
	next.SessionID, next.Options = secret, secret
	b.must(b.IntendRun(ctx, next))
	errs += b.IntendRun(ctx, next).Error()
	b.must(b.SaveRunning(ctx, cw.Running{AgentID: in.Agent.ID, RunID: next.Run.ID, OpID: next.Op.ID}))
	f := finishNext(next, cw.StatusRunning, cw.StatusWaitingForInput)
	f.Questions = questions(secret)
	_, err = b.FinishRun(ctx, f)
	b.must(err)
	_, err = b.AnswerQuestions(ctx, cw.Answering{Answers: []cw.GivenAnswer{say(f.Questions[0].ID, secret)}})
	b.must(err)
	_, err = b.MessagePage(ctx, in.Agent.ID, cw.PageQuery{})
	b.must(err)
	_, err = b.QuestionPage(ctx, cw.QuestionFilter{})
	b.must(err)
	_, err = b.LastQuestions(ctx, in.Agent.ID)
	b.must(err)
	return errs
}

// TestNoValueInLogs logs every statement of a life with a secret in every
// text, failing ones too: the statements are there, the secret is not.
func TestNoValueInLogs(t *testing.T) {
	const canary = "CANARY-5ecret"
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	db, err := Open(t.Context(), Options{Dir: t.TempDir(), Log: log})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{DB: db, t: t}
	t.Cleanup(func() { b.must(db.Close()) })
	for _, d := range []*database{db.state, db.log} {
		d.write.Logger = slowLog{log: log}
		d.read.Logger = slowLog{log: log}
	}
	b.run()

	in := intent("brave-otter", b.addProject("one"))
	in.Agent.Title, in.Agent.OptionsJSON = canary, canary
	b.must(b.IntendSpawn(t.Context(), in))
	s := starting(in)
	s.Message.Body, s.Token.Hash, s.Event = canary, canary, event(cw.EventAgentStarting, canary)
	b.must(b.SaveStarting(t.Context(), s))
	b.must(b.SaveRunning(t.Context(), running(in)))
	b.must(b.SaveSessionID(t.Context(), in.Agent.ID, canary))
	f := finish(in, cw.StatusRunning, cw.StatusCrashed)
	f.Error, f.Result, f.LastSnippet, f.Warnings = canary, canary, canary, []string{canary}
	f.Assistant = &cw.Message{ID: s.Message.ID, Body: canary} // the id is taken: it fails
	_, err = b.FinishRun(t.Context(), f)
	refuses(t, err, cw.CodeRefused, "")
	errs := err.Error()
	f.Assistant.ID = ""
	_, err = b.FinishRun(t.Context(), f)
	b.must(err)
	errs += b.lifeWith(canary, in)
	_, _, err = b.TokenByHash(t.Context(), canary)
	b.must(err)
	_, err = b.AppendChunks(t.Context(), []cw.Chunk{chunk("a", 1, 0, canary)})
	b.must(err)
	if err := db.AddToken(t.Context(), s.Token); err != nil {
		errs += err.Error()
	}
	if text := out.String(); !strings.Contains(text, "INSERT INTO") || strings.Contains(text+errs, canary) {
		t.Errorf("the secret is in the log or in an error, or no statement was logged:\n%s\n%s", errs, text)
	}
}
