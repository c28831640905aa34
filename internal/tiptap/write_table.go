package tiptap

import (
	"fmt"
	"strings"
)

// table writes a table; its first row is the head. A cell is one line.
func table(n Node) (string, bool) {
	columns := 0
	var rows [][]string
	for _, row := range n.Content {
		var cells []string
		for _, cell := range row.Content {
			cells = append(cells, cellLine(cell))
			for range span(cell) - 1 {
				cells = append(cells, "")
			}
		}
		columns = max(columns, len(cells))
		rows = append(rows, cells)
	}
	if columns == 0 {
		return "", false
	}
	var out strings.Builder
	for i, cells := range rows {
		for len(cells) < columns {
			cells = append(cells, "")
		}
		fmt.Fprintf(&out, "| %s |\n", strings.Join(cells, " | "))
		if i == 0 {
			fmt.Fprintf(&out, "| %s |\n", strings.Join(rules(n.Content[0], columns), " | "))
		}
	}
	return strings.TrimSuffix(out.String(), "\n"), true
}

func span(cell Node) int { return min(max(cell.int("colspan", 1), 1), 100) }

// cells is how many cells a table has when it is written: each row as many as
// the longest.
func cells(n Node) int {
	columns := 0
	for _, row := range n.Content {
		width := 0
		for _, cell := range row.Content {
			width += span(cell)
		}
		columns = max(columns, width)
	}
	return columns * len(n.Content)
}

func cellLine(cell Node) string {
	var line []Node
	for _, c := range cell.Content {
		if len(line) > 0 {
			line = append(line, Node{Type: Text, Text: " "})
		}
		line = append(line, flat(c)...)
	}
	return lineOf(normal(joinLines(line)), inCell)
}

// flat gives what is in a block as one line.
func flat(n Node) []Node {
	switch n.Type {
	case Paragraph, Heading:
		return clone(n.Content)
	case Text, Image, HardBreak:
		return []Node{n}
	}
	var out []Node
	for _, c := range n.Content {
		if len(out) > 0 {
			out = append(out, Node{Type: Text, Text: " "})
		}
		out = append(out, flat(c)...)
	}
	return out
}

func rules(head Node, columns int) []string {
	var out []string
	for i := range columns {
		align := ""
		if i < len(head.Content) {
			align = head.Content[i].attr("align")
		}
		switch align {
		case "left":
			out = append(out, ":--")
		case "center":
			out = append(out, ":-:")
		case "right":
			out = append(out, "--:")
		default:
			out = append(out, "---")
		}
	}
	return out
}
