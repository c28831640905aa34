package orchestrator

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"cw/internal/cw"
	"cw/prompts"
)

// quotedMax is how much of a malformed signal is shown to its agent.
const quotedMax = 2 << 10

// follows makes the intent of the run that the verdict says follows; nil for
// none.
func (o *Orchestrator) follows(ctx context.Context, st cw.RunState, e evidence, v verdict, raw []byte) (*cw.RunIntent, error) {
	if v.Next == nil {
		return nil, nil
	}
	var texts []string
	if text := askFor(st.Agent, e, *v.Next, raw); text != "" {
		texts = append(texts, text)
	}
	if v.Next.Fresh {
		// What the run that found no session was to say is in the hand-over.
		text, err := o.handOverMessage(ctx, st.Agent, v.Next.Why)
		if err != nil {
			return nil, fmt.Errorf("write the hand-over: %w", err)
		}
		texts = append(texts, text)
	}
	in, err := o.nextIntent(ctx, st.Agent, wish{
		Reason: v.Next.Reason, Messages: ownMessages(texts), Fresh: v.Next.Fresh, Why: v.Next.Why,
		To: v.Next.To, Away: v.Next.Away,
	})
	if err != nil {
		return nil, err
	}
	return &in, nil
}

// askFor is what cw tells an agent in a run that it adds by itself.
func askFor(a cw.Agent, e evidence, next nextStep, raw []byte) string {
	switch {
	case next.Reason == cw.RunBudget:
		return prompts.BudgetSpent(next.Why)
	case next.Fresh:
		return "" // the hand-over says it
	case next.Reason == cw.RunMissingSignal:
		return prompts.MissingSignal(prompts.MissingSignalInput{Trouble: e.SignalTrouble, Raw: cut(string(raw), quotedMax), Path: filepath.Join(a.AgentCwd, cw.SignalPath)})
	case next.Reason == cw.RunFiles:
		return prompts.MalformedFiles(next.Files)
	case next.Reason == cw.RunStalled && e.Stalled != nil:
		return prompts.Stalled(e.Stalled.Minutes, e.Stalled.Tool)
	case next.Reason == cw.RunReboot:
		return prompts.Rebooted()
	case next.Reason != cw.RunCommit:
		return ""
	}
	if _, dirs := dirtyProjects(e); len(dirs) > 0 {
		return prompts.CommitWork(dirs, reservedPaths(e))
	}
	return prompts.NothingCommitted()
}

// ownMessages makes messages of texts that cw itself wrote.
func ownMessages(texts []string) []cw.Message {
	now := time.Now().UTC()
	out := make([]cw.Message, len(texts))
	for i, text := range texts {
		out[i] = cw.Message{ID: cw.MessageID(cw.NewID()), Role: cw.RoleUser, Origin: cw.OriginCW, Body: text, CreatedAt: now}
	}
	return out
}
