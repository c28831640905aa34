package board

import (
	"fmt"
	"testing"
)

// BenchmarkDraw draws a frame with 200 agents and as many lines of a log as are
// held of one that writes short ones.
func BenchmarkDraw(b *testing.B) {
	for _, size := range [][2]int{{80, 24}, {160, 50}} {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			v := sample(size[0], size[1])
			for n := len(v.Agents); n < 200; n++ {
				v.Agents = append(v.Agents, worker(fmt.Sprint("agent-", n), "running", "in-0", n, 1, busy("Bash", n%8, 8)))
			}
			for n := range 5000 {
				v.Log.Add(fmt.Sprint("a line of the log, number ", n))
			}
			v.Look.Colour = true
			b.ReportAllocs()
			for b.Loop() {
				Draw(v)
			}
		})
	}
}
