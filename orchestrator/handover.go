package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"cw/internal/cw"
	"cw/internal/safefile"
	"cw/prompts"
)

// A hand-over is read by a model: these bound what it costs, in bytes.
const (
	handOverText  = 4 << 10  // of one text of an earlier run
	handOverTexts = 32 << 10 // of all of them; the newest ones stay
	handOverLog   = 16 << 10 // of the log's end
	handOverNotes = 16 << 10 // of progress.md
	// handOverRead is how much raw output is read for the log's end.
	handOverRead = 1 << 20
	// handOverRuns is how many runs back the log is looked for: one that ended at
	// once has none.
	handOverRuns = 3
)

// progressFile is an agent's notebook, relative to its .cw/output.
const progressFile = "progress.md"

// handOverMessage tells a session that begins anew what the one before it did:
// from the texts to and from the agent, the end of its log, and its notebook.
// What the last run was told is in it whole: if that run found no session,
// nobody has read it. why says what became of that session.
func (o *Orchestrator) handOverMessage(ctx context.Context, a cw.Agent, why string) (string, error) {
	view, err := o.Store.AgentView(ctx, string(a.ID))
	if err != nil {
		return "", fmt.Errorf("read agent: %w", err)
	}
	messages, err := cw.AllPages(ctx, func(ctx context.Context, q cw.PageQuery) (cw.Page[cw.Message], error) {
		return o.Store.MessagePage(ctx, a.ID, q)
	})
	if err != nil {
		return "", fmt.Errorf("read its messages: %w", err)
	}
	log, err := o.lastLog(ctx, view)
	if err != nil {
		return "", fmt.Errorf("read its log: %w", err)
	}
	return prompts.HandOver(prompts.HandOverInput{
		Why: why, Texts: handOverTextsOf(view.Runs, messages), Log: log, Progress: o.progressOf(view), Git: len(view.Projects) > 0,
	}), nil
}

// handOverTextsOf chooses what was said. The goal is in the prompt already, an
// older hand-over holds nothing of its own, and a text that waits comes by
// itself.
func handOverTextsOf(runs []cw.Run, messages []cw.Message) []prompts.HandOverText {
	sessions := map[cw.RunID]int{}
	last := 0
	for _, r := range runs {
		sessions[r.ID] = r.SessionNumber
		last = max(last, r.SessionNumber)
	}
	left := handOverTexts
	var out []prompts.HandOverText
	for _, m := range slices.Backward(messages) {
		session := sessions[m.RunID]
		isGoal := session == 1 && m.Origin == cw.OriginCW
		waits := m.Role == cw.RoleUser && m.DeliveredAt == nil
		if isGoal || waits || m.HiddenAt != nil || m.Role == cw.RoleSystem || isHandOver(m) {
			continue
		}
		text := withoutTag(m)
		if session != last || m.Role == cw.RoleAssistant {
			text = shortened(text, min(left, handOverText))
			left -= len(text)
		}
		if text != "" {
			out = append(out, prompts.HandOverText{From: saidBy(m, session), Text: text})
		}
	}
	slices.Reverse(out)
	return out
}

func saidBy(m cw.Message, session int) string {
	switch {
	case m.Role == cw.RoleAssistant:
		return fmt.Sprintf("You, at the end of run %d", session)
	case m.Origin == cw.OriginPerson:
		return fmt.Sprintf("A person, to run %d", session)
	case m.Origin == cw.OriginAgent:
		about, _ := cw.ConversationTextOf(m)
		return fmt.Sprintf("Another agent, %s, to run %d", orDefault(about.From, writerOf(m)), session)
	}
	return fmt.Sprintf("cw, to run %d", session)
}

func isHandOver(m cw.Message) bool {
	return m.Origin == cw.OriginCW && strings.HasPrefix(m.Body, "<"+prompts.HandOverTag+">")
}

// withoutTag is the text of a message without the tags of a block of cw's own.
func withoutTag(m cw.Message) string {
	text := strings.TrimSpace(m.Body)
	if m.Origin != cw.OriginCW || !strings.HasPrefix(text, "<") {
		return text
	}
	first, rest, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(strings.TrimSuffix(rest, "</"+strings.TrimPrefix(first, "<")))
}

// shortened keeps the beginning of a text, at most n bytes.
func shortened(text string, n int) string {
	if len(text) <= n {
		return text
	}
	if n < len("…") {
		return ""
	}
	text = text[:n-len("…")]
	for !utf8.ValidString(text) && text != "" {
		_, width := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-width]
	}
	return text + "…"
}

// lastLog is the end of what the agent said and did, of the newest run that has
// any.
func (o *Orchestrator) lastLog(ctx context.Context, v cw.AgentView) (string, error) {
	for i := len(v.Runs) - 1; i >= max(0, len(v.Runs)-handOverRuns); i-- {
		text, err := o.logEnd(ctx, v.Agent, v.Runs[i])
		if text != "" || err != nil {
			return text, err
		}
	}
	return "", nil
}

// logEnd reads the end of one run's output.
func (o *Orchestrator) logEnd(ctx context.Context, a cw.Agent, run cw.Run) (string, error) {
	reading, err := o.newReading(providerOf(run, a), run.CreatedAt)
	if err != nil {
		return "", nil // nobody knows its form any more
	}
	end, err := o.Store.NextOffset(ctx, a.ID, run.SessionNumber)
	if err != nil {
		return "", err
	}
	q := cw.ChunkQuery{AgentID: a.ID, Session: run.SessionNumber, Only: true, Offset: max(0, end-handOverRead), Limit: chunkPage}
	var log []byte
	add := func(events []cw.StreamEvent) {
		for _, ev := range events {
			log = append(log, logLine(ev)...)
		}
		log = log[max(0, len(log)-2*handOverLog):]
	}
	for {
		chunks, err := o.Store.ChunksFrom(ctx, q)
		if err != nil {
			return "", err
		}
		for _, c := range chunks {
			add(reading.FeedAt(c.Bytes, c.CreatedAt))
			q.AfterID = c.ID
		}
		if len(chunks) == 0 {
			add(reading.Flush())
			return lastPart(log, handOverLog), nil
		}
	}
}

// toolShown is how much of a tool call and its result a hand-over shows, in
// characters.
const toolShown = 400

// logLine is an event as a hand-over shows it; "" for what does not matter.
func logLine(ev cw.StreamEvent) string {
	switch ev.Kind {
	case cw.StreamText:
		return ev.Text
	case cw.StreamToolCall:
		return "\n[tool " + ev.Tool + "] " + cut(string(ev.Input), toolShown) + "\n"
	case cw.StreamToolResult:
		return "[result] " + cut(strings.TrimSpace(ev.Text), toolShown) + "\n"
	case cw.StreamFileChange:
		return "\n[" + ev.Change + " " + strconv.Quote(ev.Path) + "]\n"
	case cw.StreamError:
		return "\n[error] " + cut(ev.Text, toolShown) + "\n"
	}
	return ""
}

// progressOf is the agent's notebook, from where it works or, when that is
// gone, as it was kept after its runs.
func (o *Orchestrator) progressOf(v cw.AgentView) string {
	data, err := readOwnFile(v.AgentCwd, path.Join(signalBase(v.AgentCwd), outputDir, progressFile), cw.SignalMax)
	for i := len(v.Runs) - 1; err != nil && i >= 0; i-- {
		data, err = safefile.Read(filepath.Join(v.Runs[i].Dir, keptOutput, progressFile), cw.SignalMax)
	}
	if err != nil {
		return ""
	}
	return lastPart(o.Redact.Mask(data), handOverNotes)
}

// keptOutput is the copy of .cw/output in a run directory.
const keptOutput = "output"

// restoreOutput brings .cw/output back as the last run left it, when there is
// none: the worktree was made anew. It appears whole or not at all, so that a
// second try finds either.
func restoreOutput(root *os.Root, runDirs []string) error {
	if _, err := root.Lstat(outputDir); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, dir := range runDirs {
		kept := filepath.Join(dir, keptOutput)
		if info, err := os.Lstat(kept); err != nil || !info.IsDir() {
			continue
		}
		const half = ".cw/tmp/output"
		if err := root.RemoveAll(half); err != nil {
			return fmt.Errorf("clear %s: %w", half, err)
		}
		from, err := os.OpenRoot(kept)
		if err != nil {
			return fmt.Errorf("bring .cw/output back: %w", err)
		}
		err = copyInto(root, from, half, outputLimits())
		if err = errors.Join(err, from.Close()); err != nil {
			return fmt.Errorf("bring .cw/output back: %w", err)
		}
		if err := root.Rename(half, outputDir); err != nil {
			return fmt.Errorf("bring .cw/output back: %w", err)
		}
		return nil
	}
	return nil
}

// copyInto copies the regular files of a kept output below a folder of root. Agents can
// reach it: what is no regular file any more, and what exceeds the limits, is left out.
func copyInto(root, from *os.Root, to string, limits copyLimits) error {
	files, left := 0, limits.Bytes
	return fs.WalkDir(from.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return root.MkdirAll(path.Join(to, name), 0o755)
		case !d.Type().IsRegular() || files >= limits.Files:
			return nil
		}
		data, err := safefile.ReadIn(from, name, min(limits.File, left))
		if errors.Is(err, safefile.ErrIrregular) || errors.Is(err, safefile.ErrTooLarge) {
			return nil
		}
		if err != nil {
			return err
		}
		files, left = files+1, left-int64(len(data))
		out, err := root.OpenFile(path.Join(to, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return err
		}
		_, err = out.Write(data)
		return errors.Join(err, out.Close())
	})
}
