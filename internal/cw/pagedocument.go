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
	// MarkdownOnly tells that the text says something that the editor cannot hold,
	// raw HTML before all, or is more than it can. The document shows it, and cannot
	// be stored.
	MarkdownOnly bool `json:"markdownOnly,omitempty" doc:"the text has something that the editor cannot hold, such as HTML, or is too big for it: it can be shown, and is edited as Markdown"`
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
	// EditPageDocument stores a document as the page's Markdown. CodeNotFound;
	// CodeInvalid for a document that is none or too big; CodeRefused when the page changed
	// since the revision, in an archived initiative, and for a text that is edited
	// as Markdown only.
	EditPageDocument(ctx context.Context, id PageID, e EditorEdit) (EditorDocument, error)
}
