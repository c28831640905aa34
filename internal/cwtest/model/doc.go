// Package model is a scripted model server: it stands in for a provider's model
// so that a real agent CLI runs in a test with no key, no account and no
// network.
//
// What the model says is a Scenario, a Go function that is called with each
// request as it was really received and returns the answer:
//
//	func done(t *model.Turn) model.Reply {
//		signal := t.Find(t.Block("signal_format"), `\S+signal\.json`)
//		switch t.Number() {
//		case 1:
//			return model.Say("The edit.").Write("greeting.txt", t.Block("task"))
//		case 2:
//			return model.Say("The commit.").Shell("git add greeting.txt && git commit -qm 'Add a greeting'")
//		case 3:
//			t.Output() // the commit must have worked
//			return model.Say("The signal.").Write(signal, `{"status":"done"}`)
//		default:
//			return model.Say("Done.")
//		}
//	}
//
// A scenario knows nothing that its request does not say: paths, ids, answers
// and the task come out of the prompt through helpers such as [Turn.Block] and
// [Turn.Find]. A helper that does not find what it is asked for ends the turn:
// the error is recorded for the test, and the CLI is answered with an API error
// so that it stops at once. An error that no test takes fails the test.
//
// The core (request, reply, scenario, server) is the same for every protocol.
// What a protocol looks like on the wire is in files of its own: anthropic*.go
// is Anthropic Messages, as claude speaks it, responses*.go is OpenAI Responses,
// as codex does, chat*.go is OpenAI Chat Completions, as opencode, qwen, copilot,
// cline and cn do, and gemini*.go is the Gemini API. Each maps the portable tools onto those that its CLI offers
// (…_tools.go) and has its failures, with the headers and bodies that make the
// CLI react in a known way (…_failures.go). What the CLIs that share a protocol
// put around the user's words and a tool's output is in said.go, what they ask
// beside their agent's work in side.go.
//
// The package must not know the programs under test beyond their wire format:
// neither cw's prompts nor its directories.
package model
