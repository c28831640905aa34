package orchestrator

import (
	"strings"

	"cw/internal/cw"
	"cw/providers"
)

// expected are the providers that are looked for when nobody named one, in
// this order.
func expected() []string { return []string{"claude", "codex"} }

// choosePreset takes the provider that was named, else the configured one, else
// the first installed one of those that people expect. It fills in the model
// and the sandbox that go with it.
func (o *Orchestrator) choosePreset(req *cw.SpawnRequest) (providers.Preset, error) {
	preset, err := o.findPreset(*req)
	if err != nil {
		return preset, err
	}
	if req.Model != "" && !preset.CanChooseModel() {
		return preset, cw.Errorf(cw.CodeInvalid, "%s takes no model from cw", preset.Title).
			WithHint("leave --model out: the model stands in the configuration of %s", preset.Title)
	}
	if o.defaultsFor(*req, preset) {
		req.Model = orDefault(req.Model, o.Defaults.Model)
	}
	asked := req.Sandbox
	req.Sandbox = orDefault(orDefault(asked, o.Defaults.Sandbox), cw.SandboxOff)
	return preset, checkSandbox(preset, req.Sandbox, asked == "")
}

// defaultsFor tells whether the configured model is one of this provider: it is
// when it was configured together with it, or nobody named any.
func (o *Orchestrator) defaultsFor(req cw.SpawnRequest, preset providers.Preset) bool {
	if preset.Command.From == providers.FromScript {
		return false
	}
	if o.Defaults.Provider == "" {
		return req.Provider == ""
	}
	configured, err := o.Presets.Get(o.Defaults.Provider)
	return err == nil && configured.Name == preset.Name
}

func (o *Orchestrator) findPreset(req cw.SpawnRequest) (providers.Preset, error) {
	name := req.Provider
	if name == "" && req.Script != "" {
		return o.Presets.Get(providerScript)
	}
	name = orDefault(name, o.Defaults.Provider)
	if name == "" {
		return o.installedPreset(req)
	}
	p, err := o.Presets.Get(name)
	if err != nil && req.Provider == "" { // nobody typed that name
		return p, cw.Errorf(cw.CodeNotFound, "run.provider is %q, and there is no provider of that name", name).
			WithHint("%s. Change it: cw config set run.provider NAME && cw restart; or add --provider NAME", cw.ErrorHint(err))
	}
	if err == nil && p.Command.From == providers.FromScript && req.Script == "" {
		err = cw.Errorf(cw.CodeInvalid, "provider script needs an executable").WithHint("add --script ./work.sh")
	}
	if err == nil && p.Command.From != providers.FromScript && req.Script != "" {
		err = cw.Errorf(cw.CodeInvalid, "--script goes with --provider script only").WithHint("add --provider script, or leave --script out")
	}
	return p, err
}

// installedPreset takes the first provider of expected that is installed.
func (o *Orchestrator) installedPreset(req cw.SpawnRequest) (providers.Preset, error) {
	var install []string
	for _, name := range expected() {
		p, err := o.Presets.Get(name)
		if err != nil {
			return p, err
		}
		if _, err := o.lookPath(p, req.Env["PATH"]); err == nil {
			return p, nil
		}
		install = append(install, p.Command.Install)
	}
	return providers.Preset{}, cw.Errorf(cw.CodeNotFound, "no provider CLI is installed (looked for %s)", strings.Join(expected(), ", ")).
		WithHint("%s; or use --provider script --script FILE; cw doctor shows what is there", strings.Join(install, ", or "))
}
