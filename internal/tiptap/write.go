package tiptap

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cw/internal/cw"
)

// Markdown gives the Markdown of a document that was made of no text: see
// Rewrite. What the editor has and Markdown has not is left out, but for its
// text.
func Markdown(doc Node) (string, error) { return Rewrite("", doc) }

// acceptable refuses what is no document, and one of more than an editor can
// hold.
func acceptable(doc Node) error {
	if doc.Type != Doc {
		return cw.Errorf(cw.CodeInvalid, "a document is a node of type %q, not %q", Doc, doc.Type)
	}
	c := checker{}
	return c.check(doc, 0)
}

var known = map[string]bool{
	Doc: true, Paragraph: true, Heading: true, BulletList: true, OrderedList: true, ListItem: true,
	TaskList: true, TaskItem: true, Blockquote: true, CodeBlock: true, RawBlock: true, HorizontalRule: true,
	HardBreak: true, Image: true, Table: true, TableRow: true, TableHeader: true, TableCell: true, Text: true,
}

// checker counts a stranger's document.
type checker struct {
	size  size
	cells int
}

// check looks at what a document is made of, and whether it can be written: a
// line of it has what stands before it on each level.
func (c *checker) check(n Node, depth int) error {
	// Each level of a list is two nodes.
	if depth > 3*depthMax {
		return cw.Errorf(cw.CodeInvalid, "the document is deeper than %d nodes", 3*depthMax)
	}
	if !known[n.Type] {
		return cw.Errorf(cw.CodeInvalid, "unknown node %q", n.Type).
			WithHint("pages are made of what Markdown has: see docs/pages.md")
	}
	if n.Type == RawBlock && depth == 1 {
		depth = -1 // nothing stands before its lines
	}
	c.size.add(n, depth)
	if n.Type == Table {
		c.cells += cells(n)
	}
	switch {
	case c.size.parts > partsMax:
		return tooBig("nodes and marks")
	case c.size.bytes > bytesMax:
		return tooBig("text")
	case c.cells > cellsMax:
		return tooBig("cells of tables")
	}
	for _, child := range n.Content {
		if err := c.check(child, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// write gives the one text of a document.
func write(doc Node) string {
	s := blocks(doc.Content)
	if s == "" {
		return ""
	}
	return s + "\n"
}

// blocks writes blocks with an empty line between them. Two lists that follow
// each other have different marks, for else they would be one.
func blocks(nodes []Node) string {
	var out []string
	family, other := "", false
	for _, n := range nodes {
		if isList(n.Type) {
			other = family == listFamily(n.Type) && !other
			family = listFamily(n.Type)
		}
		s, ok := block(n, other, len(out) == 0)
		if !ok {
			continue
		}
		if !isList(n.Type) {
			family, other = "", false
		}
		out = append(out, s)
	}
	return strings.Join(out, "\n\n")
}

// block writes one block; false for one that Markdown has not, as is an empty
// paragraph. A rule that is first has no dashes: there they would begin a head
// of YAML, or be a list.
func block(n Node, other, first bool) (string, bool) {
	switch n.Type {
	case Heading:
		level := min(max(n.int("level", 1), 1), 6)
		return strings.TrimRight(strings.Repeat("#", level)+" "+lineOf(joinLines(clone(n.Content)), inHeading), " "), true
	case Blockquote:
		return quote(blocks(n.Content)), true
	case CodeBlock:
		return fenced(n), true
	case RawBlock:
		s := strings.Trim(clean(textOf(n)), "\n")
		return s, !isBlank(s)
	case HorizontalRule:
		if first {
			return "___", true
		}
		return "---", true
	case BulletList, OrderedList, TaskList:
		return list(n, other)
	case Table:
		return table(n)
	case Paragraph:
		s := lineOf(n.Content, inParagraph)
		return s, s != ""
	case Text, HardBreak, Image:
		s := lineOf([]Node{n}, inParagraph)
		return s, s != ""
	}
	s := blocks(n.Content) // an item or a cell without its list or table
	return s, s != ""
}

func clone(nodes []Node) []Node { return append([]Node(nil), nodes...) }

func quote(s string) string {
	var out strings.Builder
	for line := range strings.SplitSeq(s, "\n") {
		if line == "" {
			out.WriteString(">\n")
			continue
		}
		out.WriteString("> " + line + "\n")
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// fenced writes a code block. Its fence is longer than those in it.
func fenced(n Node) string {
	code := clean(textOf(n))
	info := escapeInfo(strings.TrimSpace(oneLine(clean(n.attr("language")))))
	mark := "`"
	if strings.Contains(info, "`") {
		mark = "~"
	}
	fence := strings.Repeat(mark, max(3, longest(code, mark[0])+1))
	if code != "" {
		code += "\n"
	}
	return fence + info + "\n" + code + fence
}

// textOf gives all text in a node.
func textOf(n Node) string {
	if n.Type == HardBreak {
		return "\n"
	}
	var out strings.Builder
	out.WriteString(n.Text)
	for _, c := range n.Content {
		out.WriteString(textOf(c))
	}
	return out.String()
}

// longest gives the length of the longest row of c.
func longest(s string, c byte) int {
	most, row := 0, 0
	for i := range len(s) {
		if s[i] != c {
			row = 0
			continue
		}
		row++
		most = max(most, row)
	}
	return most
}

func isList(kind string) bool { return kind == BulletList || kind == OrderedList || kind == TaskList }

func listFamily(kind string) string {
	if kind == TaskList {
		return BulletList
	}
	return kind
}

// list writes a list: dense when no item has more than a line and lists below
// it.
func list(n Node, other bool) (string, bool) {
	dense := true
	for _, item := range n.Content {
		for i, c := range item.Content {
			dense = dense && (i == 0 && c.Type == Paragraph || isList(c.Type) && !needsBlank(c))
		}
	}
	between := "\n\n"
	if dense {
		between = "\n"
	}
	mark := "- "
	if other {
		mark = "* "
	}
	items := listItems(n, mark, between, other)
	if slices.ContainsFunc(items, ruleLike.MatchString) {
		for i, s := range items {
			items[i] = "+" + s[1:] // lists of numbers are like no rule
		}
	}
	return strings.Join(items, between), len(items) > 0
}

// ruleLike are the marks of lists in lists that together are a rule.
var ruleLike = regexp.MustCompile(`^(?:(?:- *){3,}|(?:\* *){3,})(?:\n|$)`)

func listItems(n Node, mark, between string, other bool) []string {
	var items []string
	for i, item := range n.Content {
		if n.Type == OrderedList {
			mark = number(n, i, other)
		}
		items = append(items, listItem(item, mark, between))
	}
	return items
}

func number(n Node, i int, other bool) string {
	s := strconv.Itoa(min(max(n.int("start", 1), 0)+i, 999_999_999))
	if other {
		return s + ") "
	}
	return s + ". "
}

// needsBlank tells of a list that cannot follow a line without an empty one
// between them.
func needsBlank(n Node) bool {
	if n.Type == OrderedList && n.int("start", 1) != 1 {
		return true
	}
	return len(n.Content) == 0 || len(n.Content[0].Content) == 0 || lineOf(n.Content[0].Content[0].Content, inParagraph) == ""
}

func listItem(item Node, mark, between string) string {
	content := item.Content
	box := ""
	if item.Type == TaskItem {
		box = "[ ] "
		if checked, _ := item.Attrs["checked"].(bool); checked {
			box = "[x] "
		}
	}
	var body string
	if between == "\n" {
		var parts []string
		for _, c := range content {
			if s := blocks([]Node{c}); s != "" {
				parts = append(parts, s)
			}
		}
		body = strings.Join(parts, "\n")
	} else {
		body = blocks(content)
	}
	if box != "" && body != "" && !beginsWithText(content) {
		body = strings.TrimRight(box, " ") + "\n\n" + body
	} else {
		body = box + body
	}
	return strings.TrimRight(mark+indent(body, len(mark)), " ")
}

// beginsWithText tells of an item whose box has a line to stand in.
func beginsWithText(content []Node) bool {
	return len(content) > 0 && content[0].Type == Paragraph && lineOf(content[0].Content, inParagraph) != ""
}

// indent sets all lines but the first below the first.
func indent(s string, n int) string {
	blanks := strings.Repeat(" ", n)
	var out strings.Builder
	for i, line := range strings.Split(s, "\n") {
		if i > 0 {
			out.WriteByte('\n')
			if line != "" {
				out.WriteString(blanks)
			}
		}
		out.WriteString(line)
	}
	return out.String()
}
