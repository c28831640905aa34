package orchestrator

import (
	"cw/providers"
)

// writeToolFile writes the file that makes cw's tool server known to the CLI. A
// provider without one has none.
func writeToolFile(preset providers.Preset, in providers.Invocation) error {
	path, text := preset.ToolFile(in)
	return writeText(path, text)
}

// writeHooks writes the file with which the CLI asks cw before its agent stops:
// cheaper than another run that is to write the signal. A provider without hooks
// has none.
func writeHooks(preset providers.Preset, in providers.Invocation) error {
	path, text := preset.HookFile(in)
	return writeText(path, text)
}

// writeShell writes the file that the CLI reads before each command of its agent's
// shell. A provider without one has none.
func writeShell(preset providers.Preset, in providers.Invocation) error {
	path, text := preset.ShellFile(in)
	return writeText(path, text)
}

// writeText writes a file of cw's for a run; none without a path.
func writeText(path, text string) error {
	if path == "" {
		return nil
	}
	return writeFile(path, []byte(text+"\n"))
}
