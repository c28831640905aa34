package providers

// StdinFile gives what the run of a CLI with a protocol of its own reads from
// stdin: where it is written and what. Both are empty where the prompt travels
// otherwise.
func (p Preset) StdinFile(in Invocation) (path, text string) {
	if p.Stdin.File == "" {
		return "", ""
	}
	values := in.values()
	path, found := expand(p.Stdin.File, values)
	text, complete := expand(p.Stdin.Template, values)
	if !found || !complete {
		return "", ""
	}
	return path, text + "\n"
}
