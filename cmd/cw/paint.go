package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"cw/internal/cw"
)

// paint colours text, or leaves it alone.
type paint struct{ on bool }

func (p paint) with(code, s string) string {
	if !p.on || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p paint) bold(s string) string   { return p.with("1", s) }
func (p paint) dim(s string) string    { return p.with("2", s) }
func (p paint) red(s string) string    { return p.with("31", s) }
func (p paint) green(s string) string  { return p.with("32", s) }
func (p paint) yellow(s string) string { return p.with("33", s) }
func (p paint) cyan(s string) string   { return p.with("36", s) }

// status colours an agent's status.
func (p paint) status(s cw.AgentStatus) string {
	switch s {
	case cw.StatusIdle:
		return p.green(string(s))
	case cw.StatusCrashed:
		return p.red(string(s))
	case cw.StatusWaitingForInput, cw.StatusParked, cw.StatusStopped:
		return p.yellow(string(s))
	case cw.StatusPending, cw.StatusStarting, cw.StatusRunning:
		return p.cyan(string(s))
	}
	return string(s)
}

// diff colours one line of a patch.
func (p paint) diff(line string) string {
	switch {
	case strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "--- "):
		return p.bold(line)
	case strings.HasPrefix(line, "@@"):
		return p.cyan(line)
	case strings.HasPrefix(line, "+"):
		return p.green(line)
	case strings.HasPrefix(line, "-"):
		return p.red(line)
	}
	return line
}

// columnGap is what is between two columns.
const columnGap = 2

// table prints aligned columns. Cells are foreign text: they are made one
// clean line each. Colours would break the alignment, so there are none.
func table(w io.Writer, indent string, header []string, rows [][]string) {
	tw := tabwriter.NewWriter(w, 0, 0, columnGap, ' ', 0)
	fmt.Fprintln(tw, indent+strings.Join(header, "\t"))
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			if cells[i] = oneLine(cell); cells[i] == "" {
				cells[i] = "-"
			}
		}
		fmt.Fprintln(tw, indent+strings.Join(cells, "\t"))
	}
	tw.Flush()
}

// facts prints named values below each other. Rows without a value are left out.
func facts(w io.Writer, indent string, rows [][2]string) {
	width := 0
	for _, row := range rows {
		if row[1] != "" {
			width = max(width, len(row[0]))
		}
	}
	margin := indent + strings.Repeat(" ", width+2)
	for _, row := range rows {
		if row[1] == "" {
			continue
		}
		value := strings.ReplaceAll(strings.TrimSpace(row[1]), "\n", "\n"+margin)
		fmt.Fprintf(w, "%s%-*s  %s\n", indent, width, row[0], value)
	}
}
