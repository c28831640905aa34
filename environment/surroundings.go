package environment

import (
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"cw/internal/cw"
)

// Bounds of what is not a command.
const (
	variablesMax = 100
	valueMax     = 8 << 10 // bytes
	cachesMax    = 20
	includeMax   = 100
	pathMax      = 500 // bytes
)

// variableName finds a name that a shell can use.
var variableName = cw.Pattern(`^[A-Za-z_][A-Za-z0-9_]{0,99}$`)

// readEnv reads variables. Values are taken as they are written: 2.10 stays so.
func readEnv(node *yaml.Node) (map[string]string, error) {
	if node.Kind != yaml.MappingNode {
		return nil, invalid(node.Line, "env takes names with values").WithHint("env: {NAME: value}")
	}
	if len(node.Content)/2 > variablesMax {
		return nil, invalid(node.Line, "env has more than %d variables", variablesMax)
	}
	env := map[string]string{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, value := node.Content[i], node.Content[i+1]
		if err := checkVariable(name.Value); err != nil {
			return nil, atLine(name.Line, err)
		}
		switch {
		case value.Kind != yaml.ScalarNode:
			return nil, invalid(value.Line, "the value of %s is no text", name.Value).WithHint("put it into quotes")
		case isNull(value):
			env[name.Value] = ""
			continue
		case len(value.Value) > valueMax:
			return nil, invalid(value.Line, "the value of %s is longer than %d KiB", name.Value, valueMax>>10)
		case strings.ContainsFunc(value.Value, func(r rune) bool { return unseen(r) && r != '\n' && r != '\t' }):
			return nil, invalid(value.Line, "the value of %s has characters that cannot be seen", name.Value)
		}
		env[name.Value] = value.Value
	}
	return env, nil
}

// checkVariable refuses names that are none, and those that others give: a
// wrong value of these would not change the project but what surrounds it.
func checkVariable(name string) *cw.Error {
	bad := cw.Errorf(cw.CodeInvalid, "the variable %.40q cannot be set here", name)
	upper := strings.ToUpper(name)
	switch {
	case !variableName().MatchString(name):
		return bad.WithHint("a name has letters, digits and _, and does not begin with a digit")
	case strings.HasPrefix(upper, "CW_"):
		return bad.WithHint("names that begin with CW_ are cw's own")
	case upper == "PATH":
		return bad.WithHint("with another PATH other programs are run than those that people know; set it in the command: PATH=$PWD/bin:$PATH make")
	case upper == "HOME":
		return bad.WithHint("tools find their logins in HOME; set it in the command that needs another one")
	case strings.HasPrefix(upper, "LD_"), strings.HasPrefix(upper, "DYLD_"):
		return bad.WithHint("it loads code into every program, cw's own among them; set it in the command that needs it")
	case strings.HasPrefix(upper, "GIT_"):
		return bad.WithHint("it leads git into another repository or configuration; set it in the command that needs it")
	}
	return nil
}

// readCaches reads the folders that worktrees share.
func readCaches(node *yaml.Node) ([]string, error) {
	caches, err := readTexts("caches", node, cachesMax, func(text string) *cw.Error {
		clean := strings.TrimSuffix(text, "/")
		if err := checkPath(clean); err != nil {
			return err
		}
		if strings.ContainsAny(clean, `*?[`) {
			return cw.Errorf(cw.CodeInvalid, "the cache %q is a pattern", text).WithHint("name the folder itself")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, c := range caches {
		caches[i] = strings.TrimSuffix(c, "/")
		for _, other := range caches[:i] {
			if caches[i] == other || strings.HasPrefix(caches[i], other+"/") || strings.HasPrefix(other, caches[i]+"/") {
				return nil, invalid(node.Line, "the caches %q and %q lie in each other", other, caches[i]).WithHint("name one of them")
			}
		}
	}
	return caches, nil
}

// readInclude reads patterns of files that a worktree gets from the checkout.
func readInclude(node *yaml.Node) ([]string, error) {
	return readTexts("include", node, includeMax, func(text string) *cw.Error {
		pattern := strings.TrimSuffix(strings.TrimPrefix(text, "!"), "/")
		return checkPath(pattern)
	})
}

// checkPath refuses paths that do not stay in the worktree, or lead into what is
// git's or cw's.
func checkPath(name string) *cw.Error {
	bad := cw.Errorf(cw.CodeInvalid, "the path %.80q cannot be used", name)
	parts := strings.Split(name, "/")
	is := func(names ...string) func(string) bool {
		return func(part string) bool { return slices.Contains(names, strings.ToLower(part)) }
	}
	switch {
	case name == "" || len(name) > pathMax || strings.ContainsFunc(name, unseen):
		return bad.WithHint("it is a path of at most %d bytes, without control characters", pathMax)
	case path.IsAbs(name) || strings.HasPrefix(name, "~"):
		return bad.WithHint("it is relative to the top of the repository")
	case slices.ContainsFunc(parts, is("..")), path.Clean(name) != name || name == ".":
		return bad.WithHint("it stays in the repository, without . and ..")
	case slices.ContainsFunc(parts, is(".git")), is(".cw")(parts[0]):
		return bad.WithHint(".git is git's, and .cw is cw's")
	case strings.Contains(name, `\`):
		return bad.WithHint(`parts of a path are parted by /, not by \`)
	}
	return nil
}
