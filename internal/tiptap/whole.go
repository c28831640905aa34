package tiptap

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
)

// Whole tells whether the document of a Markdown text holds all that the text
// says: a page that is written back from it reads the same. It does not where
// the text has raw HTML, or what could only be kept as code.
func Whole(md string) bool {
	before, err := reads(md)
	if err != nil {
		return false
	}
	after, err := reads(write(FromMarkdown(md)))
	return err == nil && before == after
}

// reads is what a text says, without how it is laid out: its HTML without the
// difference between tight and loose lists, and without white space.
func reads(md string) (string, error) {
	var page bytes.Buffer
	m := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))
	if err := m.Convert([]byte(clean(md)), &page); err != nil {
		return "", err
	}
	return strings.Join(strings.Fields(strings.NewReplacer("<p>", " ", "</p>", " ", "<", " <", ">", "> ").Replace(page.String())), " "), nil
}
