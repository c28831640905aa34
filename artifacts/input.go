package artifacts

import (
	"fmt"

	"cw/internal/cw"
)

// Files gives what an agent finds in .cw/input beside the manifest, in the
// order in which it is read: initiative.md, pages, phase.md, task.md, and for
// reading only the context. What there is nothing of has no file. An error is a
// fault of the caller: an id that is none, or is there twice.
func (in Input) Files() ([]File, error) {
	var w inputWriter
	if in.Initiative.ID != "" {
		w.add("initiative.md", initiativeFile(in.Initiative))
	}
	for _, p := range in.Pages {
		w.addID("pages", string(p.ID), PageFile(p))
	}
	if in.Phase != nil {
		w.add("phase.md", PhaseFile(*in.Phase))
	}
	if in.Task != nil {
		w.add("task.md", TaskFile(*in.Task))
	}
	for _, p := range in.Phases {
		w.addID("context/phases", string(p.ID), contextPhaseFile(p))
	}
	for _, t := range in.Tasks {
		w.addID("context/tasks", string(t.ID), contextTaskFile(t))
	}
	if len(in.Dismissed) > 0 {
		w.add("context/dismissed.md", dismissedFile(in.Dismissed))
	}
	return w.files, w.err
}

// inputWriter collects the files of an input, and the first fault.
type inputWriter struct {
	files []File
	paths map[string]bool
	err   error
}

func (w *inputWriter) addID(dir, id, text string) {
	name := dir + "/" + id + ".md"
	switch {
	case w.err != nil:
		return
	case !cw.IsID(id):
		w.err = fmt.Errorf("write the input: %s: %s is no id", dir, shown(id))
		return
	case w.paths[name]:
		w.err = fmt.Errorf("write the input: %s is there twice", name)
		return
	}
	if w.paths == nil {
		w.paths = map[string]bool{}
	}
	w.paths[name] = true
	w.add(name, text)
}

func (w *inputWriter) add(name, text string) {
	w.files = append(w.files, File{Path: name, Data: []byte(text)})
}

// initiativeFile gives the goal.
func initiativeFile(i cw.Initiative) string {
	names := make([]string, 0, len(i.Projects))
	for _, p := range i.Projects {
		names = append(names, p.Name)
	}
	return canonical(i.Goal, textField(keyID, i.ID), textField(keyTitle, i.Name), listField(keyProjects, names))
}
