package api

import (
	"context"
	"net/http"

	"cw/internal/cw"
)

// DiffParams say what of a difference is wanted. Its name is exported because huma
// reads only what reflection may.
type DiffParams struct {
	Project string   `query:"project" doc:"which project, by its name; needed when there are several"`
	Stat    bool     `query:"stat" doc:"only the summary, without patches"`
	Against string   `query:"against" doc:"base: the commit that it began from; head: the branch that it goes to, as it is now. Default: base, of a task the commit that its work was merged with, once there is one"`
	Path    []string `query:"path,explode" doc:"only this file, or what is in this folder: from the root of the repository, byte for byte, no pattern; may stand there more than once"`
}

// ask checks what is wanted and asks for it.
func (p DiffParams) ask(diff func(cw.DiffRequest) (cw.Diff, error)) (cw.Diff, error) {
	req := cw.DiffRequest{Project: p.Project, Stat: p.Stat, Against: cw.DiffSide(p.Against), Paths: p.Path}
	if err := req.Check(); err != nil {
		return cw.Diff{}, err
	}
	return diff(req)
}

// wholeDiff lets no list of a difference be null.
func wholeDiff(d cw.Diff, err error) (cw.Diff, error) {
	d.Commits, d.Uncommitted, d.Files = orEmpty(d.Commits), orEmpty(d.Uncommitted), orEmpty(d.Files)
	return d, err
}

// diff asks for the difference of what is at a path.
func (c *Client) diff(ctx context.Context, path string, req cw.DiffRequest) (cw.Diff, error) {
	if err := req.Check(); err != nil { // an empty path alone would be none
		return cw.Diff{}, err
	}
	q := query{}
	q.text("project", req.Project)
	q.flag("stat", req.Stat)
	q.flag("onlyHere", req.OnlyHere)
	q.text("against", string(req.Against))
	q.each("path", req.Paths)
	return call[cw.Diff](ctx, c, request{method: http.MethodGet, path: path + "/diff", query: q})
}
