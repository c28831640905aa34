package fakecli

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// Aider is the name under which a test binary is a stand-in of aider 0.86: make
// a link of that name to it. It takes the options of aider's documentation and
// prints what its documentation, its tracker and its published source say. It
// does one kind of task, and pauses nowhere.
//
//	Write the sentence "…" into FILE.
const Aider = "aider"

// AiderKey makes an API key with which the stand-in behaves so: limited, its
// account has no credit; refused; busy, the API is overloaded at first; idle, the
// model has nothing to change; down, the API is overloaded for as long as it
// tries; and with anything else it does its work.
func AiderKey(how string) string { return "sk-ant-api03-" + how + "-00000000000000000000" }

// aiderOptions are those that it takes, and whether a value follows.
func aiderOptions() map[string]bool {
	return map[string]bool{
		"--message-file": true, "--model": true, "--chat-history-file": true, "--input-history-file": true,
		"--yes-always": false, "--no-stream": false, "--no-pretty": false, "--no-check-update": false,
		"--no-show-release-notes": false, "--no-analytics": false, "--no-detect-urls": false,
		"--no-suggest-shell-commands": false, "--no-gitignore": false,
	}
}

const (
	aiderNoCredit = `litellm.BadRequestError: AnthropicException - {"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."}}`
	aiderBadKey   = `litellm.AuthenticationError: AnthropicException - {"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}
The API provider is not able to authenticate you. Check your API key.`
	aiderOverloaded = `litellm.InternalServerError: AnthropicException - {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}
The API provider's servers are down or overloaded.`
)

// aiderTask is the kind of task that the stand-in does.
var aiderTask = regexp.MustCompile(`Write the sentence "([^"]+)" into (\S+)\.`)

// aider gives the exit code: 0, as aider's is whatever happened, but for wrong
// options.
func aider(args []string) int {
	values, wrong := aiderArgs(args)
	if slices.Equal(args, []string{"--version"}) {
		fmt.Println("aider 0.86.1")
		return 0
	}
	if wrong != "" {
		fmt.Fprintln(os.Stderr, "aider: error: unrecognized arguments: "+wrong)
		return 2
	}
	prompt, err := os.ReadFile(values["--message-file"])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := os.WriteFile(values["--chat-history-file"], prompt, 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Print("Aider v0.86.1\nModel: claude-sonnet-4 with diff edit format\nGit repo: .git with 1 files\nRepo-map: using 4096 tokens, auto refresh\n\n")
	how, _, _ := strings.Cut(strings.TrimPrefix(os.Getenv("ANTHROPIC_API_KEY"), "sk-ant-api03-"), "-")
	switch how {
	case "limited":
		fmt.Println(aiderNoCredit)
		return 0
	case "refused":
		fmt.Println(aiderBadKey)
		return 0
	case "down":
		fmt.Printf("%[1]s\nRetrying in 0.2 seconds...\n%[1]s\nRetrying in 32.0 seconds...\n%[1]s\n", aiderOverloaded)
		return 0
	case "idle":
		fmt.Print("There is nothing to change.\n\nTokens: 2.3k sent, 12 received. Cost: $0.0031 message, $0.0031 session.\n")
		return 0
	case "busy":
		fmt.Printf("%[1]s\nRetrying in 0.2 seconds...\n%[1]s\nRetrying in 0.5 seconds...\n", aiderOverloaded)
	}
	return aiderWork(string(prompt))
}

// aiderArgs reads the options; wrong is the first that it does not know.
func aiderArgs(args []string) (values map[string]string, wrong string) {
	values = map[string]string{}
	for i := 0; i < len(args); i++ {
		takes, known := aiderOptions()[args[i]]
		switch {
		case !known || takes && i+1 == len(args):
			return values, args[i]
		case takes:
			values[args[i]] = args[i+1]
			i++
		}
	}
	return values, ""
}

// aiderWork does the task, and commits it as aider does: by itself.
func aiderWork(prompt string) int {
	m := aiderTask.FindStringSubmatch(prompt)
	if m == nil {
		fmt.Print("I see no task.\n\nTokens: 2.3k sent, 9 received. Cost: $0.0031 message, $0.0031 session.\n")
		return 0
	}
	sentence, file := m[1], m[2]
	if err := os.WriteFile(file, []byte(sentence+"\n"), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Printf("I create the file.\n\n%s\n<<<<<<< SEARCH\n=======\n%s\n>>>>>>> REPLACE\n\n", file, sentence)
	fmt.Printf("Tokens: 2.3k sent, 34 received. Cost: $0.0062 message, $0.0062 session.\nApplied edit to %s\n", file)
	if err := sh("git add -- " + quote(file) + " && git commit -q -m 'feat: add a greeting'"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("Commit 1f0e2d3 feat: add a greeting")
	return 0
}
