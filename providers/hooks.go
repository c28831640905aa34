package providers

import "cw/internal/cw"

// HookFile gives the file with cw's hooks for one run: where it is written and
// what. Both are empty when the provider has none.
func (p Preset) HookFile(in Invocation) (path, text string) {
	return file(p.Hooks.File, p.Hooks.Template, in)
}

// stopHook is the command line, for a shell, with which a CLI asks cw whether
// its agent may stop: "" without cw's own binary.
func (in Invocation) stopHook() string {
	if in.CW == "" || in.Cwd == "" {
		return ""
	}
	return cw.ShellWord(in.CW) + " hook stop " + cw.ShellWord(in.Cwd)
}
