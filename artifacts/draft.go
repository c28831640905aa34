package artifacts

import (
	"path"
	"strings"

	"cw/internal/cw"
	"cw/internal/frontmatter"
)

// folderOf is the folder of the files about a target.
func folderOf(target cw.ProposalTarget) string { return string(target) + "s" }

// targetOf is what the files of a folder are about.
func targetOf(folder string) (cw.ProposalTarget, bool) {
	for _, target := range cw.ProposalTargets() {
		if folderOf(target) == folder {
			return target, true
		}
	}
	return "", false
}

// ReadDraft reads the text of one file: what PageFile, PhaseFile, TaskFile and
// DecisionFile write, and what agents write like that. file is its path relative
// to .cw/output, such as tasks/k3v7q2mzt5ha.md: it says what the file is about.
// A file of which anything is wrong is not taken, and everything that is wrong
// is told.
func ReadDraft(file string, data []byte) (Draft, []Problem) {
	refuse := func(line int, text string) (Draft, []Problem) {
		return Draft{}, []Problem{{File: file, Line: line, Text: text}}
	}
	target, known := targetOf(path.Dir(file))
	if !known {
		return refuse(0, "it lies in no folder of pages, decisions, phases or tasks")
	}
	id, fault := idOf(path.Base(file))
	if fault != "" {
		return refuse(0, fault)
	}
	doc, err := frontmatter.Parse(data)
	if err == nil && len(doc.Fields) == 0 && trimBody(doc.Body) == "" {
		return refuse(0, "it is empty")
	}
	draft := Draft{File: file, Target: target, ID: id, Has: map[string]bool{}}
	h := newHead(doc, &draft)
	if err != nil {
		h.fault(err)
		return Draft{}, h.problems()
	}
	h.read()
	if len(h.faults) > 0 {
		return Draft{}, h.problems()
	}
	return draft, nil
}

// read fills the draft from its head and its text.
func (h *head) read() {
	d := h.draft
	if own := h.text(keyID); h.draft.Has[keyID] && own != d.ID {
		h.faultAt(keyID, "the head says %s, which belongs into %s, and the name says %s", shown(own), folderOf(d.Target)+"/"+shown(own)+".md", d.ID)
	}
	if d.Delete = h.flag(keyDelete); d.Delete {
		d.Reason = h.reason()
	}
	switch d.Target {
	case cw.TargetPage:
		d.Page = readPage(h)
	case cw.TargetDecision:
		d.Decision = readDecision(h)
	case cw.TargetPhase:
		d.Phase = readPhase(h)
	case cw.TargetTask:
		d.Task = readTask(h)
	}
	d.Extra = h.extra()
}

// reasonMax bounds a reason, in bytes; the rest of a longer one is cut off.
const reasonMax = 4 << 10

// reason is why something is to be deleted.
func (h *head) reason() string {
	reason := strings.TrimSpace(h.text(keyReason))
	if reason == "" {
		reason = h.body()
	}
	if len(reason) > reasonMax {
		const cutOff = "…"
		reason = strings.ToValidUTF8(reason[:reasonMax-len(cutOff)], "") + cutOff
	}
	return reason
}

// idOf gives the id that a file's name is, or what is wrong with the name.
func idOf(name string) (id, fault string) {
	id, ok := strings.CutSuffix(name, ".md")
	switch lower := strings.ToLower(id); {
	case !ok:
		return "", "its name does not end in .md"
	case cw.IsID(id):
		return id, ""
	case cw.IsID(lower):
		return "", "ids are written in small letters: " + lower + ".md"
	}
	return "", "its name is no id: 12 characters of a-z and 2-7, from cw id"
}
