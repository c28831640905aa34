package environment

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"cw/internal/cw"
)

// Digest names the content of a project file: the SHA-256 of its bytes, in hex.
// It is what people trust.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Parse reads a project file. An empty one says nothing: no commands, no ports,
// merges by a commit with two parents. CodeInvalid, naming the line, for
// anything that is not understood: a file that is half understood would set up
// or check less than people believe.
func Parse(data []byte) (cw.ProjectFile, error) {
	f := cw.ProjectFile{
		Setup: []cw.ProjectCommand{}, Teardown: []cw.ProjectCommand{}, Checks: []cw.ProjectCommand{},
		Env: map[string]string{}, Caches: []string{}, Include: []string{}, Merge: cw.MergeCommit,
	}
	if err := plainText(data); err != nil {
		return cw.ProjectFile{}, err
	}
	root, err := readNodes(data)
	if err != nil {
		return cw.ProjectFile{}, err
	}
	if root == nil {
		return f, nil
	}
	err = eachKey(root, topKeys(), func(key string, value *yaml.Node) error { return readKey(&f, key, value) })
	if err != nil {
		return cw.ProjectFile{}, err
	}
	return f, nil
}

// topKeys lists the keys of the file.
func topKeys() []string {
	return []string{"setup", "teardown", "env", "ports", "caches", "include", "checks", "merge", "outsidePaths", "hooks", "run"}
}

// readKey reads the value of one key of the file.
func readKey(f *cw.ProjectFile, key string, value *yaml.Node) (err error) {
	switch key {
	case "setup":
		f.Setup, err = readCommands(key, value)
	case "teardown":
		f.Teardown, err = readCommands(key, value)
	case "checks":
		f.Checks, err = readCommands(key, value)
	case "env":
		f.Env, err = readEnv(value)
	case "ports":
		f.Ports, err = readPorts(value)
	case "caches":
		f.Caches, err = readCaches(value)
	case "include":
		f.Include, err = readInclude(value)
	case "merge":
		f.Merge, err = readMerge(value)
	case "outsidePaths":
		f.OutsidePaths, err = readOutsidePaths(value)
	case "hooks":
		f.Hooks, err = readHooks(value)
	case "run":
		f.Run, err = readRun(value)
	}
	return err
}

// plainText refuses what is too large, or no text that people can look at:
// what they trust must be what is read.
func plainText(data []byte) error {
	switch {
	case len(data) > cw.ProjectFileMax:
		return cw.Errorf(cw.CodeInvalid, "%s is larger than %d KiB", cw.ProjectFileName, cw.ProjectFileMax>>10).
			WithHint("put long commands into scripts of the repository")
	case !utf8.Valid(data):
		return cw.Errorf(cw.CodeInvalid, "%s is no UTF-8 text", cw.ProjectFileName).WithHint("save it as UTF-8")
	}
	for i, r := range string(data) {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) && (r != '\r' || i+1 >= len(data) || data[i+1] != '\n') || hidden(r)) {
			line := 1 + strings.Count(string(data[:i]), "\n")
			return invalid(line, "the character %U cannot be seen", r).WithHint("remove it: what is trusted must be what people see")
		}
	}
	return nil
}

// hidden tells whether a character is invisible, or turns the order in which
// others are shown.
func hidden(r rune) bool { return unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' }

// readPorts reads how many ports a worktree gets.
func readPorts(node *yaml.Node) (int, error) {
	n, err := strconv.Atoi(node.Value)
	if node.Kind != yaml.ScalarNode || err != nil || n < 0 || n > cw.PortSlotsMax {
		return 0, invalid(node.Line, "ports is a number from 0 to %d", cw.PortSlotsMax).
			WithHint("it says how many free ports each worktree gets")
	}
	return n, nil
}

// readMerge reads how work comes onto a branch.
func readMerge(node *yaml.Node) (cw.MergeStrategy, error) {
	return readWord(node, "merge", cw.MergeStrategies(),
		"it is %s (a commit with two parents) or %s (one commit with all changes)", cw.MergeCommit, cw.MergeSquash)
}

// readOutsidePaths reads what becomes of work outside the paths of its task.
func readOutsidePaths(node *yaml.Node) (cw.OutsidePolicy, error) {
	return readWord(node, "outsidePaths", cw.OutsidePolicies(),
		"work that changed files outside the paths of its task is merged with a warning (%s) or waits for a person (%s)", cw.OutsideWarn, cw.OutsideRefuse)
}

// readHooks reads whether the repository's git hooks run for agents. YAML reads
// a plain off as a word here, as it is a text.
func readHooks(node *yaml.Node) (cw.HooksPolicy, error) {
	return readWord(node, "hooks", cw.HooksPolicies(),
		"it is %s (the repository's git hooks do not run for agents) or %s (they do)", cw.HooksOff, cw.HooksRun)
}

// readWord reads one of the words that a key takes.
func readWord[T ~string](node *yaml.Node, key string, words []T, hint string, args ...any) (T, error) {
	word := T(node.Value)
	if node.Kind != yaml.ScalarNode || !slices.Contains(words, word) {
		return "", invalid(node.Line, "%s is %.40q", key, node.Value).WithHint(hint, args...)
	}
	return word, nil
}

// readRun reads how a person runs the result.
func readRun(node *yaml.Node) (string, error) {
	text := strings.TrimSpace(node.Value)
	switch {
	case node.Kind != yaml.ScalarNode || text == "" || len(text) > cw.RunTextMax:
		return "", invalid(node.Line, "run is a text of at most %d KiB", cw.RunTextMax>>10).
			WithHint("it tells people how they run or look at the result, and is never run by cw")
	case strings.ContainsFunc(text, func(r rune) bool { return unseen(r) && r != '\n' && r != '\t' }):
		return "", invalid(node.Line, "run has characters that cannot be seen")
	}
	return text, nil
}

// Printable shows a text as people may safely see it: characters that are not
// seen, or that change how others are, are written out as escapes, and what is no
// UTF-8 as well. Lines and tabs stay.
func Printable(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			out.WriteString(`\x` + hex.EncodeToString([]byte{text[i]}))
		case r == '\n' || r == '\t' || !unseen(r):
			out.WriteRune(r)
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			out.WriteString(quoted[1 : len(quoted)-1])
		}
		i += size
	}
	return out.String()
}
