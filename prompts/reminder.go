package prompts

import "time"

// reminder is the name of the table of the block before a prompt.
const reminder = "reminder"

// reminderBlocks are what can stand before the first prompt of a session.
func reminderBlocks() []Block {
	return []Block{{Tag: "system-reminder", Order: 1, Source: "reminder/system-reminder.md", MaxLen: 900}}
}

// ReminderInput is what people keep for every coding agent.
type ReminderInput struct {
	Files  []ReminderFile // in order
	Status []ReminderStatus
	Date   time.Time
}

// ReminderFile is one file of instructions.
type ReminderFile struct {
	Name  string
	Whose string // who wrote it for whom
	Text  string
	Cut   int // bytes left out at its end
}

// ReminderStatus is what git says of a project.
type ReminderStatus struct {
	Name string // the project
	Text string
}

// Reminder wraps instructions of people for the first prompt of a session. ""
// when there are none.
func Reminder(in ReminderInput) string {
	if len(in.Files) == 0 {
		return ""
	}
	esc := newEscaper()
	type file struct {
		Name  inline
		Whose string
		Text  text
		Cut   int
	}
	files := make([]file, len(in.Files))
	for i, f := range in.Files {
		files[i] = file{Name: esc.inline(f.Name), Whose: f.Whose, Text: esc.text(f.Text), Cut: f.Cut}
	}
	type status struct {
		Name inline
		Text text
	}
	all := make([]status, len(in.Status))
	for i, s := range in.Status {
		all[i] = status{Name: esc.inline(s.Name), Text: esc.quote(s.Text)}
	}
	return block("system-reminder", map[string]any{"Files": files, "Status": all, "Date": in.Date.Format(time.DateOnly)})
}
