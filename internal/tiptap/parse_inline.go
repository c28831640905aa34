package tiptap

import (
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// inlines gives the text of a block with its marks.
func (r *reader) inlines(parent ast.Node) []Node {
	return normal(r.inline(nil, parent, nil))
}

// inline adds what is in parent to out.
func (r *reader) inline(out []Node, parent ast.Node, marks []Mark) []Node {
	for n := parent.FirstChild(); n != nil && !r.over(); n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			out = r.text(out, n, marks)
		case *ast.String:
			out = r.add(out, string(n.Value), marks)
		case *ast.CodeSpan:
			out = r.add(out, r.code(n), codeMarks(marks))
		case *ast.Emphasis:
			kind := Italic
			if n.Level == 2 {
				kind = Bold
			}
			out = r.inline(out, n, with(marks, Mark{Type: kind}))
		case *east.Strikethrough:
			out = r.inline(out, n, with(marks, Mark{Type: Strike}))
		case *ast.Link:
			out = r.link(out, n, marks)
		case *ast.Image:
			out = r.image(out, n, marks)
		case *ast.AutoLink:
			out = r.autoLink(out, n, marks)
		case *ast.RawHTML:
			out = r.add(out, string(n.Segments.Value(r.source)), marks)
		case *east.TaskCheckBox:
			box := "[ ] "
			if n.IsChecked {
				box = "[x] "
			}
			out = r.add(out, box, marks)
		default:
			out = r.inline(out, n, marks)
		}
	}
	return out
}

func (r *reader) text(out []Node, n *ast.Text, marks []Mark) []Node {
	s := string(n.Segment.Value(r.source))
	if !n.IsRaw() {
		s = unescape([]byte(s))
	}
	out = r.add(out, s, marks)
	switch {
	case n.HardLineBreak():
		return append(out, r.counted(Node{Type: HardBreak}, 0))
	case n.SoftLineBreak():
		return r.add(out, " ", marks)
	}
	return out
}

// codeMarks are the marks of code: the editor has code alone. Where code leads
// somewhere, the link is worth more.
func codeMarks(marks []Mark) []Mark {
	for _, m := range marks {
		if m.Type == Link {
			return marks
		}
	}
	return []Mark{{Type: Code}}
}

func (r *reader) code(n *ast.CodeSpan) string {
	var out strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			out.Write(t.Segment.Value(r.source))
		}
	}
	return oneLine(out.String())
}

// link gives a link. One that leads to where no page may lead, to nowhere, or
// has no text stays as it was written.
func (r *reader) link(out []Node, n *ast.Link, marks []Mark) []Node {
	href, title := address(unescape(n.Destination)), oneLine(unescape(n.Title))
	inner := r.inline(nil, n, with(marks, linkMark(href, title)))
	if href == "" || !safeLink(href) || len(inner) == 0 {
		out = r.add(out, "[", marks)
		out = r.inline(out, n, marks)
		return r.add(out, "]"+target(href, title), marks)
	}
	return append(out, inner...)
}

func linkMark(href, title string) Mark {
	m := Mark{Type: Link, Attrs: map[string]any{"href": href}}
	if title != "" {
		m.Attrs["title"] = title
	}
	return m
}

func (r *reader) autoLink(out []Node, n *ast.AutoLink, marks []Mark) []Node {
	label, href := string(n.Label(r.source)), address(string(n.URL(r.source)))
	if n.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(href), "mailto:") {
		href = "mailto:" + href
	}
	if !safeLink(href) {
		return r.add(out, label, marks)
	}
	return r.add(out, label, with(marks, linkMark(href, "")))
}

func (r *reader) image(out []Node, n *ast.Image, marks []Mark) []Node {
	src, title := address(unescape(n.Destination)), oneLine(unescape(n.Title))
	alt := strings.TrimSpace(plain(r.inline(nil, n, nil)))
	if src == "" || !safeImage(src) {
		return r.add(out, "!["+alt+"]"+target(src, title), marks)
	}
	img := Node{Type: Image, Attrs: map[string]any{"src": src, "alt": alt}}
	if title != "" {
		img.Attrs["title"] = title
	}
	if m, ok := (Node{Marks: marks}).mark(Link); ok {
		img.Marks = []Mark{m}
	}
	return append(out, r.counted(img, 0))
}

// plain gives the text of what is in a line.
func plain(nodes []Node) string {
	var out strings.Builder
	for _, n := range nodes {
		switch n.Type {
		case Text:
			out.WriteString(n.Text)
		case Image:
			out.WriteString(n.attr("alt"))
		case HardBreak:
			out.WriteByte(' ')
		}
	}
	return oneLine(out.String())
}

// add adds a text, and counts it.
func (r *reader) add(out []Node, s string, marks []Mark) []Node {
	if s != "" {
		r.size.add(Node{Text: s, Marks: marks}, 0)
	}
	return add(out, s, marks)
}

// add adds a text.
func add(out []Node, s string, marks []Mark) []Node {
	if s == "" {
		return out
	}
	return append(out, Node{Type: Text, Text: s, Marks: marks})
}

// merge makes one text of those with the same marks that follow each other.
func merge(nodes []Node) []Node {
	var out []Node
	for i := 0; i < len(nodes); {
		n := nodes[i]
		end := i + 1
		if n.Type == Text {
			var all strings.Builder
			all.WriteString(n.Text)
			for end < len(nodes) && nodes[end].Type == Text && sameMarks(nodes[end].Marks, n.Marks) {
				all.WriteString(nodes[end].Text)
				end++
			}
			n.Text = oneLine(all.String())
		}
		if n.Type != Text || n.Text != "" {
			out = append(out, n)
		}
		i = end
	}
	return out
}

// joinLines makes one line of several: a heading and a cell have only one.
func joinLines(nodes []Node) []Node {
	for i, n := range nodes {
		if n.Type == HardBreak {
			nodes[i] = Node{Type: Text, Text: " "}
		}
	}
	return nodes
}

// normal gives the one form of a line: blanks at the edge of an emphasis are
// not in it, texts of the same marks are one, no line break is at an end.
func normal(nodes []Node) []Node {
	nodes = merge(nodes)
	for _, kind := range []string{Bold, Italic, Strike} {
		nodes = merge(shrink(nodes, kind))
	}
	for len(nodes) > 0 && nodes[0].Type == HardBreak {
		nodes = nodes[1:]
	}
	for len(nodes) > 0 && nodes[len(nodes)-1].Type == HardBreak {
		nodes = nodes[:len(nodes)-1]
	}
	return nodes
}

// shrink takes a mark off the blanks at both edges of where it is.
func shrink(nodes []Node, kind string) []Node {
	var out []Node
	for i := 0; i < len(nodes); {
		if !nodes[i].has(kind) {
			out = append(out, nodes[i])
			i++
			continue
		}
		end := i
		for end < len(nodes) && nodes[end].has(kind) {
			end++
		}
		out = append(out, shrinkRun(nodes[i:end], kind)...)
		i = end
	}
	return out
}

func shrinkRun(run []Node, kind string) []Node {
	var before, after []Node // after is from the end on
	for len(run) > 0 && run[0].Type == Text {
		rest := strings.TrimLeftFunc(run[0].Text, unicode.IsSpace)
		if blanks := run[0].Text[:len(run[0].Text)-len(rest)]; blanks != "" {
			before = append(before, Node{Type: Text, Text: blanks, Marks: without(run[0].Marks, kind)})
		}
		if rest != "" {
			run = append([]Node{{Type: Text, Text: rest, Marks: run[0].Marks}}, run[1:]...)
			break
		}
		run = run[1:]
	}
	for len(run) > 0 && run[len(run)-1].Type == Text {
		last := run[len(run)-1]
		rest := strings.TrimRightFunc(last.Text, unicode.IsSpace)
		if blanks := last.Text[len(rest):]; blanks != "" {
			after = append(after, Node{Type: Text, Text: blanks, Marks: without(last.Marks, kind)})
		}
		run = run[:len(run)-1]
		if rest != "" {
			run = append(run[:len(run):len(run)], Node{Type: Text, Text: rest, Marks: last.Marks})
			break
		}
	}
	slices.Reverse(after)
	return append(append(before, run...), after...)
}
