package tiptap

import (
	"reflect"
	"slices"
)

// depthMax is how many blocks may be inside of each other.
const depthMax = 40

// The nodes of a document, as the editor's extensions call them.
const (
	Doc            = "doc"
	Paragraph      = "paragraph"
	Heading        = "heading"
	BulletList     = "bulletList"
	OrderedList    = "orderedList"
	ListItem       = "listItem"
	TaskList       = "taskList"
	TaskItem       = "taskItem"
	Blockquote     = "blockquote"
	CodeBlock      = "codeBlock"
	HorizontalRule = "horizontalRule"
	RawBlock       = "rawBlock" // Markdown that is kept as it is written
	HardBreak      = "hardBreak"
	Image          = "image"
	Table          = "table"
	TableRow       = "tableRow"
	TableHeader    = "tableHeader"
	TableCell      = "tableCell"
	Text           = "text"
)

// The marks of a text, in the order in which the editor wants them.
const (
	Link   = "link"
	Bold   = "bold"
	Code   = "code" // alone: the editor has no other mark on code
	Italic = "italic"
	Strike = "strike"
)

var markOrder = []string{Link, Bold, Code, Italic, Strike}

// Node is a part of a document, as the editor's JSON has it.
type Node struct {
	Type    string         `json:"type"`
	Attrs   map[string]any `json:"attrs,omitempty"`
	Content []Node         `json:"content,omitempty"`
	Marks   []Mark         `json:"marks,omitempty"`
	Text    string         `json:"text,omitempty"` // of a Text only, never empty there
}

// Mark is how a text looks, or where it leads.
type Mark struct {
	Type  string         `json:"type"`
	Attrs map[string]any `json:"attrs,omitempty"`
}

// attr gives the attribute as text; "" when there is none.
func (n Node) attr(name string) string { return text(n.Attrs, name) }

// int gives the attribute as a number. JSON that was read has floats.
func (n Node) int(attr string, otherwise int) int {
	switch v := n.Attrs[attr].(type) {
	case int:
		return v
	case float64:
		return int(v)
	}
	return otherwise
}

func text(attrs map[string]any, attr string) string {
	s, _ := attrs[attr].(string)
	return s
}

// mark finds the mark of the type.
func (n Node) mark(kind string) (Mark, bool) {
	for _, m := range n.Marks {
		if m.Type == kind {
			return m, true
		}
	}
	return Mark{}, false
}

func (n Node) has(kind string) bool {
	_, ok := n.mark(kind)
	return ok
}

// with gives the marks and this one more, in the editor's order. A mark that is
// there stays as it is.
func with(marks []Mark, m Mark) []Mark {
	if slices.ContainsFunc(marks, func(o Mark) bool { return o.Type == m.Type }) {
		return marks
	}
	out := append(slices.Clone(marks), m)
	slices.SortStableFunc(out, func(a, b Mark) int {
		return slices.Index(markOrder, a.Type) - slices.Index(markOrder, b.Type)
	})
	return out
}

// without gives the marks but for one.
func without(marks []Mark, kind string) []Mark {
	var out []Mark
	for _, m := range marks {
		if m.Type != kind {
			out = append(out, m)
		}
	}
	return out
}

func sameMark(a, b Mark) bool {
	return a.Type == b.Type && (len(a.Attrs) == 0 && len(b.Attrs) == 0 || reflect.DeepEqual(a.Attrs, b.Attrs))
}

func sameMarks(a, b []Mark) bool { return slices.EqualFunc(a, b, sameMark) }

// same tells whether two documents made by this package are equal.
func same(a, b Node) bool {
	return a.Type == b.Type && a.Text == b.Text && sameMarks(a.Marks, b.Marks) &&
		(len(a.Attrs) == 0 && len(b.Attrs) == 0 || reflect.DeepEqual(a.Attrs, b.Attrs)) &&
		slices.EqualFunc(a.Content, b.Content, same)
}
