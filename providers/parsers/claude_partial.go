package parsers

import (
	"slices"
	"strings"

	"cw/internal/cw"
)

// Limits of partial messages.
const (
	partialBlocks = 64      // blocks that wait for their assistant line
	partialMax    = 8 << 20 // bytes of one block told piece by piece
)

// partials holds, for each conversation, what was told of its current message.
type partials map[string]*partialText

// partialText is what was already told of a conversation's current message
// piece by piece. The assistant line with the whole block comes later: of it
// only the rest is told.
type partialText struct {
	blocks []partialBlock // begun, and not yet repeated by an assistant line; the last one may grow
}

type partialBlock struct {
	kind cw.StreamKind
	told []byte
}

// streamEvent reads a raw API event. Only words matter: tool calls and usage
// come whole with the assistant line.
func (p *claudeParser) streamEvent(l *claudeLine) []cw.StreamEvent {
	parent := l.ParentToolUseID
	switch l.Event.Type {
	case "message_start":
		delete(p.partial, parent)
	case "content_block_start":
		switch l.Event.ContentBlock.Type {
		case "text":
			p.partial.begin(parent, cw.StreamText)
		case "thinking":
			p.partial.begin(parent, cw.StreamThinking)
		}
	case "content_block_delta":
		switch l.Event.Delta.Type {
		case "text_delta":
			return p.partial.tell(parent, cw.StreamText, l.Event.Delta.Text)
		case "thinking_delta":
			return p.partial.tell(parent, cw.StreamThinking, l.Event.Delta.Thinking)
		}
	}
	return nil
}

// begin takes up a block of a conversation's current message.
func (p partials) begin(parent string, kind cw.StreamKind) {
	state := p[parent]
	if state == nil || len(state.blocks) >= partialBlocks {
		state = &partialText{}
		remember(p, parent, state)
	}
	state.blocks = append(state.blocks, partialBlock{kind: kind})
}

// tell gives a piece of the block that was begun last.
func (p partials) tell(parent string, kind cw.StreamKind, piece string) []cw.StreamEvent {
	state := p[parent]
	if piece == "" || state == nil || len(state.blocks) == 0 {
		return nil
	}
	block := &state.blocks[len(state.blocks)-1]
	if block.kind != kind || len(block.told)+len(piece) > partialMax {
		return nil // the assistant line has it
	}
	block.told = append(block.told, piece...)
	return one(cw.StreamEvent{Kind: kind, ParentToolUseID: parent, Text: piece})
}

// rest tells of a whole block what was not told yet. It ends in a line end, so
// that the texts of a run put together can be read.
func (p partials) rest(parent string, kind cw.StreamKind, text string) []cw.StreamEvent {
	if text == "" {
		return nil
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if told := p.takeTold(parent, kind); strings.HasPrefix(text, told) {
		text = text[len(told):]
	}
	if text == "" {
		return nil
	}
	return one(cw.StreamEvent{Kind: kind, ParentToolUseID: parent, Text: text})
}

// takeTold gives what was told of the oldest block of that kind, and forgets it
// and the blocks before it.
func (p partials) takeTold(parent string, kind cw.StreamKind) string {
	state := p[parent]
	if state == nil {
		return ""
	}
	for i := range state.blocks {
		if state.blocks[i].kind == kind {
			told := string(state.blocks[i].told)
			state.blocks = slices.Delete(state.blocks, 0, i+1)
			return told
		}
	}
	return ""
}
