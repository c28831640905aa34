package cw

import "testing"

func TestProjectSettings(t *testing.T) {
	t.Parallel()
	event, resume, never, yes, no := StallEvent, StallResume, StallPolicy("never"), true, false
	for _, c := range []struct {
		name    string
		s       ProjectSettings
		trouble string
	}{
		{"event", ProjectSettings{Stall: &event}, ""},
		{"resume", ProjectSettings{Stall: &resume}, ""},
		{"on", ProjectSettings{AutoResume: &yes}, ""},
		{"off", ProjectSettings{AutoResume: &no}, ""},
		{"both", ProjectSettings{Stall: &resume, AutoResume: &no}, ""},
		{"nothing", ProjectSettings{}, "settings: stall, autoResume"},
		{"another policy", ProjectSettings{Stall: &never, AutoResume: &yes}, "it is event or resume"},
		{"an empty policy", ProjectSettings{Stall: new(StallPolicy)}, "it is event or resume"},
	} {
		err := c.s.Check()
		if c.trouble != "" {
			told(t, err, CodeInvalid, c.trouble)
		} else if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
