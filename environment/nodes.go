package environment

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"cw/internal/cw"
)

// invalid is the error about one line of the file.
func invalid(line int, format string, args ...any) *cw.Error {
	return cw.Errorf(cw.CodeInvalid, "%s:%d: %s", cw.ProjectFileName, line, fmt.Sprintf(format, args...))
}

// readNodes reads a text as one YAML document; nil when it holds nothing. What
// a project file does not need is refused before anything is expanded: anchors
// and aliases, with which a small file grows without bound, and tags.
func readNodes(data []byte) (*yaml.Node, error) {
	text := &countedText{data: data}
	dec := yaml.NewDecoder(text)
	var doc, more yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF): // nothing, or comments alone
		return nil, nil
	case err != nil:
		return nil, text.invalid(err)
	}
	root := doc.Content[0]
	if err := plainForms(root); err != nil {
		return nil, err
	}
	switch err := dec.Decode(&more); {
	case err == nil: // it would be left unread in silence
		return nil, invalid(more.Line, "a second document begins").WithHint("a project has one file with one document")
	case !errors.Is(err, io.EOF):
		return nil, text.invalid(err)
	}
	if isNull(root) {
		return nil, nil
	}
	return root, nil
}

// plainForms refuses anchors, aliases and tags, keys that are no words, and
// keys that are there twice.
func plainForms(node *yaml.Node) error {
	switch {
	case node.Kind == yaml.AliasNode || node.Anchor != "":
		return invalid(node.Line, "anchors and aliases are not taken").WithHint("write it out")
	case node.Style&yaml.TaggedStyle != 0:
		return invalid(node.Line, "tags (%.20s) are not taken", node.Tag).WithHint("leave it away")
	}
	seen := map[string]int{}
	for i, child := range node.Content {
		if err := plainForms(child); err != nil {
			return err
		}
		if node.Kind != yaml.MappingNode || i%2 == 1 {
			continue
		}
		switch first := seen[child.Value]; {
		case child.Kind != yaml.ScalarNode || child.ShortTag() == "!!merge":
			return invalid(child.Line, "a key is a word")
		case first != 0:
			return invalid(child.Line, "%.40q is there twice", child.Value).WithHint("the first one is in line %d", first)
		}
		seen[child.Value] = child.Line
	}
	return nil
}

// eachKey gives every key of a mapping that has a value, in the order of the
// file. A key that is none of those known is refused, with the nearest one.
func eachKey(node *yaml.Node, known []string, do func(key string, value *yaml.Node) error) error {
	if node.Kind != yaml.MappingNode {
		return invalid(node.Line, "keys with values are expected here").WithHint("keys: %s", strings.Join(known, ", "))
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if !isOne(key.Value, known) {
			err := invalid(key.Line, "unknown key %.40q", key.Value)
			if near, ok := cw.Nearest(key.Value, known); ok {
				return err.WithHint("did you mean %s?", near)
			}
			return err.WithHint("keys: %s", strings.Join(known, ", "))
		}
		if isNull(value) {
			continue
		}
		if err := do(key.Value, value); err != nil {
			return err
		}
	}
	return nil
}

func isOne(word string, of []string) bool {
	for _, w := range of {
		if w == word {
			return true
		}
	}
	return false
}

func isNull(node *yaml.Node) bool { return node.ShortTag() == "!!null" }

// readTexts reads a list of texts of at most most items.
func readTexts(key string, node *yaml.Node, most int, check func(text string) *cw.Error) ([]string, error) {
	if node.Kind != yaml.SequenceNode {
		return nil, invalid(node.Line, "%s takes a list", key).WithHint("%s: [first, second]", key)
	}
	if len(node.Content) > most {
		return nil, invalid(node.Line, "%s has more than %d entries", key, most)
	}
	texts := []string{}
	for _, item := range node.Content {
		if item.Kind != yaml.ScalarNode || isNull(item) {
			return nil, invalid(item.Line, "an entry of %s is a text", key)
		}
		if err := check(item.Value); err != nil {
			return nil, atLine(item.Line, err)
		}
		texts = append(texts, item.Value)
	}
	return texts, nil
}

// atLine says where in the file something is wrong.
func atLine(line int, err *cw.Error) *cw.Error {
	out := invalid(line, "%s", err.Message)
	out.Hint = err.Hint
	return out
}

// countedText gives its bytes one by one, so that it is known where the library
// stopped: its errors name the line of something else, or none.
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

// invalid says for people where the text is no YAML.
func (c *countedText) invalid(err error) *cw.Error {
	message := strings.TrimPrefix(strings.SplitN(err.Error(), "\n", 2)[0], "yaml: ")
	if strings.HasPrefix(message, "unknown anchor") {
		message = "anchors and aliases are not taken"
	}
	line := 1 + bytes.Count(bytes.TrimRight(c.data[:c.read], " \t\r\n"), []byte("\n"))
	if _, text, ok := strings.Cut(message, ": "); ok && strings.HasPrefix(message, "line ") {
		message = text
	}
	return invalid(line, "%s", message).WithHint("texts with special characters belong into quotes, and lines are set in with spaces")
}
