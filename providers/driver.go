package providers

import "fmt"

// acpArgs is how cw's own driver is called (cmd/cw/acp.go): it starts the
// command that stands behind the --, hands it the prompt that it reads from
// stdin, and prints what the agent says as lines of format acp. A CLI that takes
// no model as an argument is told it over the protocol.
func (p Preset) acpArgs() Args {
	args := Args{{"acp"}, {"--cwd={{cwd}}"}, {"--resume={{sessionId}}"}}
	if len(p.ModelArgs) == 0 {
		args = append(args, Group{"--model={{model}}"})
	}
	if p.MCP.Style == styleACP {
		args = append(args, Group{"--mcp={{mcpConfig}}"})
	}
	return append(args, Group{"--"})
}

// styleACP is the style of servers that the driver tells the agent about.
const styleACP = "acp"

// driven puts the driver in front of a command that is talked to over a
// protocol.
func (p Preset) driven(argv []string, in Invocation, values map[string]string) ([]string, error) {
	if p.Driver != DriverACP {
		return argv, nil
	}
	if in.CW == "" || in.Cwd == "" {
		return nil, fmt.Errorf("start %s: its driver needs cw and a working directory", p.Name)
	}
	args, err := p.acpArgs().expand(values)
	if err != nil {
		return nil, p.refuse(err)
	}
	return append(append([]string{in.CW}, args...), argv...), nil
}

// checkDriver wants what belongs to ACP together: the lines are those of the
// driver, it carries the prompt, and the agent names its sessions itself.
func (p *Preset) checkDriver() error {
	acp := p.Driver == DriverACP
	switch {
	case acp && p.Parser != "acp":
		return keyError("parser", "driver acp prints lines of format acp")
	case !acp && p.Parser == "acp":
		return keyError("parser", "acp needs driver: acp")
	case !acp && p.ResumeStyle == ResumeACP:
		return keyError("resumeStyle", "acp needs driver: acp")
	case !acp && p.MCP.Style == styleACP:
		return keyError("mcp.style", "acp needs driver: acp")
	case acp && p.ResumeStyle != ResumeACP && p.ResumeStyle != ResumeNone:
		return keyError("resumeStyle", "driver acp resumes with acp, or with none")
	case acp && p.PromptMode != PromptNative:
		return keyError("promptMode", "driver acp carries the prompt: native")
	case acp && p.SessionID.Choose != none:
		return keyError("sessionId.choose", "over ACP the agent names its sessions")
	}
	return nil
}
