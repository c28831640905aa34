package cw

import (
	"context"
	"encoding/json"
)

// EditorDocument is a page's text as a document of the Tiptap editor. Markdown
// stays the truth: this is another face of it.
type EditorDocument struct {
	Page     PageID          `json:"page" doc:"the page"`
	Revision int             `json:"revision" doc:"of the page's title and text"`
	Document json.RawMessage `json:"document" doc:"the text, as the editor's JSON: a node of type doc"`
}

// EditorEdit changes a page's text by a document of the Tiptap editor.
type EditorEdit struct {
	Revision int             `json:"revision" doc:"the revision that was edited: a page that changed since is left as it is"`
	Document json.RawMessage `json:"document" doc:"the whole text, as the editor's JSON: a node of type doc"`
}

// PageDocumentService is what faces may do with pages in an editor.
type PageDocumentService interface {
	// PageDocument gives a page's text as a document. CodeNotFound.
	PageDocument(ctx context.Context, id PageID) (EditorDocument, error)
	// EditPageDocument stores a document as the page's Markdown: blocks that did not
	// change keep their bytes. CodeNotFound; CodeInvalid for a document that is none
	// or too big; CodeRefused when the page changed since the revision, and in an
	// archived initiative.
	EditPageDocument(ctx context.Context, id PageID, e EditorEdit) (EditorDocument, error)
}
