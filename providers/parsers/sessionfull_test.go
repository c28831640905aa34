package parsers

import "testing"

func TestSessionFull(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"Prompt is too long": true,
		"API Error: 400 prompt is too long: 208310 tokens > 200000 maximum":                                                  true,
		"Error during compaction: Error: Conversation too long. Press esc twice to go up a few messages and try again.":      true,
		"Context limit reached · /compact or /clear to continue":                                                             true,
		"API Error: The model has reached its context window limit.":                                                         true,
		"Codex ran out of room in the model's context window. Start a new thread or clear earlier\nhistory before retrying.": true,
		"Your input exceeds the context window of this model. Please adjust your input and try again.":                       true,
		"context_length_exceeded": true,
		"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.": true,
		"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000":                             true,
		"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).":                 true,
		"prompt token count of 150000 exceeds the limit of 128000":                                                true,
		"Input is too long for requested model.":                                                                  true,
		"Request too large (max 32MB). Double press esc to go back.":                                              true,
		"You've hit your session limit · resets 5pm":                                                              false,
		"the file name is too long":                                                                               false,
		"context deadline exceeded":                                                                               false,
		"max_tokens must be at most 8192":                                                                         false,
		"":                                                                                                        false,
	} {
		if got := SessionFull(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}
