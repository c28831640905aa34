package tiptap

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"cw/internal/cw"
)

// Read gives the document of a Markdown text. The error is that of the context.
func Read(ctx context.Context, md string) (Node, error) {
	g := newGrammar()
	p := g.cut(md)
	if err := context.Cause(ctx); err != nil {
		return Node{}, err
	}
	return g.understand(p).document(), context.Cause(ctx)
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

// said is what a page of HTML says, without how it is laid out: without the
// difference between tight and loose lists, and without white space.
func said(page string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("<p>", " ", "</p>", " ", "<", " <", ">", "> ").Replace(inOrder(page))), " ")
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
