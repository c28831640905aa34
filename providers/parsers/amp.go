package parsers

import (
	"fmt"

	"cw/internal/cw"
)

// ampParser reads the output of `amp -x --stream-json`. It is made after the
// documentation of the format and of amp's SDK; no run of it was seen, for amp
// works with its own service only. Lines are claude's, with these differences:
//   - messages may have no id: then each line counts as a message of its own;
//   - an error result tells its reason in error, a string;
//   - session ids are those of threads, T-…;
//   - there is no cost.
//
// Without a key amp prints a login prompt on stdout and waits (seen in
// 0.0.1790142911): those lines are unknown.
type ampParser struct {
	*claudeParser
	messages int // that had no id
}

func newAmp(opts Options) *ampParser {
	p := newClaude(opts)
	p.edits = []string{"create_file", "edit_file"}
	return &ampParser{claudeParser: p}
}

// Line reads one line.
func (p *ampParser) Line(line []byte) []cw.StreamEvent {
	var l claudeLine
	return p.read(line, &l, &l, func() ([]cw.StreamEvent, bool) { return p.line(&l) })
}

func (p *ampParser) line(l *claudeLine) (events []cw.StreamEvent, known bool) {
	switch {
	case l.Type == "assistant" && l.Message.ID == "":
		p.messages++
		l.Message.ID = fmt.Sprintf("without an id, %d", p.messages)
	case l.Type == "result" && l.Error != "":
		if l.Result == "" {
			l.Result = l.Error
		}
		l.APIErrorStatus = statusOf(l.Result)
	}
	return p.claudeParser.line(l)
}
