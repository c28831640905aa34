package mcp

import (
	"context"

	"cw/internal/cw"
)

type signalErrorArgs struct {
	Error string `json:"error"`
}

func signalError() tool {
	return with(tool{
		name: cw.ToolSignalError, title: "Signal that you cannot do it", again: true,
		about:  "Write the signal that the work cannot be done. Then end your turn.",
		fields: []field{{name: "error", about: "what stands in the way, and what you tried", kind: text, needed: true, most: cw.SignalMax / 8}},
	}, func(_ context.Context, c call, args signalErrorArgs) (any, error) {
		return c.signal(signalContents{Status: cw.SignalError, Error: args.Error})
	})
}
