package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cw/internal/cw"
)

// ownExcludes are the folders in a worktree that belong to cw. They are never
// the agent's work.
func ownExcludes() []string { return []string{"/.cw/input/", "/.cw/output/", "/.cw/tmp/"} }

// reserved tells whether a path in a worktree belongs to cw.
func reserved(path string) bool {
	return slices.ContainsFunc(ownExcludes(), func(dir string) bool { return strings.HasPrefix("/"+path, dir) })
}

// userConfig is the configuration in force in the user's repository, system,
// global and conditional files included: keys in small letters but for their
// middle part, the last value of each.
type userConfig map[string]string

func (c userConfig) get(key string) string { return c[key] }

// userConfig reads it. The values in force count, not only the local ones: a
// conditional include for this very folder must reach the mirror, which lies
// elsewhere.
func (m *Manager) userConfig(ctx context.Context, p cw.Project) (userConfig, error) {
	out, err := m.git.run(ctx, inUserRepo(p.GitDir), nil, "config", "--includes", "--list", "-z")
	if err != nil {
		return nil, userError(p.Where(), err)
	}
	return parseConfig(string(out)), nil
}

// parseConfig reads "key\nvalue\0…"; a key without a value means true.
func parseConfig(out string) userConfig {
	config := userConfig{}
	for entry := range strings.SplitSeq(out, "\x00") {
		key, value, ok := strings.Cut(entry, "\n")
		if !ok {
			value = "true"
		}
		if key != "" {
			config[key] = value
		}
	}
	return config
}

// settings are what the mirror and the shadow take over from the user. It is
// an allow-list: nothing in it names a command, but for the fixed ones of
// git-lfs.
type settings struct {
	objectFormat string
	keys         [][2]string // in order
	ownHooks     bool        // the user's hooks folder must be pushed aside
	filters      []string    // that the user has and the mirror does not

	exclude, attributes             []byte // of the repository
	globalExclude, globalAttributes []byte // of the user
}

// takenOver tells which keys are copied, with the values in force for the user: all of
// user.*, and what decides how files look on disk.
func takenOver(key string) bool {
	switch key {
	case "core.autocrlf", "core.eol", "core.safecrlf", "core.filemode", "core.ignorecase", "core.symlinks", "core.precomposeunicode":
		return true
	}
	return strings.HasPrefix(key, "user.")
}

// readSettings collects them from the user's repository.
func (m *Manager) readSettings(p cw.Project, config userConfig) (settings, error) {
	s := settings{objectFormat: config.get("extensions.objectformat"), ownHooks: config.get("core.hookspath") != "", filters: missingFilters(config)}
	for key, value := range config {
		if takenOver(key) {
			s.keys = append(s.keys, [2]string{key, value})
		}
	}
	s.keys = append(s.keys, lfsKeys(p, config)...)
	s.keys = append(s.keys, submoduleKeys(p)...)
	slices.SortFunc(s.keys, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })

	var err error
	read := func(path string) []byte {
		data, rerr := readFollowing(path)
		err = errors.Join(err, rerr)
		return data
	}
	s.exclude = read(filepath.Join(p.GitDir, "info", "exclude"))
	s.attributes = read(filepath.Join(p.GitDir, "info", "attributes"))
	s.globalExclude = read(globalFile(config.get("core.excludesfile"), "ignore"))
	s.globalAttributes = read(globalFile(config.get("core.attributesfile"), "attributes"))
	return s, err
}

// readFollowing reads a file of the user's, who may well keep it behind a
// symbolic link. None is no error.
func readFollowing(path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", path, err)
	}
	if info, err := os.Stat(real); err == nil && !info.Mode().IsRegular() {
		return nil, nil // /dev/null says: none
	}
	return readSmall(real)
}

// globalFile gives the place of the user's own ignore or attributes file: as
// configured, else where git looks for it.
func globalFile(configured, name string) string {
	home, _ := os.UserHomeDir()
	switch rest, tilde := strings.CutPrefix(configured, "~/"); {
	case tilde && home != "":
		return filepath.Join(home, rest)
	case filepath.IsAbs(configured):
		return configured
	case configured != "":
		return "" // relative to wherever git was called, or ~somebody: nothing to rely on
	}
	if dir := os.Getenv("XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "git", name)
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, ".config", "git", name)
}

// render writes the configuration of a git directory of ours, whole: nothing
// in it is left to chance.
func (s settings) render(bare bool, excludes, attributes, hooks string) []byte {
	var b strings.Builder
	version := "0"
	if s.objectFormat != "" {
		version = "1"
	}
	put := func(key, value string) { writeConfigKey(&b, key, value) }
	put("core.repositoryformatversion", version)
	put("core.bare", fmt.Sprint(bare))
	put("core.logallrefupdates", "true")
	put("core.excludesfile", excludes)
	put("core.attributesfile", attributes)
	if s.ownHooks {
		// Pushes aside a hooks folder from the user's global configuration, which
		// reaches the agent's own git. Set only then: pre-commit, for one,
		// refuses to work with any value here.
		put("core.hookspath", hooks)
	}
	put("gc.auto", "0")
	put("maintenance.auto", "false")
	put("commit.gpgsign", "false")
	put("tag.gpgsign", "false")
	if s.objectFormat != "" {
		put("extensions.objectformat", s.objectFormat)
	}
	for _, kv := range s.keys {
		put(kv[0], kv[1])
	}
	return []byte(b.String())
}

// writeConfigKey writes one key in its own section: "[core]\n\teol = \"lf\"\n".
func writeConfigKey(b *strings.Builder, key, value string) {
	section, name := key[:strings.IndexByte(key, '.')], key[strings.LastIndexByte(key, '.')+1:]
	b.WriteString("[" + section)
	if middle := key[len(section) : len(key)-len(name)-1]; middle != "" {
		b.WriteString(" \"" + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(middle[1:]) + "\"")
	}
	b.WriteString("]\n\t" + name + " = \"" + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`).Replace(value) + "\"\n")
}

// renderExclude is info/exclude: cw's own folders first, then the user's lines.
func (s settings) renderExclude() []byte {
	return []byte(strings.Join(ownExcludes(), "\n") + "\n" + string(s.exclude))
}
