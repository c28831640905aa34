package providers

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"

	"cw/internal/cw"

	"go.yaml.in/yaml/v3"
)

// noAnchors refuses forms with which a small file grows without bound while it
// is read.
const noAnchors = "anchors and aliases are not taken"

// parseYAML reads a text as one YAML document and gives what it holds, nil when
// that is nothing. Forms that a preset does not need are refused.
func parseYAML(data []byte) (*yaml.Node, *Problem) {
	text := &countedText{data: data}
	dec := yaml.NewDecoder(text)
	var doc, more yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF): // nothing, or comments alone
		return nil, nil
	case err != nil:
		return nil, text.problem(err)
	}
	root := doc.Content[0]
	if problem := refuseForms(root); problem != nil {
		return nil, problem
	}
	switch err := dec.Decode(&more); {
	case err == nil: // it would be left unread in silence
		return nil, problemAt(&more, "a file holds one preset")
	case !errors.Is(err, io.EOF):
		return nil, text.problem(err)
	}
	if isNull(root) {
		return nil, nil
	}
	return root, nil
}

// refuseForms refuses anchors, aliases and tags, keys that are no words, and
// keys that are there twice.
func refuseForms(node *yaml.Node) *Problem {
	switch {
	case node.Kind == yaml.AliasNode || node.Anchor != "":
		return problemAt(node, noAnchors)
	case node.Style&yaml.TaggedStyle != 0:
		return problemAt(node, "tags (%.20s) are not taken", node.Tag)
	}
	seen := map[string]*yaml.Node{}
	for i, child := range node.Content {
		if problem := refuseForms(child); problem != nil {
			return problem
		}
		if node.Kind != yaml.MappingNode || i%2 == 1 {
			continue
		}
		switch first := seen[child.Value]; {
		case child.Kind != yaml.ScalarNode:
			return problemAt(child, "a key is a word")
		case child.ShortTag() == "!!merge":
			return problemAt(child, noAnchors)
		case first != nil:
			return problemAt(child, "mapping key %q already defined at [%d:%d]", child.Value, first.Line, first.Column)
		}
		seen[child.Value] = child
	}
	return nil
}

// readsYAML is a value that reads itself.
type readsYAML interface{ readYAML(*yaml.Node) *Problem }

// readNode sets a value from a node, strictly. A key without a value says
// nothing; a list and a map take the place of what was there.
func readNode(node *yaml.Node, into reflect.Value) *Problem {
	if node == nil || isNull(node) {
		return nil
	}
	if own, ok := into.Addr().Interface().(readsYAML); ok {
		return own.readYAML(node)
	}
	switch into.Kind() {
	case reflect.Struct:
		return readStruct(node, into)
	case reflect.Map:
		return readMap(node, into)
	case reflect.Slice:
		return readList(node, into)
	case reflect.String:
		if node.Kind != yaml.ScalarNode {
			return problemAt(node, "it takes a string")
		}
		into.SetString(node.Value)
	case reflect.Bool:
		if node.ShortTag() != "!!bool" {
			return problemAt(node, "it takes true or false")
		}
		into.SetBool(strings.EqualFold(node.Value, "true"))
	}
	return nil
}

func readStruct(node *yaml.Node, into reflect.Value) *Problem {
	if node.Kind != yaml.MappingNode {
		return problemAt(node, "it takes a mapping")
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		field, ok := fieldOf(into, key.Value)
		if !ok {
			return problemAt(key, "unknown key %q; did you mean %q?", key.Value, nearest(key.Value, lastParts(Keys())))
		}
		if problem := readNode(value, field); problem != nil {
			return problem
		}
	}
	return nil
}

// fieldOf finds the field of a struct that a key sets.
func fieldOf(of reflect.Value, key string) (reflect.Value, bool) {
	for i := range of.NumField() {
		if name := of.Type().Field(i).Tag.Get("yaml"); name != "" && name == key {
			return of.Field(i), true
		}
	}
	return reflect.Value{}, false
}

func readMap(node *yaml.Node, into reflect.Value) *Problem {
	if node.Kind != yaml.MappingNode {
		return problemAt(node, "it takes a mapping")
	}
	into.Set(reflect.MakeMap(into.Type()))
	for i := 0; i+1 < len(node.Content); i += 2 {
		value := reflect.New(into.Type().Elem()).Elem()
		if problem := readNode(node.Content[i+1], value); problem != nil {
			return problem
		}
		into.SetMapIndex(reflect.ValueOf(node.Content[i].Value), value)
	}
	return nil
}

func readList(node *yaml.Node, into reflect.Value) *Problem {
	if node.Kind != yaml.SequenceNode {
		return problemAt(node, "it takes a list")
	}
	into.Set(reflect.MakeSlice(into.Type(), len(node.Content), len(node.Content)))
	for i, item := range node.Content {
		if problem := readNode(item, into.Index(i)); problem != nil {
			return problem
		}
	}
	return nil
}

// entry finds a key of a mapping with its value; nil when it is not there.
func entry(node *yaml.Node, key string) (name, value *yaml.Node) {
	if node == nil || node.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			return node.Content[i], node.Content[i+1]
		}
	}
	return nil, nil
}

func isNull(node *yaml.Node) bool { return node.ShortTag() == "!!null" }

func problemAt(node *yaml.Node, format string, args ...any) *Problem {
	return &Problem{Line: node.Line, Column: node.Column, Message: fmt.Sprintf(format, args...)}
}

// countedText gives its bytes one by one, so that it is known where the library
// stopped: its errors tell no column, and often the line of something else. A
// problem's column is then where the line's text begins.
type countedText struct {
	data []byte
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

// cannotBegin finds a character with which no text begins outside of quotes.
var cannotBegin = cw.Pattern("(?:^|[\\s,\\[{-])([\t@`%*&])")

// problem places an error of the library and says it for people.
func (c *countedText) problem(err error) *Problem {
	message := strings.TrimPrefix(firstLine(err.Error()), "yaml: ")
	read := strings.TrimRight(string(c.data[:c.read]), " \t\r\n")
	if name, ok := strings.CutPrefix(message, "unknown anchor '"); ok {
		return aliasProblem(read, strings.TrimSuffix(name, "' referenced"))
	}
	problem := &Problem{Line: 1 + strings.Count(read, "\n"), Message: message}
	var named int
	if _, err := fmt.Sscanf(message, "line %d:", &named); err == nil {
		_, problem.Message, _ = strings.Cut(message, ": ")
		if !strings.HasPrefix(problem.Message, "did not find expected") {
			problem.Line = named // of the scanner; the parser names where something began, counted from 0
		}
	}
	lines := strings.Split(string(c.data), "\n")
	line := lines[min(problem.Line, len(lines))-1]
	problem.Column = 1 + len(line) - len(strings.TrimLeft(line, " "))
	wrongBegin := strings.HasSuffix(message, "cannot start any token") || strings.HasSuffix(message, "alphabetic or numeric character")
	if at := cannotBegin().FindStringSubmatchIndex(line); wrongBegin && at != nil {
		problem.Column = 1 + utf8.RuneCountInString(line[:at[2]])
		problem.Message = fmt.Sprintf("text that begins with %s belongs into quotes", line[at[2]:at[3]])
		if line[at[2]] == '\t' {
			problem.Message = "lines are set in with spaces, never with tabs"
		}
	}
	return problem
}

// aliasProblem places the first alias of a name, for which the library tells no
// line.
func aliasProblem(text, name string) *Problem {
	before := text[:max(0, strings.Index(text, "*"+name))]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return &Problem{Line: 1 + strings.Count(before, "\n"), Column: 1 + utf8.RuneCountInString(line), Message: noAnchors}
}
