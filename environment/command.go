package environment

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"cw/internal/cw"
)

// Bounds of commands.
const (
	commandsMax    = 50               // of one key
	commandMax     = 16 << 10         // bytes
	nameMax        = 60               // characters
	timeoutMin     = time.Second      // less ends everything
	timeoutDefault = 10 * time.Minute // of a command that says none
)

// readCommands reads commands: a list of texts or of {name, run, timeout}, or a
// mapping of names to texts or {run, timeout}. They keep the order of the file.
func readCommands(key string, node *yaml.Node) ([]cw.ProjectCommand, error) {
	commands := []cw.ProjectCommand{}
	lines := map[string]int{}
	add := func(at *yaml.Node, c cw.ProjectCommand, err error) error {
		if err == nil {
			err = checkCommand(at.Line, &c)
		}
		if err != nil {
			return err
		}
		if first, twice := lines[c.Name]; twice {
			return invalid(at.Line, "%q is in %s twice", c.Name, key).
				WithHint("the first one is in line %d; give one of them another name", first)
		}
		if len(commands) == commandsMax {
			return invalid(at.Line, "%s has more than %d commands", key, commandsMax).WithHint("put them into a script of the repository")
		}
		lines[c.Name] = at.Line
		commands = append(commands, c)
		return nil
	}
	switch node.Kind {
	case yaml.SequenceNode:
		for _, item := range node.Content {
			c, err := readCommand(item, "", "name", "run", "timeout")
			if err := add(item, c, err); err != nil {
				return nil, err
			}
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			name, value := node.Content[i], node.Content[i+1]
			c, err := readCommand(value, name.Value, "run", "timeout")
			if err := add(name, c, err); err != nil {
				return nil, err
			}
		}
	default:
		return nil, invalid(node.Line, "%s takes a list of commands", key).WithHint("%s:\n  - make %s", key, key)
	}
	return commands, nil
}

// readCommand reads one command.
func readCommand(node *yaml.Node, name string, keys ...string) (cw.ProjectCommand, error) {
	c := cw.ProjectCommand{Name: name, Timeout: timeoutDefault}
	if node.Kind == yaml.ScalarNode {
		if !isNull(node) {
			c.Run = node.Value
		}
		return c, nil
	}
	err := eachKey(node, keys, func(key string, value *yaml.Node) (err error) {
		if value.Kind != yaml.ScalarNode {
			return invalid(value.Line, "%s takes a text", key)
		}
		switch key {
		case "name":
			c.Name = value.Value
		case "run":
			c.Run = value.Value
		case "timeout":
			c.Timeout, err = readTimeout(value)
		}
		return err
	})
	return c, err
}

// readTimeout reads how long a command may take: 90s, 10m, 1h30m.
func readTimeout(node *yaml.Node) (time.Duration, error) {
	d, err := time.ParseDuration(node.Value)
	if err != nil || d < timeoutMin || d > cw.CheckTimeoutMax {
		return 0, invalid(node.Line, "the timeout %.40q is none", node.Value).
			WithHint("it is a time from 1s to %dh: 90s, 10m, 1h30m", cw.CheckTimeoutMax/time.Hour)
	}
	return d, nil
}

// checkCommand refuses what cannot be run or named, and names what has no name.
func checkCommand(line int, c *cw.ProjectCommand) error {
	c.Run = strings.TrimSpace(c.Run)
	switch {
	case c.Run == "":
		return invalid(line, "there is nothing to run").WithHint("give a command as text, or as run: in a mapping")
	case len(c.Run) > commandMax:
		return invalid(line, "the command is longer than %d KiB", commandMax>>10).WithHint("put it into a script of the repository")
	case strings.ContainsFunc(c.Run, func(r rune) bool { return unseen(r) && r != '\n' && r != '\t' }):
		return invalid(line, "the command has characters that cannot be seen")
	case strings.ContainsFunc(c.Name, unseen):
		return invalid(line, "the name of a command is one line of text")
	case utf8.RuneCountInString(c.Name) > nameMax:
		return invalid(line, "the name of a command is longer than %d characters", nameMax)
	}
	if c.Name = strings.TrimSpace(c.Name); c.Name == "" {
		c.Name = shortName(c.Run)
	}
	return nil
}

// unseen tells whether a character is not shown as itself: escapes in quotes
// make such ones.
func unseen(r rune) bool { return unicode.IsControl(r) || hidden(r) }

// shortName names a command by its first line.
func shortName(run string) string {
	name, more, _ := strings.Cut(strings.ReplaceAll(run, "\t", " "), "\n")
	name = strings.TrimSpace(name)
	if r := []rune(name); len(r) > nameMax {
		return string(r[:nameMax-1]) + "…"
	}
	if more != "" && utf8.RuneCountInString(name) < nameMax-1 {
		return name + " …"
	}
	return name
}
