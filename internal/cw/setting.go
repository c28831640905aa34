package cw

import "context"

// Setting is one setting of the daemon, as it holds.
type Setting struct {
	Key     string `json:"key" doc:"section and name, with a dot between"`
	Value   string `json:"value" doc:"what the running daemon has, as cw config set takes it; empty: nothing"`
	Default string `json:"default" doc:"what it is where nobody says otherwise"`
	Source  string `json:"source" doc:"where the value comes from: default, file, environment or flag"`
	Where   string `json:"where,omitempty" doc:"the line of the file, or the variable"`
	About   string `json:"about" doc:"what it does, one sentence"`
	Takes   string `json:"takes" doc:"which values it takes, in words"`
	Restart bool   `json:"restart,omitempty" doc:"it was changed since the daemon started, and holds after cw restart"`
}

// SettingList is all settings, in the order of their document.
type SettingList struct {
	Items []Setting `json:"items" doc:"all settings, in the order of their document"`
}

// SettingService tells how the daemon is configured.
type SettingService interface {
	// Settings gives all settings. CodeInvalid when what is configured now has
	// faults: a daemon could not start with it.
	Settings(ctx context.Context) (SettingList, error)
}
