package parsers

import (
	"bytes"
	"encoding/json"

	"cw/internal/cw"
)

// continueParser reads the output of `cn -p`, which comes all at once when the
// run is over (seen in runs of 1.5.47). With --format json it is an object
// around the model's last words, unless these are JSON themselves; else it is
// the words as they are. So only the object tells that the run ended well:
// other lines are text, and how such a run ended its exit code tells. Errors
// are on stderr, and stdout is empty then.
//
// There is no session id, no tool call, no usage and no cost.
type continueParser struct{ linesParser }

// continueEnd is the object at the end of a good run.
type continueEnd struct {
	Status   string  `json:"status"`
	Response *string `json:"response"`
	// Note says that the object is the CLI's own: an answer of the model that
	// is JSON is printed as it is, and may have the other fields.
	Note string `json:"note"`
}

// Line reads one line. What is no end is text, so that nothing is unknown.
func (p *continueParser) Line(line []byte) []cw.StreamEvent {
	var end continueEnd
	if !bytes.HasPrefix(line, []byte("{")) || json.Unmarshal(validUTF8(line), &end) != nil ||
		end.Status != "success" || end.Response == nil || end.Note == "" {
		return p.linesParser.Line(line)
	}
	return []cw.StreamEvent{
		{Kind: cw.StreamText, Text: *end.Response + "\n"},
		{Kind: cw.StreamResult, Text: *end.Response},
	}
}
