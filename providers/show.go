package providers

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"cw/internal/cw"
)

// notFound stands for a program that is not installed, in an example.
const notFound = "/not/installed"

// Example gives what a spawn and a resume would be started with, for people:
// the names of values stand in braces in their places, credentials that
// somebody wrote into the preset are hidden. resume is empty for a provider that
// cannot. envNames are the variables that the preset sets, without their values.
// binary is what Find gave, "" when it found nothing; self is cw's own binary.
func (p Preset) Example(binary, self string) (spawn, resume, envNames []string) {
	in := exampleInvocation(cmp.Or(binary, notFound), self)
	in.HookConfig, _ = p.HookFile(in)
	in.MCPConfig, _ = p.ToolFile(in)
	name := binary
	if binary == "" && len(p.Command.Names) > 0 {
		name = p.Command.Names[0]
	}
	show := func(c Command, err error) []string {
		if err != nil {
			return []string{}
		}
		for variable := range c.Env {
			envNames = append(envNames, variable)
		}
		argv := slices.Clone(c.Argv)
		if at := slices.Index(argv, notFound); at >= 0 {
			argv[at] = name
		}
		return hideSecrets(argv)
	}
	spawn, resume = show(p.Spawn(in)), show(p.Resume(in))
	slices.Sort(envNames)
	return spawn, resume, slices.Compact(envNames)
}

// exampleInvocation has the name of each value in its place.
func exampleInvocation(binary, self string) Invocation {
	return Invocation{
		Binary: binary, Script: "/{{script}}", SessionID: "{{sessionId}}", Model: "{{model}}", Prompt: "{{prompt}}",
		PromptFile: "{{promptFile}}", Cwd: "{{cwd}}", RunDir: "{{runDir}}", CW: self, Socket: "/{{socket}}",
	}
}

// AccountNames lists the variables that carry credentials or say where they lie.
func (p Preset) AccountNames() []string {
	names := p.Account.names()
	slices.Sort(names)
	return slices.Compact(names)
}

// hidden stands for a credential.
const hidden = "[hidden]"

var (
	// secretOption is an option whose value is a credential.
	secretOption = cw.Pattern(`(?i)^-[\w-]*(?:key|token|secret|password|credential)$`)
	// secretText finds credentials by what stands before them, and by their form.
	secretText = cw.Pattern(`(?i)((?:key|token|secret|password|credential|authorization)["']?\s*[=:]\s*["']?(?:bearer\s+)?|bearer\s+)([^\s"'{}]{8,})|\b(?:(?:sk|gh[opsu]|xox[bp]|github_pat)[-_]|AIza)[\w-]{12,}`)
)

// hideSecrets hides what a person may have written into a preset and nobody
// else is to read.
func hideSecrets(argv []string) []string {
	out := slices.Clone(argv)
	for i, arg := range argv {
		if i > 0 && secretOption().MatchString(argv[i-1]) && !strings.HasPrefix(arg, "{{") && !strings.HasPrefix(arg, "-") {
			out[i] = hidden
			continue
		}
		out[i] = secretText().ReplaceAllString(arg, "${1}"+hidden)
	}
	return out
}

// Overridden tells what a preset of the user's takes the place of or extends:
// the name of that built-in preset and the keys in which the two differ. Both are
// empty for a built-in preset, and for one that has nothing to do with any.
func (r *Registry) Overridden(p Preset) (of string, keys []string) {
	if p.origin == "" {
		return "", nil
	}
	for _, name := range []string{p.Name, p.Extends} {
		if base, ok := r.embedded[name]; ok {
			return name, differences(reflect.ValueOf(base.preset), reflect.ValueOf(p), "")
		}
	}
	return "", nil
}

// differences lists the keys of a preset file in which two values differ.
func differences(a, b reflect.Value, prefix string) []string {
	var out []string
	for i := range a.NumField() {
		key := a.Type().Field(i).Tag.Get("yaml")
		if key == "" || key == "extends" || key == "name" && prefix == "" {
			continue
		}
		x, y := a.Field(i), b.Field(i)
		switch _, readsItself := reflect.New(x.Type()).Interface().(readsYAML); {
		case x.Kind() == reflect.Struct && !readsItself:
			out = append(out, differences(x, y, prefix+key+".")...)
		case !same(x, y):
			out = append(out, prefix+key)
		}
	}
	return out
}

// same compares two values; an empty list is as good as none.
func same(x, y reflect.Value) bool {
	if k := x.Kind(); (k == reflect.Slice || k == reflect.Map) && x.Len() == 0 && y.Len() == 0 {
		return true
	}
	return reflect.DeepEqual(x.Interface(), y.Interface())
}
