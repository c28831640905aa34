// Package tiptap turns Markdown into the documents of the Tiptap editor and
// back.
//
// Markdown is the truth; a document of the editor is another face of it. A block
// of a page that the editor does not know becomes a raw block: its Markdown as it
// is written. What only the editor knows is left out of the Markdown, but for its
// text.
//
// Rewrite promises that a document that was not edited is the same text to the
// byte, and that the blocks that were not edited keep their bytes.
//
// FromMarkdown promises that the way back and forth is stable: for every text,
// FromMarkdown(Markdown(FromMarkdown(text))) is FromMarkdown(text).
//
// The package must not know what a page is, and asks nobody for anything.
package tiptap
