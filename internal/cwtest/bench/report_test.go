//go:build linux

package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// document is where the figures are published; what lies between the marks is
// written by the benchmark.
const (
	document  = "../../../docs/performance.md"
	markBegin = "<!-- begin: written by make bench -->"
	markEnd   = "<!-- end: written by make bench -->"
)

// report collects the figures of one run.
type report struct {
	begun  time.Time
	rows   []string
	lines  []figure
	load   string // of the machine, before
	failed bool
	took   []string
}

func newReport() *report { return &report{begun: time.Now(), load: loadAverage()} }

func (r *report) add(row string, figures []figure, took time.Duration) {
	r.rows = append(r.rows, row)
	r.lines = append(r.lines, figures...)
	r.took = append(r.took, fmt.Sprintf("%s %.0f s", row, took.Seconds()))
}

// publish prints the table, and writes it into the document when every row was
// measured.
func (r *report) publish(t *testing.T) {
	text := r.markdown(t.TempDir())
	fmt.Println(text)
	fmt.Println("rows took: " + strings.Join(r.took, ", "))
	if r.failed || len(r.rows) != len(rows()) {
		fmt.Println("docs/performance.md is left as it was: not every row was measured")
		return
	}
	old, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	changed, err := between(string(old), text)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(document, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
}

// between replaces what lies between the marks.
func between(old, text string) (string, error) {
	before, rest, ok1 := strings.Cut(old, markBegin)
	_, after, ok2 := strings.Cut(rest, markEnd)
	if !ok1 || !ok2 {
		return "", fmt.Errorf("the document lacks the marks %q and %q", markBegin, markEnd)
	}
	return before + markBegin + "\n" + text + markEnd + after, nil
}

func (r *report) markdown(dir string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s: %s.\n\n", r.begun.UTC().Format(time.DateOnly), machine(dir))
	fmt.Fprintf(&b, "Load of the machine before: %s; all rows together took %.0f s.\n\n", r.load, time.Since(r.begun).Seconds())
	b.WriteString("| what | cw | beside | figure | goal | |\n|---|---|---|---|---|---|\n")
	var notes []string
	for _, f := range r.lines {
		mark := ""
		if f.note != "" {
			notes = append(notes, f.note)
			mark = fmt.Sprintf(" (%d)", len(notes))
		}
		fmt.Fprintf(&b, "| %s%s | %s | %s | %s | %s | %s |\n", f.what, mark, f.ours, f.floor, f.goal.in(f.value), f.goal, f.verdict())
	}
	b.WriteString("\n")
	for i, note := range notes {
		fmt.Fprintf(&b, "%d. %s\n", i+1, note)
	}
	if len(notes) > 0 {
		b.WriteString("\n")
	}
	return b.String()
}

// machine describes what it ran on, without naming it.
func machine(dir string) string {
	git, err := exec.Command("git", "version").Output()
	if err != nil {
		git = []byte("git unknown")
	}
	return fmt.Sprintf("%d cores, %s memory, %s %s, %s, %s/%s, %s, %s",
		runtime.NumCPU(), memory(), runtime.GOOS, kernel(), fileSystem(dir), runtime.GOOS, runtime.GOARCH,
		strings.Replace(runtime.Version(), "go", "Go ", 1), strings.TrimSpace(strings.Replace(string(git), "git version", "git", 1)))
}

func kernel() string {
	data, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return "of unknown version"
	}
	version, _, _ := strings.Cut(strings.TrimSpace(string(data)), "-") // what follows names a build
	return version
}

func memory() string {
	kib, err := field("/proc/meminfo", "MemTotal:")
	if err != nil {
		return "unknown"
	}
	return fmt.Sprintf("%.0f GiB", float64(kib)/(1<<20))
}

func loadAverage() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(data))[:3], " ")
}

// fileSystem names the kind that dir is on.
func fileSystem(dir string) string {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return "unknown file system"
	}
	names := map[int64]string{0xef53: "ext4", 0x01021994: "tmpfs", 0x9123683e: "btrfs", 0x58465342: "xfs", 0x794c7630: "overlayfs"}
	if name, ok := names[int64(st.Type)]; ok {
		return name
	}
	return fmt.Sprintf("file system %#x", st.Type)
}

// field reads a number behind a name in a file of the system.
func field(file, name string) (int64, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	var n, sum int64
	found := false
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			if _, err := fmt.Sscan(rest, &n); err != nil {
				return 0, fmt.Errorf("%s: %s: %w", file, name, err)
			}
			sum, found = sum+n, true
		}
	}
	if !found {
		return 0, fmt.Errorf("%s has no %s", filepath.Base(file), name)
	}
	return sum, nil
}
