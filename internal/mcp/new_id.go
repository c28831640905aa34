package mcp

import (
	"context"

	"cw/internal/cw"
)

// idsMost bounds how many ids one call makes.
const idsMost = 100

type newIDArgs struct {
	Count *int `json:"count"`
}

type newIDs struct {
	IDs []string `json:"ids"`
}

func newID() tool {
	return with(tool{
		name: cw.ToolNewID, title: "Make ids", reads: true,
		about:  "Make unguessable ids for what you write: phases, tasks, pages.",
		fields: []field{{name: "count", about: "how many; default 1", kind: number, least: 1, most: idsMost}},
	}, func(_ context.Context, _ call, args newIDArgs) (any, error) {
		n := 1
		if args.Count != nil {
			n = *args.Count
		}
		out := newIDs{IDs: make([]string, n)}
		for i := range out.IDs {
			out.IDs[i] = cw.NewID()
		}
		return out, nil
	})
}
