package artifacts

import (
	"cw/internal/cw"
	"cw/internal/frontmatter"
)

// summaryMax is how much a task's file tells of what was done, in bytes: it
// stands in the head, which is bounded.
const summaryMax = 8 << 10

// TaskFile gives the file of a task.
func TaskFile(t cw.Task) string { return canonical(t.Body, taskFields(t)...) }

// contextTaskFile is the file of a task for reading: with where it stands and
// what was done.
func contextTaskFile(t cw.Task) string {
	fields := append(taskFields(t), textField(keyStatus, t.Status))
	if t.Summary != "" {
		fields = append(fields, textField(keySummary, shorten(t.Summary, summaryMax)))
	}
	return canonical(t.Body, fields...)
}

func taskFields(t cw.Task) []frontmatter.Field {
	return append([]frontmatter.Field{
		textField(keyID, t.ID), textField(keyTitle, t.Name), textField(keyPhase, t.PhaseID),
		textField(keyType, t.Type), textField(keySize, t.Size), textField(keyPriority, t.Priority),
		listField(keyDependsOn, t.DependsOn), listField(keyPaths, t.Paths), listField(keyChecks, t.Checks),
	}, questionFields(t.Questions)...)
}

func readTask(h *head) cw.Task {
	h.leaveOut(keyStatus, keySummary)
	t := cw.Task{
		ID: cw.TaskID(h.draft.ID), Name: h.title(), PhaseID: cw.PhaseID(h.id(keyPhase)),
		Type: cw.TaskType(h.text(keyType)), Size: cw.TaskSize(h.text(keySize)), Priority: cw.TaskPriority(h.text(keyPriority)),
		DependsOn: idList[cw.TaskID](h, keyDependsOn), Paths: h.texts(keyPaths), Checks: h.texts(keyChecks), Body: h.body(),
		Questions: h.questions(),
	}
	for key, set := range map[string]func(*cw.Task){
		keyType:     func(sound *cw.Task) { sound.Type = t.Type },
		keySize:     func(sound *cw.Task) { sound.Size = t.Size },
		keyPriority: func(sound *cw.Task) { sound.Priority = t.Priority },
		keyPaths:    func(sound *cw.Task) { sound.Paths = t.Paths },
		keyChecks:   func(sound *cw.Task) { sound.Checks = t.Checks },
		keyQuestions: func(sound *cw.Task) {
			// Whether they fit the type is seen when it is laid over what is there.
			sound.Type, sound.Questions = cw.TaskCheckpointDecide, t.Questions
		},
	} {
		// One key at a time in a task that is sound otherwise, so that what is
		// wrong is told with its line.
		sound := cw.Task{Name: "task", Type: cw.TaskAuto, Size: cw.SizeMedium, Priority: cw.PriorityMedium}
		if h.draft.Has[key] {
			set(&sound)
			h.check(key, cw.CheckTask(sound))
		}
	}
	return t
}
