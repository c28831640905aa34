package parsers

import "cw/internal/cw"

// fullSession is how CLIs and the APIs behind them say that what a session holds no
// longer fits its model (claude, codex, gemini, copilot, Bedrock, OpenAI; as seen
// or reported).
var fullSession = cw.Pattern(`(?i)prompt is too long|(?:conversation|input|prompt|context) (?:is )?too (?:long|large)\b|input is too long for|context limit reached|reached its context window limit|ran out of room in the model's context window|context[ _-]?(?:length|window)[ _-]?(?:is |was |has been )?exceeded|exceeds? (?:the |this |its )?(?:model's |model )?(?:maximum )?context|maximum context (?:length|window)|input length and .max_tokens. exceed|token count .{0,40}exceeds the (?:maximum|limit)|request too large \(max|exceeds the maximum allowed (?:number of )?(?:input )?tokens`)

// SessionFull tells whether an error text says that the session no longer fits its
// model: going on with it fails again.
func SessionFull(text string) bool { return fullSession().MatchString(oneLine(text)) }
