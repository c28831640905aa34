package servicetest

import (
	"context"
	"slices"
	"testing"

	"cw/internal/cw"
)

// Settings implements cw.SettingService.
func (m *Memory) Settings(context.Context) (cw.SettingList, error) {
	return cw.SettingList{Items: []cw.Setting{{
		Key: "log.format", Value: "text", Default: "text", Source: "default", About: "How a line of daemon.log is written.", Takes: "text or json",
	}}}, nil
}

// settingsCase: each setting says what it is, what it takes and where it comes
// from.
func settingsCase(t *testing.T, f Fixture) {
	list, err := f.Services.Settings(soon(t))
	ok(t, err)
	for _, s := range list.Items {
		if s.Key == "" || s.About == "" || s.Takes == "" || s.Restart || !slices.Contains([]string{"default", "file", "environment", "flag"}, s.Source) {
			t.Errorf("setting %+v", s)
		}
	}
	i := slices.IndexFunc(list.Items, func(s cw.Setting) bool { return s.Key == "log.format" })
	if i < 0 || list.Items[i].Value != "text" || list.Items[i].Default != "text" {
		t.Errorf("settings %+v", list.Items)
	}
}
