package daemon

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/v2"

	"cw/internal/cw"
)

// Source is where the value of a setting comes from.
type Source string

// The sources, each stronger than the one before.
const (
	SourceDefault     Source = "default"
	SourceFile        Source = "file"
	SourceEnvironment Source = "environment"
	SourceFlag        Source = "flag"
)

// ConfigSources is what settings are read from.
type ConfigSources struct {
	Home    cw.Home
	Environ []string
	Flags   map[string]string // by the setting's name; what the command line said
}

// ConfigValue is one setting as it holds.
type ConfigValue struct {
	Key    string `json:"key"`
	Value  any    `json:"value"` // string, number, bool or a list of strings; times as text: "30d"
	Source Source `json:"source"`
	// Where is the line of the file ("…/config.yaml:3") or the variable.
	Where string `json:"where,omitempty"`
}

// String is the value as `cw config set` takes it.
func (v ConfigValue) String() string {
	list, ok := v.Value.([]string)
	if !ok {
		return fmt.Sprint(v.Value)
	}
	if !slices.ContainsFunc(list, func(item string) bool { return strings.ContainsAny(item, ",[") || item != strings.TrimSpace(item) }) {
		return strings.Join(list, ",")
	}
	var text strings.Builder
	written := json.NewEncoder(&text)
	written.SetEscapeHTML(false)
	_ = written.Encode(list) // texts can always be written
	return strings.TrimSpace(text.String())
}

// LoadSettings gives what holds: flags before environment before file before
// defaults. CodeInvalid tells every fault at once.
func LoadSettings(from ConfigSources) (Settings, error) {
	layers, err := from.layers()
	if err != nil {
		return Settings{}, err
	}
	return settle(layers)
}

// ShowSettings gives every setting with the source of its value, in the order
// of Keys. CodeInvalid as for LoadSettings.
func ShowSettings(from ConfigSources) ([]ConfigValue, error) {
	layers, err := from.layers()
	if err != nil {
		return nil, err
	}
	var out []ConfigValue
	for _, key := range Keys() {
		shown := ConfigValue{Key: key.Name}
		for _, l := range layers {
			if value, said := l.values[key.Name]; said {
				shown.Value, shown.Source, shown.Where = presentable(value), l.source, l.where[key.Name]
			}
		}
		out = append(out, shown)
	}
	return out, nil
}

// presentable makes a value one that JSON shows well.
func presentable(value any) any {
	switch v := value.(type) {
	case time.Duration:
		return formatSpan(v)
	case Bytes:
		return v.String()
	case []string:
		return append([]string{}, v...) // a list that is empty is not null
	}
	return value
}

// layer is what one source says.
type layer struct {
	source Source
	values map[string]any    // by the setting's name; checked
	where  map[string]string // the place of each value, for people
	faults []string
}

func newLayer(source Source) layer {
	return layer{source: source, values: map[string]any{}, where: map[string]string{}}
}

func (l *layer) fault(format string, args ...any) {
	l.faults = append(l.faults, fmt.Sprintf(format, args...))
}

// layers reads all sources, the weakest first.
func (c ConfigSources) layers() ([]layer, error) {
	defaults := newLayer(SourceDefault)
	flatten(reflect.ValueOf(DefaultSettings()), "", defaults.values)
	file, err := readConfig(c.Home.Config())
	if err != nil {
		return nil, err
	}
	all := []layer{defaults, file.layer(), environmentLayer(c.Environ), flagLayer(c.Flags)}
	return all, faultsError(all...)
}

// faultsError is the error about settings that cannot be used, nil for none.
func faultsError(layers ...layer) error {
	const most = 20 // as many as somebody reads
	mend := map[Source]string{SourceFile: "mend the file", SourceEnvironment: "mend the variable", SourceFlag: "give another value"}
	var faults, acts []string
	for _, l := range layers {
		faults = append(faults, l.faults...)
		if len(l.faults) > 0 {
			acts = append(acts, mend[l.source])
		}
	}
	if len(faults) == 0 {
		return nil
	}
	said := faults[0]
	if n := len(faults); n > 1 {
		said = fmt.Sprintf("there are %d faults in the configuration:\n%s", n, strings.Join(faults[:min(n, most)], "\n"))
	}
	return cw.Errorf(cw.CodeInvalid, "%s", said).
		WithHint("%s; docs/configuration.md lists all settings and what they take", strings.Join(acts, ", "))
}

// settle puts the layers on each other.
func settle(layers []layer) (Settings, error) {
	k := koanf.New(".")
	for _, l := range layers {
		if err := k.Load(confmap.Provider(l.values, "."), nil); err != nil {
			return Settings{}, fmt.Errorf("put settings together: %w", err)
		}
	}
	var s Settings
	if err := k.UnmarshalWithConf("", &s, koanf.UnmarshalConf{Tag: tagName}); err != nil {
		return Settings{}, fmt.Errorf("put settings together: %w", err)
	}
	return s, nil
}

// tagName is the tag of the fields of Settings.
const tagName = "config"

// flatten gives the fields of a settings struct by the names of their settings.
func flatten(s reflect.Value, prefix string, into map[string]any) {
	for i := range s.NumField() {
		name, field := prefix+s.Type().Field(i).Tag.Get(tagName), s.Field(i)
		switch value := field.Interface().(type) {
		case time.Duration, Bytes, []string, int, bool:
			into[name] = value
		default:
			if field.Kind() == reflect.Struct {
				flatten(field, name+".", into)
				continue
			}
			into[name] = field.String()
		}
	}
}

// environmentLayer reads the variables CW_CONFIG_*.
func environmentLayer(environ []string) layer {
	l := newLayer(SourceEnvironment)
	keys := Keys()
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, VariablePrefix) {
			continue
		}
		i := slices.IndexFunc(keys, func(k Key) bool { return k.Variable() == name })
		if i < 0 {
			l.fault("%.100s is not a setting%s", name, didYouMean(name, keys, Key.Variable))
			continue
		}
		l.take(keys[i], name, value)
	}
	return l
}

// flagLayer is what the command line said.
func flagLayer(flags map[string]string) layer {
	l := newLayer(SourceFlag)
	for _, key := range Keys() {
		if value, said := flags[key.Name]; said {
			l.take(key, "the command line", value)
		}
	}
	return l
}

// take checks a value and keeps it.
func (l *layer) take(key Key, where, value string) {
	parsed, err := key.parse(value)
	if err != nil {
		l.fault("%s: %s %s", where, key.Name, quoted(value, err))
		return
	}
	l.values[key.Name], l.where[key.Name] = parsed, where
}

// quoted is a wrong value with what is wrong about it.
func quoted(value string, err error) string {
	const most = 80 // characters of a value that are shown
	if len(value) > most {
		value = value[:most]
	}
	return fmt.Sprintf("%q %s", value, err)
}

// didYouMean is the name that comes nearest, in words.
func didYouMean(name string, keys []Key, spelling func(Key) string) string {
	const farthest, longest = 4, 64
	best, distance := "", farthest+1
	for _, k := range keys {
		if d := cw.EditDistance(strings.ToLower(name[:min(len(name), longest)]), strings.ToLower(spelling(k))); d < distance {
			best, distance = spelling(k), d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}
