package tiptap

import (
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// list gives a list. It is one of tasks when every item of it is one and it has
// no numbers; otherwise the boxes stay as text.
func (r *reader) list(n *ast.List, depth int) Node {
	out := Node{Type: BulletList}
	item := ListItem
	switch {
	case n.IsOrdered():
		out = Node{Type: OrderedList, Attrs: map[string]any{"start": n.Start}}
	case allTasks(n):
		out.Type, item = TaskList, TaskItem
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if r.over() {
			break
		}
		li := r.counted(Node{Type: item}, depth)
		box := checkBox(c)
		if item == TaskItem {
			li.Attrs = map[string]any{"checked": box.IsChecked}
			box.Parent().RemoveChild(box.Parent(), box)
		}
		li.Content = r.blocks(c, depth+1)
		// An item of the editor begins with a paragraph.
		if li.Content[0].Type != Paragraph {
			li.Content = append([]Node{{Type: Paragraph}}, li.Content...)
		}
		out.Content = append(out.Content, li)
	}
	return out
}

func allTasks(n *ast.List) bool {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if checkBox(c) == nil {
			return false
		}
	}
	return true
}

// checkBox finds the box of an item, nil for none.
func checkBox(item ast.Node) *east.TaskCheckBox {
	if item.FirstChild() == nil || item.FirstChild().FirstChild() == nil {
		return nil
	}
	box, _ := item.FirstChild().FirstChild().(*east.TaskCheckBox)
	return box
}

func (r *reader) table(n *east.Table) Node {
	out := Node{Type: Table}
	for row := n.FirstChild(); row != nil && !r.over(); row = row.NextSibling() {
		cell := TableCell
		if row.Kind() == east.KindTableHeader {
			cell = TableHeader
		}
		tr := r.counted(Node{Type: TableRow}, 0)
		i := 0
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			p := Node{Type: Paragraph, Content: normal(joinLines(r.inlines(c)))}
			r.size.parts += 2
			tr.Content = append(tr.Content, Node{Type: cell, Attrs: cellAttrs(n, i), Content: []Node{p}})
			i++
		}
		out.Content = append(out.Content, tr)
	}
	return out
}

// cellAttrs is what a cell says of itself. The alignment is the column's.
func cellAttrs(n *east.Table, column int) map[string]any {
	attrs := map[string]any{"colspan": 1, "rowspan": 1, "colwidth": nil, "align": nil}
	if column < len(n.Alignments) && n.Alignments[column] != east.AlignNone {
		attrs["align"] = n.Alignments[column].String()
	}
	return attrs
}
