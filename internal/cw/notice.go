package cw

import (
	"context"
	"time"
)

// HookKind says by which way people are told of events.
type HookKind string

// The kinds.
const (
	HookWebhook HookKind = "webhook" // a request to a URL
	HookCommand HookKind = "command" // a program on this machine
)

// Hook is one way by which people are told, and how it does.
type Hook struct {
	Kind   HookKind `json:"kind" doc:"webhook or command"`
	Target string   `json:"target" doc:"the host, or the program"`
	// FailingSince is nil while all goes well, and before the first event.
	FailingSince *time.Time `json:"failingSince,omitempty" doc:"since when nothing gets through; missing when all is well"`
	Error        string     `json:"error,omitempty" doc:"what went wrong last; missing when all is well"`
	Lost         int        `json:"lost" doc:"notifications that were given up since the daemon began"`
}

// HookTrial is what became of a notification that was sent to try a hook.
type HookTrial struct {
	Kind   HookKind `json:"kind" doc:"webhook or command"`
	Target string   `json:"target" doc:"the host, or the program"`
	OK     bool     `json:"ok" doc:"it got through"`
	Detail string   `json:"detail" doc:"what happened, for people"`
}

// NoticeEvents are the types of events that people are told of when nobody says
// which.
func NoticeEvents() []EventType {
	return []EventType{
		EventQuestionRequested, EventQuestionReminded, EventAgentCrashed, EventAgentStalled, EventAgentParked,
		EventTaskCheckpoint, EventTaskBlocked, EventBudgetSpent, EventDiskLow,
	}
}

// CheckNoticeEvent refuses what no notification can be about: CodeInvalid for a
// type that does not exist, with the one that was probably meant, and for one
// that is not stored.
func CheckNoticeEvent(t EventType) error {
	if err := (EventQuery{Types: []EventType{t}}).Check(); err != nil {
		return err
	}
	if !t.Stored() {
		return Errorf(CodeInvalid, "events of type %s are not stored", t).WithHint("name one that docs/events.md calls stored")
	}
	return nil
}

// NoticeService is what faces may do with notifications.
type NoticeService interface {
	// TryHooks sends one notification by every hook that is configured, once,
	// and tells what became of each. CodeRefused when there is none.
	TryHooks(ctx context.Context) ([]HookTrial, error)
}
