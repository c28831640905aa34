package daemon

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// family is one metric with all its samples.
type family struct {
	name    string
	kind    string   // "gauge", or "counter" for what only grows
	labels  []string // their names
	help    string
	samples []sample
}

// sample is one value, with a value for each label of its family.
type sample struct {
	labels []string
	value  float64
}

// one is the samples of a family without labels.
func one[N int | int64 | float64](value N) []sample { return []sample{{value: float64(value)}} }

// writeMetrics writes the text format of Prometheus, version 0.0.4.
func writeMetrics(w io.Writer, families []family) error {
	out := bufio.NewWriter(w)
	for _, f := range families {
		fmt.Fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", f.name, escapeHelp.Replace(f.help), f.name, f.kind)
		for _, s := range f.samples {
			fmt.Fprint(out, f.name)
			for i, label := range f.labels {
				open := ","
				if i == 0 {
					open = "{"
				}
				fmt.Fprintf(out, `%s%s="%s"`, open, label, escapeLabel.Replace(s.labels[i]))
			}
			if len(f.labels) > 0 {
				fmt.Fprint(out, "}")
			}
			fmt.Fprintf(out, " %s\n", strconv.FormatFloat(s.value, 'g', -1, 64))
		}
	}
	return out.Flush()
}

var (
	escapeHelp  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	escapeLabel = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)
