package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"go.yaml.in/yaml/v3"

	"cw/internal/cw"
)

// configMax is how large config.yaml may be.
const configMax = 1 << 20

// configFile is config.yaml as it is on the disk.
type configFile struct {
	path string
	data []byte // empty when there is no file
}

// readConfig reads the file of settings. One that is not there is empty.
// CodeInvalid for anything that is no readable file of a sensible size.
func readConfig(path string) (configFile, error) {
	bad := cw.Errorf(cw.CodeInvalid, "%s cannot be used", path)
	info, err := os.Stat(path) // before it is opened: a pipe would wait for a writer
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR): // a home that is no folder says so itself
		return configFile{path: path}, nil
	case err != nil:
		return configFile{}, bad.WithHint("make it readable, or move it away").Because(err)
	case !info.Mode().IsRegular():
		return configFile{}, bad.WithHint("it must be a file; move it away").Because(errors.New("it is no file"))
	}
	f, err := os.Open(path)
	if err != nil {
		return configFile{}, bad.WithHint("make it readable, or move it away").Because(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, configMax+1))
	switch {
	case err != nil:
		return configFile{}, bad.WithHint("look at its disk, or move it away").Because(err)
	case len(data) > configMax:
		return configFile{}, bad.WithHint("move it away, and set again what you need with cw config set").
			Because(fmt.Errorf("it is larger than %d KiB", configMax>>10))
	}
	return configFile{path: path, data: data}, nil
}

// layer reads and checks the settings of the file.
func (f configFile) layer() layer {
	r := configReader{path: f.path, layer: newLayer(SourceFile)}
	dec := yaml.NewDecoder(bytes.NewReader(f.data))
	var doc, more yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF): // nothing, or comments alone
		return r.layer
	case err != nil:
		r.fault("%s: %s%s", f.path, strings.TrimPrefix(err.Error(), "yaml: "), aboutTabs(f.data))
		return r.layer
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		r.fault("%s: there is something after the end of the document (---)", f.path)
		return r.layer
	}
	root := doc.Content[0]
	if !isNothing(root) {
		r.section("", root)
	}
	return r.layer
}

// aboutTabs explains the most frequent cause of a file that is no YAML.
func aboutTabs(data []byte) string {
	for line := range bytes.Lines(data) {
		if bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte("\t")) {
			return " (lines are set in with spaces, never with tabs)"
		}
	}
	return ""
}

// configReader walks through the nodes of config.yaml.
type configReader struct {
	path string
	layer
}

// section reads a mapping: the whole document, or what is below a name.
func (r *configReader) section(name string, node *yaml.Node) {
	if node.Kind != yaml.MappingNode {
		r.fault("%s: %s holds settings, one a line: NAME: VALUE", r.at(node), orText(name, "the file"))
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		word := key.Value
		if key.Kind != yaml.ScalarNode || word == "" {
			r.fault("%s: there is something that is no name", r.at(key))
			continue
		}
		full := word
		if name != "" {
			full = name + "." + word
		}
		if seen[word] {
			r.fault("%s: %.100s is there twice", r.at(key), full)
			continue
		}
		seen[word] = true
		r.entry(full, word, key, value)
	}
}

// entry reads one name with what stands behind it.
func (r *configReader) entry(full, word string, key, value *yaml.Node) {
	setting, known := keyOf(full)
	switch {
	case known && strings.Contains(word, "."):
		section, name, _ := strings.Cut(word, ".")
		r.fault("%s: write %s: on a line, and %s: set in below it", r.at(key), section, name)
	case known:
		r.value(setting, key, value)
	case isSection(full):
		if !isNothing(value) {
			r.section(full, value)
		}
	default:
		r.fault("%s: %.100s is not a setting%s", r.at(key), full, didYouMean(full, Keys(), func(k Key) string { return k.Name }))
	}
}

// value reads what a setting is set to.
func (r *configReader) value(key Key, name, node *yaml.Node) {
	parsed, err := readNode(key, node)
	if err != nil {
		r.fault("%s: %s %s", r.at(name), key.Name, err)
		return
	}
	r.values[key.Name], r.where[key.Name] = parsed, r.at(name)
}

func readNode(key Key, node *yaml.Node) (any, error) {
	if !key.Form.List() {
		word, ok := wordOf(node)
		if !ok {
			return nil, fmt.Errorf("has no single value; it takes %s", key.Form.Allowed)
		}
		parsed, err := key.Form.parse(word)
		if err != nil {
			return nil, errors.New(quoted(word, err))
		}
		return parsed, nil
	}
	if node.Kind != yaml.SequenceNode {
		return nil, fmt.Errorf("is a list: write [one, two], or one a line after a -")
	}
	items := []string{}
	for _, n := range node.Content {
		word, ok := wordOf(n)
		if !ok {
			return nil, fmt.Errorf("holds something that is no text; it takes %s", key.Form.Allowed)
		}
		items = append(items, word)
	}
	return key.parseItems(items)
}

// wordOf is the text of a plain value. Aliases, tags of one's own and nothing
// at all are none.
func wordOf(node *yaml.Node) (string, bool) {
	if node.Kind != yaml.ScalarNode {
		return "", false
	}
	switch node.ShortTag() {
	case "!!str", "!!int", "!!float", "!!bool", "!!timestamp":
		return node.Value, true
	}
	return "", false
}

// isNothing tells whether there is a name without a value.
func isNothing(node *yaml.Node) bool {
	return node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null"
}

// isSection tells whether settings have names that begin like that.
func isSection(name string) bool {
	for _, k := range Keys() {
		if strings.HasPrefix(k.Name, name+".") {
			return true
		}
	}
	return false
}

func (r *configReader) at(node *yaml.Node) string { return fmt.Sprintf("%s:%d", r.path, node.Line) }
