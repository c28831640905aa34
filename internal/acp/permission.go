package acp

import (
	"encoding/json"

	sdk "github.com/coder/acp-go-sdk"
)

// permissionAsked is what is read of a request for permission. The rest is
// passed on unread: the types of the SDK refuse a request as a whole when one
// part of it is newer than they are.
type permissionAsked struct {
	Options  []sdk.PermissionOption `json:"options"`
	ToolCall json.RawMessage        `json:"toolCall"`
}

// grant chooses the option that allows most: for good, else once. What an
// option is called is the agent's own affair, only its kind counts. nil when
// none allows anything.
func grant(options []sdk.PermissionOption) *sdk.PermissionOption {
	for _, kind := range []sdk.PermissionOptionKind{sdk.PermissionOptionKindAllowAlways, sdk.PermissionOptionKindAllowOnce} {
		for i := range options {
			if options[i].Kind == kind {
				return &options[i]
			}
		}
	}
	return nil
}

// permissionAnswer is the answer with an option; without one the request counts
// as cancelled, which is how the protocol says that nobody chose.
func permissionAnswer(chosen *sdk.PermissionOption) sdk.RequestPermissionResponse {
	if chosen == nil {
		return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeCancelled()}
	}
	return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeSelected(chosen.OptionId)}
}
