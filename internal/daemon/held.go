package daemon

import (
	"context"
	"reflect"

	"cw/internal/cw"
)

// heldSettings implements cw.SettingService: the settings that this daemon was
// started with, beside what is configured by now.
type heldSettings struct {
	from ConfigSources
	held []ConfigValue
}

func newHeldSettings(c Config) (heldSettings, error) {
	from := ConfigSources{Home: c.Home, Environ: c.Environ, Flags: c.Flags}
	held, err := ShowSettings(from)
	return heldSettings{from: from, held: held}, err
}

// Settings implements cw.SettingService.
func (h heldSettings) Settings(context.Context) (cw.SettingList, error) {
	now, err := ShowSettings(h.from)
	if err != nil {
		return cw.SettingList{}, err
	}
	defaults := map[string]any{}
	flatten(reflect.ValueOf(DefaultSettings()), "", defaults)
	var out cw.SettingList
	for i, key := range Keys() {
		value := h.held[i].String()
		out.Items = append(out.Items, cw.Setting{
			Key: key.Name, Value: value, Default: ConfigValue{Value: presentable(defaults[key.Name])}.String(), Source: string(h.held[i].Source), Where: h.held[i].Where,
			About: key.Text, Takes: key.Form.Allowed, Restart: now[i].String() != value,
		})
	}
	return out, nil
}
