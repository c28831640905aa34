package servicetest

import (
	"context"
	"slices"
	"strings"

	"cw/internal/cw"
)

// Providers implements cw.ProviderService: a few presets, of which only the one
// without a program of its own is installed.
func (m *Memory) Providers(_ context.Context, _ string) ([]cw.ProviderView, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	views := []cw.ProviderView{
		memoryProvider("claude"), memoryProvider("codex"), memoryProvider("continue", "cn"), memoryProvider("fake"), memoryProvider("script"),
	}
	for i := range views {
		v := &views[i]
		for j := range m.agents {
			for _, r := range m.agents[j].Runs {
				if m.agents[j].Provider == v.Name && r.StartedAt != nil {
					v.Runs++
					v.UnknownLines += r.UnknownLines
				}
			}
		}
		if v.Installed = v.Name == "script"; !v.Installed {
			v.Install = "npm install -g " + v.Name
		}
	}
	return views, nil
}

// Provider implements cw.ProviderService.
func (m *Memory) Provider(ctx context.Context, name, path string) (cw.ProviderView, error) {
	views, err := m.Providers(ctx, path)
	if err != nil {
		return cw.ProviderView{}, err
	}
	names := []string{}
	for _, v := range views {
		if v.Name == name || slices.Contains(v.Aliases, name) {
			return v, nil
		}
		names = append(names, v.Name)
	}
	return cw.ProviderView{}, cw.Errorf(cw.CodeNotFound, "there is no provider %q", name).WithHint("There are: %s", strings.Join(names, ", "))
}

func memoryProvider(name string, aliases ...string) cw.ProviderView {
	return cw.ProviderView{
		Name: name, Title: name, Aliases: append([]string{}, aliases...), Origin: cw.OriginEmbedded, Changes: []string{},
		SpawnArgv: []string{name}, ResumeArgv: []string{}, EnvNames: []string{}, Accounts: name, AccountEnv: []string{},
		Resume: "none", BoundTo: "none", SessionID: "none", Prompt: "stdin", Parser: "lines", Signal: "agent", Driver: "native", MCP: "none",
		StopSignal: "TERM", Traps: []string{},
	}
}
