package orchestrator

import (
	"cw/providers"
)

// writeToolFile writes the file that makes cw's tool server known to the CLI. A
// provider without one has none.
func writeToolFile(preset providers.Preset, in providers.Invocation) error {
	path, text := preset.ToolFile(in)
	if path == "" {
		return nil
	}
	return writeFile(path, []byte(text+"\n"))
}

// writeHooks writes the file with which the CLI asks cw before its agent stops:
// cheaper than another run that is to write the signal. A provider without hooks
// has none.
func writeHooks(preset providers.Preset, in providers.Invocation) error {
	path, text := preset.HookFile(in)
	if path == "" {
		return nil
	}
	return writeFile(path, []byte(text+"\n"))
}
