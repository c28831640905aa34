package frontmatter

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"cw/internal/cw"
)

// repairsMax bounds how many lines of a head are read as they were meant.
const repairsMax = 100

// plainValue is a key with a value that is in no quotes and begins nothing of
// YAML's.
var plainValue = cw.Pattern(`^(\s*(?:- +)?[A-Za-z_][A-Za-z0-9_-]*:[ \t]+)([^\s"'\[\]{}|>&*!%@#` + "`" + `,?-].*?)[ \t]*$`)

// parseHead reads the YAML between the fences. line is that of the opening one. A
// text with a colon that is in no quotes is no YAML and can mean only itself: it is
// read as if it were.
func parseHead(head string, line int) ([]Field, error) {
	fields, err := parseYAML(head, line)
	for range repairsMax {
		var fault *Error
		if err == nil || !errors.As(err, &fault) || fault.Text != "the head is no YAML: "+colonInText {
			break
		}
		lines := strings.Split(head, "\n")
		at := fault.Line - line - 1
		if at < 0 || at >= len(lines) {
			break
		}
		m := plainValue().FindStringSubmatch(lines[at])
		if m == nil {
			break
		}
		lines[at] = m[1] + "'" + strings.ReplaceAll(m[2], "'", "''") + "'"
		head = strings.Join(lines, "\n")
		fields, err = parseYAML(head, line)
	}
	return fields, err
}

// parseYAML reads a head that is YAML.
func parseYAML(head string, line int) (fields []Field, err error) {
	defer func() {
		// The library is outside code and the text an agent's: whatever it trips
		// over must not take the daemon down.
		if r := recover(); r != nil {
			fields, err = nil, errorAt(line, "the head cannot be read as YAML: %v", r)
		}
	}()
	text := &countedText{data: head}
	dec := yaml.NewDecoder(text)
	var doc, more yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF): // nothing, or comments alone
		return nil, nil
	case err != nil:
		return nil, text.fault(err, line)
	}
	switch err := dec.Decode(&more); {
	case err == nil: // it would be left unread in silence
		return nil, errorAt(line+more.Line, "the head ends here and goes on: there is one, between two lines of ---")
	case !errors.Is(err, io.EOF):
		return nil, text.fault(err, line)
	}
	r := reader{line: line}
	value, err := r.value(doc.Content[0], 0)
	switch {
	case err != nil:
		return nil, err
	case value.Kind == Null:
		return nil, nil
	case value.Kind != Map:
		return nil, errorAt(value.Line, "the head holds keys, one a line (title: …), and this is %s", value.Kind)
	}
	return value.Fields, differentKeys(value.Fields)
}

// differentKeys refuses a key of the head that is there in two spellings.
func differentKeys(fields []Field) error {
	seen := map[string]Field{}
	for _, f := range fields {
		if first, twice := seen[Key(f.Key)]; twice {
			return twiceError(f, first)
		}
		seen[Key(f.Key)] = f
	}
	return nil
}

func twiceError(f, first Field) *Error {
	return errorAt(f.Line, "%s is there twice, as %s in line %d before", f.Key, first.Key, first.Line)
}

// reader turns the library's nodes into values. line is added to theirs.
type reader struct{ line int }

func (r reader) value(node *yaml.Node, depth int) (Value, error) {
	v := Value{Line: r.line + node.Line}
	switch {
	case depth > depthMax:
		return v, errorAt(v.Line, "lists and mappings lie in each other deeper than %d times", depthMax)
	case node.Kind == yaml.AliasNode || node.Anchor != "":
		return v, errorAt(v.Line, noAnchors)
	case node.Style&yaml.TaggedStyle != 0:
		return v, errorAt(v.Line, "tags (%s) are not taken: a text that begins with ! belongs into quotes", cut(node.Tag))
	case node.Kind == yaml.SequenceNode:
		return r.list(v, node, depth)
	case node.Kind == yaml.MappingNode:
		return r.mapping(v, node, depth)
	}
	v.Kind, v.Text = scalar(node)
	if strings.ContainsRune(v.Text, 0) {
		return v, errorAt(v.Line, "there is a NUL byte, which no text holds")
	}
	return v, nil
}

func (r reader) list(v Value, node *yaml.Node, depth int) (Value, error) {
	v.Kind = List
	for _, child := range node.Content {
		item, err := r.value(child, depth+1)
		if err != nil {
			return v, err
		}
		v.Items = append(v.Items, item)
	}
	return v, nil
}

func (r reader) mapping(v Value, node *yaml.Node, depth int) (Value, error) {
	v.Kind = Map
	seen := map[string]Field{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		f, err := r.key(node.Content[i], depth)
		if err != nil {
			return v, err
		}
		if first, twice := seen[f.Key]; twice {
			return v, twiceError(f, first)
		}
		seen[f.Key] = f
		if f.Value, err = r.value(node.Content[i+1], depth+1); err != nil {
			return v, err
		}
		v.Fields = append(v.Fields, f)
	}
	return v, nil
}

func (r reader) key(node *yaml.Node, depth int) (Field, error) {
	if node.Kind == yaml.ScalarNode && node.ShortTag() == "!!merge" {
		return Field{}, errorAt(r.line+node.Line, noAnchors)
	}
	value, err := r.value(node, depth)
	switch n := utf8.RuneCountInString(node.Value); {
	case err != nil:
		return Field{}, err
	case n == 0 || n > keyMax: // the node of a list or a mapping has no text
		return Field{}, errorAt(value.Line, "a key is a word of at most %d characters", keyMax)
	}
	return Field{Key: node.Value, Line: value.Line}, nil
}

// scalar gives the kind of one word or text, and the text.
func scalar(node *yaml.Node) (Kind, string) {
	switch node.ShortTag() {
	case "!!null":
		return Null, ""
	case "!!bool":
		return Bool, node.Value
	case "!!int":
		return Int, node.Value
	case "!!float":
		return Float, node.Value
	}
	return String, node.Value
}

const noAnchors = "anchors, aliases and merges are not taken: a text that begins with * or & belongs into quotes"

// countedText gives its bytes one by one, so that it is known where the library
// stopped: its errors often tell the line of something else.
type countedText struct {
	data string
	read int
}

// Read gives the next byte.
func (c *countedText) Read(p []byte) (int, error) {
	if c.read == len(c.data) {
		return 0, io.EOF
	}
	n := copy(p[:min(1, len(p))], c.data[c.read:])
	c.read += n
	return n, nil
}

// fault places an error of the library and says it for people.
func (c *countedText) fault(err error, line int) *Error {
	message, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "yaml: "), "\n")
	read := strings.TrimRight(c.data[:c.read], " \t\n")
	at := 1 + strings.Count(read, "\n")
	if name, ok := strings.CutPrefix(message, "unknown anchor '"); ok {
		alias := max(0, strings.Index(read, "*"+strings.TrimSuffix(name, "' referenced")))
		return errorAt(line+1+strings.Count(read[:alias], "\n"), noAnchors)
	}
	var named int
	if _, err := fmt.Sscanf(message, "line %d:", &named); err == nil {
		_, message, _ = strings.Cut(message, ": ")
		if !strings.HasPrefix(message, "did not find expected") {
			at = named // of the scanner; the parser names where something began, counted from 0
		}
	}
	lines := strings.Split(c.data, "\n")
	at = min(at, len(lines))
	return errorAt(line+at, "the head is no YAML: %s", explain(message, lines[at-1]))
}

// wrongBegin finds a character with which no text begins outside of quotes.
var wrongBegin = cw.Pattern("(?:^|[\\s,\\[{-])([\t@`%*&])")

// colonInText is what is wrong with the mistake that is made most.
const colonInText = "a text with a colon in it belongs into quotes"

// explain says what is wrong with a line, and what to do for the mistakes that
// are made most.
func explain(message, line string) string {
	switch {
	case strings.HasPrefix(strings.TrimLeft(line, " "), "\t"):
		return "lines are set in with spaces, never with tabs"
	case strings.Contains(message, "mapping values are not allowed"):
		return colonInText
	case strings.HasSuffix(message, "cannot start any token"), strings.HasSuffix(message, "alphabetic or numeric character"):
		if found := wrongBegin().FindStringSubmatch(line); found != nil && found[1] != "\t" {
			return fmt.Sprintf("a text that begins with %s belongs into quotes", found[1])
		}
	}
	return cut(message)
}

// cut bounds what an error repeats of a text.
func cut(text string) string {
	if len(text) <= errorText {
		return text
	}
	return strings.ToValidUTF8(text[:errorText], "") + "…"
}
