package daemon

import (
	"io"
	"log/slog"
	"reflect"
	"strings"
	"syscall"

	"go.yaml.in/yaml/v3"

	"cw/internal/cw"
)

// SettingNames are the names of all fields of Settings.
func SettingNames() map[string]bool {
	values := map[string]any{}
	flatten(reflect.ValueOf(Settings{}), "", values)
	names := map[string]bool{}
	for name := range values {
		names[name] = true
	}
	return names
}

// Mkfifo makes a named pipe.
func Mkfifo(path string) error { return syscall.Mkfifo(path, 0o600) }

// Together is together.
var Together = together

// Loopback is loopback.
var Loopback = loopback

// Metrics are the names, labels and kinds of all metrics, as they are written.
func Metrics() map[string]string {
	out := map[string]string{}
	for _, f := range families(measured{process: processFacts{residentBytes: 1}}) {
		out[f.name] = strings.Join(f.labels, ",")
	}
	return out
}

// MetricsText writes one family whose label is value.
func MetricsText(value string) string {
	var b strings.Builder
	_ = writeMetrics(&b, []family{{name: "m", kind: "gauge", labels: []string{"l"}, help: "a\\b\nc", samples: []sample{{labels: []string{value}, value: 1.5}}}})
	return b.String()
}

// NewLog is newLog.
func NewLog(home cw.Home, s LogSettings, foreground io.Writer) (*slog.Logger, io.Closer) {
	return newLog(Config{Home: home, Settings: Settings{Log: s}, Stderr: foreground}, masks{})
}

// ReadText gives what a config.yaml says and what is wrong with it.
func ReadText(text string) (map[string]any, []string) {
	l := configFile{path: "config.yaml", data: []byte(text)}.layer()
	return l.values, l.faults
}

// EditText sets one key in the text of a config.yaml.
func EditText(text, name, value string) (string, error) {
	key, _ := keyOf(name)
	f := configFile{path: "config.yaml", data: []byte(text)}
	data, err := f.edited(key, value, func(doc *yaml.Node) []byte { return withLine(f.data, doc, key, value) })
	return string(data), err
}
