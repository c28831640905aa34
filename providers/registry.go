package providers

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"cw/internal/cw"
)

//go:embed presets/*.yaml
var presetFiles embed.FS

// Registry holds the presets by name: the embedded ones and, over them, those
// of the user's files. Files that changed are read again at the next Get. It
// may be used by many at once.
type Registry struct {
	dir      string
	embedded map[string]source // by name

	mu    sync.Mutex
	seen  map[string]fileState // by file, as it was when it was read
	files map[string]userFile  // by file
}

// source is an embedded preset and its text, which files may extend.
type source struct {
	preset Preset
	text   []byte
}

// fileState tells whether a file changed without reading it.
type fileState struct {
	modTime time.Time
	size    int64
}

// userFile is what came out of one file of the user: the last good preset, if
// there ever was one, and what is wrong with the file as it stands.
type userFile struct {
	good    *Preset
	problem *Problem
}

// Load reads the embedded presets and the user's files (*.yaml, *.yml) in
// userDir, which need not exist. A bad file is a Problem and changes nothing.
// userDir "" loads the embedded ones alone.
func Load(userDir string) (*Registry, []Problem) {
	r := &Registry{
		dir:      userDir,
		embedded: loadEmbedded(),
		seen:     map[string]fileState{},
		files:    map[string]userFile{},
	}
	return r, r.Problems()
}

// loadEmbedded reads what is compiled in. A preset that is bad is left out: a
// test holds that none is.
func loadEmbedded() map[string]source {
	out := map[string]source{}
	paths, _ := fs.Glob(presetFiles, "presets/*.yaml") // the pattern is good
	for _, path := range paths {
		text, err := presetFiles.ReadFile(path)
		if err != nil {
			continue
		}
		preset, problem := decodePreset(text, embeddedText)
		if problem == nil {
			out[preset.Name] = source{preset: preset, text: text}
		}
	}
	return out
}

// embeddedText is the text of an embedded preset, which lies in the file of its
// name; nil when there is none.
func embeddedText(name string) []byte {
	text, err := presetFiles.ReadFile("presets/" + name + ".yaml")
	if err != nil {
		return nil
	}
	return text
}

// Get gives a preset by name or alias. Unknown is CodeNotFound, and the hint
// names all there are, and the one that was probably meant.
func (r *Registry) Get(name string) (Preset, error) {
	presets := r.current()
	if p, ok := presets[name]; ok {
		return p, nil
	}
	for _, known := range slices.Sorted(maps.Keys(presets)) {
		if slices.Contains(presets[known].Aliases, name) {
			return presets[known], nil
		}
	}
	names := slices.Sorted(maps.Keys(presets))
	var all []string
	for _, known := range names {
		all = append(append(all, known), presets[known].Aliases...)
	}
	hint := "There are: " + strings.Join(names, ", ")
	if meant, ok := cw.Nearest(strings.ToLower(name), all); ok {
		hint = "did you mean " + meant + "? " + hint
	}
	return Preset{}, cw.Errorf(cw.CodeNotFound, "there is no provider %q", name).WithHint("%s", hint)
}

// Names lists the providers, sorted, without aliases.
func (r *Registry) Names() []string { return slices.Sorted(maps.Keys(r.current())) }

// All lists the presets, sorted by name.
func (r *Registry) All() []Preset {
	presets := r.current()
	out := make([]Preset, 0, len(presets))
	for _, name := range slices.Sorted(maps.Keys(presets)) {
		out = append(out, presets[name])
	}
	return out
}

// Troubles gives what is wrong with the user's files as they stand, by file.
// What was good before such a file became bad is still in force.
func (r *Registry) Troubles() map[string]error {
	out := map[string]error{}
	for _, p := range r.Problems() {
		out[p.File] = errors.New(p.String())
	}
	return out
}

// Problems lists what is wrong with the user's files as they stand, by file.
func (r *Registry) Problems() []Problem {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refresh()
	_, clashes := r.merge()
	problems := clashes
	for _, f := range r.files {
		if f.problem != nil {
			problems = append(problems, *f.problem)
		}
	}
	slices.SortFunc(problems, func(a, b Problem) int { return cmp.Compare(a.File, b.File) })
	return problems
}

func (r *Registry) current() map[string]Preset {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refresh()
	presets, _ := r.merge()
	return presets
}

// refresh reads the files that changed and forgets those that are gone. It
// costs one stat per file when nothing did.
func (r *Registry) refresh() {
	now, dirProblem := r.observe()
	if dirProblem != nil {
		r.files[r.dir] = userFile{problem: dirProblem}
		return // the directory cannot be read: what was good stays
	}
	delete(r.files, r.dir)
	for path := range r.files {
		if _, ok := now[path]; !ok {
			delete(r.files, path)
			delete(r.seen, path)
		}
	}
	for path, state := range now {
		if before, ok := r.seen[path]; ok && before == state {
			continue
		}
		r.seen[path] = state
		r.files[path] = r.readFile(path, r.files[path].good)
	}
}

// observe lists the user's preset files and their states.
func (r *Registry) observe() (map[string]fileState, *Problem) {
	now := map[string]fileState{}
	if r.dir == "" {
		return now, nil
	}
	entries, err := os.ReadDir(r.dir)
	if os.IsNotExist(err) {
		return now, nil
	}
	if err != nil {
		return nil, &Problem{File: r.dir, Message: err.Error()}
	}
	for _, e := range entries {
		name := e.Name()
		if ext := filepath.Ext(name); strings.HasPrefix(name, ".") || ext != ".yaml" && ext != ".yml" {
			continue
		}
		path := filepath.Join(r.dir, name)
		if info, err := os.Stat(path); err == nil { // follows links: people keep such files elsewhere
			now[path] = fileState{modTime: info.ModTime(), size: info.Size()}
		} else {
			now[path] = fileState{}
		}
	}
	return now, nil
}

// readFile reads one file of the user. When it is bad, the last good preset
// stays beside the problem.
func (r *Registry) readFile(path string, lastGood *Preset) userFile {
	bad := func(p *Problem) userFile {
		p.File = path
		return userFile{good: lastGood, problem: p}
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return bad(&Problem{Message: err.Error()})
	case !info.Mode().IsRegular(): // reading a pipe would wait for ever
		return bad(&Problem{Message: "it is no regular file"})
	case info.Size() > presetMax:
		return bad(&Problem{Message: fmt.Sprintf("it is larger than %d bytes", presetMax)})
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return bad(&Problem{Message: err.Error()})
	}
	preset, problem := decodePreset(data, func(name string) []byte { return r.embedded[name].text })
	if problem != nil {
		return bad(problem)
	}
	preset.origin = path
	return userFile{good: &preset}
}

// merge lays the user's presets over the embedded ones. Of two files with the
// same name the first by file name counts.
func (r *Registry) merge() (map[string]Preset, []Problem) {
	presets := map[string]Preset{}
	for name, s := range r.embedded {
		presets[name] = s.preset
	}
	var clashes []Problem
	for _, path := range slices.Sorted(maps.Keys(r.files)) {
		p := r.files[path].good
		if p == nil {
			continue
		}
		if other := presets[p.Name].origin; other != "" {
			clashes = append(clashes, Problem{File: path, Message: fmt.Sprintf("the name %q is taken by %s", p.Name, other)})
			continue
		}
		presets[p.Name] = *p
	}
	return presets, clashes
}
