// Package tiptap turns Markdown into the documents of the Tiptap editor and
// back.
//
// Markdown is the truth; a document of the editor is another face of it. What
// Markdown and the editor both know is kept. A block of HTML, as the mark of a
// decision is one, becomes a raw block: its Markdown as it is written. What else
// only Markdown knows becomes text, which is never live. What only the editor knows is
// left out of the Markdown, but for its text.
//
// FromMarkdown promises that the way back and forth is stable: for every text,
// FromMarkdown(Markdown(FromMarkdown(text))) is FromMarkdown(text).
//
// The package must not know what a page is, and asks nobody for anything.
package tiptap
