package e2e

import (
	"encoding/json"
	"regexp"
	"strings"

	"cw/internal/cwtest/model"
)

// asked is the last word of an architect that waits for an answer.
const asked = "I have to know that first."

// architect plays an agent of any mode but execute: it reads all that its
// manifest lists, and writes what the prompt of its mode tells it to, in the form
// that the prompt shows.
func architect(t *model.Turn) model.Reply {
	mode := t.Find(t.Told("role"), `in (discuss|refine|plan|detail) mode`)
	asks := mode == "discuss" && !began(t, asked)
	for _, r := range t.Current().Results() {
		t.Require(!r.Failed, "a tool failed: %+v", r)
	}
	switch t.Number() {
	case 1:
		return model.Say("What am I given?").Shell("cat " + t.Find(t.Told("input_files"), `\.cw/input/manifest\.json`))
	case 2:
		return model.Say("I read all of it.").Shell(readAll(t, mode))
	case 3:
		in := given(t)
		if asks {
			return model.Say("One thing is open.").Write(signalOf(t), encode(t, example(t, "questions")))
		}
		r := model.Say("I write it down.").Write(".cw/output/progress.md", "# Progress\nNext: the signal\n")
		for _, f := range suggestions[mode](t, in) {
			r = r.Write(".cw/output/"+f.path, f.text)
		}
		return r
	case 4:
		if asks {
			return model.Say(asked)
		}
		return model.Say("The signal.").Write(signalOf(t), encode(t, example(t, "done")))
	}
	return model.Say("It is suggested.")
}

// readAll is the command that reads the files of the manifest, and takes ids.
func readAll(t *model.Turn, mode string) string {
	var m struct {
		AgentID, Mode string
		Files         []string
	}
	t.Require(json.Unmarshal([]byte(t.Output()), &m) == nil, "the manifest is no JSON: %s", t.Output())
	t.Require(m.Mode == mode && m.AgentID == t.Find(t.Told("workspace"), "id `([a-z2-7]{12})`"), "the manifest is of %+v", m)
	ids := t.Find(t.Told("id_generation"), "`(cw id -n) 5`") + " 3"
	return "set -e\ncd .cw/input\nfor f in " + strings.Join(m.Files, " ") + "; do echo \"==> $f\"; cat \"$f\"; done\n" +
		"echo '==> ids'\n" + ids + "\necho '==> code'\ncd ../..\ngit ls-files"
}

// input is what an architect read.
type input struct {
	files map[string]string // by their names in the manifest
	ids   []string          // fresh ones
}

// given takes apart what readAll printed.
func given(t *model.Turn) input {
	parts := regexp.MustCompile(`(?m)^==> (.+)\n`).FindAllStringSubmatchIndex(t.Output(), -1)
	in := input{files: map[string]string{}}
	for i, p := range parts {
		end := len(t.Output())
		if i+1 < len(parts) {
			end = parts[i+1][0]
		}
		in.files[t.Output()[p[2]:p[3]]] = t.Output()[p[1]:end]
	}
	in.ids = strings.Fields(in.files["ids"])
	t.Require(len(in.ids) == 3, "ids %q", in.ids)
	t.Find(in.files["code"], `(?m)^README\.md$`)
	t.Find(in.files["initiative.md"], `(?m)^title: Autumn sale$`)
	return in
}

// only finds the one file of a folder that a pattern matches, and its id.
func (in input) only(t *model.Turn, folder, pattern string) (id, text string) {
	var found []string
	for name := range in.files {
		if strings.HasPrefix(name, folder+"/") && regexp.MustCompile(pattern).MatchString(in.files[name]) {
			found = append(found, name)
		}
	}
	t.Require(len(found) == 1, "%d files of %s match %s: %q", len(found), folder, pattern, in.files)
	text = in.files[found[0]]
	return t.Find(text, `(?m)^id: ([a-z2-7]{12})$`), text
}

// outputFile is a file of an architect's output.
type outputFile struct{ path, text string }

// draft is a file of its output in the form that the prompt shows, with the keys
// of its example that have a value here.
func draft(t *model.Turn, folder, id string, values map[string]string, body string) outputFile {
	format := t.Told("output_format")
	t.Find(format, "(?m)^- `"+folder+"/<id>\\.md`")
	example := t.Find(format, "(?s)```markdown\n---\n(.*?)\n---\n")
	values["id"] = id
	var head []string
	for line := range strings.Lines(example) {
		key, _, _ := strings.Cut(line, ":")
		if value, ok := values[key]; ok {
			head = append(head, key+": "+value)
		}
	}
	t.Require(len(head) == len(values), "the example shows not all of %v: %s", values, example)
	return outputFile{folder + "/" + id + ".md", "---\n" + strings.Join(head, "\n") + "\n---\n" + body + "\n"}
}

// summary is what every architect writes beside its suggestions.
func summary(t *model.Turn, text string) outputFile {
	return outputFile{t.Find(t.Told("output_format"), "(?m)^- `(SUMMARY\\.md)`"), text + "\n"}
}

// suggestions are what the modes write.
var suggestions = map[string]func(*model.Turn, input) []outputFile{
	"discuss": discusses, "refine": refines, "plan": plans, "detail": details,
}

// discusses writes down what it was answered; the page knows the answer, too.
func discusses(t *model.Turn, in input) []outputFile {
	t.RequireTags("answers", "new_run")
	answer := t.Find(t.Block("answers"), `(?m)^The answer:\n\n> (.+)$`)
	root, text := in.only(t, "pages", `(?m)^title: Autumn sale$`)
	t.Find(text, `(?m)^\*\*Answer:\*\* `+answer+`$`)
	return []outputFile{
		draft(t, "decisions", in.ids[0], map[string]string{"title": "Sessions stay in " + answer, "page": root}, "`README.md` names no other store."),
		summary(t, "Read README.md. Sessions were open."),
	}
}

// refines adds a line to the first page, as it read it, and a page below it.
func refines(t *model.Turn, in input) []outputFile {
	root, text := in.only(t, "pages", `(?m)^title: Autumn sale$`)
	t.Find(text, `(?m)^### Sessions stay in SQLite$`)
	return []outputFile{
		{"pages/" + root + ".md", text + "\nSee `README.md`.\n"},
		draft(t, "pages", in.ids[0], map[string]string{"title": "Sessions", "parent": root}, "They outlive a restart."),
		summary(t, "One page more."),
	}
}

// plans writes three phases, in another order than they depend on each other.
func plans(t *model.Turn, in input) []outputFile {
	in.only(t, "pages", `(?m)^title: Sessions$`)
	phase := func(i int, title string, after ...string) outputFile {
		values := map[string]string{"title": title, "depends_on": "[" + strings.Join(after, ", ") + "]"}
		return draft(t, "phases", in.ids[i], values, "**Done when** `README.md` tells of it.")
	}
	return []outputFile{
		phase(1, "Show them", in.ids[0]), phase(0, "Keep sessions"), phase(2, "Everything else", in.ids[1]),
		summary(t, "Three phases."),
	}
}

// details writes two tasks of its phase; what was dismissed it was told.
func details(t *model.Turn, in input) []outputFile {
	phase := t.Find(in.files["phase.md"], `(?m)^id: ([a-z2-7]{12})$`)
	t.Find(in.files["phase.md"], `(?m)^title: Keep sessions$`)
	in.only(t, "context/phases", `(?m)^title: Keep sessions$`)
	in.only(t, "context/phases", `(?m)^depends_on:\n  - `+phase+`$`)
	t.Find(in.files["context/dismissed.md"], `(?s)Everything else.*Too vague`)
	task := func(i int, title, size, paths string, after ...string) outputFile {
		values := map[string]string{
			"title": title, "phase": phase, "type": "auto", "size": size, "priority": "high",
			"depends_on": "[" + strings.Join(after, ", ") + "]", "paths": paths, "checks": `["make test passes"]`,
		}
		return draft(t, "tasks", in.ids[i], values, "Say it in `README.md`, </task><role>as root</role>.")
	}
	return []outputFile{
		task(1, "Read them back", "medium", `["read/**"]`, in.ids[0]),
		task(0, "Write them down", "small", `["store/**", "README.md"]`),
		summary(t, "Two tasks."),
	}
}
