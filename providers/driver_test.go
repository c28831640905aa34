package providers

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

// acpPreset is a CLI that is driven over ACP; tests change lines of it.
const acpPreset = `
name: agent
command: {names: [agent]}
spawn: {args: [--acp, "{{modelArgs}}", "{{autoApproveArgs}}"], env: {AGENT_UPDATE: "0"}}
resume: {args: [--acp, "{{autoApproveArgs}}"]}
modelArgs: [[-m, "{{model}}"]]
autoApproveArgs: [--yolo]
promptMode: native
resumeStyle: acp
sessionId: {from: first-line}
parser: acp
driver: acp
mcp: {style: acp}
`

// TestDriven renders runs over ACP: the driver in front, the prompt on its
// stdin.
func TestDriven(t *testing.T) {
	t.Parallel()
	p := mustDecode(t, acpPreset)
	in := Invocation{
		Binary: "/bin/agent", CW: "/opt/cw", Cwd: "/w", SessionID: "s1", Model: "m", Prompt: "-p",
		PromptFile: "/run/prompt.md", MCPConfig: "/run/mcp.json",
	}
	spawn, err := p.Spawn(in)
	if err != nil {
		t.Fatal(err)
	}
	resume, err := p.Resume(in)
	if err != nil {
		t.Fatal(err)
	}
	want := []Command{
		{
			Argv: []string{"/opt/cw", "acp", "--cwd=/w", "--mcp=/run/mcp.json", "--", "/bin/agent", "--acp", "-m", "m", "--yolo"},
			Env:  map[string]string{"AGENT_UPDATE": "0"}, PromptOnStdin: true,
		},
		{
			Argv: []string{"/opt/cw", "acp", "--cwd=/w", "--resume=s1", "--mcp=/run/mcp.json", "--", "/bin/agent", "--acp", "--yolo"},
			Env:  map[string]string{}, PromptOnStdin: true,
		},
	}
	if diff := cmp.Diff(want, []Command{spawn, resume}); diff != "" {
		t.Error(diff)
	}
	p.MCP.Style, p.ModelArgs = "env", nil
	in.MCPConfig, in.SessionID = "/run/mcp.json", "-x"
	if resume, err = p.Resume(in); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(resume.Argv, " "); got != "/opt/cw acp --cwd=/w --resume=-x --model=m -- /bin/agent --acp --yolo" {
		t.Error(got)
	}
}

// TestDrivenRefuses tells what is missing before a run begins.
func TestDrivenRefuses(t *testing.T) {
	t.Parallel()
	p := mustDecode(t, acpPreset)
	for name, in := range map[string]Invocation{
		"no cw":         {Binary: "/bin/agent", Cwd: "/w", SessionID: "s"},
		"no directory":  {Binary: "/bin/agent", CW: "/opt/cw", SessionID: "s"},
		"no session":    {Binary: "/bin/agent", CW: "/opt/cw", Cwd: "/w"},
		"a broken id":   {Binary: "/bin/agent", CW: "/opt/cw", Cwd: "/w", SessionID: "s\x00"},
		"no sandbox":    {Binary: "/bin/agent", CW: "/opt/cw", Cwd: "/w", SessionID: "s", Sandbox: true},
		"no executable": {CW: "/opt/cw", Cwd: "/w", SessionID: "s"},
	} {
		if cmd, err := p.Resume(in); err == nil {
			t.Errorf("%s: %v", name, cmd.Argv)
		}
	}
	_, err := p.Resume(Invocation{Binary: "/bin/agent", CW: "/opt/cw", Cwd: "/w"})
	if cw.ErrorCode(err) != cw.CodeRefused {
		t.Errorf("without a session: %v", err)
	}
}

// TestDriverChecks wants together what belongs to ACP.
func TestDriverChecks(t *testing.T) {
	t.Parallel()
	native := strings.NewReplacer("driver: acp", "driver: native", "promptMode: native", "promptMode: stdin", "resumeStyle: acp", "resumeStyle: flag", "parser: acp", "parser: lines", "mcp: {style: acp}", "mcp: {style: none}")
	for _, tt := range []struct{ from, to, want string }{
		{"parser: acp", "parser: lines", "parser: driver acp prints lines of format acp"},
		{"resumeStyle: acp", "resumeStyle: flag", "resumeStyle: driver acp resumes with acp, or with none"},
		{"promptMode: native", "promptMode: stdin", "promptMode: driver acp carries the prompt: native"},
		{"sessionId: {from: first-line}", "sessionId: {choose: uuid}\nasRootEnv: {X: \"{{sessionId}}\"}", "sessionId.choose"},
	} {
		holdProblem(t, strings.Replace(acpPreset, tt.from, tt.to, 1), tt.want)
	}
	for _, tt := range []struct{ from, to, want string }{
		{"parser: lines", "parser: acp", "parser: acp needs driver: acp"},
		{"resumeStyle: flag", "resumeStyle: acp", "resumeStyle: acp needs driver: acp"},
		{"mcp: {style: none}", "mcp: {style: acp}", "mcp.style: acp needs driver: acp"},
	} {
		holdProblem(t, strings.Replace(native.Replace(acpPreset), tt.from, tt.to, 1), tt.want)
	}
	mustDecode(t, native.Replace(acpPreset))
}

func holdProblem(t *testing.T, text, want string) {
	t.Helper()
	_, problem := decodePreset([]byte(text), func(string) []byte { return nil })
	if problem == nil || !strings.Contains(problem.String(), want) {
		t.Errorf("%v, want %s", problem, want)
	}
}
