package tiptap

// tidy is what normal does to a line that a stranger may have written, and
// gives line breaks the marks that both sides have.
func tidy(nodes []Node) []Node {
	var in []Node
	for _, n := range nodes {
		switch n.Type {
		case Text:
			in = addUnsafe(in, n)
		case HardBreak:
			in = append(in, Node{Type: HardBreak})
		case Image:
			if src := n.attr("src"); src == "" || !safeImage(src) {
				in = append(in, Node{Type: Text, Text: "![" + n.attr("alt") + "]" + target(src, n.attr("title"))})
				continue
			}
			m, ok := n.mark(Link)
			n.Marks = nil
			if ok && safeLink(text(m.Attrs, "href")) && text(m.Attrs, "href") != "" {
				n.Marks = []Mark{plainLink(m)}
			}
			in = append(in, n)
		default:
			in = append(in, Node{Type: Text, Text: textOf(n)})
		}
	}
	out := normal(in)
	for i := 1; i+1 < len(out); i++ {
		if out[i].Type == HardBreak {
			out[i].Marks = common(out[i-1], out[i+1])
		}
	}
	return out
}

func plainLink(m Mark) Mark {
	return linkMark(address(clean(text(m.Attrs, "href"))), oneLine(clean(text(m.Attrs, "title"))))
}

// addUnsafe adds a text with the marks that it may have. Where its link must
// not be, it is text.
func addUnsafe(in []Node, n Node) []Node {
	var marks []Mark
	code := n.has(Code)
	href := ""
	for _, m := range n.Marks {
		switch m.Type {
		case Link:
			href = text(m.Attrs, "href")
			if href != "" && safeLink(href) {
				marks = with(marks, plainLink(m))
				code = false
			}
		case Bold, Italic, Strike:
			marks = with(marks, Mark{Type: m.Type})
		}
	}
	if code {
		marks = []Mark{{Type: Code}}
	}
	s := clean(n.Text)
	if href != "" && !safeLink(href) {
		s = "[" + s + "](" + href + ")"
	}
	return add(in, s, marks)
}

func common(a, b Node) []Mark {
	var out []Mark
	for _, m := range a.Marks {
		if o, ok := b.mark(m.Type); ok && sameMark(m, o) && m.Type != Code {
			out = append(out, m)
		}
	}
	return out
}
