package mcp

import (
	"context"

	"cw/internal/cw"
)

type signalDoneArgs struct {
	Result    string `json:"result"`
	NoChanges string `json:"noChanges"`
}

func signalDone() tool {
	return with(tool{
		name: cw.ToolSignalDone, title: "Signal that you are done", again: true,
		about: "Write the signal that your work is done. Commit first. Then end your turn.",
		fields: []field{
			{name: "result", about: "what you did, in a few sentences", kind: text, needed: true, most: cw.SignalMax / 8},
			{name: "noChanges", about: "execute agents alone, and only where nothing had to be committed: why", kind: text},
		},
	}, func(_ context.Context, c call, args signalDoneArgs) (any, error) {
		if args.NoChanges != "" && c.box.Mode != cw.ModeExecute {
			return nil, cw.Errorf(cw.CodeInvalid, "the argument noChanges is for execute agents, and you are one for %s", c.box.Mode).
				WithHint("leave it out")
		}
		return c.signal(signalContents{Status: cw.SignalDone, Result: args.Result, NoChanges: args.NoChanges})
	})
}
