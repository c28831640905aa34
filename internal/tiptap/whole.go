package tiptap

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"

	"cw/internal/cw"
)

// Read gives the document of a Markdown text, and whether it is whole: holds all
// that the text says, so that a page that is written back from it reads the
// same. It is not where the text has raw HTML in a line, or what could only be kept as
// code. The error is that of the context.
func Read(ctx context.Context, md string) (doc Node, whole bool, err error) {
	md = clean(md)
	doc, understood := understand(md)
	// Only what is understood is known to be small as HTML.
	if err := context.Cause(ctx); err != nil || !understood {
		return doc, false, err
	}
	before, err := reads(md)
	if err != nil {
		return doc, false, context.Cause(ctx)
	}
	after, err := reads(write(doc))
	return doc, err == nil && before == after, context.Cause(ctx)
}

// Decode reads the JSON of a document. CodeInvalid for what is none, and for
// more than an editor can hold.
func Decode(data []byte) (Node, error) {
	var doc Node
	if err := countable(data); err != nil {
		return doc, err
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return doc, cw.Errorf(cw.CodeInvalid, "this is no document of the editor").
			WithHint("send its JSON as it is: a node of type doc").Because(err)
	}
	return doc, nil
}

// reads is what a text says, without how it is laid out: its HTML without the
// difference between tight and loose lists, and without white space.
func reads(md string) (string, error) {
	var page bytes.Buffer
	m := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))
	if err := m.Convert([]byte(md), &page); err != nil {
		return "", err
	}
	said := inOrder(page.String())
	return strings.Join(strings.Fields(strings.NewReplacer("<p>", " ", "</p>", " ", "<", " <", ">", "> ").Replace(said)), " "), nil
}

// markTag is a tag of a mark in HTML.
var markTag = cw.Pattern(`</?(?:em|strong|del|a)(?: [^>]*)?>`)

// inOrder writes where the marks of a text change which ones it has from there on,
// in one order: which of them is inside of which says nothing.
func inOrder(page string) string {
	var out strings.Builder
	var open []string
	at, last := 0, ""
	add := func(text string) {
		if marks := strings.Join(slices.Sorted(slices.Values(open)), ""); marks != last && strings.TrimSpace(text) != "" {
			out.WriteString("\x00" + marks + "\x00") // no text holds it
			last = marks
		}
		out.WriteString(text)
	}
	for _, m := range markTag().FindAllStringIndex(page, -1) {
		add(page[at:m[0]])
		tag := page[m[0]:m[1]]
		at = m[1]
		if name, closes := strings.CutPrefix(tag, "</"); closes {
			for i := len(open) - 1; i >= 0; i-- {
				if rest := open[i][1:]; strings.HasPrefix(rest, strings.TrimSuffix(name, ">")) && strings.ContainsAny(rest[len(name)-1:][:1], " >") {
					open = slices.Delete(open, i, i+1)
					break
				}
			}
			continue
		}
		open = append(open, tag)
	}
	add(page[at:])
	return out.String()
}
