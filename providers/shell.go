package providers

import (
	"path/filepath"

	"cw/internal/cw"
)

// ShellFile returns the file that the CLI reads before each command of its agent's
// shell: where it is written and what. Both are empty when the provider has none, and
// without cw's own binary.
func (p Preset) ShellFile(in Invocation) (path, text string) {
	if in.CW == "" {
		return "", ""
	}
	return file(p.Shell.File, p.Shell.Template, in)
}

// file fills in the place and the text of a file of cw's. Both are empty when it has
// none, or when a value is missing.
func file(place, template string, in Invocation) (path, text string) {
	if place == "" || template == "" {
		return "", ""
	}
	values := in.values()
	path, found := expand(place, values)
	text, complete := expand(template, values)
	if !found || !complete {
		return "", ""
	}
	return path, text
}

// onPath is a command line for a shell that puts cw's own binary first on PATH, unless
// it is on it: "" without the binary.
func (in Invocation) onPath() string {
	if in.CW == "" {
		return ""
	}
	dir := cw.ShellWord(filepath.Dir(in.CW))
	return `case ":$PATH:" in *:` + dir + `:*) ;; *) export PATH=` + dir + `:"$PATH" ;; esac`
}
