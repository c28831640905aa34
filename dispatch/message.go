package dispatch

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"cw/internal/cw"
)

// commitMessage is what a merged commit says: the task, what was done, and in
// trailers who did it.
func commitMessage(t cw.Task, in cw.Initiative, a cw.AgentView) string {
	var b strings.Builder
	b.WriteString(oneLine(t.Name) + "\n\n")
	if text := strings.TrimSpace(a.Result); text != "" {
		b.WriteString(plainBody(text) + "\n\n")
	}
	fmt.Fprintf(&b, "Initiative: %s\nTask: %s\nAgent: %s\n", in.Slug, t.ID, a.Alias)
	return b.String()
}

const bodyMax = 2000 // bytes of an agent's word in a commit

// plainBody keeps an agent's word from looking like trailers or like a comment
// of git's: each line is indented that could be one.
func plainBody(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) > bodyMax {
		text = strings.ToValidUTF8(text[:bodyMax], "") + " …"
	}
	lines := strings.Split(strings.Map(func(r rune) rune {
		if r != '\n' {
			return seen(r)
		}
		return r
	}, text), "\n")
	for i, l := range lines {
		if strings.Contains(l, ":") || strings.HasPrefix(l, "#") {
			lines[i] = "  " + l
		}
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n ")
}

func oneLine(text string) string { return strings.Join(strings.Fields(strings.Map(seen, text)), " ") }

// seen gives a space for what a terminal obeys, or turns others around by: git
// log shows messages as they are.
func seen(r rune) rune {
	if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
		return ' '
	}
	return r
}

// conflictText is what an agent is told whose work conflicts.
func conflictText(t cw.Task, branch string, found map[string][]cw.MergeConflict, others []cw.Task) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Your work on %q is finished, but it conflicts with what was merged into %s meanwhile.\n\n", oneLine(t.Name), branch)
	b.WriteString("What your task wants: " + oneLine(t.Name) + "\n")
	for _, o := range others {
		fmt.Fprintf(&b, "What is on the branch already: %s\n", oneLine(o.Name))
		if s := oneLine(o.Summary); s != "" {
			fmt.Fprintf(&b, "  %s\n", cut(s, 400))
		}
	}
	fmt.Fprintf(&b, "\nDo this: `git merge %s` in your worktree, resolve the conflicts so that both intents hold, run the tests, and commit. Do not rebase, and do not drop the other side.\n", branch)
	for _, project := range slices.Sorted(maps.Keys(found)) {
		fmt.Fprintf(&b, "\nConflicts in %s:\n", oneLine(project))
		for _, c := range found[project] {
			fmt.Fprintf(&b, "\n%s (%s)\n", oneLine(c.Path), oneLine(c.Kind))
			if c.Text != "" {
				b.WriteString(quoted(c.Text) + "\n")
			}
		}
	}
	return b.String()
}

// redText is what an agent is told whose work fails a check.
func redText(t cw.Task, branch, project string, r cw.CommandResult) string {
	return fmt.Sprintf("Your work on %q merges into %s, but the check %q of %s fails there: %s.\n\n"+
		"Do this: `git merge %s` in your worktree, so that you see what is checked, mend it, run the check, and commit.\n\nThe end of its output:\n\n%s\n",
		oneLine(t.Name), branch, r.Failed, project, r.Reason, branch, quoted(r.Output))
}

// rejectedText is what an agent is told whose result a person did not accept.
func rejectedText(t cw.Task, comment string) string {
	return fmt.Sprintf("A person looked at your work on %q and did not accept it:\n\n%s\n\nChange it accordingly and commit.\n", oneLine(t.Name), quoted(comment))
}

// conflictLine says in one line which paths conflict.
func conflictLine(found map[string][]cw.MergeConflict) string {
	var paths []string
	for _, project := range slices.Sorted(maps.Keys(found)) {
		for _, c := range found[project] {
			paths = append(paths, oneLine(c.Path))
		}
	}
	more := ""
	if len(paths) > shownMax {
		more = fmt.Sprintf(" and %d more", len(paths)-shownMax)
		paths = paths[:shownMax]
	}
	return "conflicts in " + strings.Join(paths, ", ") + more
}

func cut(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}
