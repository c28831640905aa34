package prompts

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

var update = flag.Bool("update", false, "rewrite the golden files and the generated part of docs/prompts.md")

// executeTags is the order that everything else may rely on.
var executeTags = []string{
	"role", "task", "input_files", "output_format", "id_generation", "signal_format",
	"session_startup", "execution_protocol", "anti_patterns", "scope_rules", "test_integrity",
	"deviation_rules", "git_workflow", "progress_tracking", "context_management",
	"definition_of_done", "workspace", "inter_agent_communication",
}

// oneProject is the usual input, with everything in it that can be.
func oneProject() Input {
	return Input{
		AgentID: "k3v9q2m7x4ta", AgentName: "brave-otter",
		Task: "Add a `--json` flag to `list`.\n\nPrint one array; errors stay on stderr.",
		Projects: []Project{{
			Name: "shop", Path: ".", Branch: "agent/brave-otter",
			BaseBranch: "main", BaseCommit: "4f2c9aa1d0", DirtyFiles: 3,
		}},
		Cwd:      "/home/ann/.cw/.cw-worktrees/agent/brave-otter",
		Commands: AgentCommands(),
		Checks:   []string{"make test", "make lint"},
	}
}

// withTools is oneProject with a CLI that has cw's tools.
func withTools() Input {
	in := oneProject()
	in.Tools = cw.MayUse(cw.RunScopes(), nil, nil)
	return in
}

func severalProjects() Input {
	in := oneProject()
	in.Cwd = "/home/ann/.cw/agent-workdirs/brave-otter"
	in.Projects[0].Path = "shop"
	in.Projects = append(in.Projects, Project{
		Name: "shop-web", Path: "shop-web", Branch: "agent/brave-otter", BaseCommit: "99e0b1c2d3", DirtyFiles: 1,
	})
	return in
}

func standalone() Input {
	in := oneProject()
	in.Cwd = "/home/ann/.cw/agent-workdirs/brave-otter/workspace"
	in.Projects, in.Checks, in.Commands = nil, nil, nil
	return in
}

func render(t *testing.T, in Input) Prompt {
	t.Helper()
	p, err := Render("execute", in)
	if err != nil {
		t.Fatalf("render: %v", err)
	}
	return p
}

func tagsOf(p Prompt) []string {
	var tags []string
	for _, b := range p.Blocks {
		tags = append(tags, b.Tag)
	}
	return tags
}

// without returns the tags of an execute prompt, less some.
func without(left ...string) []string {
	return slices.DeleteFunc(slices.Clone(executeTags), func(tag string) bool {
		return slices.Contains(left, tag)
	})
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for file, in := range map[string]Input{
		"execute.golden.md":            oneProject(),
		"execute-several.golden.md":    severalProjects(),
		"execute-tools.golden.md":      withTools(),
		"execute-standalone.golden.md": standalone(),
	} {
		t.Run(file, func(t *testing.T) {
			path := filepath.Join("testdata", file)
			got := render(t, in).Text
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("the prompt changed; read the difference and run go test ./prompts -update (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTableOfExecute(t *testing.T) {
	t.Parallel()
	var tags []string
	last := 0
	for _, row := range Table() {
		if row.Mode != "execute" {
			continue
		}
		tags = append(tags, row.Tag)
		if row.Order <= last {
			t.Errorf("block %s has order %d after %d", row.Tag, row.Order, last)
		}
		last = row.Order
		dir := "execute/"
		if row.Shared() {
			dir = "shared/"
		}
		if want := dir + row.Tag + ".md"; row.Source != want {
			t.Errorf("block %s is in %s, want %s", row.Tag, row.Source, want)
		}
	}
	if diff := cmp.Diff(executeTags, tags); diff != "" {
		t.Errorf("order of blocks (-want +got):\n%s", diff)
	}
}

func TestEveryTemplateHasARow(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("templates/*/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("templates: %v, %v", files, err)
	}
	for _, file := range files {
		source := strings.TrimPrefix(filepath.ToSlash(file), "templates/")
		if !slices.ContainsFunc(Table(), func(r Row) bool { return r.Source == source }) {
			t.Errorf("%s is in no mode's table", source)
		}
	}
}

func TestTemplatesKeepTheirLength(t *testing.T) {
	t.Parallel()
	total := 0
	for _, row := range Table() {
		src, err := templates.ReadFile("templates/" + row.Source)
		if err != nil {
			t.Fatal(err)
		}
		if row.Mode == "execute" {
			total += len(src)
		}
		if row.MaxLen <= 0 || len(src) > row.MaxLen {
			t.Errorf("%s has %d bytes, at most %d are allowed", row.Source, len(src), row.MaxLen)
		}
	}
	if most := 24_000; total > most {
		t.Errorf("all templates of execute have %d bytes, at most %d are allowed", total, most)
	}
}

func TestBlocksThatAreThere(t *testing.T) {
	t.Parallel()
	const talk = "inter_agent_communication"
	tests := []struct {
		name   string
		change func(in *Input)
		want   []string
	}{
		{"all there is", func(*Input) {}, executeTags},
		{"no task", func(in *Input) { in.Task = "" }, without("task")},
		{"a task of white space", func(in *Input) { in.Task = " \n\t" }, without("task")},
		{"no command", func(in *Input) { in.Commands = nil }, without(talk, "id_generation")},
		{"other commands", func(in *Input) { in.Commands = []string{"ask", "listen", "ids"} }, without(talk, "id_generation")},
		{"no answer", func(in *Input) { in.Commands = []string{"id", "ask", "listen"} }, without(talk)},
		{"tools alone", func(in *Input) { *in = withTools(); in.Commands = nil }, without("id_generation")},
		{"not all tools", func(in *Input) { in.Commands, in.Tools = []string{"id"}, []string{"listen", "answer"} }, without(talk)},
		{"standalone", func(in *Input) { in.Projects = nil }, without("git_workflow")},
		{"several projects", func(in *Input) { *in = severalProjects() }, executeTags},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			in := oneProject()
			test.change(&in)
			p := render(t, in)
			if diff := cmp.Diff(test.want, tagsOf(p)); diff != "" {
				t.Errorf("blocks (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.want, parseTags(t, p.Text)); diff != "" {
				t.Errorf("tags in the text (-want +got):\n%s", diff)
			}
			for _, left := range without(test.want...) {
				if strings.Contains(p.Text, "<"+left) {
					t.Errorf("the text has a tag %s", left)
				}
			}
		})
	}
}

// A prompt must not send an agent to a command that does not exist.
func TestNamesOnlyCommandsThatExist(t *testing.T) {
	t.Parallel()
	command := regexp.MustCompile("(?m)(?:`|\\bcw-|\\$ |^|; )cw ([a-z]+)")
	for name, in := range map[string]Input{"one": oneProject(), "several": severalProjects(), "none": standalone()} {
		for _, commands := range [][]string{nil, {"id"}, {"ask", "listen"}, {"ask", "listen", "answer"}} {
			in.Commands = commands
			for _, found := range command.FindAllStringSubmatch(render(t, in).Text, -1) {
				if !slices.Contains(commands, found[1]) {
					t.Errorf("%s: the prompt names cw %s, there is only %v", name, found[1], commands)
				}
			}
		}
	}
	p := render(t, oneProject())
	for tag, want := range map[string]int{"id_generation": 2, "inter_agent_communication": 5} {
		if body, _ := p.Body(tag); len(command.FindAllString(body, -1)) != want {
			t.Errorf("the pattern does not find %d commands in %q", want, body)
		}
	}
}

func TestStandaloneIsToldNothingOfGit(t *testing.T) {
	t.Parallel()
	in := standalone()
	git := regexp.MustCompile("(?i)`git |\\bcommits?\\b|\\bcommitted\\b|\\bbranch\\b|noChanges")
	for _, b := range render(t, in).Blocks {
		if found := git.FindString(b.Body); found != "" {
			t.Errorf("block %s says %q to an agent without a repository", b.Tag, found)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		mode   string
		change func(in *Input)
		want   string
	}{
		{"a mode that is none", "dream", func(*Input) {}, `mode "dream" has no prompt (modes that have one: execute, discuss, refine, plan, detail)`},
		{"no mode", "", func(*Input) {}, `mode "" has no prompt`},
		{"no agent id", "execute", func(in *Input) { in.AgentID = "" }, "no id"},
		{"no agent name", "execute", func(in *Input) { in.AgentName = "" }, "no name"},
		{"no cwd", "execute", func(in *Input) { in.Cwd = "" }, "working directory"},
		{"a project without commit", "execute", func(in *Input) { in.Projects[0].BaseCommit = "" }, "project 1"},
		{"several without path", "execute", func(in *Input) { *in = severalProjects(); in.Projects[1].Path = "" }, "project 2 has no path"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			in := oneProject()
			test.change(&in)
			p, err := Render(test.mode, in)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
			if p.Text != "" {
				t.Errorf("a refused prompt has text: %.40q", p.Text)
			}
		})
	}
}

func TestHugeTask(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for _, test := range []struct {
		name, unit string
		size       int
	}{
		{"prose", "Make it so. ", mib},
		{"openers", "<", mib / 16},
		{"escapes", "&amp;lt;", mib / 16},
		{"spaces", "<          ", mib / 16},
		{"one long run", "<" + strings.Repeat(" ", mib/16) + "&" + strings.Repeat("amp;", mib/16), 1},
		{"tags", "</task>", mib / 16},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := oneProject()
			in.Task = strings.Repeat(test.unit, max(1, test.size/len(test.unit)))
			start := time.Now()
			p := render(t, in)
			// Far above what it takes, far below what quadratic work would.
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("%d bytes took %v", len(in.Task), took)
			}
			body, _ := p.Body("task")
			if unescape(body) != in.Task {
				t.Error("the task is not the same")
			}
			if diff := cmp.Diff(executeTags, parseTags(t, p.Text)); diff != "" {
				t.Errorf("tags (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBody(t *testing.T) {
	t.Parallel()
	p := render(t, oneProject())
	if body, found := p.Body("task"); !found || body != oneProject().Task {
		t.Errorf("task: %q, %v", body, found)
	}
	if body, found := p.Body("nothing"); found || body != "" {
		t.Errorf("a block that is not there: %q, %v", body, found)
	}
}
