package worktree

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cw/internal/cw"
)

// Bounds of what is told of conflicts.
const (
	conflictsMax    = 1000     // paths
	conflictFileMax = 4 << 20  // bytes of a file that is looked into
	conflictTextMax = 8 << 10  // bytes of hunks of one path
	conflictsText   = 32 << 10 // of all
	conflictContext = 3        // lines around a hunk
	conflictFiles   = 200      // paths whose hunks are looked for
)

// mergeMessage is what git merge-tree says about some paths.
type mergeMessage struct {
	paths []string
	kind  string // "CONFLICT (contents)", "Auto-merging" and so on
	text  string
}

// mergeTreeOutput is what git merge-tree -z --messages prints.
type mergeTreeOutput struct {
	tree       string
	conflicted []string // paths, in order, each once
	messages   []mergeMessage
}

// parseMergeTree reads "TREE\0", then "MODE ID STAGE\tPATH\0" for each stage of
// a conflict, then "\0", then "COUNT\0PATH\0…KIND\0TEXT\0" for each message. Of
// submodules it may go on to speak to people.
func parseMergeTree(out []byte) (mergeTreeOutput, error) {
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	o := mergeTreeOutput{tree: fields[0]}
	if !fullID().MatchString(o.tree) {
		return o, fmt.Errorf("merge-tree said %.80q", out)
	}
	rest := fields[1:]
	for len(rest) > 0 && rest[0] != "" {
		_, path, ok := strings.Cut(rest[0], "\t")
		if !ok {
			return o, fmt.Errorf("merge-tree row %.80q is not understood", rest[0])
		}
		if !slices.Contains(o.conflicted[max(0, len(o.conflicted)-1):], path) {
			o.conflicted = append(o.conflicted, path)
		}
		rest = rest[1:]
	}
	if len(rest) > 0 {
		rest = rest[1:]
	}
	for len(rest) > 0 {
		n, err := strconv.Atoi(rest[0])
		if err != nil {
			break
		}
		if n < 0 || n > len(rest)-3 {
			return o, fmt.Errorf("merge-tree message %.80q is not understood", rest[0])
		}
		o.messages = append(o.messages, mergeMessage{paths: rest[1 : 1+n], kind: rest[1+n], text: strings.TrimSpace(rest[2+n])})
		rest = rest[3+n:]
	}
	return o, nil
}

// conflictKind gives the words in "CONFLICT (contents)", "" for no conflict.
func conflictKind(kind string) string {
	rest, ok := strings.CutPrefix(kind, "CONFLICT (")
	if !ok {
		return ""
	}
	return strings.TrimSuffix(rest, ")")
}

// list gives the conflicts by path, with git's words about those that are not of
// contents.
func (o mergeTreeOutput) list() []cw.MergeConflict {
	all := []cw.MergeConflict{}
	at := map[string]int{}
	add := func(path string) *cw.MergeConflict {
		i, ok := at[path]
		if !ok {
			i = len(all)
			at[path] = i
			all = append(all, cw.MergeConflict{Path: path})
		}
		return &all[i]
	}
	for _, path := range o.conflicted {
		add(path)
	}
	for _, msg := range o.messages {
		kind := conflictKind(msg.kind)
		if kind == "" || len(msg.paths) == 0 {
			continue
		}
		for i, path := range msg.paths {
			if _, known := at[path]; !known && i > 0 {
				continue // such as the place that a file was renamed from
			}
			c := add(path)
			c.Kind = joinKinds(c.Kind, kind)
			if kind != "contents" && kind != "binary" && !strings.Contains(c.Text, msg.text) {
				c.Text += msg.text + "\n"
			}
		}
	}
	for i := range all {
		if all[i].Kind == "" {
			all[i].Kind = "contents"
		}
	}
	slices.SortFunc(all, func(a, b cw.MergeConflict) int { return strings.Compare(a.Path, b.Path) })
	return all[:min(len(all), conflictsMax)]
}

// joinKinds adds a kind to others. git says of every path that contents conflict.
func joinKinds(kinds, kind string) string {
	switch {
	case kinds == "" || kinds == "contents":
		return kind
	case kind == "contents" || slices.Contains(strings.Split(kinds, ", "), kind):
		return kinds
	}
	return kinds + ", " + kind
}

// conflicts lists what conflicts, with the hunks.
func (c *commitPair) conflicts(ctx context.Context, o mergeTreeOutput) ([]cw.MergeConflict, error) {
	all := o.list()
	var paths []string
	for _, conflict := range all[:min(len(all), conflictFiles)] {
		paths = append(paths, conflict.Path)
	}
	files, err := c.files(ctx, o.tree, paths, conflictFileMax)
	if err != nil {
		return nil, fmt.Errorf("read conflicts: %w", err)
	}
	left := conflictsText
	for i := range all {
		text := all[i].Text
		if j := slices.IndexFunc(files, func(f TreeFile) bool { return f.Path == all[i].Path }); j >= 0 {
			text += hunks(files[j].Data, c.base, c.head)
		}
		all[i].Path = strings.ToValidUTF8(all[i].Path, "�")
		all[i].Text = cutText(text, min(conflictTextMax, left))
		left -= len(all[i].Text)
	}
	return all, nil
}

// hunks gives the conflicts of a file with some lines around each. The markers
// bear the ids of the sides, so other lines that look like them are none. "" for
// a binary file.
func hunks(data []byte, onto, head string) string {
	if bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 {
		return ""
	}
	lines := strings.SplitAfter(strings.ToValidUTF8(string(data), "�"), "\n")
	var b strings.Builder
	shown := 0 // lines before this one are written
	for i := 0; i < len(lines); i++ {
		if !marker(lines[i], '<', onto) {
			continue
		}
		end := i
		for end < len(lines)-1 && !marker(lines[end], '>', head) {
			end++
		}
		begin := max(i-conflictContext, shown)
		if begin > shown || shown == 0 {
			fmt.Fprintf(&b, "@@ line %d @@\n", begin+1)
		}
		shown = min(end+1+conflictContext, len(lines))
		// The lines after a hunk may hold the next one, whose turn comes then.
		if j := slices.IndexFunc(lines[end+1:shown], func(s string) bool { return marker(s, '<', onto) }); j >= 0 {
			shown = end + 1 + j
		}
		for _, l := range lines[begin:shown] {
			b.WriteString(l)
		}
		if s := b.String(); !strings.HasSuffix(s, "\n") {
			b.WriteString("\n")
		}
		if b.Len() > conflictTextMax {
			break
		}
		i = shown - 1
	}
	return b.String()
}

// marker tells the line that begins or ends a conflict: seven times a sign, or as
// often as attributes say, then a side's id.
func marker(text string, sign byte, id string) bool {
	rest := strings.TrimLeft(text, string(sign))
	return len(text)-len(rest) >= 7 && strings.HasPrefix(rest, " "+id)
}

// cutText shortens a text to whole lines of at most limit bytes.
func cutText(text string, limit int) string {
	const note = "[cut]\n"
	if len(text) <= limit {
		return text
	}
	if limit <= len(note) {
		return ""
	}
	text = text[:limit-len(note)]
	return text[:strings.LastIndexByte(text, '\n')+1] + note
}
