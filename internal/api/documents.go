package api

import (
	"context"
	"net/http"

	"cw/internal/cw"
)

// A page of an initiative is a cw.Document in Go, since cw.Page is a piece of a
// list.

type pageRef struct {
	ID string `path:"page" doc:"the page's id"`
}

type createPage struct {
	Ref  string `path:"initiative" doc:"id or slug"`
	Body createPageBody
}

type createPageBody struct {
	ParentID cw.PageID `json:"parentId,omitempty" doc:"the page above; default: the initiative's first page"`
	Title    string    `json:"title" doc:"its heading, one line"`
	Body     string    `json:"body,omitempty" doc:"its text, Markdown"`
}

type editPage struct {
	ID   string `path:"page" doc:"the page's id"`
	Body cw.PageEdit
}

type editPageDocument struct {
	ID   string `path:"page" doc:"the page's id"`
	Body cw.EditorEdit
}

func registerDocuments(s *Server) {
	services := s.opts.Services
	// A list has one form everywhere, so these are a page of a list, too.
	handle(s, "list-pages", func(ctx context.Context, in *initiativeRef) (cw.Page[cw.Document], error) {
		pages, err := services.Pages(ctx, in.Ref)
		return cw.Page[cw.Document]{Items: orEmpty(pages)}, err
	})
	handle(s, "create-page", func(ctx context.Context, in *createPage) (cw.Document, error) {
		return services.CreatePage(ctx, cw.CreatePageRequest{
			Initiative: in.Ref, ParentID: in.Body.ParentID, Title: in.Body.Title, Body: in.Body.Body,
		})
	})
	handle(s, "get-page", func(ctx context.Context, in *pageRef) (cw.Document, error) {
		return services.PageByID(ctx, cw.PageID(in.ID))
	})
	handle(s, "edit-page", func(ctx context.Context, in *editPage) (cw.Document, error) {
		return services.EditPage(ctx, cw.PageID(in.ID), in.Body)
	})
	handle(s, "get-page-document", func(ctx context.Context, in *pageRef) (cw.EditorDocument, error) {
		return services.PageDocument(ctx, cw.PageID(in.ID))
	})
	handle(s, "edit-page-document", func(ctx context.Context, in *editPageDocument) (cw.EditorDocument, error) {
		return services.EditPageDocument(ctx, cw.PageID(in.ID), in.Body)
	})
	handle(s, "remove-page", func(ctx context.Context, in *pageRef) (cw.Document, error) {
		return services.RemovePage(ctx, cw.PageID(in.ID))
	})
}

func pagePath(id cw.PageID) string { return "/v1/pages/" + segment(string(id)) }

// CreatePage implements cw.DocumentService.
func (c *Client) CreatePage(ctx context.Context, req cw.CreatePageRequest) (cw.Document, error) {
	return call[cw.Document](ctx, c, request{
		method: http.MethodPost, path: initiativePath(req.Initiative, "/pages"),
		body: createPageBody{ParentID: req.ParentID, Title: req.Title, Body: req.Body},
	})
}

// Pages implements cw.DocumentService.
func (c *Client) Pages(ctx context.Context, initiative string) ([]cw.Document, error) {
	page, err := call[cw.Page[cw.Document]](ctx, c, request{method: http.MethodGet, path: initiativePath(initiative, "/pages")})
	return page.Items, err
}

// PageByID implements cw.DocumentService.
func (c *Client) PageByID(ctx context.Context, id cw.PageID) (cw.Document, error) {
	return call[cw.Document](ctx, c, request{method: http.MethodGet, path: pagePath(id)})
}

// EditPage implements cw.DocumentService.
func (c *Client) EditPage(ctx context.Context, id cw.PageID, e cw.PageEdit) (cw.Document, error) {
	return call[cw.Document](ctx, c, request{method: http.MethodPost, path: pagePath(id), body: e})
}

// PageDocument implements cw.PageDocumentService.
func (c *Client) PageDocument(ctx context.Context, id cw.PageID) (cw.EditorDocument, error) {
	return call[cw.EditorDocument](ctx, c, request{method: http.MethodGet, path: pagePath(id) + "/document"})
}

// EditPageDocument implements cw.PageDocumentService.
func (c *Client) EditPageDocument(ctx context.Context, id cw.PageID, e cw.EditorEdit) (cw.EditorDocument, error) {
	return call[cw.EditorDocument](ctx, c, request{method: http.MethodPost, path: pagePath(id) + "/document", body: e})
}

// RemovePage implements cw.DocumentService.
func (c *Client) RemovePage(ctx context.Context, id cw.PageID) (cw.Document, error) {
	return call[cw.Document](ctx, c, request{method: http.MethodDelete, path: pagePath(id)})
}
